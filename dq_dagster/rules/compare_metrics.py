"""The rule that compares two metrics, of one asset or of two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dq_dagster.judging.comparison import in_zone, is_nan
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.operators import Operator, holds, words
from dq_dagster.judging.status import Status
from dq_dagster.judging.wording import show_apart
from dq_dagster.metrics.datasets import AssetData
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import MetadataMetric, MetricElsewhere, RecordedMetric
from dq_dagster.rules.fields import QualityDimension
from dq_dagster.rules.metric_rule import MetricRule, shortened
from dq_dagster.rules.metric_source import AnyMetric, MetricSource, resolved
from dq_dagster.rules.reference import AnyAsset


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
        label = self.other.label if isinstance(self.other, MetricSource) else str(self.other)
        return label if self.other_asset is None else f"{label} of {self.other_asset}"

    @property
    def other_assets(self) -> tuple[str, ...]:
        looked_at = isinstance(self._other(), MetricElsewhere)
        return (self.other_asset,) if looked_at else ()

    def metrics(self) -> tuple[Metric, ...]:
        return (self.measured(), self._other())

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        # Both are metrics; a judgement calls them by names that may be the same.
        return dict.fromkeys(metric.key for metric in self.metrics())

    def judge(self, evidence: Evidence) -> Judgement:
        values = [in_zone(evidence[metric], evidence.zone) for metric in self.metrics()]
        told = [self.what, self._what_other]
        for value, what in zip(values, told, strict=True):
            if value is None:
                return self.nothing(what)
        comparable = not any(map(is_nan, values))
        fine = comparable and holds(values[0], self.operator, values[1])
        verdict = f"{'' if fine else 'not '}{words(self.operator)}"
        hint = "" if comparable else " (NaN is not a number and can not be compared)"
        return Judgement(
            Status.OK if fine else Status.ERROR,
            f"{told[0]} is {show_apart(*values)}, {verdict} {_lower(told[1])}, which is "
            f"{show_apart(values[1], values[0])}{hint}.",
            observed=dict(zip((self.metric_name, self.other_name), values, strict=True)),
            expected=f"{words(self.operator)} {_lower(told[1])}",
        )

    def demand(self) -> str:
        return f"{self.what} is {words(self.operator)} {_lower(self._what_other)}."

    @property
    def _what_other(self) -> str:
        label = self.other.label if isinstance(self.other, MetricSource) else str(self.other)
        place = "" if self.other_asset is None else f" of asset '{self.other_asset}'"
        return f"Metric '{shortened(label)}'{place}"

    def _other(self) -> Metric:
        source = resolved(self.other, {})
        elsewhere: str | None = self.other_asset
        metric = source.metric(
            blank_is_empty=bool(self.empty_includes_blank),
            where=self.where if elsewhere is None else None,
            asset=elsewhere,
        )
        if not self.auto_compute:
            return RecordedMetric(metric, elsewhere)
        if elsewhere is None or isinstance(metric, MetadataMetric):
            return metric
        return MetricElsewhere(metric, AssetData(elsewhere))


def _lower(what: str) -> str:
    return what[:1].lower() + what[1:]
