"""Which data counts as small, what that costs, and that it changes no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql import functions as F

import dq_dagster as dq
from dq_dagster.spark.frames.frames import as_spark
from dq_dagster.spark.session.sizes import SMALL, is_small, most_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]
ROWS = pd.DataFrame(
    {
        "id": [1, 2, 3, 4, 4, None],
        "day": ["mon", "mon", "tue", "tue", None, "tue"],
        "amount": [1.5, -0.0, 0.0, float("inf"), 2.5, 7.0],
        "country": ["DE", "FR", "DE", None, "DE", "NO"],
    }
)
RULES: list[dict[str, Any]] = [
    {"type": "record_count_in_range", "min": 1},
    {"type": "column_not_empty", "columns": ["id", "country"]},
    {"type": "column_unique", "columns": ["id", "amount"]},
    {"type": "unique_key", "columns": ["id", "country"]},
    {"type": "column_median_in_range", "columns": ["id", "amount"], "min": 2},
    {"type": "column_avg_in_range", "columns": "id", "max": 2},
    {"type": "column_most_frequent_in_set", "columns": "country", "values": ["DE"]},
    {"type": "column_top_values_in_set", "columns": "country", "values": ["DE", "NO"], "top": 2},
    {"type": "column_values_in_set", "columns": "country", "values": ["DE", "FR"]},
]


@pytest.fixture
def up_to(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    """Sets up to which size data is small."""
    yield lambda size: spark.conf.set(SMALL, size)
    spark.conf.unset(SMALL)


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("4m", 4 * 2**20),
        ("100", 100),
        ("64 KiB", 64 * 2**10),
        ("1gb", 2**30),
        ("0", 0),
        ("", 0),
        ("false", 0),
        ("-1", 0),
        ("much", 0),
    ],
)
def test_the_setting_is_a_size(
    spark: SparkSession, up_to: Callable[[str], None], said: str, size: int
) -> None:
    up_to(said)
    assert most_bytes(spark) == size


def test_up_to_4_megabytes_are_small_unless_the_session_says_otherwise(spark: SparkSession) -> None:
    assert most_bytes(spark) == 4 * 2**20


def _of_file(spark: SparkSession, folder: Path) -> DataFrame:
    path = folder / "rows.csv"
    path.write_text("id,text\n" + "".join(f"{n},{'x' * 90}\n" for n in range(100)))
    return spark.read.csv(str(path), header=True, schema="id INT, text STRING")


def test_files_are_small_by_what_they_take_on_disk(
    spark: SparkSession, tmp_path: Path, up_to: Callable[[str], None], count_jobs: Counter
) -> None:
    rows = _of_file(spark, tmp_path)
    assert (tmp_path / "rows.csv").stat().st_size == 9_398
    found: list[bool] = []

    def ask() -> None:
        found.extend([is_small(rows), is_small(rows.where("id > 3").select("id"))])
        for size in ("9398", "9397", "0"):
            up_to(size)
            found.append(is_small(rows))

    assert count_jobs(ask) == 0
    assert found == [True, True, True, False, False]


# What Spark thinks is small, and may not be.
LARGE: list[tuple[str, Callable[[DataFrame], DataFrame]]] = [
    ("rows made of rows", lambda rows: rows.selectExpr("explode(sequence(1, 1000000)) AS n")),
    ("Python", lambda rows: rows.select(F.udf(lambda text: text)("text").alias("text"))),
    ("Python by blocks", lambda rows: rows.mapInArrow(lambda some: some, "id INT, text STRING")),
    ("a product", lambda rows: rows.crossJoin(rows).crossJoin(rows)),
    ("many parts", lambda rows: _union([rows] * 60)),
]


def _union(parts: Sequence[DataFrame]) -> DataFrame:
    found = parts[0]
    for part in parts[1:]:
        found = found.union(part)
    return found


@pytest.mark.parametrize("name", [name for name, _ in LARGE])
def test_nothing_is_small_that_may_become_large(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    rows = _of_file(spark, tmp_path)
    assert is_small(rows)
    assert not is_small(dict(LARGE)[name](rows))


def test_a_small_part_of_large_data_is_large(
    spark: SparkSession, tmp_path: Path, up_to: Callable[[str], None]
) -> None:
    rows = _of_file(spark, tmp_path)
    up_to("5000")
    assert not is_small(rows.selectExpr("count(id) AS n"))
    assert not is_small(rows.limit(1))


def test_data_of_pandas_is_small_by_its_values(
    spark: SparkSession, up_to: Callable[[str], None]
) -> None:
    rows = as_spark(ROWS)
    assert is_small(rows)
    up_to("100")
    assert not is_small(rows)
    assert not is_small(as_spark(ROWS))


def test_data_that_cannot_be_planned_is_not_small(spark: SparkSession) -> None:
    assert not is_small(spark.range(1).selectExpr("1 / 0 AS wrong"))


def test_all_rules_on_small_data_take_three_jobs_of_one_task(spark: SparkSession) -> None:
    outcomes: list[dq.Outcome] = []
    context = spark.sparkContext
    context.setJobGroup("small", "counted")
    nothing: Any = None
    try:
        outcomes.extend(dq.evaluate(ROWS, RULES, samples=False))
    finally:
        context.setLocalProperty("spark.jobGroup.id", nothing)
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("small")]
    # One aggregation, one count of values, one query for medians.
    assert len(jobs) == 3
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    tasks = [stage.numTasks for stage in stages if stage]
    assert tasks == [1, 1, 1]
    assert len(outcomes) == len(RULES)


@pytest.mark.parametrize("scope", ["whole_dataset", "partitions", "both"])
@pytest.mark.parametrize("rows", [ROWS, ROWS.iloc[:0], ROWS.iloc[5:]], ids=["some", "no", "one"])
def test_small_data_has_the_same_outcomes_as_any_other(
    spark: SparkSession, up_to: Callable[[str], None], scope: str, rows: pd.DataFrame
) -> None:
    rules = [
        {**rule, "scope": scope, "dimensions": ["country"], "name": f"{rule['type']}{n}"}
        for n, rule in enumerate(RULES)
    ]
    small = _said(dq.evaluate(rows, rules, partition_by="day"))
    up_to("0")
    assert small == _said(dq.evaluate(rows, rules, partition_by="day"))


def _said(found: dq.Evaluation) -> list[Any]:
    return [
        (one.rule.name, one.partition, one.status, one.message, one.metrics, one.samples)
        for one in found
    ]


def test_small_files_of_many_rows_have_the_right_median(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "many")
    # The same few values again and again take next to no place.
    spark.range(500_000).selectExpr("id % 3 + id DIV 200001 * 10 AS x").write.parquet(path)
    rows = spark.read.parquet(path)
    assert is_small(rows)
    [found] = dq.evaluate(rows, [dq.ColumnMedianInRange(columns="x", min=10, max=10)])
    assert (found.status, found.rows) == ("Ok", 500_000)
    assert found.observed == 10
