"""Which of many broken rules decides: 100 columns, 200 rules on rows, 15 on all rows together.

On one row 10 rules fail, and 4 of those about all rows together. If one of the 10 says ``fail``,
the job fails; else if one says ``drop``, the row is dropped; else it is in the table and in the
quarantine. Rules about all rows together fail the job if they say so; what they found is on record
either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.depth import deep_after
from tests.integration.guarded.gate import Gate, built, judged, rule, stopping, why

COLUMNS = [f"c{n}" for n in range(100)]
ROWS = 20
# The row, and the columns, which the 10 rules find fault with.
PARTICULAR, BROKEN = 7, COLUMNS[40:50]


def table(spark: SparkSession) -> DataFrame:
    rows = [
        (number, *(-1 if number == PARTICULAR and name in BROKEN else number for name in COLUMNS))
        for number in range(ROWS)
    ]
    return spark.createDataFrame(rows, f"id int, {', '.join(f'{name} int' for name in COLUMNS)}")


def row_rules(actions: Sequence[str]) -> list[Any]:
    """Two rules a column; the actions are those of the ten that fail."""
    chosen = dict(zip(BROKEN, actions, strict=True))
    signs = [
        rule(
            "row_dq",
            name=f"sign_{name}",
            expectation=f"{name} >= 0",
            # Others say fail and drop as well: what does not happen does not act.
            action_if_failed=chosen.get(name, ["fail", "drop", "ignore"][place % 3]),
        )
        for place, name in enumerate(COLUMNS)
    ]
    filled = [
        dq.ColumnNotEmpty(name=f"filled_{name}", columns=name, action_if_failed="fail")
        for name in COLUMNS
    ]
    return [*signs, *filled]


def rules_of_all_rows(actions: Sequence[str]) -> list[Any]:
    """Ten expectations and five queries; two of each fail, with these actions."""
    first, second, third, fourth = actions
    expectations = [
        rule("agg_dq", name="agg_0", expectation="sum(c0) < 0", action_if_failed=first),
        rule("agg_dq", name="agg_1", expectation="max(c1) < 0", action_if_failed=second),
        *(
            rule("agg_dq", name=f"agg_{n}", expectation=f"count(c{n}) > 0", action_if_failed="fail")
            for n in range(2, 10)
        ),
    ]
    return [*expectations, *queries(third, fourth)]


def queries(third: str, fourth: str) -> list[Any]:
    """A comparison and a whole query fail; of the others, one cannot ride in the pass of all."""
    texts = {
        "(select min(c2) from {table}) < 0": third,
        "select count(*) <= 5 from {table}": fourth,
        "(select max(c2) from {table}) > (select min(c2) from {table})": "fail",
        "(select max(n) from (select count(*) n from {table} group by c3)) = 1": "fail",
        "select max(c4) >= 0 from {table}": "fail",
    }
    return [
        rule("query_dq", name=f"query_{n}", expectation=sql, action_if_failed=action)
        for n, (sql, action) in enumerate(texts.items())
    ]


@dataclass(frozen=True)
class Scenario:
    """What ten broken rules of one row and four of all rows say, and what follows."""

    rows: Sequence[str]
    aggregates: Sequence[str]
    fails: bool
    in_table: bool = False
    in_quarantine: str = "withheld"


SCENARIOS = {
    "rows that fail": Scenario(
        ["ignore"] * 4 + ["drop"] * 5 + ["fail"], ["ignore"] * 4, fails=True
    ),
    "rows to drop": Scenario(
        ["ignore"] * 9 + ["drop"], ["ignore"] * 4, fails=False, in_quarantine="left_out"
    ),
    "rows to keep": Scenario(
        ["ignore"] * 10, ["ignore"] * 4, fails=False, in_table=True, in_quarantine="kept"
    ),
    "an aggregate that fails": Scenario(
        ["ignore"] * 10, ["ignore", "fail", "ignore", "ignore"], fails=True
    ),
    "a query that fails": Scenario(
        ["drop"] * 10, ["ignore", "ignore", "ignore", "fail"], fails=True
    ),
    "all that can fail": Scenario(["fail"] * 10, ["fail"] * 4, fails=True),
}


@pytest.mark.parametrize(
    "scenario", deep_after(3, [pytest.param(one, id=name) for name, one in SCENARIOS.items()])
)
def test_the_hierarchy(spark: SparkSession, tmp_path: Path, scenario: Scenario) -> None:
    rules = [*row_rules(scenario.rows), *rules_of_all_rows(scenario.aggregates)]
    assert len(rules) == 215
    gate = Gate(tmp_path, table(spark), rules)
    # All rules act, whichever checks are selected.
    run = gate.build(job="asset_alone")
    assert run.success != scenario.fails
    broken = sorted(f"sign_{name}" for name in BROKEN)
    assert gate.quarantined() == {PARTICULAR: (scenario.in_quarantine, broken)}
    if scenario.fails:
        assert built(run) == [("orders_quarantine", None)]
        assert not (tmp_path / "orders" / "dq_dataset").exists()
        assert why(run).startswith("Nothing of 'orders' was published. ")
        named = [*(f"sign_{name}" for name in BROKEN), "agg_0", "agg_1", "query_0", "query_1"]
        actions = [*scenario.rows, *scenario.aggregates]
        assert stopping(run) == [
            name for name, action in zip(named, actions, strict=True) if action == "fail"
        ]
    else:
        expected = [n for n in range(ROWS) if scenario.in_table or n != PARTICULAR]
        assert gate.ids() == expected
    on_record(gate, scenario)


def on_record(gate: Gate, scenario: Scenario) -> None:
    [record] = gate.stats()
    assert record["status"] == ("withheld" if scenario.fails else "published")
    assert (record["rows_in"], record["rows_good"]) == (ROWS, ROWS - 1)
    rules = record["rules"]
    failed = {name for name, one in rules.items() if "Error" in one.values()}
    assert failed == {
        *(f"sign_{name}" for name in BROKEN),
        "agg_0",
        "agg_1",
        "query_0",
        "query_1",
    }
    assert {rules[f"sign_{name}"]["faults"] for name in BROKEN} == {1}
    for name, action in zip(
        ["agg_0", "agg_1", "query_0", "query_1"], scenario.aggregates, strict=True
    ):
        assert rules[name] == {"action": action, "source": "Error", "validated": "Error"}


@pytest.mark.deep
def test_each_of_the_215_checks_has_its_result(spark: SparkSession, tmp_path: Path) -> None:
    scenario = SCENARIOS["all that can fail"]
    rules = [*row_rules(scenario.rows), *rules_of_all_rows(scenario.aggregates)]
    gate = Gate(tmp_path, table(spark), rules)
    found = judged(gate.build())
    assert len(found) == 215
    assert list(found.values()).count("Error") == 14
    assert list(found.values()).count("Ok") == 201
