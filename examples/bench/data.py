"""The table that is measured: the same every time, written once per size."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

COLUMNS = 20


def table(spark: SparkSession, folder: Path, rows: int) -> DataFrame:
    """Twenty columns of whole numbers, amounts, codes and texts, some of them missing."""
    path = folder / f"rows={rows}"
    if not (path / "_SUCCESS").exists():
        columns = [_column(n) for n in range(COLUMNS)]
        spark.range(rows).selectExpr("id", *columns).write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def _column(n: int) -> str:
    mixed = f"pmod(hash(id, {n}), 1000)"
    value = (
        mixed,
        f"{mixed} / 10.0D",
        f"CAST({mixed} AS DECIMAL(12, 2))",
        f"concat('code-', {mixed})",
    )[n % 4]
    return f"IF(pmod(hash(id, {n}, 7), 97) = 0, NULL, {value}) AS c{n}"
