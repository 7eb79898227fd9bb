"""Generated tables as Spark DataFrames: schema given, nothing inferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.generate import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, table: Table) -> DataFrame:
    from pyspark.sql import types as T

    fields = [T.StructField(c.name, T.DataType.fromDDL(c.kind)) for c in table.columns]
    rows = [tuple(row.values()) for row in table.rows()]
    return spark.createDataFrame(rows, T.StructType(fields))
