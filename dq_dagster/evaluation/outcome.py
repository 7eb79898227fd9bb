"""What one evaluation of one rule on one slice says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Self, TypeAlias

from dq_dagster.evaluation.html import html_of
from dq_dagster.evaluation.states import KeptStates
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.typical import TypicalFinding
from dq_dagster.metrics.conditions import Sample
from dq_dagster.rules.base.rule import Rule


def plain(value: Any) -> Any:
    """Numbers, texts, lists and mappings as they are or nearly so; of anything else, its class."""
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | int():
            return value
        case str():
            return str(value)
        case float():
            # NumPy's floats are Python floats too, but not to Dagster.
            return float(value) if math.isfinite(value) else str(float(value))
        case Decimal():
            return plain(float(value))
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _ if hasattr(value, "item"):
            return plain(value.item())
        case _:
            return type(value).__name__


_ON_EMPTY = {"warn": Status.WARNING, "error": Status.ERROR}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """What a rule says of one group of a slice, or of several put together."""

    name: str | None
    status: Status
    rows: int
    failed_rows: int | None = None
    observed: Any = None
    impact: float = 0.0
    groups: int = 1
    message: str = ""

    def record(self) -> dict[str, Any]:
        return {
            "group": self.name,
            "status": self.status,
            "rows": self.rows,
            "failed_rows": self.failed_rows,
            "observed": self.observed,
            "impact": self.impact,
            "groups": self.groups,
            "message": self.message,
        }


# The groups of one dimension that are listed, or why it cannot be broken down by it.
GroupTable: TypeAlias = Sequence[GroupRow] | str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rule, the slice it was judged on, and the verdict."""

    rule: Rule
    judgement: Judgement
    partition: str | None = None
    # The groups of the slice by dimension, where the rule is broken down.
    dimensions: Mapping[str, GroupTable] = field(default_factory=dict)
    # The measured values by metric key, None where there was nothing to measure.
    metrics: Mapping[str, Any] = field(default_factory=dict)
    # The same by dimension and group (see history.group_key), the largest groups first.
    group_metrics: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    # What the verdict is about: values of metrics by their keys, or numbers made of several.
    observed_metrics: Mapping[str, Any] = field(default_factory=dict)
    # What single metrics were judged, where that may not be the status of all; by metric key, and
    # by dimension, group and metric key.
    statuses: Mapping[str, Status] = field(default_factory=dict)
    group_statuses: Mapping[str, Mapping[str, Mapping[str, Status]]] = field(default_factory=dict)
    # Whether the status stands for an Empty, as ``on_empty`` wants it.
    was_empty: bool = False
    # What later evaluations need not measure again; None where nothing is to be kept.
    states: KeptStates | None = None
    # What the rows that break the rule hold, for the screen: no message, no record and no entry has
    # it, unless a rule set names the columns that may be shown.
    samples: tuple[Sample, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        rule: Rule,
        judgement: Judgement,
        *,
        partition: str | None = None,
        metrics: Mapping[str, Any] | None = None,
        observed_metrics: Mapping[str, Any] | None = None,
    ) -> Self:
        """The outcome of a judgement, with what the rule says of filters and of no rows."""
        message = _with_filter(judgement.message, rule.where)
        policy = _ON_EMPTY.get(rule.on_empty or "pass")
        was_empty = judgement.status is Status.EMPTY and policy is not None
        if was_empty:
            message = f"{message} Nothing to judge counts as {policy} here (on_empty)."
        status = policy if was_empty and policy is not None else judgement.status
        return cls(
            rule,
            replace(judgement, status=status, message=message),
            partition=partition,
            metrics=metrics or {},
            observed_metrics=observed_metrics or {},
            statuses=rule.statuses(judgement),
            was_empty=was_empty,
        )

    def with_note(
        self, note: str, *, status: Status | None = None, details: Mapping[str, Any] | None = None
    ) -> Self:
        """The same with a further sentence, and with what else that is about."""
        judgement = replace(
            self.judgement,
            status=status or self.judgement.status,
            message=f"{self.judgement.message} {note}",
            details={**self.judgement.details, **(details or {})},
        )
        return replace(self, judgement=judgement)

    def without_details(self) -> Self:
        """The same without anything that is shown as a table or a picture."""
        bare = replace(self.judgement, details={}, columns={}, typical=None)
        return replace(self, judgement=bare, dimensions={}, samples=())

    @property
    def status(self) -> Status:
        return self.judgement.status

    @property
    def message(self) -> str:
        return self.judgement.message

    @property
    def observed(self) -> Any:
        return self.judgement.observed

    @property
    def bounds(self) -> Mapping[str, Any]:
        return self.judgement.bounds

    @property
    def expected(self) -> str:
        return self.judgement.expected

    @property
    def rows(self) -> int | None:
        return self.judgement.rows

    @property
    def failed_rows(self) -> int | None:
        return self.judgement.failed_rows

    @property
    def columns(self) -> Mapping[str, Judgement]:
        """The verdicts on single columns, where there are several."""
        return self.judgement.columns

    @property
    def typical(self) -> TypicalFinding | None:
        """What change detection found; of several columns, each has its own."""
        return self.judgement.typical

    @property
    def details(self) -> dict[str, Any]:
        """What else there is to say, as plain data: of columns, groups, the past, the rule."""
        found = self.judgement.record()
        if self.dimensions:
            found["dimensions"] = {
                name: table if isinstance(table, str) else [row.record() for row in table]
                for name, table in self.dimensions.items()
            }
        return found

    @property
    def judged(self) -> Status:
        """The status before ``on_empty``: what could not be judged yet was not wrong."""
        return Status.EMPTY if self.was_empty else self.judgement.status

    def judged_of(self, metric: str) -> Status:
        """The same of one metric, by its key: a column may be right where another is wrong."""
        return self.statuses.get(metric, self.judged)

    @property
    def ok(self) -> bool:
        """Neither a Warning nor an Error."""
        return self.judgement.status in {Status.OK, Status.EMPTY}

    def _repr_html_(self) -> str:
        return html_of(self)


def _with_filter(message: str, where: str | None) -> str:
    """Numbers of some rows must not read as if they were of all."""
    if where is None:
        return message
    if message.endswith(")."):
        return f"{message.removesuffix(').')}; rows where {where})."
    return f"{message.removesuffix('.')} (rows where {where})."
