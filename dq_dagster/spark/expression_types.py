"""What type an expression has: Spark's analyzer is asked, nothing runs."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import types as T

from dq_dagster.spark.failures import first_line, without_quoting_rows
from dq_dagster.spark.session import current_session


def type_of(expression: str, schema: T.StructType) -> T.DataType:
    """The type of the expression over rows of that schema; ValueError if it has none."""
    try:
        with without_quoting_rows():
            nothing = current_session().createDataFrame([], schema)
            return nothing.selectExpr(f"({expression}) AS found").schema["found"].dataType
    except (AnalysisException, ParseException) as error:
        raise ValueError(first_line(error)) from None
