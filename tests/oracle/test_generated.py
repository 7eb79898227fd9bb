"""Every rule type against plain Python, on generated tables.

One Spark query answers 195 rules on one table; a table for every rule would take an hour and find
no more. ``test_there_are_enough_cases`` keeps the numbers honest.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import RULE_TYPES
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.generate import Table, table
from tests.oracle.plain import expected
from tests.oracle.rules import MAKERS, rules
from tests.oracle.verdicts import ORACLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 22
RULES = 195
ENOUGH = 200


def test_every_rule_type_has_an_oracle_and_a_generator() -> None:
    assert set(ORACLES) == set(RULE_TYPES)
    assert set(MAKERS) == set(RULE_TYPES)


def test_there_are_enough_cases() -> None:
    cases: Counter[str] = Counter()
    verdicts: dict[str, set[str]] = {name: set() for name in ORACLES}
    for seed in range(TABLES):
        given = table(seed)
        rows = given.rows()
        for rule in rules(seed, given, RULES):
            cases[rule["type"]] += 1
            verdicts[rule["type"]].add(expected(rule, rows, given.types).status)
    assert {name: count for name, count in cases.items() if count < ENOUGH} == {}
    never_empty = {"record_count_in_range", "column_count_in_range"}
    for name, seen in verdicts.items():
        wanted = {"Ok", "Warning", "Error"} | (set() if name in never_empty else {"Empty"})
        assert seen == wanted, name


@pytest.mark.parametrize("seed", range(TABLES))
def test_rules_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    given = table(seed)
    asked = rules(seed, given, RULES)
    evaluation = dq.evaluate(frame(spark, given), asked)
    assert [outcome.rule.name for outcome in evaluation] == [rule["name"] for rule in asked]
    rows = given.rows()
    wrong = [
        _report(rule, outcome, found, given)
        for rule, outcome in zip(asked, evaluation, strict=True)
        if (found := differences(outcome, expected(rule, rows, given.types)))
    ]
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:5])


def _report(rule: dict[str, Any], outcome: dq.Outcome, found: list[str], given: Table) -> str:
    listed = rule.get("columns", ())
    names = [listed] if isinstance(listed, str) else listed
    columns = [column for column in given.columns if column.name in names]
    data = [(column.name, column.kind, list(column.values)) for column in columns]
    return f"{rule}\n  {found}\n  {outcome.message}\n  {data}"
