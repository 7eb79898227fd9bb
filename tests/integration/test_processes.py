"""Steps in processes of their own, each with a JVM of its own."""

from __future__ import annotations

import dagster as dg
import pytest

from tests.integration.processes import make_job


@pytest.mark.deep
def test_checks_run_under_the_multiprocess_executor() -> None:
    with (
        dg.instance_for_test() as instance,
        dg.execute_job(dg.reconstructable(make_job), instance=instance) as result,
    ):
        assert not result.success
        evaluations = {
            event.asset_check_evaluation_data.check_name: event.asset_check_evaluation_data
            for event in result.all_events
            if event.event_type_value == "ASSET_CHECK_EVALUATION"
        }
        assert {name: e.description for name, e in evaluations.items()} == {
            "column_sum_in_range_n": "The sum of 'n' is 6, above the maximum of 5.",
            "record_count_in_range": "The number of rows is 3, as expected (at least 1).",
        }
