"""Columns that are only read for missing values: files that rule those out are not read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import dq_dagster as dq
from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.measured import UNDIVIDED
from dq_dagster.metrics.metric import ConditionCount, RowMetric
from dq_dagster.spark.expressions.aggregates import aggregates
from dq_dagster.spark.expressions.values import Aggregates
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.passes import skipping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("large")
Counter = Callable[[Callable[[], object]], int]
# Rows 0 to 299: the first ones miss some values, the others none.
COLUMNS = {
    "n": "id",
    "day": "date_add(DATE'2024-01-01', CAST(id DIV 100 AS INT))",
    "price": "CAST(id / 7 AS DECIMAL(12, 2))",
    "full text": "concat('text ', id)",
    "some": "IF(id < 100 AND id % 3 = 0, NULL, id / 2)",
    "none": "CAST(NULL AS INT)",
    "flag": "IF(id = 42, NULL, id % 2 = 0)",
    "at": "IF(id % 10 = 0, NULL, timestamp_seconds(id))",
    "list": "IF(id % 5 = 0, NULL, array(id))",
    "a.b": "IF(id > 250, NULL, CAST(id AS STRING))",
}
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are worth skipping too."""
    monkeypatch.setattr(skipping, "_WORTHWHILE", 0)
    monkeypatch.setattr(skipping, "_LARGE_FILE", 0)


def _frame(spark: SparkSession) -> DataFrame:
    columns = (f"{sql} AS `{name}`" for name, sql in COLUMNS.items())
    return spark.range(0, 300, 1, 3).selectExpr(*columns)


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "parquet"
    _frame(spark).write.parquet(str(path))
    return path


def _rules(scope: str = "whole_dataset") -> dq.RuleSet:
    missing = [
        {"type": "column_not_empty", "columns": [name], "name": f"given {n}", "scope": scope}
        for n, name in enumerate(COLUMNS)
    ]
    others = [
        {"type": "column_sum_in_range", "columns": "price", "min": 0, "scope": scope},
        {"type": "row_dq", "expectation": "n >= 0", "scope": scope},
        {"type": "record_count_in_range", "min": 1, "scope": scope},
        {"type": "column_empty", "columns": "none", "scope": scope},
        {
            "type": "column_not_empty",
            "columns": "some",
            "name": "half",
            "where": "n < 5",
            "scope": scope,
        },
    ]
    return dq.RuleSet.model_validate({"asset": "rows", "rules": [*missing, *others]})


