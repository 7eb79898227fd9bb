"""A wrong answer must not count as a fast one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

import dq_dagster as dq
from dq_dagster.spark.passes.blocks.workers import SETTING
from examples.bench.references import by_day, by_hand
from examples.bench.suites import EVERYDAY, scoped

_Answers = Mapping[str, Any]


def evaluate(frame: DataFrame, rules: Sequence[dq.Rule]) -> dq.Evaluation:
    """What is measured; a rule that could not be must not count as a fast one."""
    result = dq.evaluate(frame, rules, samples=False)
    wrong = [outcome.message for outcome in result if "error" in outcome.details]
    if wrong:
        raise SystemExit("\n".join(["Rules could not be measured:", *wrong]))
    return result


def evaluate_days(
    frame: DataFrame, days: Sequence[str] | None = None, *, rules: Sequence[dq.Rule] = EVERYDAY
) -> dq.Evaluation:
    """The rules on these days, or all there are, and on the whole table at once."""
    both = scoped(rules, "both")
    return dq.evaluate(frame, both, partition_by="day", partitions=days, samples=False)


def by_sql(frame: DataFrame, run: Callable[[], dq.Evaluation]) -> dq.Evaluation:
    """The same without Python on Spark's workers."""
    session = frame.sparkSession
    session.conf.set(SETTING, "false")
    try:
        return run()
    finally:
        session.conf.unset(SETTING)


def require_equal_answers(frame: DataFrame) -> None:
    """Suite A by rules and by hand gives the same numbers."""
    require_same("the table", answers(evaluate(frame, EVERYDAY)), by_hand(frame))


def require_equal_days(frame: DataFrame) -> None:
    """So does suite B: on the whole table, on each day as a groupBy, and on one day in full."""
    found = evaluate_days(frame)
    require_same("the table", answers(found), by_hand(frame))
    grouped = by_day(frame)
    for day, theirs in grouped.items():
        ours = answers(found, day)
        require_same(day, {name: ours.get(name) for name in theirs}, theirs)
    first = min(grouped)
    require_same(first, answers(found, first), by_hand(frame.where(f"day = DATE'{first}'")))


def answers(outcomes: Iterable[dq.Outcome], partition: str | None = None) -> dict[str, Any]:
    """By rule, what was found on one partition, or on the whole table."""
    return {one.rule.name: _answer(one) for one in outcomes if one.partition == partition}


def require_same(where: str, ours: _Answers, theirs: _Answers) -> None:
    different = [
        f"{name}: {ours.get(name)} by rules, {theirs.get(name)} by hand"
        for name in sorted(ours.keys() | theirs.keys())
        if not _same(ours.get(name), theirs.get(name))
    ]
    if different:
        raise SystemExit("\n".join([f"Rules and work by hand differ on {where}:", *different]))


def _answer(outcome: dq.Outcome) -> Any:
    if outcome.failed_rows is not None:
        return outcome.failed_rows
    return outcome.observed[0] if isinstance(outcome.observed, list) else outcome.observed


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    if isinstance(one, str):
        return bool(one == other)
    # Spark's average of decimals has six digits.
    return math.isclose(float(one), float(other), rel_tol=1e-8)
