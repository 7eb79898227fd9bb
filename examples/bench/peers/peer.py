"""What another tool is to the benchmark: the rules it can express, and how it answers them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import dq_dagster as dq
from examples.bench.answers import evaluate, evaluate_days
from examples.bench.suites import EVERYDAY, NOT_EMPTY


@dataclass(frozen=True)
class Answer:
    """Whether a rule holds, and rows that break it or its value, if that is what ours counts."""

    passed: bool
    number: Any = None


Answers: TypeAlias = Mapping[str, Answer]
# By day; the whole table is None.
AnswersByDay: TypeAlias = Mapping[str | None, Answers]


@dataclass(frozen=True)
class Peer:
    """A package, what it says for which of our rules, and how it is run.

    What prepares a run is not measured. ``own`` are modules of which it needs its own version.
    """

    package: str
    module: str
    says: Mapping[str, Any]
    whole: Callable[[DataFrame], Callable[[], Answers]]
    by_day: Callable[[DataFrame, Sequence[str]], Callable[[], AnswersByDay]]
    own: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[dq.Rule, ...]:
        return tuple(rule for rule in EVERYDAY if rule.name in self.says)


def one_by_one(
    whole: Callable[[DataFrame], Callable[[], Answers]],
    frame: DataFrame,
    days: Sequence[str],
) -> Callable[[], AnswersByDay]:
    """One day after the other, then the whole table: for tools that know tables only."""
    runs = {day: whole(of_day(frame, day)) for day in days}
    every = whole(frame)
    return lambda: {**{day: run() for day, run in runs.items()}, None: every()}


def of_day(frame: DataFrame, day: str) -> DataFrame:
    return frame.where(F.col("day") == F.lit(day).cast("date"))


def faulty(frame: DataFrame) -> DataFrame:
    """Orders that break all everyday rules, so that an answer of always yes is found out."""
    n = "order_id DIV 1000"
    missing = {column: f"IF({n} % 7 = 0, NULL, {column})" for column in NOT_EMPTY}
    broken = {
        **missing,
        "order_id": f"IF({n} % 7 = 0, NULL, {n} DIV 2)",
        "payment": f"IF({n} % 7 = 0, NULL, 'the same')",
        "quantity": f"CASE {n} % 5 WHEN 0 THEN 0 WHEN 1 THEN 99 ELSE quantity END",
        "amount": "CAST(amount - 60000 AS DECIMAL(12, 2))",
        "unit_price": "unit_price * 1000",
        "weight": "weight + 100",
        "country": f"CASE {n} % 7 WHEN 0 THEN NULL WHEN 1 THEN 'XX' ELSE 'FR' END",
        "currency": f"CASE {n} % 7 WHEN 0 THEN NULL WHEN 1 THEN 'eur' ELSE currency END",
        "status": f"CASE {n} % 7 WHEN 0 THEN NULL WHEN 1 THEN 'lost' ELSE status END",
        "discount": f"IF({n} % 5 = 0, 0.9D, discount)",
        "tax_rate": f"IF({n} % 5 = 0, CAST(0.5 AS DECIMAL(5, 4)), tax_rate)",
        "phone": f"IF({n} % 5 = 0, 'none', phone)",
    }
    return frame.withColumns({name: F.expr(sql) for name, sql in broken.items()} | {"x": F.lit(1)})


def require_same_answers(peer: Peer, frame: DataFrame) -> None:
    """On the whole table it says what our rules say."""
    outcomes = list(evaluate(frame, peer.rules))
    _require(peer, {None: outcomes}, {None: peer.whole(frame)()})


def require_same_days(peer: Peer, frame: DataFrame, days: Sequence[str]) -> None:
    """So it does on each of these days, and on the whole table."""
    ours: dict[str | None, list[dq.Outcome]] = {}
    for outcome in evaluate_days(frame, days, rules=peer.rules):
        ours.setdefault(outcome.partition, []).append(outcome)
    _require(peer, ours, peer.by_day(frame, days)())


def _require(
    peer: Peer, ours: Mapping[str | None, Sequence[dq.Outcome]], theirs: AnswersByDay
) -> None:
    different = [
        text
        for day, outcomes in ours.items()
        for text in differences(outcomes, theirs.get(day, {}), day or "the whole table")
    ]
    if different:
        raise WrongAnswers(peer.package, different)


class WrongAnswers(Exception):
    """A peer answers something else than our rules do."""

    def __init__(self, package: str, different: Sequence[str]) -> None:
        super().__init__("\n    ".join([f"{package} answers differently:", *different]))


def differences(outcomes: Sequence[dq.Outcome], answers: Answers, where: str) -> list[str]:
    """In words; rules without an answer, and answers without a rule, are differences too."""
    wanted = {outcome.rule.name: outcome for outcome in outcomes}
    found = partial("{}: {}, where ours says {}, on {}".format)
    return [
        found(name, answers.get(name), _said(wanted.get(name)), where)
        for name in sorted({*wanted, *answers})
        if name not in wanted or name not in answers or not _same(wanted[name], answers[name])
    ]


def _said(outcome: dq.Outcome | None) -> str:
    return "nothing" if outcome is None else f"{outcome.status} ({outcome.message})"


def _same(outcome: dq.Outcome, answer: Answer) -> bool:
    if (outcome.status == dq.Status.OK) != answer.passed:
        return False
    if answer.number is None:
        return True
    ours = outcome.observed if outcome.failed_rows is None else outcome.failed_rows
    ours = ours[0] if isinstance(ours, list) else ours
    if isinstance(ours, str):
        return bool(ours == answer.number)
    return ours is not None and math.isclose(float(ours), float(answer.number), rel_tol=1e-8)
