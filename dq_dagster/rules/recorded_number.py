"""A number that is on record, judged by its past whatever rule recorded it."""

from __future__ import annotations

from typing import ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import EntryMetric
from dq_dagster.rules.change_detection import ChangeDetection
from dq_dagster.rules.rule import Rule


class RecordedNumberTypical(ChangeDetection, Rule):
    """Change detection on a metric of which no more is known than the key of its numbers.

    It can not be declared: it stands in for a rule where history is tried out.
    """

    type: Literal["recorded_number_typical"] = "recorded_number_typical"
    key: str
    """The key under which the metric's numbers are recorded."""

    named_after: ClassVar[tuple[str, ...]] = ("key",)
    observes_first_metric = True

    def metrics(self) -> tuple[Metric, ...]:
        return (EntryMetric(self.key, None),)

    def judge(self, evidence: Evidence) -> Judgement:
        [metric] = self.metrics()
        return self.judge_by_past(evidence[metric], metric, evidence, what=f"'{self.key}'")

    def demand(self) -> str:
        return f"'{self.key}' is {self.typical.words()}."
