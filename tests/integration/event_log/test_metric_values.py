"""Values on record are read when a rule needs them, and what goes wrong then is that rule's."""

from __future__ import annotations

from typing import Any, cast

import dagster as dg

import dq_dagster as dq
from dq_dagster.errors import RuleFailure
from dq_dagster.integration.event_log.metric_values import latest_metadata, recorded_values
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.sources import RecordedMetric
from dq_dagster.plan.request import CheckRequest
from dq_dagster.spark.frames.other_datasets import OtherDatasets

KEY = dg.AssetKey("orders")
RULE = dq.MetricInRange(name="rows", metric="record_count", auto_compute=False, min=1)
# Nothing can be read with it.
NO_CONTEXT = cast("Any", object())


def test_a_log_that_cannot_be_read_is_the_error_of_the_rules_about_it() -> None:
    values = recorded_values(NO_CONTEXT, KEY, [RULE], [None])
    metric = RecordedMetric(RecordCount())
    [found] = OtherDatasets(recorded=values).known([metric]).values()
    assert isinstance(found, RuleFailure)
    assert str(found).startswith("What is on record of")


def test_metadata_that_no_rule_names_is_not_read() -> None:
    assert dict(latest_metadata(NO_CONTEXT, KEY, CheckRequest.of([RULE]))) == {}
