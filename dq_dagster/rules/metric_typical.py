"""The rule about a metric: that it is as it used to be."""

from __future__ import annotations

from typing import Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement
from dq_dagster.rules.change_detection import ChangeDetection
from dq_dagster.rules.metric_rule import MetricRule


class MetricTypical(ChangeDetection, MetricRule):
    """The value of a metric, which must be a number, is typical of its past.

    Observed: the metric's value.

    Example::

        - type: metric_typical
          metric: column_avg:amount
          soft_iqr_factor: 1
    """

    type: Literal["metric_typical"] = "metric_typical"

    def judge(self, evidence: Evidence) -> Judgement:
        metric = self.measured()
        value = evidence[metric]
        if value is None:
            return self.nothing(self.what)
        return self.judge_by_past(value, metric, evidence, what=self.what)

    def demand(self) -> str:
        return f"{self.what} is {self.typical.words()}."
