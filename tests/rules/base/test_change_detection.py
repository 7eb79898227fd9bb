"""Declaring rules that compare with the past."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import PastValue
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.catalogue import RULE_TYPES, parse_rule

AT = datetime(2024, 3, 31, tzinfo=UTC)
TYPICAL = [kind for kind in RULE_TYPES if kind.endswith("_typical")]
# Beside each, the type whose history it goes on with.
SIBLINGS: dict[str, tuple[str, Mapping[str, Any]]] = {
    **{
        f"column_{name}_typical": (f"column_{name}_in_range", {"max": 1})
        for name in ("min", "avg", "max", "sum", "median", "stddev")
    },
    "column_empty_count_typical": ("column_not_empty", {}),
    "column_unique_count_typical": ("column_unique", {}),
    "record_count_typical": ("record_count_in_range", {"max": 1}),
    "column_count_typical": ("column_count_in_range", {"max": 1}),
    "metric_typical": ("metric_in_range", {"max": 1}),
}


def fields(kind: str) -> dict[str, Any]:
    if kind.startswith("metric"):
        return {"metric": "column_avg:a"}
    return {"columns": ["a", "b"]} if "column_count" not in kind and "record" not in kind else {}


def test_every_type_that_compares_with_the_past_is_here() -> None:
    assert set(TYPICAL) == set(SIBLINGS)
    assert all(issubclass(RULE_TYPES[kind], ChangeDetection) for kind in TYPICAL)


@pytest.mark.parametrize("kind", TYPICAL)
def test_the_metrics_are_those_of_the_sibling(kind: str) -> None:
    other, further = SIBLINGS[kind]
    mine = parse_rule({"type": kind, **fields(kind)})
    sibling = parse_rule({"type": other, **fields(kind), **further})
    assert [m.key for m in mine.metrics()] == [m.key for m in sibling.metrics()]


@pytest.mark.parametrize("kind", TYPICAL)
def test_the_defaults(kind: str) -> None:
    rule = parse_rule({"type": kind, **fields(kind)})
    lookback = rule.lookback
    assert lookback is not None
    typical = lookback.typical
    assert (typical.period_unit, typical.learning_period, typical.lookback_window) == (
        "runs",
        7,
        30,
    )
    assert (typical.iqr_factor, typical.soft_iqr_factor, typical.min_iqr) == (1.5, None, None)
    assert (typical.exclude_errors, lookback.baseline) == (False, None)
    assert rule.demand().endswith("is typical of the last 30 values.")


def test_other_rules_look_at_the_present_only() -> None:
    assert dq.RecordCountInRange(min=1).lookback is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"period_unit": "weeks"}, "field 'period_unit': 'runs' or 'days' is needed, not 'weeks'."),
    ({"learning_period": 0}, "field 'learning_period': must be at least 1."),
    ({"learning_period": 2.5}, "field 'learning_period': a whole number is needed, not 2.5."),
    ({"lookback_window": "3"}, "field 'lookback_window': a number is needed, not '3'."),
    ({"lookback_window": 10**6}, "field 'lookback_window': must be at most 36500."),
    ({"iqr_factor": 0}, "field 'iqr_factor': must be more than 0."),
    ({"iqr_factor": float("inf")}, "field 'iqr_factor': must be a finite number."),
    ({"min_iqr": -1}, "field 'min_iqr': must be more than 0."),
    (
        {"soft_iqr_factor": 1.5},
        "soft_iqr_factor must be smaller than iqr_factor, but it is 1.5 and iqr_factor is 1.5.",
    ),
    (
        {"baseline": "itself"},
        "field 'baseline': 'same_slice' or 'previous_partitions' is needed, not 'itself'.",
    ),
    ({"iqr_facto": 2}, "unknown field 'iqr_facto'. Did you mean 'iqr_factor'?"),
    ({"max": 2}, "unknown field 'max'."),
]


@pytest.mark.parametrize(("written", "words"), WRONG, ids=lambda item: str(item)[:40])
def test_mistakes_are_reported(written: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.DeclarationError) as said:
        dq.RecordCountTypical(**written)
    assert words in str(said.value)


def test_a_rule_is_judged_by_the_past_it_is_given() -> None:
    rows = RecordCount()
    past = [PastValue(n, AT) for n in (10, 20, 30, 40, 50, 30, 30)]
    rule = dq.RecordCountTypical()
    judged = rule.judge(dq.plugins.Evidence({rows: 71}, now=AT, pasts={"record_count": past}))
    assert str(judged.status) == "Error"
    assert judged.message == (
        "The number of rows is 71, above the typical maximum of 50 "
        "(7 earlier values: half of them between 25 and 35)."
    )
    learning = rule.judge(dq.plugins.Evidence({rows: 71}, now=AT))
    assert str(learning.status) == "Empty"


def test_no_rows_leave_no_trace_in_the_past_of_counted_values() -> None:
    rule = dq.ColumnEmptyCountTypical(columns=["a"])
    empties, rows = rule.metrics()
    assert rule.observed_metrics(dq.plugins.Evidence({empties: 0, rows: 0})) == (rows,)
    assert rule.observed_metrics(dq.plugins.Evidence({empties: 0, rows: 3})) == (empties, rows)


def test_the_approximate_median_says_so() -> None:
    rule = dq.ColumnMedianTypical(columns="a", approximate=True, learning_period=1)
    estimate, values = rule.metrics()
    evidence = dq.plugins.Evidence(
        {estimate: 3.0, values: 9}, now=AT, pasts={estimate.key: [PastValue(3.0, AT)]}
    )
    judged = rule.judge(evidence)
    assert judged.message.endswith("Approximate: its rank is right within 0.1%.")
    assert set(judged.record()) == {"typical", "approximate"}
