"""Tables of hand-written cases, all of which one evaluation answers.

Every case gets a column of its own; shorter ones are filled up with NULLs, which rules about
values leave out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dq_dagster as dq
from tests.oracle.comparing import same
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.values import exactly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNSAID: Any = object()


@dataclass(frozen=True, slots=True)
class Case:
    """Values of one column, a rule on it, and what must come out."""

    label: str
    kind: str
    values: Sequence[Any]
    rule: Mapping[str, Any]
    status: str
    observed: Any = UNSAID
    words: str = ""

    def check(self, outcome: dq.Outcome) -> None:
        assert outcome.status == self.status, outcome.message
        if self.observed is not UNSAID:
            assert same(outcome.observed, exactly(self.observed), exactly(0)), outcome.observed
        assert self.words in outcome.message


def rule(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def labels(cases: Sequence[Case]) -> list[str]:
    return [case.label for case in cases]


def judge_all(spark: SparkSession, cases: Sequence[Case]) -> dict[str, dq.Outcome]:
    size = max(len(case.values) for case in cases)
    columns = [
        Column(f"c{n}", case.kind, [*case.values, *[None] * (size - len(case.values))])
        for n, case in enumerate(cases)
    ]
    rules = [{**case.rule, "columns": f"c{n}", "name": f"c{n}"} for n, case in enumerate(cases)]
    evaluation = dq.evaluate(frame(spark, Table(size, columns)), rules, samples=False)
    return {case.label: outcome for case, outcome in zip(cases, evaluation, strict=True)}
