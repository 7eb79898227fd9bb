"""Values on record are read when a rule needs them, and what goes wrong then is that rule's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import dagster as dg
import pytest

import dq_dagster as dq
from dq_dagster.errors import RuleFailure
from dq_dagster.integration.event_log.metric_values import (
    RecordedWord,
    latest_metadata,
    recorded_values,
)
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.sources import RecordedMetric
from dq_dagster.metrics.value_codec import NoValue
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


EARLY, LATE = (datetime(2024, 3, day, tzinfo=UTC) for day in (1, 2))
NOTHING, HIDDEN = NoValue.ABSENT, NoValue.WITHHELD


@pytest.mark.parametrize(
    ("earlier", "later", "same_run", "counts"),
    [
        (5, 7, False, "later"),
        (5, None, False, "later"),
        # What could not be measured says nothing.
        (5, NOTHING, False, "earlier"),
        (HIDDEN, NOTHING, False, "earlier"),
        (NOTHING, 5, False, "later"),
        # There was a value, though it is not on record: an older one is not what was asked for.
        (5, HIDDEN, False, "later"),
        (None, HIDDEN, False, "later"),
        (HIDDEN, 5, False, "later"),
        # Of the same run: the same value, which one of both may not record.
        (5, HIDDEN, True, "earlier"),
        (HIDDEN, 5, True, "later"),
    ],
)
def test_which_of_two_checks_has_the_last_word(
    earlier: Any, later: Any, same_run: bool, counts: str
) -> None:
    one = RecordedWord(EARLY, "a", earlier)
    other = RecordedWord(LATE, "a" if same_run else "b", later)
    assert other.counts_more(one) is (counts == "later")
    assert one.counts_more(other) is (counts == "earlier")
