"""A key means one metric, and those that people know stay what they are."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.metrics.conditions import (
    HasValue,
    InLastWhile,
    IsEmpty,
    NotValid,
    Outside,
    PatternMatch,
    RowBreaks,
    SetMembership,
    ValueSql,
)
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.frequency import Grouping, UniqueCount
from dq_dagster.metrics.meanings.meaning import BuiltIn, OneOf, Shaped
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnMax,
    ColumnMin,
    ColumnNewest,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    Metric,
    RecordCount,
    RowMetric,
)
from dq_dagster.metrics.schema import LongestText


@pytest.mark.parametrize(
    ("metric", "key"),
    [
        (RecordCount(), "record_count"),
        (RecordCount(where="a > 0"), "record_count where a > 0"),
        (ColumnAvg("amount"), "column_avg:amount"),
        (ColumnAvg("Order amount"), "column_avg:Order amount"),
        (ColumnAvg("a.b"), "column_avg:a.b"),
        (ColumnMin("s", blank_is_empty=True), "column_min:s (blank is empty)"),
        (ConditionCount(IsEmpty("Order ID", blank_is_empty=False)), "count_empty:Order ID"),
        (UniqueCount(Grouping(("a", "b"), False, None)), "unique_count:a,b"),
        (UniqueCount(Grouping(("a,b",), False, None)), "unique_count:`a,b`"),
        (ColumnAvg("a where b"), "column_avg:`a where b`"),
        (ColumnAvg("a`b"), "column_avg:`a``b`"),
        (LongestText(("a.b",)), "longest_text:`a.b`"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_keys_that_people_know(metric: Metric, key: str) -> None:
    assert metric.key == key


blank = st.booleans()
columns = st.sampled_from(
    ["a", "b", "a b", "a (blank is empty)", "a where b", "`a`", "`a b`", "a [1]", "a whole 'x'"]
)
filters = st.sampled_from([None, "b", "b where c"])
constants = st.sampled_from(
    [
        Constant.of(value)
        for value in (1, 1.0, Decimal(1), Decimal("1.0"), "1", True, "true", "a, b")
    ]
)
some_constants = st.lists(constants, min_size=1, max_size=2).map(tuple)
meanings = st.one_of(
    st.builds(BuiltIn, st.sampled_from(["email", "text"])),
    st.builds(OneOf, some_constants, st.sampled_from(["exact", "ignore_case"]), blank),
    st.builds(Shaped, st.sampled_from(["x", "x' (empty is valid)"])),
)
conditions = st.one_of(
    st.builds(IsEmpty, columns, blank),
    st.builds(HasValue, columns, blank),
    st.builds(SetMembership, columns, blank, some_constants, blank, blank),
    st.builds(
        Outside,
        columns,
        blank,
        st.none() | constants,
        st.none() | constants,
        st.sampled_from(["value", "length"]),
    ),
    st.builds(PatternMatch, columns, blank, st.sampled_from(["x", "x' y"]), blank, blank),
    st.builds(NotValid, columns, blank, meanings, blank),
    st.builds(
        ValueSql, columns, blank, st.sampled_from(["c", "b c"]), st.sampled_from([(), ("int",)])
    ),
    st.builds(RowBreaks, st.sampled_from(["a > 1", "a"]), blank),
    st.builds(InLastWhile, columns, blank, st.sampled_from([Decimal(60), Decimal(90)])),
)
kinds: Any = st.sampled_from(
    [ColumnMin, ColumnMax, ColumnSum, ColumnAvg, ColumnStddev, ColumnNewest]
)
metrics = st.one_of(
    st.builds(RecordCount, where=filters),
    st.builds(lambda kind, *also: kind(*also[:2], where=also[2]), kinds, columns, blank, filters),
    st.builds(ConditionCount, conditions, where=filters),
    st.builds(LongestText, st.lists(columns | st.just("a.b"), min_size=1, max_size=2).map(tuple)),
)


@settings(derandomize=True, deadline=None, max_examples=200, database=None)
@given(st.lists(metrics, min_size=20, max_size=40))
def test_different_metrics_have_different_keys(found: list[RowMetric]) -> None:
    for one, other in combinations(dict.fromkeys(found), 2):
        assert one.key != other.key, (one, other)


@pytest.mark.parametrize(
    ("metric", "lasting"),
    [
        (RecordCount(where="day < DATE '2024-01-01'"), True),
        (RecordCount(where="day < current_date()"), False),
        (RecordCount(where="day < DATE 'Today'"), False),
        (RecordCount(where="known > 0"), True),
        (ConditionCount(RowBreaks("t < now()", null_breaks=True)), False),
        (ConditionCount(ValueSql("t", False, "{value} < CURRENT_TIMESTAMP")), False),
        (ConditionCount(InLastWhile("t", False, Decimal(60))), False),
        (ConditionCount(IsEmpty("now", blank_is_empty=False)), True),
        (ColumnSum("a"), True),
    ],
    ids=lambda value: value.key if isinstance(value, RowMetric) else str(value),
)
def test_what_depends_on_the_clock_is_not_lasting(metric: RowMetric, lasting: bool) -> None:
    assert metric.lasting is lasting