def _told(evaluation: dq.Evaluation) -> list[tuple[object, ...]]:
    return [(o.rule.name, o.partition, o.status, o.observed, o.message) for o in evaluation]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_the_answers_are_those_of_a_full_look(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    _frame(spark).write.format(form).save(str(tmp_path / form))
    stored = spark.read.format(form).load(str(tmp_path / form))
    plain = _frame(spark)
    assert _told(dq.evaluate(stored, _rules())) == _told(dq.evaluate(plain, _rules()))
    by_day = [dq.evaluate(f, _rules("both"), partition_by="day") for f in (stored, plain)]
    assert _told(by_day[0]) == _told(by_day[1])
    assert {outcome.partition for outcome in by_day[0]} == {None, *DAYS}


@pytest.mark.usefixtures("eager")
def test_no_rows_miss_nothing(spark: SparkSession, folder: Path) -> None:
    stored = spark.read.parquet(str(folder)).where("n < 0")
    plain = _frame(spark).where("n < 0")
    assert _told(dq.evaluate(stored, _rules())) == _told(dq.evaluate(plain, _rules()))


def _spoiled(folder: Path, column: str) -> None:
    """Leaves what the files note, and makes the values of a column unreadable."""
    for file in folder.glob("*.parquet"):
        blocks = pq.ParquetFile(file).metadata
        place = blocks.schema.names.index(column)
        content = bytearray(file.read_bytes())
        for number in range(blocks.num_row_groups):
            chunk = blocks.row_group(number).column(place)
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            content[start : start + chunk.total_compressed_size] = (
                b"\xff" * chunk.total_compressed_size
            )
        file.write_bytes(content)
        (folder / f".{file.name}.crc").unlink(missing_ok=True)


@pytest.mark.usefixtures("eager")
def test_a_column_without_missing_values_is_not_even_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "spoiled"
    _frame(spark).select("n", "full text").write.parquet(str(path))
    _spoiled(path, "full text")
    stored = spark.read.parquet(str(path))
    rules: list[dq.Rule] = [
        dq.ColumnNotEmpty(columns="full text"),
        dq.ColumnSumInRange(columns="n", min=0),
    ]
    assert [o.status for o in dq.evaluate(stored, rules)] == [dq.Status.OK] * 2
    # The same files do fail whoever reads the column.
    pattern = dq.ColumnValuesMatch(columns="full text", pattern="text .*")
    read = dq.evaluate(stored, [*rules, pattern])
    assert [o.status for o in read] == [dq.Status.ERROR, dq.Status.OK, dq.Status.ERROR]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("partition_by", [None, "day"])
def test_a_column_that_cannot_be_read_costs_no_other(
    spark: SparkSession, tmp_path: Path, partition_by: str | None
) -> None:
    path = tmp_path / "spoiled"
    _frame(spark).select("n", "day", "full text", "some").write.parquet(str(path))
    _spoiled(path, "full text")
    # "some" has missing values, so that blocks are read for it, and the other column with them.
    rules = [dq.ColumnNotEmpty(name=c, columns=c) for c in ("full text", "some")]
    rows = dq.RecordCountInRange(name="rows", min=1)
    found = dq.evaluate(spark.read.parquet(str(path)), [*rules, rows], partition_by=partition_by)
    first = [o for o in found if o.partition in (None, DAYS[0])]
    assert [(o.rule.name, o.status) for o in first] == [
        ("full text", dq.Status.ERROR),
        ("some", dq.Status.ERROR),
        ("rows", dq.Status.OK),
    ]
    assert first[0].message.startswith("Spark raised")
    assert first[1].observed == 34


@pytest.mark.usefixtures("eager")
def test_what_is_computed_or_joined_is_looked_at_once(
    spark: SparkSession, folder: Path, count_jobs: Counter
) -> None:
    rules: list[dq.Rule] = [
        dq.ColumnNotEmpty(columns=["full text", "some"]),
        dq.ColumnSumInRange(columns="n", min=0),
    ]
    stored = spark.read.parquet(str(folder))
    computed = stored.selectExpr("n", "upper(`full text`) AS `full text`", "some")
    cut = stored.limit(200)
    assert count_jobs(lambda: dq.evaluate(stored, rules, samples=False)) == 4
    assert count_jobs(lambda: dq.evaluate(computed, rules, samples=False)) == 2
    alone = count_jobs(lambda: dq.evaluate(cut, rules[1:], samples=False))
    assert count_jobs(lambda: dq.evaluate(cut, rules, samples=False)) == alone


def test_small_files_are_looked_at_once(
    spark: SparkSession, folder: Path, count_jobs: Counter
) -> None:
    stored = spark.read.parquet(str(folder))
    assert count_jobs(lambda: dq.evaluate(stored, _rules(), samples=False)) == 2


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("looked_at", [1, 20, 10_000])
def test_columns_with_many_gaps_are_read_with_all_others(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch, looked_at: int
) -> None:
    monkeypatch.setattr(skipping, "_LOOKED_AT", looked_at)
    stored, plain = spark.read.parquet(str(folder)), _frame(spark)
    assert _told(dq.evaluate(stored, _rules())) == _told(dq.evaluate(plain, _rules()))
    by_day = [dq.evaluate(f, _rules("both"), partition_by="day") for f in (stored, plain)]
    assert _told(by_day[0]) == _told(by_day[1])


@pytest.mark.usefixtures("eager")
def test_gaps_of_one_column_do_not_have_others_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "gaps"
    texts = "concat('text ', id) AS whole", "IF(id % 2 = 0, NULL, 1) AS gap"
    spark.range(0, 30_000, 1, 3).selectExpr(*texts).write.parquet(str(path))
    stored = spark.read.parquet(str(path))
    table = JudgedTable.of(stored)
    both = [ConditionCount(IsEmpty(name, blank_is_empty=False)) for name in ("whole", "gap")]
    whole = both[0]
    needs: dict[RowMetric, Aggregates] = {one: aggregates(one, table) for one in both}
    apart = skipping.counted_apart(stored, needs, table)
    assert apart == skipping.Apart((whole,), "`whole` IS NULL")
    assert apart.measured((UNDIVIDED,)) is None
    alone = skipping.counted_apart(stored, {whole: needs[whole]}, table)
    assert alone is not None
    assert alone.known == {whole: 0}
    rules = [dq.ColumnNotEmpty(name=name, columns=name) for name in ("whole", "gap")]
    found = dq.evaluate(stored, rules, samples=False)
    assert [one.failed_rows for one in found] == [0, 15_000]
