"""Functions that rules of type ``python`` name."""

from __future__ import annotations

from pyspark.sql import DataFrame

import dq_dagster as dq


def no_gaps(data: DataFrame, context: dq.CallContext, *, column: str) -> tuple[str, int, str]:
    """Whether the numbers of a column follow each other without a gap."""
    [found] = data.selectExpr(
        f"max({column}) - min({column}) + 1 - count(DISTINCT {column}) AS missing"
    ).collect()
    missing = found["missing"] or 0
    status = "Error" if missing else "Ok"
    return status, missing, f"{missing} numbers are missing between the first and the last."
