"""Forty rules of Spark-Expectations on one table: rows are split as it splits them.

What it does with a row is said by plain Python: a condition that is false or NULL fails, a row that
fails is in the error table with the rules it fails, and it stays in the target unless one of them
says ``drop``; one that says ``fail`` keeps the target from being written.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pandas as pd
import pytest

import dq_dagster as dq
from tests.integration.guarded.gate import QUARANTINE, Gate, judged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Order(NamedTuple):
    n: int
    id: int | None
    region: str | None
    amount: float | None
    qty: int | None
    day: str | None
    mail: str | None
    shipped: dt.date | None


def on(day: int) -> dt.date:
    return dt.date(2024, 3, day)


ROWS = [
    Order(1, 1, "north", 10.0, 1, "2024-03-01", "a@x.com", on(2)),
    Order(2, 2, "north", 20.5, 2, "2024-03-02", "b@x.com", on(3)),
    Order(3, 2, "south", 0.0, 0, "2024-03-02", "no mail", on(1)),
    Order(4, None, "south", -5.0, None, "02.03.2024", None, None),
    Order(5, None, None, None, 3, "2024-02-30", "", on(9)),
    Order(6, 6, " North ", 1e6, 100, "", "c@y.org", on(5)),
    Order(7, 7, "east", float("nan"), 7, None, "d@@x", None),
    Order(8, 8, "east", 8.0, 8, "2024-03-08", "e@x.com", on(8)),
    Order(9, 9, "east", 8.0, -1, "2024-3-9", "E@X.COM", on(20)),
    Order(10, 9, "east", 9.0, 4, "2024-03-10", "f@x.com", on(10)),
    Order(11, 11, "", 3.3, 0, "yesterday", "g@x", on(11)),
    Order(12, 12, "west", 12.0, 12, "2024-03-12", "h@x.com", on(13)),
]
SCHEMA = (
    "n int, id int, region string, amount double, qty int, day string, mail string, shipped date"
)

# Any: what is None is looked at first.
Holds = Callable[[Any], bool | None]


def known(*values: Any) -> bool:
    return all(value is not None for value in values)


def over(column: str, test: Callable[[Any], bool]) -> Holds:
    """A condition on one column, which is unknown where that is NULL."""
    return lambda row: test(getattr(row, column)) if known(getattr(row, column)) else None


def parsed(text: str | None) -> dt.date | None:
    """As Spark reads yyyy-MM-dd: two digits each, and a day that there is."""
    if text is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def loosely(text: str | None) -> dt.date | None:
    """As Spark casts a text to a date: one digit will do."""
    found = re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text or "")
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def greater(one: float, other: float) -> bool:
    """As Spark compares: NaN is greater than all others, and equal to itself."""
    return not math.isnan(other) if math.isnan(one) else one > other


IDS = Counter(row.id for row in ROWS)
REGIONS = Counter(row.region for row in ROWS)


def quantity_of(region: str | None) -> int | None:
    found = [row.qty for row in ROWS if row.region == region and row.qty is not None]
    return sum(found) if found else None


def first_of_its_id(row: Order) -> bool:
    """By quantity, the largest first; nobody has the same as another of its id."""
    alike = [one for one in ROWS if one.id == row.id]
    return row == max(alike, key=lambda one: (one.qty is not None, one.qty or 0))


# rule, expectation, action, and whether it holds for a row.
Rule: TypeAlias = tuple[str, str, str, Holds]
RULES: list[Rule] = [
    ("id_there", "id is not null", "drop", lambda r: r.id is not None),
    ("id_once", "count(*) over(partition by id order by 1)=1", "ignore", lambda r: IDS[r.id] == 1),
    ("id_first", "row_number() over (partition by id order by qty desc)=1", "ignore",
     first_of_its_id),
    ("id_twice_at_most", "count(*) over (partition by id) < 3", "drop", lambda r: IDS[r.id] < 3),
    ("region_qty", "sum(qty) over (partition by region) > 10", "ignore",
     lambda r: None if (q := quantity_of(r.region)) is None else q > 10),
    ("region_ids", "count(distinct id) over (partition by region) >= 1", "ignore",
     lambda r: len({o.id for o in ROWS if o.region == r.region and o.id is not None}) >= 1),
    ("region_rows", "count(*) over (partition by region order by 1) <= 3", "ignore",
     lambda r: REGIONS[r.region] <= 3),
    ("amount_positive", "amount > 0", "drop", over("amount", lambda a: greater(a, 0))),
    ("amount_small", "amount <= 1000", "ignore",
     over("amount", lambda a: not greater(a, 1000))),
    ("amount_between", "amount between 0 and 100", "ignore",
     over("amount", lambda a: not greater(0, a) and not greater(a, 100))),
    ("amount_number", "not isnan(amount)", "drop",
     lambda r: r.amount is None or not math.isnan(r.amount)),
    ("amount_not_5", "amount != -5", "ignore", over("amount", lambda a: a != -5)),
    ("qty_positive", "qty > 0", "ignore", over("qty", lambda q: q > 0)),
    ("qty_even", "(qty % 2) = 0", "ignore", over("qty", lambda q: q % 2 == 0)),
    ("price", "amount / qty < 100", "ignore",
     lambda r: greater(100, r.amount / r.qty) if known(r.amount, r.qty) and r.qty else None),
    ("per_hundred", "100 / qty > 12", "drop",
     lambda r: 100 / r.qty > 12 if r.qty else None),
    ("in_pieces", "qty div (qty - 7) >= 0", "ignore",
     lambda r: int(r.qty / (r.qty - 7)) >= 0 if known(r.qty) and r.qty != 7 else None),
    ("total", "qty + n = 2 * n", "ignore", lambda r: r.qty == r.n if known(r.qty) else None),
    ("region_there", "region is not null and trim(region) <> ''", "drop",
     lambda r: r.region is not None and r.region.strip() != ""),
    ("region_set", "lower(trim(region)) in('north', 'south', 'east')", "ignore",
     over("region", lambda t: t.strip().lower() in {"north", "south", "east"})),
    ("region_not", "region not in ('west', 'east')", "ignore",
     over("region", lambda t: t not in {"west", "east"})),
    ("region_not_null", "region not in ('west', null)", "ignore",
     lambda r: False if r.region == "west" else None),
    ("region_length", "length(region)=5", "ignore", over("region", lambda t: len(t) == 5)),
    ("region_lengths", "length(region) between 4 and 7", "ignore",
     over("region", lambda t: 4 <= len(t) <= 7)),
    ("day_there", "day is not null", "ignore", lambda r: r.day is not None),
    ("day_format", "to_date(day, 'yyyy-MM-dd') is not null", "drop",
     lambda r: parsed(r.day) is not None),
    ("day_regex", "day rlike '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'", "ignore",
     over("day", lambda t: bool(re.search("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", t)))),
    ("day_cast", "try_cast(day as date)", "ignore", lambda r: loosely(r.day) is not None),
    ("day_cast_too", "cast(day as date) > '2024-03-01'", "ignore",
     lambda r: d > on(1) if (d := loosely(r.day)) else None),
    ("day_before", "to_date(day, 'yyyy-MM-dd') <= shipped", "ignore",
     lambda r: d <= r.shipped if (d := parsed(r.day)) and known(r.shipped) else None),
    ("shipped_later", "shipped is null or shipped >= date'2024-03-02'", "ignore",
     lambda r: r.shipped is None or r.shipped >= on(2)),
    ("shipped_soon", "datediff(shipped, date'2024-03-01') < 15", "ignore",
     over("shipped", lambda d: (d - on(1)).days < 15)),
    ("mail_pattern", r"mail rlike '^[^@]+@[^@]+[.][a-z]+$'", "drop",
     over("mail", lambda t: bool(re.search(r"^[^@]+@[^@]+[.][a-z]+$", t)))),
    ("mail_not", "mail not rlike '@@'", "ignore", over("mail", lambda t: "@@" not in t)),
    ("mail_lower", "mail = lower(mail)", "ignore", over("mail", lambda t: t == t.lower())),
    ("mail_like", "mail like '%.com'", "ignore", over("mail", lambda t: t.endswith(".com"))),
    ("mail_or_qty", "mail is not null or qty > 1", "ignore",
     lambda r: True if r.mail is not None else (None if r.qty is None else r.qty > 1)),
    ("case", "case when region = 'east' then qty > 0 else true end", "ignore",
     lambda r: (r.qty or 0) > 0 if r.region == "east" else True),
    ("coalesced", "coalesce(qty, 0) >= 0", "ignore", lambda r: (r.qty or 0) >= 0),
    ("same", "id <=> n", "ignore", lambda r: r.id == r.n),
    ("element", "element_at(split(mail, '@'), 2) like 'x%'", "ignore",
     lambda r: p[1].startswith("x") if r.mail is not None and len(p := r.mail.split("@")) > 1
     else None),
]  # fmt: skip


def rules_table(rules: list[Rule], **fields: Any) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "product_id": "p", "table_name": "dev.orders", "rule_type": "row_dq", "rule": name,
                "column_name": "", "expectation": text, "action_if_failed": action,
                "tag": "validity", "description": f"about {name}",
                "enable_for_source_dq_validation": True, "enable_for_target_dq_validation": True,
                "is_active": True, "enable_error_drop_alert": False, "error_drop_threshold": 0,
                "query_dq_delimiter": None, "enable_querydq_custom_output": None,
                "priority": "high", **fields,
            }
            for name, text, action, _ in rules
        ]
    )  # fmt: skip


def failing() -> dict[int, list[str]]:
    """The error table: the rules that each row fails."""
    found = {row.n: [name for name, _, _, holds in RULES if not holds(row)] for row in ROWS}
    return {n: names for n, names in found.items() if names}


def target() -> set[int]:
    """The rows that stay."""
    dropping = {name for name, _, action, _ in RULES if action == "drop"}
    return {row.n for row in ROWS} - {
        n for n, names in failing().items() if dropping.intersection(names)
    }


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA).repartition(3)


@pytest.fixture(scope="module")
def migration() -> dq.Migration:
    return dq.load_spark_expectations(rules_table(RULES), trusted=True, assets="orders")


def test_there_are_forty_rules_and_all_are_taken(migration: dq.Migration) -> None:
    assert len(RULES) >= 40
    assert [entry.rule for entry in migration.report] == [name for name, *_ in RULES]
    assert migration.report.refused == ()
    becomes = Counter(entry.becomes for entry in migration.report)
    assert becomes == {"row_dq": len(RULES) - 2, "unique_key": 2}
    # What is left of the rows is worth comparing.
    assert 0 < len(target()) < len(failing()) <= len(ROWS)


def test_each_row_fails_the_rules_that_it_fails_there(
    migration: dq.Migration, orders: DataFrame
) -> None:
    [rules] = migration.rule_sets
    rows = dq.failing_rows(orders, rules).collect()
    found = {row["n"]: sorted(fault["rule"] for fault in row["dq_faults"]) for row in rows}
    assert found == {n: sorted(names) for n, names in failing().items()}
    actions = {name: action for name, _, action, _ in RULES}
    for row in rows:
        for fault in row["dq_faults"]:
            assert fault["action"] == actions[fault["rule"]]
            assert fault["tags"] == ["validity", "priority:high"]
            assert fault["quality_dimension"] == "validity"


def test_rows_are_split_as_they_are_there(migration: dq.Migration, orders: DataFrame) -> None:
    good, bad = dq.split(orders, migration.rule_sets[0])
    assert {row["n"] for row in good.collect()} == target()
    assert {row["n"] for row in bad.collect()} == set(failing())


def test_rules_at_rest_count_the_same_rows(migration: dq.Migration, orders: DataFrame) -> None:
    result = dq.evaluate(orders, migration.rule_sets[0], samples=False)
    for name, _, _, holds in RULES:
        # Of a repeated key all rows are counted, whichever stays.
        if name != "id_first":
            assert result[name].failed_rows == sum(not holds(row) for row in ROWS), name


def test_a_guarded_asset_publishes_the_target_and_keeps_the_errors(
    migration: dq.Migration, orders: DataFrame, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, orders, migration.rule_sets[0])
    run = gate.build()
    assert run.success
    assert {row["n"] for row in gate.published()} == target()
    kept = {row["n"]: row["dq_faults"] for row in gate.published(QUARANTINE)}
    found = {n: sorted(fault["rule"] for fault in faults) for n, faults in kept.items()}
    assert found == {n: sorted(names) for n, names in failing().items()}
    statuses = judged(run)
    for name, _, _, holds in RULES:
        assert (statuses[name] == "Ok") is all(holds(row) for row in ROWS), name


def test_a_rule_that_fails_keeps_the_target_from_being_written(
    orders: DataFrame, tmp_path: Path
) -> None:
    holding: list[Rule] = [("n_there", "n is not null", "fail", lambda row: row.n > 0)]
    broken: list[Rule] = [("qty_there", "qty is not null", "fail", lambda row: row.qty is not None)]
    for rules, succeeds in ((holding, True), (holding + broken, False)):
        loaded = dq.load_spark_expectations(rules_table(rules), assets="orders")
        gate = Gate(tmp_path, orders, loaded.rule_sets[0])
        assert gate.build().success is succeeds
        # What was published before is still there.
        assert len(gate.published()) == len(ROWS)
