"""Rules about one metric: a named number or value of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.judging.comparison import Operator, holds, is_member, words
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.ranges import in_zone, is_nan
from dq_dagster.judging.wording import listing, plural, show, show_apart
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import (
    AssetData,
    EntryMetric,
    MetadataMetric,
    OtherAssetMetric,
    RecordedMetric,
    SqlAggregate,
)
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.constraints import QualityDimension, SetValues
from dq_dagster.rules.fields.metric_source import AnyMetric, MetricSource, resolved
from dq_dagster.rules.fields.ranges import ValueJudge, ValueRange
from dq_dagster.rules.fields.reference import AnyAsset

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

    family = RuleFamily.METRICS
    named_after: ClassVar[tuple[str, ...]] = ("metric_name",)
    observes_first_metric = True
    # The fields that hold metrics.
    metric_fields: ClassVar[tuple[str, ...]] = ("metric",)

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:
        found = [MetricSource.code_in(fields.get(name)) for name in cls.metric_fields]
        return super().code_in(fields) or next(filter(None, found), None)

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
        if isinstance(metric, RecordedMetric | OtherAssetMetric):
            return self.records_text(metric.metric)
        return isinstance(metric, SqlAggregate | EntryMetric | MetadataMetric)

    @property
    def named_assets(self) -> tuple[str, ...]:
        sources = [getattr(self, field) for field in self.metric_fields]
        of_metadata = [one.asset for one in sources if isinstance(one, MetricSource) and one.asset]
        return (*self.other_assets, *of_metadata)

    def nothing(self, what: str) -> Judgement:
        """The verdict where there is no value."""
        missing = "has no value" if self.auto_compute else "has no value on record"
        return Judgement.of_nothing(f"{what} {missing}")


class _JudgedMetric(MetricRule, ValueJudge):
    """The value of a metric is judged by bounds, or by its past."""

    def judge(self, evidence: Evidence) -> Judgement:
        metric = self.measured()
        value = evidence[metric]
        if value is None:
            return self.nothing(self.what)
        return self.judge_value(value, metric, evidence, what=self.what)

    def demand(self) -> str:
        return f"{self.what} is {self.expectation()}."


class MetricInRange(ValueRange, _JudgedMetric):
    """The value of a metric is within the range.

    Observed: the metric's value.

    Example::

        - type: metric_in_range
          metric: column_avg:amount
          min: 1
          max: 500
    """

    type: Literal["metric_in_range"] = "metric_in_range"


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


class MetricTypical(ChangeDetection, _JudgedMetric):
    """The value of a metric, which must be a number, is typical of its past.

    Observed: the metric's value.

    Example::

        - type: metric_typical
          metric: column_avg:amount
          soft_iqr_factor: 1
    """

    type: Literal["metric_typical"] = "metric_typical"


class CompareMetrics(MetricRule):
    """A metric is less than, equal to or greater than another one, of this or another asset.

    Numbers compare by size, everything else in alphabetical order. The row filter ``where``
    applies to metrics of this asset.

    Observed: both values.

    Example::

        - type: compare_metrics
          metric: column_min:amount
          operator: "<="
          other: column_max:amount
    """

    type: Literal["compare_metrics"] = "compare_metrics"
    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""
    operator: Operator
    """What must hold between the two: ``<``, ``<=``, ``=``, ``!=``, ``>=`` or ``>``; best in
    quotes, since some of these mean something else to YAML."""
    other: AnyMetric
    """The metric to compare with, declared like ``metric``."""
    other_asset: AnyAsset = None
    """The asset that the other metric is of; this one where omitted."""

    named_after: ClassVar[tuple[str, ...]] = ("metric_name", "other_name")
    metric_fields: ClassVar[tuple[str, ...]] = ("metric", "other")

    @property
    def other_name(self) -> str:
        """What messages call the other metric."""
        label = _label(self.other)
        return label if self.other_asset is None else f"{label} of {self.other_asset}"

    @property
    def other_assets(self) -> tuple[str, ...]:
        looked_at = isinstance(self._other(), OtherAssetMetric)
        return (self.other_asset,) if looked_at else ()

    @property
    def named_assets(self) -> tuple[str, ...]:
        other = () if self.other_asset is None else (self.other_asset,)
        return tuple(dict.fromkeys([*super().named_assets, *other]))

    def metrics(self) -> tuple[Metric, ...]:
        return (self.measured(), self._other())

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        # Both are metrics; a judgement calls them by names that may be the same.
        return dict.fromkeys(metric.key for metric in self.metrics())

    def judge(self, evidence: Evidence) -> Judgement:
        values = [in_zone(evidence[metric], evidence.zone) for metric in self.metrics()]
        names = [self.what, self._what_other]
        for value, what in zip(values, names, strict=True):
            if value is None:
                return self.nothing(what)
        comparable = not any(map(is_nan, values))
        fine = comparable and holds(values[0], self.operator, values[1])
        verdict = f"{'' if fine else 'not '}{words(self.operator)}"
        hint = "" if comparable else " (NaN is not a number and cannot be compared)"
        return Judgement(
            Status.OK if fine else Status.ERROR,
            f"{names[0]} is {show_apart(*values)}, {verdict} {_lower(names[1])}, which is "
            f"{show_apart(values[1], values[0])}{hint}.",
            observed=dict(zip((self.metric_name, self.other_name), values, strict=True)),
            expected=f"{words(self.operator)} {_lower(names[1])}",
        )

    def demand(self) -> str:
        return f"{self.what} is {words(self.operator)} {_lower(self._what_other)}."

    @property
    def _what_other(self) -> str:
        label = _label(self.other)
        place = "" if self.other_asset is None else f" of asset '{self.other_asset}'"
        return f"Metric '{shortened(label)}'{place}"

    def _other(self) -> Metric:
        source = resolved(self.other, {})
        other: str | None = self.other_asset
        metric = source.metric(
            blank_is_empty=bool(self.empty_includes_blank),
            where=self.where if other is None else None,
            asset=other,
        )
        if not self.auto_compute:
            return RecordedMetric(metric, other)
        if other is None or isinstance(metric, MetadataMetric):
            return metric
        return OtherAssetMetric(metric, AssetData(other))


def _lower(what: str) -> str:
    return what[:1].lower() + what[1:]
