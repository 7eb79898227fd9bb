"""The size of files, against what the file system says of real files in real folders."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Counter = Callable[[Callable[[], object]], int]
# ":" is left out: Hadoop cannot read a file with one.
ODD = (
    "plain", "with space", "per%cent", "per%20cent", "ünï日本", "a,b", "br{a,b}", "sq[1]", "st*r",
    "q?", "back\\slash", "ha#sh", "am&p;", "plus+", "qu'o\"te", "\U0001f600", "tilde~", "a=b",
)  # fmt: skip


def measure(frame: DataFrame) -> dq.Outcome:
    [outcome] = dq.evaluate(frame, [dq.FileSizeInRange(min=0)])
    return outcome


def on_disk(folder: Path, pattern: str = "*.parquet") -> int:
    return sum(file.stat().st_size for file in folder.rglob(pattern))


def literally(path: Path) -> str:
    """The path as Spark takes it: brackets would be patterns."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", str(path))


def write(spark: SparkSession, folder: Path, rows: int = 10, files: int = 1) -> Path:
    spark.range(rows).repartition(files).write.parquet(str(folder))
    return folder


def test_folders_single_files_and_projections(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(spark, tmp_path / "t", files=3)
    frame = spark.read.parquet(str(folder))
    outcome = measure(frame)
    assert outcome.observed == on_disk(folder)
    assert outcome.message.startswith("The size of 3 files is ")
    one = next(folder.glob("*.parquet"))
    assert measure(spark.read.parquet(str(one))).observed == one.stat().st_size
    for derived in (
        frame.where("id > 3"),
        frame.selectExpr("id + 1 AS x"),
        frame.groupBy("id").count(),
        frame.unionAll(frame),
        frame.join(spark.range(3), "id"),
    ):
        assert measure(derived).observed == on_disk(folder)


def test_two_sources_are_added_up(spark: SparkSession, tmp_path: Path) -> None:
    one, other = (write(spark, tmp_path / name) for name in ("one", "other"))
    both = spark.read.parquet(str(one)).unionAll(spark.read.parquet(str(other)))
    assert measure(both).observed == on_disk(tmp_path)


def test_partitions(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    days = spark.range(40).selectExpr("id", "concat('2024-01-0', id % 4 + 1) AS day")
    days.write.partitionBy("day").parquet(str(folder))
    frame = spark.read.parquet(str(folder))
    assert measure(frame).observed == on_disk(folder)
    assert measure(spark.read.parquet(str(folder / "day=2024-01-02"))).observed == on_disk(
        folder / "day=2024-01-02"
    )


def test_odd_names_of_folders_and_files(spark: SparkSession, tmp_path: Path) -> None:
    part = next(write(spark, tmp_path / "source").glob("*.parquet")).read_bytes()
    root = tmp_path / "odd"
    for name in ODD:
        (root / name).mkdir(parents=True)
        (root / name / f"{name}.parquet").write_bytes(part)
    frame = spark.read.option("recursiveFileLookup", "true").parquet(str(root))
    outcome = measure(frame)
    assert outcome.observed == len(part) * len(ODD)
    assert outcome.message.startswith(f"The size of {len(ODD)} files ")


@pytest.mark.parametrize("folders", [1, 5, 90])
def test_many_files(spark: SparkSession, tmp_path: Path, folders: int) -> None:
    part = next(write(spark, tmp_path / "source").glob("*.parquet")).read_bytes()
    root = tmp_path / "o{d},d [x]"
    files = [root / f"k={n % folders}" / f"ä {n}%.parquet" for n in range(90)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(part)
    frame = spark.read.parquet(literally(root))
    some = spark.read.parquet(*map(literally, files[:40]))
    # Beside the files that are read lie others, and one in a folder below.
    (root / "k=0" / "other.csv").write_text("not read")
    (root / "k=0" / "below").mkdir()
    (root / "k=0" / "below" / "more.parquet").write_bytes(part)
    assert measure(frame).observed == 90 * len(part)
    assert measure(some).observed == 40 * len(part)


def test_files_that_appear_in_no_row(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "blank.csv").write_text("\n\n")
    (tmp_path / "_hidden.csv").write_text("never read")
    (tmp_path / ".hidden").write_text("never read")
    outcome = measure(spark.read.schema("a int").csv(str(tmp_path)))
    assert outcome.observed == 4
    assert outcome.message.startswith("The size of 3 files is 4 bytes")


def test_no_file_at_all_is_a_size_of_zero(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.read.schema("a int").csv(str(tmp_path))
    outcome = measure(frame)
    assert (outcome.status, outcome.observed) == ("Ok", 0)
    # Spark knows that nothing will come of it, and so reads no file.
    folder = write(spark, tmp_path / "t")
    assert measure(spark.read.parquet(str(folder)).where("false")).observed == 0


def test_tables_and_views(spark: SparkSession) -> None:
    spark.range(10).write.mode("overwrite").saveAsTable("sized")
    try:
        table = spark.table("sized")
        expected = sum(
            Path(file.removeprefix("file://")).stat().st_size for file in table.inputFiles()
        )
        assert measure(table).observed == expected > 0
        table.createOrReplaceTempView("sized_view")
        assert measure(spark.table("sized_view")).observed == expected
    finally:
        spark.sql("DROP VIEW IF EXISTS sized_view")
        spark.sql("DROP TABLE IF EXISTS sized")


def test_data_that_comes_from_no_file(spark: SparkSession, capfd: Any) -> None:
    spark.range(3).createOrReplaceTempView("in_memory")
    named = spark.createDataFrame([(1,)], "_metadata int")
    frames = (
        spark.range(3),
        spark.createDataFrame([(1,)], "a int"),
        spark.table("in_memory"),
        named,
    )
    for frame in frames:
        outcome = measure(frame)
        assert outcome.status == "Error"
        assert outcome.message == (
            "The data does not come from files, so it has no file size: judge a table or folder "
            "that is read from storage."
        )
    assert "UNRESOLVED_COLUMN" not in capfd.readouterr().err


def test_files_that_are_gone_are_told(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(spark, tmp_path / "t")
    frame = spark.read.parquet(str(folder))
    next(folder.glob("*.parquet")).unlink()
    size, columns = dq.evaluate(frame, [dq.FileSizeInRange(min=0), dq.ColumnCountInRange(min=1)])
    assert (size.status, columns.status) == ("Error", "Ok")
    assert size.message == (
        "The size of the files could not be determined: Spark raised PATH_NOT_FOUND on looking "
        "them up."
    )


def test_the_range_is_judged_and_numbers_are_recorded(spark: SparkSession, tmp_path: Path) -> None:
    folder = write(spark, tmp_path / "t")
    bytes_ = on_disk(folder)
    frame = spark.read.parquet(str(folder))
    rules = [
        dq.FileSizeInRange(name="ok", min=bytes_, max=bytes_),
        dq.FileSizeInRange(name="large", max=bytes_ - 1),
        dq.FileSizeInRange(name="small", soft_min=bytes_ + 1, max="1 GB"),
    ]
    found = dq.evaluate(frame, rules)
    assert [outcome.status for outcome in found] == ["Ok", "Error", "Warning"]
    assert found["large"].message == (
        f"The size of 1 file is {bytes_} bytes, above the maximum of {bytes_ - 1} bytes."
    )
    assert found["ok"].metrics == {"file_size": bytes_, "file_count": 1}


def test_many_rules_look_once(spark: SparkSession, tmp_path: Path, count_jobs: Counter) -> None:
    frame = spark.read.parquet(str(write(spark, tmp_path / "t")))
    rules = [dq.FileSizeInRange(name=f"r{n}", min=n) for n in range(10)]
    assert count_jobs(lambda: dq.evaluate(frame, rules, samples=False)) <= 2
    assert count_jobs(lambda: dq.evaluate(frame, rules, samples=False)) == count_jobs(
        lambda: dq.evaluate(frame, rules[:1], samples=False)
    )
