"""What one evaluation of one rule on one slice says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from dq_dagster.evaluation.html import html_of
from dq_dagster.evaluation.reuse import KeptStates
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.status import Status
from dq_dagster.rules.rule import Rule

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
