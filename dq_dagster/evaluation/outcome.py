"""What one evaluation of one rule on one slice says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Self

from dq_dagster.evaluation.html import html_of
from dq_dagster.evaluation.states import KeptStates
from dq_dagster.judging.judgement import Judgement, Status
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
class Outcome:
    """A rule, the slice it was judged on, and the verdict."""

    rule: Rule
    status: Status
    message: str
    observed: Any = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    expected: str = ""
    rows: int | None = None
    failed_rows: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    # The measured values by metric key, None where there was nothing to measure.
    metrics: Mapping[str, Any] = field(default_factory=dict)
    partition: str | None = None
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
        outcome = cls(
            rule=rule,
            status=judgement.status,
            message=_with_filter(judgement.message, rule.where),
            observed=judgement.observed,
            bounds=judgement.bounds,
            expected=judgement.expected,
            rows=judgement.rows,
            failed_rows=judgement.failed_rows,
            details=judgement.details,
            metrics=metrics or {},
            observed_metrics=observed_metrics or {},
            partition=partition,
            statuses=rule.statuses(judgement),
        )
        return outcome._with_policy_on_empty()

    def _with_policy_on_empty(self) -> Self:
        policy = _ON_EMPTY.get(self.rule.on_empty or "pass")
        if self.status is not Status.EMPTY or policy is None:
            return self
        message = f"{self.message} Nothing to judge counts as {policy} here (on_empty)."
        return replace(self, status=policy, message=message, was_empty=True)

    @property
    def judged(self) -> Status:
        """The status before ``on_empty``: what could not be judged yet was not wrong."""
        return Status.EMPTY if self.was_empty else self.status

    def judged_of(self, metric: str) -> Status:
        """The same of one metric, by its key: a column may be right where another is wrong."""
        return self.statuses.get(metric, self.judged)

    @property
    def ok(self) -> bool:
        """Neither a Warning nor an Error."""
        return self.status in {Status.OK, Status.EMPTY}

    def _repr_html_(self) -> str:
        return html_of(self)


def _with_filter(message: str, where: str | None) -> str:
    """Numbers of some rows must not read as if they were of all."""
    if where is None:
        return message
    if message.endswith(")."):
        return f"{message.removesuffix(').')}; rows where {where})."
    return f"{message.removesuffix('.')} (rows where {where})."
