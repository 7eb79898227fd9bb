"""Conditions on queries against plain Python, on many small tables.

They are those on aggregates, with a subquery in the place of each aggregate. Each is judged twice:
as it is, in the pass of all rules, and with a limit, which makes it a query of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.conditions import PassKind
from tests.depth import deep_after
from tests.oracle.aggregates import values_of, verdict
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.sql import answer, predicate
from tests.oracle.test_aggregates import BURDENED
from tests.oracle.test_aggregates import Case as AggregateCase
from tests.oracle.test_aggregates import cases as cases_of_aggregates
from tests.oracle.verdicts import ANYTHING, NOTHING, Verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = (0, 1, BURDENED)
# A query of its own takes a job or two, so that not all of them are asked.
MOST_CASES = 20


@dataclass(frozen=True, slots=True)
class Case:
    """A case of aggregates as queries, which may see some of the rows only."""

    plain: AggregateCase
    within: str | None

    def rule(self, *, own: bool) -> dq.QueryExpectation:
        fields = {key: one for key, one in self.plain.rule.items() if key not in {"type", "name"}}
        name = f"{self.plain.rule['name']} {'own' if own else 'shared'}"
        return dq.QueryExpectation(**{**fields, "expectation": self._text(own=own), "name": name})

    def right(self) -> Verdict:
        rows = self.plain.rows()
        seen = [row for row in rows if self.within is None or answer(self.within, row) is True]
        found = verdict(self.plain.rule, seen)
        if found is NOTHING and rows:
            # The queries see nothing, but there is something to judge.
            passes = self.plain.rule["null_is"] == "pass"
            return Verdict("Ok" if passes else "Error", ANYTHING, rows=len(rows))
        return found if found.rows is None else replace(found, rows=len(rows))

    def _text(self, *, own: bool) -> str:
        expectation = self.plain.rule["expectation"]
        calls = sorted(values_of(expectation, []), key=len, reverse=True)
        where = f" where {self.within}" if self.within else ""
        limit = " limit 1" if own else ""
        return re.sub(
            "|".join(map(re.escape, calls)),
            lambda call: f"(select {call[0]} from {{table}}{where}{limit})",
            expectation,
        )


def cases(seed: int) -> Iterator[Case]:
    random = Random(seed)
    for plain in cases_of_aggregates(seed)[:MOST_CASES]:
        column = random.choice(plain.columns)
        narrow = random.random() < 0.5
        yield Case(plain, predicate(random, column.name, column.kind) if narrow else None)


def kinds(rule: dq.Rule) -> set[Any]:
    return {metric.kind for metric in rule.metrics()}


def test_there_are_cases_of_each_sort() -> None:
    every = [case for seed in SEEDS for case in cases(seed)]
    assert {case.right().status for case in every} == {"Ok", "Error", "Empty"}
    assert 20 < sum(case.within is not None for case in every) < len(every) - 10
    for case in every:
        assert kinds(case.rule(own=False)) == {PassKind.AGGREGATE}
        assert PassKind.QUERIES in kinds(case.rule(own=True))


@pytest.mark.parametrize("seed", deep_after(1, SEEDS))
def test_conditions_on_queries_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    asked = list(cases(seed))
    plain = [case.plain for case in asked]
    size = len(plain[0].columns[0].values)
    columns = [Column("id", "int", range(size)), *(c for case in plain for c in case.columns)]
    wide = frame(spark, Table(size, columns))
    asked_twice = [(case, case.rule(own=own)) for own in (False, True) for case in asked]
    outcomes = dq.evaluate(wide, [rule for _, rule in asked_twice])
    wrong = [
        f"{outcome.rule}\n  {found}\n  {outcome.message}\n  {case.plain.rows()}"
        for (case, rule), outcome in zip(asked_twice, outcomes, strict=True)
        if (found := list(differences(outcome, _right(case, rule))))
    ]
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:5])


def _right(case: Case, rule: dq.Rule) -> Verdict:
    right = case.right()
    # A query that is the condition itself has no value beside the answer.
    has_values = len(rule.metrics()) > 2
    return right if has_values or right.status == "Empty" else replace(right, observed=None)
