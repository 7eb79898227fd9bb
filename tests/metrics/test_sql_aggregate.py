"""SQL aggregates as metrics: their names, what they burden a pass with, and what they are not."""

from __future__ import annotations

import pytest

import dq_dagster as dq
from dq_dagster.errors import Misfit
from dq_dagster.metrics.metric import Burden, ColumnAvg, RecordCount
from dq_dagster.metrics.sources import SqlAggregate, SqlCondition
from dq_dagster.metrics.states import Opaque


def test_names_tell_values_conditions_and_filters_apart() -> None:
    keys = [
        SqlAggregate("sum(a) / count(*)").key,
        SqlAggregate("sum(a) / count(*)", where="b > 0").key,
        SqlCondition("bool_and(a)").key,
        SqlAggregate("bool_and(a)").key,
    ]
    assert keys == [
        "sql:sum(a) / count(*)",
        "sql:sum(a) / count(*) where b > 0",
        "holds:bool_and(a)",
        "sql:bool_and(a)",
    ]


def test_an_answer_is_not_mergeable() -> None:
    assert not SqlAggregate("sum(a)").mergeable
    assert not SqlCondition("sum(a) > 0").mergeable
    assert RecordCount().mergeable
    assert ColumnAvg("a").mergeable
    with pytest.raises(TypeError, match="cannot be merged"):
        Opaque("bigint", 1).merge(Opaque("bigint", 2))


def test_a_value_may_be_anything_a_condition_only_true_or_false() -> None:
    assert SqlAggregate("max(a)").value(Opaque("bigint", 7)) == 7
    assert SqlCondition("bool_and(a)").value(Opaque("boolean", value=True)) is True
    assert SqlCondition("bool_and(a)").value(Opaque("boolean", None)) is None
    assert SqlCondition("max(null)").value(Opaque("void", None)) is None
    with pytest.raises(Misfit) as caught:
        SqlCondition("max(a) + 1").value(Opaque("bigint", 7))
    assert str(caught.value) == (
        "'max(a) + 1' is of type bigint; an expectation must be true or false."
    )


@pytest.mark.parametrize(
    ("sql", "where", "burdens"),
    [
        ("sum(a) > count(*)", None, set()),
        ("count(distinct a) > sum(distinct a)", None, {Burden("DISTINCT a")}),
        (
            "count(distinct a, b) > count(distinct a)",
            None,
            {Burden("DISTINCT a, b"), Burden("DISTINCT a")},
        ),
        ("count(distinct a) > 0", "b > 0", {Burden("DISTINCT if((b > 0), a, NULL)")}),
        ("median(a) > 0", None, {Burden("median(a)", may_share=True)}),
        (
            "approx_count_distinct(a) > mode(distinct_a, true)",
            None,
            {
                Burden("approx_count_distinct(a)", may_share=True),
                Burden("mode(distinct_a, true)", may_share=True),
            },
        ),
    ],
)
def test_burdens(sql: str, where: str | None, burdens: set[Burden]) -> None:
    assert SqlAggregate(sql, where=where).burdens == burdens


def _passes(*expectations: str) -> list[set[str]]:
    rules = [
        {"type": "agg_dq", "expectation": text, "name": f"r{n}"}
        for n, text in enumerate(expectations)
    ]
    passes = dq.explain([{"type": "column_avg_in_range", "columns": "a", "min": 0}, *rules]).passes
    return [{metric.key for metric in step.metrics} for step in passes]


def test_light_aggregates_ride_with_everything_else() -> None:
    (fused,) = _passes("sum(a) > 0", "avg(b) > 0 and count(*) > 0", "stddev(c) > 1")
    assert {"column_avg:a", "holds:sum(a) > 0", "sql:sum(a)", "sql:stddev(c)"} <= fused


def test_what_slows_others_down_is_measured_apart() -> None:
    fused, *apart = _passes(
        "sum(a) > 0 and count(distinct b) > 0",
        "count(distinct c) > 0",
        "sum(distinct c) > 0",
        "median(a) > 0",
        "approx_count_distinct(b) > 0",
        "percentile(c, 0.1) > count(distinct d)",
    )
    assert fused == {"column_avg:a", "count_value:a", "sql:sum(a)", "record_count"}
    assert sorted(map(sorted, apart)) == [
        ["holds:approx_count_distinct(b) > 0", "holds:median(a) > 0",
         "sql:approx_count_distinct(b)", "sql:median(a)"],
        ["holds:count(distinct c) > 0", "holds:sum(distinct c) > 0",
         "sql:count(distinct c)", "sql:sum(distinct c)"],
        ["holds:percentile(c, 0.1) > count(distinct d)",
         "sql:count(distinct d)", "sql:percentile(c, 0.1)"],
        ["holds:sum(a) > 0 and count(distinct b) > 0", "sql:count(distinct b)"],
    ]  # fmt: skip
