"""A wrong answer must not count as a fast one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

import dq_dagster as dq
from examples.bench.references import by_hand
from examples.bench.suites import EVERYDAY


def evaluate(frame: DataFrame, rules: Sequence[dq.Rule]) -> dq.Evaluation:
    """What is measured; the table holds nothing that a rule could complain about."""
    result = dq.evaluate(frame, rules)
    wrong = [outcome.message for outcome in result if not outcome.ok]
    if wrong:
        raise SystemExit("\n".join(["The data is good, yet rules say otherwise:", *wrong]))
    return result


def require_equal_answers(frame: DataFrame) -> None:
    """Suite A by rules and by hand gives the same numbers."""
    ours = {outcome.rule.name: _answer(outcome) for outcome in evaluate(frame, EVERYDAY)}
    theirs = by_hand(frame)
    different = [
        f"{name}: {ours.get(name)} by rules, {theirs.get(name)} by hand"
        for name in sorted(ours.keys() | theirs)
        if not _same(ours.get(name), theirs.get(name))
    ]
    if different:
        raise SystemExit("\n".join(["Rules and work by hand differ:", *different]))


def _answer(outcome: dq.Outcome) -> Any:
    if outcome.failed_rows is not None:
        return outcome.failed_rows
    return outcome.observed[0] if isinstance(outcome.observed, list) else outcome.observed


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    if isinstance(one, str):
        return bool(one == other)
    return math.isclose(float(one), float(other), rel_tol=1e-9)
