"""Every built-in template against plain Python, on generated rows with NULLs, NaN and odd names.

The columns have names that break careless SQL. Rows fall into many days, so that one evaluation has
all periods that templates about changes look back to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.queries import QueryNumber
from dq_dagster.rules.templates.library import LIBRARY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY, KEY, TEXT, NUMBER, SECOND, MOMENT = "d;--", "k`1", "te'xt {c}", "/* n */", "order by", "日本.t"
SCHEMA = "string, int, string, double, double, timestamp"
NAMES = (DAY, KEY, TEXT, NUMBER, SECOND, MOMENT)
OTHER_KEY, OTHER_NUMBER = "a.b", "`"
DAYS = [date(2024, 1, 1) + timedelta(days=n) for n in range(33)]
NOW = datetime(2024, 3, 1, 6, tzinfo=UTC)
VALUES = ["new", "o'k", 'x") or true --', "日本"]
ODD = ["", "  ", "new ", "\\", "ab1", "ab\n", "${x}", "longer than others"]

Row = Mapping[str, Any]
Value = float | None


def generated(seed: int) -> list[tuple[Any, ...]]:
    random = Random(seed)
    maybe: Callable[[Any], Any] = lambda value: None if random.random() < 0.2 else value  # noqa: E731
    return [
        (
            day.isoformat(),
            maybe(random.randrange(6)),
            maybe(random.choice([*VALUES, *ODD])),
            maybe(float(random.randrange(-8, 40)) / 4),
            maybe(float(random.randrange(3))),
            maybe(datetime(2024, 2, 1, tzinfo=UTC) + timedelta(minutes=random.randrange(40_000))),
        )
        for day in DAYS
        for _ in range(random.randrange(1, 9))
    ]


ROWS = generated(14)
OTHERS: list[tuple[int | None, float | None]] = [
    (0, 1.0),
    (2, None),
    (2, 3.0),
    (9, 0.25),
    (None, 1.0),
]


def dicts(rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def known(rows: Sequence[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def average(values: Sequence[float]) -> Value:
    return sum(values) / len(values) if values else None


def share_of_empty(rows: Sequence[Row]) -> Value:
    return average([float(row[TEXT] is None) for row in rows])


def keys(rows: Sequence[Row]) -> list[tuple[Any, Any]]:
    return [(row[KEY], row[TEXT]) for row in rows]


def apart(left: Any, right: Any) -> bool:
    """Whether two values differ; two empty ones do not."""
    return bool(left != right)


def others(place: int) -> list[Any]:
    return [row[place] for row in OTHERS if row[place] is not None]


COLUMN = {"column": TEXT}
OF_NUMBER = {"column": NUMBER}
REFERENCE = {"other": "others"}
KEYS = {"column": KEY, **REFERENCE, "other_column": OTHER_KEY}
PATTERN = r"ab\d|[a-z]+"
#: By template: its parameters, and the same number in plain Python.
PLAIN: dict[str, tuple[dict[str, Any], Callable[[Sequence[Row]], Value]]] = {
    "rows_with_empty_field": (COLUMN, lambda rows: sum(r[TEXT] is None for r in rows)),
    "rows_with_blank_field": (
        COLUMN,
        lambda rows: sum(not (r[TEXT] or "").strip(" ") for r in rows),
    ),
    "empty_share": (COLUMN, share_of_empty),
    "duplicate_keys": (
        {"columns": [KEY, TEXT]},
        lambda rows: len(whole := [k for k in keys(rows) if None not in k]) - len(set(whole)),
    ),
    "repeated_keys": (
        {"columns": [KEY, TEXT]},
        lambda rows: sum(keys(rows).count(k) > 1 for k in set(keys(rows))),
    ),
    "values_not_in_list": (
        {**COLUMN, "values": VALUES},
        lambda rows: sum(v not in VALUES for v in known(rows, TEXT)),
    ),
    "values_in_list": (
        {**COLUMN, "values": VALUES[:2]},
        lambda rows: sum(v in VALUES[:2] for v in known(rows, TEXT)),
    ),
    "values_out_of_range": (
        {**OF_NUMBER, "least": 0, "most": 7.25},
        lambda rows: sum(not 0 <= v <= 7.25 for v in known(rows, NUMBER)),
    ),
    "dates_out_of_range": (
        {
            "column": MOMENT,
            "least": datetime(2024, 2, 8, tzinfo=UTC),
            "most": datetime(2024, 2, 20, 12, tzinfo=UTC),
        },
        lambda rows: sum(
            not datetime(2024, 2, 8, tzinfo=UTC) <= v <= datetime(2024, 2, 20, 12, tzinfo=UTC)
            for v in known(rows, MOMENT)
        ),
    ),
    "lengths_out_of_range": (
        {**COLUMN, "least": 1, "most": 4},
        lambda rows: sum(not 1 <= len(v) <= 4 for v in known(rows, TEXT)),
    ),
    "values_not_matching": (
        {**COLUMN, "pattern": PATTERN},
        lambda rows: sum(not re.fullmatch(PATTERN, v) for v in known(rows, TEXT)),
    ),
    "negative_values": (OF_NUMBER, lambda rows: sum(v < 0 for v in known(rows, NUMBER))),
    "rows_breaking": (
        {"condition": f"`{NUMBER}` > `{SECOND}` or `{KEY.replace('`', '``')}` = 1"},
        lambda rows: sum(
            not ((None not in {r[NUMBER], r[SECOND]} and r[NUMBER] > r[SECOND]) or r[KEY] == 1)
            for r in rows
        ),
    ),
    "different_columns": (
        {**OF_NUMBER, "second": SECOND},
        lambda rows: sum(apart(r[NUMBER], r[SECOND]) for r in rows),
    ),
    "row_count": ({}, len),
    "distinct_count": (COLUMN, lambda rows: len(set(known(rows, TEXT)))),
    "column_sum": (OF_NUMBER, lambda rows: sum(v) if (v := known(rows, NUMBER)) else None),
    "column_average": (OF_NUMBER, lambda rows: average(known(rows, NUMBER))),
    "column_minimum": (OF_NUMBER, lambda rows: min(known(rows, NUMBER), default=None)),
    "column_maximum": (OF_NUMBER, lambda rows: max(known(rows, NUMBER), default=None)),
    "age_of_newest": (
        {"column": MOMENT},
        lambda rows: (NOW - max(v)).total_seconds() / 3_600 if (v := known(rows, MOMENT)) else None,
    ),
    "row_count_difference": (REFERENCE, lambda rows: abs(len(rows) - len(OTHERS))),
    "sum_difference": (
        {**OF_NUMBER, **REFERENCE, "other_column": OTHER_NUMBER},
        lambda rows: abs(sum(known(rows, NUMBER)) - sum(others(1))),
    ),
    "orphan_keys": (KEYS, lambda rows: sum(v not in others(0) for v in known(rows, KEY))),
    "missing_keys": (KEYS, lambda rows: len(set(others(0)) - set(known(rows, KEY)))),
    "different_values": (
        {
            "key": KEY,
            "column": NUMBER,
            **REFERENCE,
            "other_key": OTHER_KEY,
            "other_column": OTHER_NUMBER,
        },
        lambda rows: sum(
            apart(r[NUMBER], there)
            for r in rows
            for key, there in OTHERS
            if key is not None and r[KEY] == key
        ),
    ),
}
MEASURED = {
    "row_count_change": "row_count",
    "sum_change": "column_sum",
    "average_change": "column_average",
    "distinct_count_change": "distinct_count",
    "empty_share_change": "empty_share",
}


def change(name: str, numbers: Sequence[Value]) -> Value:
    """What a template about a change observes for the last of these days; None for Empty."""
    kind, _, periods = name.rpartition("_")
    on_average = kind.endswith("_from_average")
    *past, now = numbers
    if now is None:
        return None
    # Days without a number are none of the past.
    before = [one for one in past if one is not None][-int(periods) :]
    if len(before) < int(periods):
        return None
    then = average(before) if on_average else before[0]
    assert then is not None
    if name.startswith("empty_share"):
        return abs(now - then)
    if then == 0:
        return math.inf if now else 0.0
    return abs(now - then) / abs(then)


def rules(names: Sequence[str], **fields: Any) -> list[dq.TemplateRule]:
    return [
        dq.TemplateRule(
            name=name,
            template=name,
            parameters=PLAIN[measured(name)][0],
            fails_when="> 2",
            **fields,
        )
        for name in names
    ]


def measured(name: str) -> str:
    return next((one for start, one in MEASURED.items() if name.startswith(f"{start}_")), name)


def own_queries() -> list[str]:
    """The templates that are more than aggregates of the rows."""
    return [name for name in PLAIN if isinstance(rules([name])[0].metrics()[0], QueryNumber)]


def check(outcome: dq.Outcome, right: Value, rows: int) -> list[str]:
    """What is wrong with an outcome."""
    where = f"{outcome.rule.name} on {outcome.partition}: {outcome.message}"
    if right is None:
        return [] if str(outcome.status) == "Empty" else [f"{where} (should be Empty)"]
    found = outcome.observed
    close = found is not None and math.isclose(float(found), right, rel_tol=1e-9, abs_tol=1e-9)
    status = "Error" if right > 2 else "Ok"
    fine = close and str(outcome.status) == status and outcome.rows == rows
    return [] if fine else [f"{where} (should be {right}, {status})"]


def test_every_template_has_an_oracle() -> None:
    assert len(LIBRARY) >= 20
    assert {measured(name) for name in LIBRARY} == set(PLAIN)
    assert own_queries() == [
        "repeated_keys",
        "row_count_difference",
        "sum_difference",
        "orphan_keys",
        "missing_keys",
        "different_values",
    ]


@pytest.fixture(scope="module")
def by_day() -> dict[str | None, list[dict[str, Any]]]:
    every = dicts(ROWS)
    keys: list[str | None] = [day.isoformat() for day in DAYS]
    return {None: every} | {key: [row for row in every if row[DAY] == key] for key in keys}


def test_templates_in_the_pass_of_all_rules(
    spark: SparkSession, by_day: dict[str | None, list[dict[str, Any]]]
) -> None:
    names = [name for name in LIBRARY if measured(name) not in own_queries()]
    data = spark.createDataFrame(ROWS, ", ".join(_types(NAMES, SCHEMA)))
    asked = rules(names, scope="both")
    # One for all of them, but for the two that tell values apart.
    kinds = [one.kind for one in dq.explain(asked).passes]
    assert kinds == [PassKind.AGGREGATE] * 3
    found = dq.evaluate(data, asked, partition_by=f"`{DAY}`", now=NOW, samples=False)
    wrong: list[str] = []
    for outcome in found.outcomes:
        name, rows = outcome.rule.name, by_day[outcome.partition]
        number = PLAIN[measured(name)][1]
        if name in PLAIN:
            right = number(rows)
        elif outcome.partition is None:
            right = None
        else:
            until = [d.isoformat() for d in DAYS if d.isoformat() <= outcome.partition]
            right = change(name, [number(by_day[day]) for day in until])
        wrong += check(outcome, right, len(rows))
    assert wrong[:5] == []
    assert len(found.outcomes) == len(names) * (len(DAYS) + 1)


def test_templates_that_are_queries_of_their_own(
    spark: SparkSession, by_day: dict[str | None, list[dict[str, Any]]]
) -> None:
    data = spark.createDataFrame(ROWS, ", ".join(_types(NAMES, SCHEMA)))
    there = ", ".join(_types((OTHER_KEY, OTHER_NUMBER), "int, double"))
    found = dq.evaluate(
        data,
        rules(own_queries(), scope="both"),
        partition_by=f"`{DAY}`",
        partitions=[DAYS[3].isoformat()],
        references={"others": spark.createDataFrame(OTHERS, there)},
        samples=False,
    )
    wrong = [
        text
        for one in found.outcomes
        for text in check(
            one, PLAIN[one.rule.name][1](by_day[one.partition]), len(by_day[one.partition])
        )
    ]
    assert wrong == []
    assert len(found.outcomes) == 2 * len(own_queries())


def _types(names: Sequence[str], kinds: str) -> list[str]:
    quoted = [f"`{name.replace('`', '``')}`" for name in names]
    return [f"{name} {kind}" for name, kind in zip(quoted, kinds.split(", "), strict=True)]
