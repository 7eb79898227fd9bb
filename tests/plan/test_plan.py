"""Rules become metrics, equal ones once, and metrics become passes."""

from __future__ import annotations

from typing import Any

import dq_dagster as dq


def test_equal_metrics_are_measured_once() -> None:
    plan = dq.explain(
        [
            {"type": "column_avg_in_range", "columns": "a", "min": 0, "name": "one"},
            {"type": "column_avg_in_range", "columns": "a", "max": 9, "name": "other"},
            {"type": "column_avg_in_range", "columns": ["a", "b"], "max": 9, "name": "both"},
            {
                "type": "column_avg_in_range",
                "columns": "a",
                "max": 9,
                "where": "b > 0",
                "name": "w",
            },
        ]
    )
    keys = [metric.key for metric in plan.metrics]
    assert keys == [
        "column_avg:a",
        "count_value:a",
        "column_avg:b",
        "count_value:b",
        "column_avg:a where b > 0",
        "count_value:a where b > 0",
    ]
    assert len(plan.passes) == 1
    assert str(plan).startswith("4 rules -> 6 metrics -> 1 Spark pass")


def test_200_rules_on_one_column_need_few_metrics() -> None:
    rules = [
        {"type": kind, "columns": "a", "max": n, "name": f"{kind}_{n}"}
        for kind in ("column_min_in_range", "column_max_in_range")
        for n in range(100)
    ]
    plan = dq.explain(rules)
    assert len(plan.metrics) == 3
    assert len(plan.passes) == 1


def test_constants_that_python_holds_for_equal_stay_apart() -> None:
    sets: list[list[Any]] = [[1], [True], [1.0], ["1"]]
    rules = [
        {"type": "column_values_in_set", "columns": "a", "values": values, "name": f"r{n}"}
        for n, values in enumerate(sets)
    ]
    assert len(dq.explain(rules).metrics) == len(sets) + 1


def test_metrics_of_different_kinds_have_passes_of_their_own() -> None:
    plan = dq.explain(
        [
            dq.RecordCountInRange(min=1),
            dq.ColumnUnique(columns=["a", "b"]),
            dq.ColumnMedianInRange(columns=["a", "b"], min=0),
        ]
    )
    assert [sorted(metric.key for metric in one.metrics) for one in plan.passes] == [
        ["count_value:a", "count_value:b", "record_count"],
        ["grouped_rows:a", "grouped_rows:b", "unique_count:a", "unique_count:b"],
        ["column_median:a", "column_median:b"],
    ]


def test_a_plan_without_rules_has_no_passes() -> None:
    assert list(dq.explain([]).passes) == []
