"""Says in words where an outcome of the library differs from the oracle's verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dq_dagster import Outcome
from tests.oracle.values import exactly, is_nan
from tests.oracle.verdicts import ANYTHING, BADNESS, Verdict


def differences(outcome: Outcome, right: Verdict) -> list[str]:
    return list(_differences(outcome, right))


def _differences(outcome: Outcome, right: Verdict) -> Iterator[str]:
    if outcome.rows != right.rows and not _may_be_refused(right):
        yield f"rows {outcome.rows}, not {right.rows}"
    if outcome.failed_rows != right.failed_rows:
        yield f"failed_rows {outcome.failed_rows}, not {right.failed_rows}"
    if not outcome.message.endswith((".", "?")):
        yield f"a message that is no sentence: {outcome.message!r}"
    if not right.by_column:
        yield from _one(outcome.status, outcome.observed, right)
        return
    columns: Mapping[str, Any] = outcome.details["columns"]
    for name, verdict in right.by_column.items():
        found = columns[name]
        for words in _one(found["status"], outcome.observed[name], verdict):
            yield f"column {name!r}: {words}"
    yield from _policy(outcome.status, columns, right)


def _may_be_refused(right: Verdict) -> bool:
    """Whether an Error without any numbers would be right, for one of the columns at least."""
    verdicts = right.by_column.values() or [right]
    return any(one.observed is ANYTHING or one.may_refuse for one in verdicts)


def _policy(status: str, columns: Mapping[str, Any], right: Verdict) -> Iterator[str]:
    worst = max((found["status"] for found in columns.values()), key=BADNESS.__getitem__)
    expected = right.status if worst == "Empty" else worst
    if status != expected:
        yield f"status {status}, not {expected}"


def _one(status: str, observed: Any, right: Verdict) -> Iterator[str]:
    if right.may_refuse and (status, observed) == ("Error", None):
        return
    if status != right.status and status not in right.also:
        yield f"status {status}, not {right.status}"
    if not same(observed, right.observed, right.slack):
        yield f"observed {observed!r}, not {right.observed!r}"


def same(observed: Any, right: Any, slack: Fraction) -> bool:
    if right is ANYTHING:
        return True
    if observed is None or right is None:
        return observed is right
    if is_nan(observed) or is_nan(right):
        return is_nan(observed) and is_nan(right)
    found = exactly(observed)
    if slack and not (isinstance(found, float) and math.isinf(found)):
        # The value may have been rounded to a double once more.
        return abs(found - right) <= slack + abs(right) / 10**15
    return bool(found == right)
