"""Every rule type against plain Python, on 200 generated tables.

A query costs Spark far more than a row does, so 25 tables are the partitions of one sheet, and a
sheet is asked many rules at once: on each table, and on all rows of the sheet together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.plain import expected
from tests.oracle.rules import MAKERS, rules
from tests.oracle.sheets import PART, Sheet, sheet
from tests.oracle.verdicts import ORACLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHEETS = 8
TABLES = 25
OF_EACH_TYPE = 5
RULES = OF_EACH_TYPE * len(MAKERS)


def test_every_oracle_has_a_generator() -> None:
    assert set(ORACLES) == set(MAKERS)
    assert SHEETS * TABLES >= 200


@pytest.mark.deep
def test_the_cases_lead_to_every_verdict() -> None:
    verdicts: dict[str, set[str]] = {name: set() for name in ORACLES}
    for seed in range(SHEETS):
        given = sheet(seed, TABLES)
        types = given.together.types
        for rule in rules(seed, given.together, RULES):
            for rows in given.rows().values():
                verdicts[rule["type"]].add(expected(rule, rows, types).status)
    never_empty = {"record_count_in_range", "column_count_in_range"}
    # These hold or not; only on_empty makes a Warning of them.
    never_soft = {"agg_dq", "column_top_values_in_set", "column_most_frequent_in_set"}
    for name, seen in verdicts.items():
        wanted = {"Ok", "Error"} | (set() if name in never_empty else {"Empty"})
        wanted |= set() if name in never_soft else {"Warning"}
        assert wanted <= seen <= wanted | {"Warning"}, name


@pytest.mark.parametrize("seed", deep_after(1, range(SHEETS)))
def test_rules_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    given = sheet(seed, TABLES)
    together = given.together
    asked = [{**rule, "scope": "both"} for rule in rules(seed, together, RULES)]
    evaluation = dq.evaluate(
        frame(spark, together), asked, partition_by=PART, partitions=given.keys, samples=False
    )
    rows: dict[str | None, list[dict[str, Any]]] = dict(given.rows().items())
    rows[None] = together.rows()
    assert [(o.rule.name, o.partition) for o in evaluation] == [
        (rule["name"], key) for rule in asked for key in rows
    ]
    by_name = {rule["name"]: rule for rule in asked}
    wrong = [
        _report(rule, outcome, found, given)
        for outcome in evaluation
        for rule in [by_name[outcome.rule.name]]
        if (found := differences(outcome, expected(rule, rows[outcome.partition], together.types)))
    ]
    assert not wrong, f"{len(wrong)} outcomes differ:\n" + "\n".join(wrong[:5])


def _report(rule: dict[str, Any], outcome: dq.Outcome, found: list[str], given: Sheet) -> str:
    listed = rule.get("columns", ())
    names = [listed] if isinstance(listed, str) else listed
    tables = dict(zip(given.keys, given.tables, strict=True))
    table = tables.get(str(outcome.partition), given.together)
    data = [(c.name, c.kind, list(c.values)) for c in table.columns if c.name in names]
    return f"{rule}\n  {outcome.partition}: {found}\n  {outcome.message}\n  {data}"
