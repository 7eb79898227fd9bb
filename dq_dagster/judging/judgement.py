"""The verdict on one rule, before it is tied to a slice and recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from dq_dagster.judging.wording import listing

if TYPE_CHECKING:
    from dq_dagster.judging.typical import TypicalFinding


class Status(StrEnum):
    """What one evaluation of a rule says; from best to worst."""

    NOT_COMPUTED = "NotComputed"
    OK = "Ok"
    EMPTY = "Empty"
    WARNING = "Warning"
    ERROR = "Error"


BADNESS = {status: rank for rank, status in enumerate(Status)}


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of the given statuses; NotComputed if there are none."""
    return max(statuses, key=BADNESS.__getitem__, default=Status.NOT_COMPUTED)


# What statuses count in quality scores; Empty and NotComputed say nothing.
WORTH = {Status.OK: 1.0, Status.WARNING: 0.5, Status.ERROR: 0.0}


def worth(*, ok: int, warning: int, error: int) -> float | None:
    """The value of a rule of which so many slices have these statuses."""
    judged = ok + warning + error
    return (WORTH[Status.OK] * ok + WORTH[Status.WARNING] * warning) / judged if judged else None


def score(rules: Iterable[tuple[float, float | None]]) -> float | None:
    """The score of rules, from 0 to 100: each with its weight and its value."""
    total = reached = 0.0
    for weight, value in rules:
        if value is not None:
            total += weight
            reached += weight * value
    return round(100 * reached / total, 1) if total > 0 else None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A status, what was observed, and one sentence that says so with numbers.

    ``limits`` are the bounds as ``observed`` compares with them, where ``bounds`` are of something
    else: of shares where rows are counted, of good rows, or of single values. ``columns`` are the
    verdicts on single columns where there are several, ``typical`` is what change detection found.
    ``details`` is whatever else a rule has to say, as plain data.
    """

    status: Status
    message: str
    observed: Any = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    expected: str = ""
    rows: int | None = None
    failed_rows: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Judgement] = field(default_factory=dict)
    typical: TypicalFinding | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def error(cls, failure: Exception) -> Self:
        """The verdict on a rule that could not be answered."""
        details = {"error": type(failure).__name__}
        return cls(Status.ERROR, str(failure), details=details)

    @classmethod
    def of_nothing(cls, reason: str, **fields: Any) -> Self:
        """The verdict where there is nothing to judge, and why."""
        words = f"{reason[:1].lower()}{reason[1:]}"
        return cls(Status.EMPTY, f"Nothing to judge: {words}.", **fields)

    @classmethod
    def of_no_rows(cls) -> Self:
        return cls.of_nothing("there are no rows", rows=0, failed_rows=0)

    @classmethod
    def of_no_partition(cls, asset: str, partition: str) -> Self:
        return cls.of_nothing(
            f"partition '{partition}' of asset '{asset}' has never been materialized"
        )

    @classmethod
    def of_no_values(cls, column: str) -> Self:
        return cls.of_nothing(f"'{column}' has no value", rows=0, failed_rows=0)

    @classmethod
    def of_columns(cls, by_column: Mapping[str, Judgement]) -> Judgement:
        """The worst verdict of several columns; its message names the columns that caused it."""
        if len(by_column) == 1:
            return next(iter(by_column.values()))
        status = worst(judgement.status for judgement in by_column.values())
        causes = {name: j for name, j in by_column.items() if j.status is status}
        return cls(
            status,
            _joint_message(status, causes, of=len(by_column)),
            observed={name: j.observed for name, j in by_column.items()},
            bounds=_common({name: j.bounds for name, j in by_column.items() if j.bounds}, {}),
            expected=_expected({name: j.expected for name, j in by_column.items() if j.expected}),
            rows=_largest(j.rows for j in by_column.values()),
            failed_rows=_largest(j.failed_rows for j in by_column.values()),
            columns=dict(by_column),
            limits=_common({name: j.limits for name, j in by_column.items() if j.limits}, {}),
        )

    def record(self) -> dict[str, Any]:
        """The details as plain data, with those of columns and of change detection."""
        found = dict(self.details)
        if self.columns:
            found["columns"] = {name: one.summary() for name, one in self.columns.items()}
        if self.typical is not None:
            found["typical"] = self.typical.record()
        return found

    def summary(self) -> dict[str, Any]:
        """What is said of one column among several."""
        kept = {
            "status": self.status,
            "observed": self.observed,
            "rows": self.rows,
            "failed_rows": self.failed_rows,
            "message": self.message,
            "typical": None if self.typical is None else self.typical.record(),
        }
        return {key: value for key, value in kept.items() if value is not None}


def _joint_message(status: Status, causes: Mapping[str, Judgement], *, of: int) -> str:
    if status is Status.OK:
        return f"{'Both' if of == 2 else f'All {of:,}'} columns are as expected: {listing(causes)}."
    sentences = [judgement.message for judgement in list(causes.values())[:3]]
    if len(causes) > 3:
        sentences.append(f"Likewise {listing(list(causes)[3:])}, of {of:,} columns.")
    return " ".join(sentences)


def _largest(counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return max(known, default=None)


def _common(by_column: Mapping[str, Any], nothing: Any) -> Any:
    """What all columns share; by column if they differ."""
    given = list(by_column.values())
    if not given:
        return nothing
    return given[0] if all(one == given[0] for one in given) else dict(by_column)


def _expected(by_column: Mapping[str, str]) -> str:
    shared = _common(by_column, "")
    if isinstance(shared, str):
        return shared
    return "; ".join(f"'{name}': {expected}" for name, expected in by_column.items())


_VOLUMES = ((10, 0.25), (100, 0.5), (1_000, 0.75), (10_000, 1.0), (100_000, 1.25))
_LARGEST = 1.5


def impact(failed: int, rows: int) -> float:
    """Between 0 (nothing fails) and 1 (everything fails in a large group)."""
    if rows <= 0:
        return 0.0
    volume = next((weight for limit, weight in _VOLUMES if rows < limit), _LARGEST)
    score = (failed / rows) ** 2 * volume * min(1.0, rows / 100) / _LARGEST
    return round(min(1.0, max(0.0, score)), 4)
