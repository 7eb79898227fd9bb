"""Partitions and the whole dataset from the same passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import dq_dagster as dq
from dq_dagster.errors import SparkFailure, TooManyParts
from dq_dagster.spark.frames import slicing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Count = Callable[[Callable[[], object]], int]


@pytest.fixture
def orders(spark: SparkSession) -> DataFrame:
    rows = [
        (1, date(2024, 3, 1), "DE", 10.0),
        (2, date(2024, 3, 1), "FR", 20.0),
        (3, date(2024, 3, 2), "DE", 5.0),
        (3, date(2024, 3, 2), None, None),
        (4, None, "FR", 1.0),
    ]
    return spark.createDataFrame(rows, "id int, day date, country string, amount double")


def statuses(evaluation: dq.Evaluation) -> list[tuple[str, str | None, str]]:
    return [(o.rule.name, o.partition, str(o.status)) for o in evaluation]


def test_each_rule_is_judged_by_its_scope(orders: DataFrame) -> None:
    evaluation = dq.evaluate(
        orders,
        [
            dq.ColumnUnique(name="each", columns=["id"]),
            dq.ColumnUnique(name="all", columns=["id"], scope="whole_dataset"),
            dq.RecordCountInRange(name="both", min=2, max=4, scope="both"),
        ],
        partition_by="day",
        partitions=["2024-03-01", "2024-03-02", "2024-03-03"],
    )
    assert statuses(evaluation) == [
        ("each", "2024-03-01", "Ok"),
        ("each", "2024-03-02", "Error"),
        ("each", "2024-03-03", "Empty"),
        ("all", None, "Error"),
        ("both", "2024-03-01", "Ok"),
        ("both", "2024-03-02", "Ok"),
        # A partition without rows has no rows, which is a number to judge.
        ("both", "2024-03-03", "Error"),
        ("both", None, "Error"),
    ]
    assert evaluation["both", "2024-03-03"].observed == 0
    assert evaluation["both"].observed == 5


def test_without_a_list_all_partitions_that_occur_are_judged(orders: DataFrame) -> None:
    rules = [dq.RecordCountInRange(name="rows", min=2)]
    evaluation = dq.evaluate(orders, rules, partition_by="day")
    # Rows without a key have a partition too, or nobody would look at them.
    assert statuses(evaluation) == [
        ("rows", "2024-03-01", "Ok"),
        ("rows", "2024-03-02", "Ok"),
        ("rows", "__HIVE_DEFAULT_PARTITION__", "Error"),
    ]


def test_partitions_by_an_expression(orders: DataFrame) -> None:
    rules = [dq.ColumnSumInRange(name="sum", columns=["amount"], max=100)]
    evaluation = dq.evaluate(orders.where("day IS NOT NULL"), rules, partition_by="month(day)")
    assert [(o.partition, o.observed) for o in evaluation] == [("3", 35.0)]


def test_all_scopes_mean_the_dataset_where_there_are_no_partitions(orders: DataFrame) -> None:
    scopes: list[Any] = ["partitions", "whole_dataset", "both"]
    rules = [dq.RecordCountInRange(name=scope, min=1, scope=scope) for scope in scopes]
    evaluation = dq.evaluate(orders, rules)
    assert statuses(evaluation) == [(scope, None, "Ok") for scope in scopes]


def test_what_cannot_be_meant_is_said(orders: DataFrame) -> None:
    rules = [dq.RecordCountInRange(name="rows", min=1)]
    with pytest.raises(dq.DeclarationError, match="partitions need partition_by"):
        dq.evaluate(orders, rules, partitions=["2024-03-01"])
    with pytest.raises(KeyError, match="has no outcome for partition 'x'"):
        dq.evaluate(orders, rules)["rows", "x"]
    with pytest.raises(KeyError, match="No rule named 'nope'"):
        dq.evaluate(orders, rules)["nope"]


def test_the_jobs_do_not_grow_with_the_partitions(spark: SparkSession, count_jobs: Count) -> None:
    rules: list[dq.Rule] = [
        dq.RecordCountInRange(min=1, scope="both"),
        dq.ColumnAvgInRange(columns=["x"], max=10**9, scope="both"),
        dq.ColumnStddevInRange(columns=["x"], max=10**9, scope="both"),
        dq.ColumnMedianInRange(columns=["x"], max=10**9, scope="both"),
        dq.ColumnUnique(columns=["id"], scope="both"),
        dq.ColumnMostFrequentInSet(columns=["s"], values=["a0"], scope="both"),
        dq.ColumnNotEmpty(columns=["s"], scope="both"),
        dq.ColumnMaxInRange(columns=["x"], max=10**9, scope="both"),
    ]
    counts = []
    for partitions in (2, 12):
        frame = spark.range(240).selectExpr(
            "id", f"id % {partitions} AS part", "id * 2 AS x", "concat('a', id % 3) AS s"
        )
        judge = partial(dq.evaluate, frame, rules, partition_by="part")
        counts.append(count_jobs(judge))
        assert len(judge()) == len(rules) * (partitions + 1)
    assert counts[0] == counts[1] <= 14


def test_a_breakdown_by_group(orders: DataFrame) -> None:
    rules = [
        dq.ColumnNotEmpty(name="amounts", columns=["amount"], dimensions=["country"]),
        dq.ColumnNotEmpty(name="top", columns=["amount"], dimensions="country", top_dimensions=1),
        dq.ColumnNotEmpty(name="none", columns=["amount"], dimensions=["contry", "country"]),
    ]
    evaluation = dq.evaluate(orders, rules)
    groups = evaluation["amounts"].details["dimensions"]["country"]
    shown = [(g["group"], str(g["status"]), g["rows"], g["failed_rows"]) for g in groups]
    assert shown == [(None, "Error", 1, 1), ("DE", "Ok", 2, 0), ("FR", "Ok", 2, 0)]
    # 1 of 1 row: 1 * .25 * .01 / 1.5
    assert groups[0]["impact"] == 0.0017
    first, others = evaluation["top"].details["dimensions"]["country"]
    assert first["group"] is None
    assert (others["group"], others["groups"], others["rows"]) == ("Others", 2, 4)
    wrong = evaluation["none"]
    assert "Did you mean 'country'?" in wrong.details["dimensions"]["contry"]
    assert len(wrong.details["dimensions"]["country"]) == 3
    assert {str(outcome.status) for outcome in evaluation} == {"Error"}


def test_a_breakdown_by_partition_and_group(orders: DataFrame) -> None:
    rule = dq.ColumnMedianInRange(
        name="m", columns=["amount"], max=15, dimensions=["country"], scope="both", top_dimensions=1
    )
    evaluation = dq.evaluate(orders, [rule], partition_by="day", partitions=["2024-03-01"])
    on_day, in_all = (o.details["dimensions"]["country"] for o in evaluation)
    assert [(g["group"], g["observed"], str(g["status"])) for g in on_day] == [
        ("FR", 20.0, "Error"),
        ("Others", 10.0, "Ok"),
    ]
    assert [(g["group"], g["observed"], str(g["status"])) for g in in_all] == [
        ("DE", 7.5, "Ok"),
        ("Others", 10.5, "Ok"),
    ]


def test_groups_cost_no_further_pass(orders: DataFrame, count_jobs: Count) -> None:
    plain = [dq.ColumnNotEmpty(columns=["amount"])]
    grouped = [dq.ColumnNotEmpty(columns=["amount"], dimensions=["country", "day"])]
    assert len(dq.explain(grouped).passes) == len(dq.explain(plain).passes) == 1
    assert count_jobs(lambda: dq.evaluate(orders, grouped, samples=False)) <= 2


def test_rules_that_see_no_rows_are_not_broken_down() -> None:
    with pytest.raises(dq.DeclarationError, match="'dimensions' means nothing here"):
        dq.ColumnCountInRange(min=1, dimensions=["country"])


def test_files_of_partitions_and_of_all(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "orders"
    days = "concat('2024-03-0', 1 + id % 2) AS day"
    spark.range(100).selectExpr("id", days).coalesce(1).write.partitionBy("day").parquet(str(path))
    sizes: dict[str | None, int] = {}
    for file in path.glob("day=*/*.parquet"):
        day = file.parent.name.removeprefix("day=")
        sizes[day] = sizes.get(day, 0) + file.stat().st_size
    sizes[None] = sum(sizes.values())
    rule = dq.FileSizeInRange(name="size", min=1, scope="both")
    evaluation = dq.evaluate(spark.read.parquet(str(path)), [rule], partition_by="day")
    found = {outcome.partition: outcome.observed for outcome in evaluation}
    assert found == sizes
    assert [step.kind.name for step in dq.explain([rule]).passes] == ["FILES"]


def test_too_many_partitions_are_an_error_and_not_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "MOST_PARTS", 3)
    frame = spark.range(5).selectExpr("id AS p")
    with pytest.raises(TooManyParts, match="too many groups by the partition key"):
        dq.evaluate(frame, [dq.RecordCountInRange(min=1)], partition_by="p")


def test_a_key_that_cannot_be_computed_is_told_without_the_row(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 'n/a Jane Doe' AS t UNION ALL SELECT '2024-01-01'")
    rules = [dq.RecordCountInRange(name="rows", min=1), dq.ColumnNotEmpty(name="t", columns="t")]
    with pytest.raises(SparkFailure) as raised:
        dq.evaluate(frame, rules, partition_by="to_date(t)")
    assert "Jane" not in str(raised.value)
    named = dq.evaluate(frame, rules, partition_by="to_date(t)", partitions=["2024-01-01"])
    assert {str(outcome.status) for outcome in named} == {"Error"}
    assert not any("Jane" in outcome.message for outcome in named)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"rules": "rules.yaml"}, "a list of rules is needed, not the name of a file: take one of"),
        ({"rules": None}, "the data comes first, then a list of rules, not a NoneType."),
        ({"rules": pd.DataFrame()}, "the data comes first, then a list of rules, not a DataFrame."),
        (
            {"now": "2024-01-04"},
            "now is a datetime, such as datetime(2024, 1, 31, tzinfo=UTC), not",
        ),
        ({"now": date(2024, 1, 4)}, "now is a datetime, such as datetime(2024, 1, 31, tzinfo=UTC)"),
        ({"partition_by": "day", "partitions": "2024-01-01"}, "partitions is a list of keys: put"),
        (
            {"partition_by": "dya"},
            "partition_by, 'dya', is neither a column nor an SQL expression: ",
        ),
    ],
)
def test_what_is_no_argument_is_told(
    spark: SparkSession, arguments: dict[str, Any], told: str
) -> None:
    given = {"rules": [dq.RecordCountInRange(min=1)], **arguments}
    with pytest.raises(dq.DqError, match=re.escape(told)) as raised:
        dq.evaluate(spark.sql("SELECT DATE'2024-01-01' AS day"), **given)
    assert "\n+- " not in str(raised.value)
