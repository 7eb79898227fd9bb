"""SQL over aggregates where there are no rows: the answer is Spark's own over an empty table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.evaluation.states import Reuse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "day string, x int, y double, s string"
#: What each says over no rows: SQL's answer, or that Spark raises.
CONDITIONS: dict[str, bool | str | None] = {
    "count(*) > 0": False,
    "count(*) = 0": True,
    "count_if(x > 0) = 0": True,
    "regr_count(x, y) = 0": True,
    "sum(x) > 0": None,
    "max(s) = 'a' or count(*) > 0": None,
    "avg(y) between 0 and 1": None,
    "stddev(y) < 1": None,
    "bool_and(x > 0)": None,
    "bit_or(x) = 1": None,
    "corr(x, y) > 0": None,
    "sum(x) / count(*) > 0": None,
    "coalesce(sum(x), 0) >= 0": True,
    "coalesce(max(x), -1) > 0": False,
    "sum(x) is null": True,
    "count(*) filter (where x > 0) = 0": True,
    "count(*) = 0 or sum(x) > 0": True,
    "count(x) / count(*) > 0.5": "DIVIDE_BY_ZERO",
    "if(count(*) = 0, true, count(x) / count(*) > 0.5)": True,
}
#: These take passes of their own.
BURDENSOME: dict[str, bool | str | None] = {
    "count(x) >= 0 and count(distinct x, s) = 0": True,
    "approx_count_distinct(x) = 0": True,
    "median(x) > 1 or mode(x, true) = 1": None,
    "percentile(x, 0.5) > 1": None,
}
SHARE = f"r{list(CONDITIONS).index('count(x) / count(*) > 0.5')}"
EXPECTED = {True: "Ok", False: "Error", None: "Empty"}


def rules(conditions: Mapping[str, object] = CONDITIONS, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"type": "agg_dq", "name": f"r{n}", "expectation": text, **fields}
        for n, text in enumerate(conditions)
    ]


def wrong(found: dq.Evaluation, partition: str | None) -> list[str]:
    """The rules that do not say what SQL says."""
    complaints = []
    judged = [one for one in found if one.partition == partition and one.rule.type == "agg_dq"]
    assert judged
    for outcome in judged:
        text = outcome.rule.demand()[len("The rows together meet: ") : -1]
        answer = (CONDITIONS | BURDENSOME)[text]
        status = "Error" if isinstance(answer, str) else EXPECTED[answer]
        words = {"Empty": "there are no rows", "Ok": "over no rows", "Error": "over no rows"}
        part = answer if isinstance(answer, str) else words[status]
        if outcome.status != status or part not in outcome.message:
            complaints.append(f"{text}: {outcome.status}, not {status}: {outcome.message}")
    return complaints


@pytest.fixture(scope="module")
def empty(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], SCHEMA)


@pytest.fixture(scope="module")
def days(spark: SparkSession) -> DataFrame:
    rows = [(f"2024-01-0{n % 3 + 1}", n, n / 2, "a") for n in range(1, 10)]
    return spark.createDataFrame(rows, SCHEMA).coalesce(1)


def test_the_answers_are_those_of_spark(empty: DataFrame) -> None:
    for text, answer in (CONDITIONS | BURDENSOME).items():
        if isinstance(answer, str):
            with pytest.raises(Exception, match=answer):
                empty.selectExpr(text).collect()
        else:
            assert empty.selectExpr(text).collect()[0][0] is answer, text


def test_an_empty_table(empty: DataFrame) -> None:
    assert wrong(dq.evaluate(empty, rules(CONDITIONS | BURDENSOME)), None) == []


def test_a_filter_that_leaves_nothing(days: DataFrame) -> None:
    found = dq.evaluate(days, rules(CONDITIONS | BURDENSOME, where="x < 0"))
    assert wrong(found, None) == []


def test_partitions_of_what_takes_passes_of_its_own(days: DataFrame) -> None:
    names = ["2024-01-01", "2024-01-09"]
    found = dq.evaluate(days, rules(BURDENSOME), partition_by="day", partitions=names)
    assert wrong(found, "2024-01-09") == []


@pytest.mark.parametrize("where", [None, "day <> '2024-01-02'"])
def test_partitions_with_and_without_rows(days: DataFrame, where: str | None) -> None:
    names = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-09"]
    found = dq.evaluate(
        days, rules(scope="both", where=where), partition_by="day", partitions=names
    )
    assert wrong(found, "2024-01-09") == []
    if where:
        assert wrong(found, "2024-01-02") == []
    counts = {one.partition: one for one in found if one.rule.name == "r0"}
    assert {name: one.status for name, one in counts.items()} == {
        "2024-01-01": "Ok",
        "2024-01-02": "Error" if where else "Ok",
        "2024-01-03": "Ok",
        "2024-01-09": "Error",
        None: "Ok",
    }
    # What raises over no rows has an answer where there are some.
    shares = {one.partition: one.status for one in found if one.rule.name == SHARE}
    assert (shares["2024-01-01"], shares[None], shares["2024-01-09"]) == ("Ok", "Ok", "Error")


def test_one_of_very_many_partitions_without_rows_does_not_spoil_the_others(
    spark: SparkSession,
) -> None:
    data = spark.range(120).selectExpr("cast(id as string) AS day", "id AS x", "id = 7 AS odd")
    names = [*map(str, range(120)), "none"]
    rule = {"type": "agg_dq", "expectation": "count(x) / count(*) = 1", "where": "not odd"}
    found = {one.partition: one for one in dq.evaluate(
        data, [rule], partition_by="day", partitions=names)}  # fmt: skip
    assert {name for name, one in found.items() if one.status != "Ok"} == {"7", "none"}
    assert "DIVIDE_BY_ZERO" in found["7"].message
    assert "DIVIDE_BY_ZERO" in found["none"].message


@pytest.mark.parametrize("scope", ["both", "whole_dataset"])
def test_a_partitioned_dataset_without_any_rows(empty: DataFrame, scope: str) -> None:
    found = dq.evaluate(
        empty, rules(scope=scope), partition_by="day", partitions=["2024-01-01", "2024-01-02"]
    )
    assert wrong(found, None) == []
    if scope == "both":
        assert wrong(found, "2024-01-02") == []


def test_groups_have_rows_and_others_too(days: DataFrame) -> None:
    found = dq.evaluate(
        days,
        rules(dimensions=["day"], top_dimensions=1, scope="both"),
        partition_by="s",
        partitions=["a", "b"],
    )
    assert wrong(found, "b") == []
    counted = next(one for one in found if one.rule.name == "r0" and one.partition == "a")
    table = counted.details["dimensions"]["day"]
    assert [row["rows"] for row in table] == [3, 6]
    assert {row["status"] for row in table} == {"Ok"}
    none = next(one for one in found if one.rule.name == "r0" and one.partition == "b")
    assert none.details["dimensions"] == {"day": []}


def test_beside_what_is_on_record(days: DataFrame) -> None:
    names = ("2024-01-01", "2024-01-09")
    some = [{"type": "record_count_in_range", "min": 0, "scope": "both"}, *rules(scope="both")]
    data = days.where("day = '2024-01-01'")
    first = dq.evaluate(data, some, partition_by="day", reuse=Reuse(names))
    kept = [one.states.blocks() for one in first if one.states is not None]
    blocks = {key: found for one in kept for key, found in one.items()}
    again = dq.evaluate(
        data, some, partition_by="day", partitions=names[1:], reuse=Reuse(names, blocks)
    )
    assert wrong(again, "2024-01-09") == []
    assert next(one for one in again if one.rule.name == "r0" and not one.partition).status == "Ok"


METRICS: dict[str, tuple[Any, str]] = {
    "count(*)": (0, "Error"),
    "count(distinct s)": (0, "Error"),
    "coalesce(sum(x), -1)": (-1, "Error"),
    "sum(x)": (None, "Empty"),
    "max(s)": (None, "Empty"),
}


@pytest.mark.parametrize("partitioned", [False, True])
def test_metrics_in_sql(empty: DataFrame, days: DataFrame, partitioned: bool) -> None:
    declared = [
        {"type": "metric_in_range", "name": f"m{n}", "metric": {"sql": sql}, "min": 5}
        for n, sql in enumerate(METRICS)
    ]
    sets = [{"type": "metric_in_set", "metric": {"sql": "count(*)"}, "values": [0], "name": "set"}]
    if partitioned:
        found = dq.evaluate(
            days, [*declared, *sets], partition_by="day", partitions=["2024-01-01", "2024-02-01"]
        )
        said = {one.rule.name: one for one in found if one.partition == "2024-02-01"}
    else:
        said = {one.rule.name: one for one in dq.evaluate(empty, [*declared, *sets])}
    assert said["set"].status == "Ok"
    assert said["set"].observed == 0
    for n, (value, status) in enumerate(METRICS.values()):
        assert (said[f"m{n}"].observed, said[f"m{n}"].status) == (value, status)
    assert said["m0"].metrics == {"sql:count(*)": 0}


@pytest.mark.parametrize(
    ("operator", "here", "status"),
    [("=", "empty", "Ok"), (">", "days", "Ok"), ("=", "days", "Error"), ("<", "empty", "Error")],
)
def test_comparing_with_an_empty_asset(
    empty: DataFrame, days: DataFrame, operator: str, here: str, status: str
) -> None:
    rule = {
        "type": "compare_metrics",
        "metric": {"sql": "count(*)"},
        "operator": operator,
        "other": {"sql": "count(*)"},
        "other_asset": "archive",
    }
    data = {"empty": empty, "days": days}[here]
    (outcome,) = dq.evaluate(data, [rule], references={"archive": empty})
    assert outcome.status == status
    assert outcome.observed == {"count(*)": data.count(), "count(*) of archive": 0}


def test_no_part_without_rows_costs_nothing(
    days: DataFrame, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    rule = [{"type": "agg_dq", "expectation": "count(*) > 0 and sum(x) > 0"}]
    plain = [{"type": "record_count_in_range", "min": 1}]
    names = ["2024-01-01", "2024-01-02"]
    assert count_jobs(lambda: dq.evaluate(days, rule, samples=False)) == count_jobs(
        lambda: dq.evaluate(days, plain, samples=False)
    )
    assert count_jobs(
        lambda: dq.evaluate(days, rule, partition_by="day", partitions=names, samples=False)
    ) == count_jobs(
        lambda: dq.evaluate(days, plain, partition_by="day", partitions=names, samples=False)
    )
