"""Rules about one metric: a named number or value of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.judging.comparison import in_zone, is_nan
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.membership import is_member
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import listing, plural, show
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import (
    EntryMetric,
    MetadataMetric,
    MetricElsewhere,
    RecordedMetric,
)
from dq_dagster.metrics.sql_aggregate import SqlAggregate
from dq_dagster.rules.expected_range import ValueRange
from dq_dagster.rules.fields import QualityDimension, SetValues
from dq_dagster.rules.metric_source import AnyMetric, MetricSource, resolved
from dq_dagster.rules.rule import Rule

_LONGEST = 80


class MetricRule(Rule):
    """A rule that judges the value of a metric."""

    quality_dimension: QualityDimension = "accuracy"
    """Which quality the rule speaks of."""
    metric: AnyMetric
    """The metric: a measure such as ``column_avg:amount``, the name of a metric of the rule set
    (``name.column`` for one of several values), or a source such as ``{query: ...}``."""
    auto_compute: bool = True
    """Whether the metric is measured now; if not, the value that was recorded last is taken."""
    empty_includes_blank: bool | None = None
    """Whether strings that are blank after trimming count as empty; taken from the rule set
    where omitted."""

    named_after: ClassVar[tuple[str, ...]] = ("metric_name",)
    observes_first_metric = True
    # The fields that hold metrics.
    metric_fields: ClassVar[tuple[str, ...]] = ("metric",)

    @model_validator(mode="after")
    def _filter_means_something(self) -> Self:
        if isinstance(self.metric, MetricSource):
            self.metric.refuse_filter(self.where)
        return self

    def with_metrics(self, metrics: Mapping[str, MetricSource]) -> Self:
        problems: list[Problem] = []
        found: dict[str, MetricSource] = {}
        for field in self.metric_fields:
            try:
                found[field] = resolved(getattr(self, field), metrics)
                if field == "metric":
                    found[field].refuse_filter(self.where)
            except ValueError as error:
                text = str(error)
                message = text if text.endswith((".", "?")) else f"{text}."
                problems.append(Problem(message, rule=self.name, field=field))
        if problems:
            raise DeclarationError(problems)
        return self.model_copy(update=found)

    @property
    def metric_name(self) -> str:
        """What messages call the metric."""
        return _label(self.metric)

    @property
    def what(self) -> str:
        return f"Metric '{shortened(self.metric_name)}'"

    def measured(self) -> Metric:
        """What has to be measured, or looked up, for the metric."""
        source = resolved(self.metric, {})
        metric = source.metric(blank_is_empty=bool(self.empty_includes_blank), where=self.where)
        return metric if self.auto_compute else RecordedMetric(metric)

    def metrics(self) -> tuple[Metric, ...]:
        return (self.measured(),)

    def records_text(self, metric: Metric) -> bool:
        """What somebody wrote to be a metric may be a text; that of a column is one of a row."""
        if isinstance(metric, RecordedMetric | MetricElsewhere):
            return self.records_text(metric.metric)
        return isinstance(metric, SqlAggregate | EntryMetric | MetadataMetric)

    def nothing(self, what: str) -> Judgement:
        """The verdict where there is no value."""
        missing = "has no value" if self.auto_compute else "has no value on record"
        return Judgement(Status.EMPTY, f"Nothing to judge: {what[:1].lower()}{what[1:]} {missing}.")


class MetricInRange(ValueRange, MetricRule):
    """The value of a metric is within the range.

    Observed: the metric's value.

    Example::

        - type: metric_in_range
          metric: column_avg:amount
          min: 1
          max: 500
    """

    type: Literal["metric_in_range"] = "metric_in_range"

    def judge(self, evidence: Evidence) -> Judgement:
        value = evidence[self.measured()]
        if value is None:
            return self.nothing(self.what)
        return self.expected.judge(value, what=self.what, zone=evidence.zone)

    def demand(self) -> str:
        return f"{self.what} is {self.expected.words()}."


class MetricInSet(MetricRule):
    """The value of a metric is one of ``values``.

    Observed: the metric's value.

    Example::

        - type: metric_in_set
          metric: distinct_count:status
          values: [2, 3, 4]
    """

    type: Literal["metric_in_set"] = "metric_in_set"
    values: SetValues
    """The values that are allowed."""

    def judge(self, evidence: Evidence) -> Judgement:
        value = evidence[self.measured()]
        if value is None:
            return self.nothing(self.what)
        allowed = plural(len(self.values), "allowed value")
        inside = is_member(value, self.values, what=self.what, zone=evidence.zone)
        words = f"one of the {allowed}" if len(self.values) > 1 else "the only allowed value"
        shown = "NaN (not a number)" if is_nan(value) else show(in_zone(value, evidence.zone))
        return Judgement(
            Status.OK if inside else Status.ERROR,
            f"{self.what} is {shown}, {'' if inside else 'not '}{words}.",
            observed=in_zone(value, evidence.zone),
            expected=f"one of {allowed}",
        )

    def demand(self) -> str:
        return f"{self.what} is one of {listing(self.values, most=8)}."


def shortened(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[:_LONGEST]}…"


def _label(metric: Any) -> str:
    return metric.label if isinstance(metric, MetricSource) else str(metric)
