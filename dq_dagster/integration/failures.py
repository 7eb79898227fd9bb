"""What went wrong before any rule could be judged, told without secrets or row values."""

from __future__ import annotations

import re

import dagster as dg

from dq_dagster.errors import DqError, NothingStored, UnreadableData
from dq_dagster.judging.secrets import presentable


def told(error: Exception, asset: str) -> DqError:
    """A sentence with the error's class and the first line of its text."""
    error = cause_of(error)
    if isinstance(error, DqError):
        return error
    text = _first_line(_text(error))
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return UnreadableData(f"The data of asset '{asset}' could not be read ({reason}).")


def is_missing(error: Exception) -> bool:
    """Whether something could not be read because it is not there."""
    from pyspark.errors import AnalysisException

    from dq_dagster.spark.partition_files import is_missing as path_is_missing

    error = cause_of(error)
    if isinstance(error, AnalysisException):
        return path_is_missing(error)
    return isinstance(error, FileNotFoundError | NothingStored)


def cause_of(error: Exception) -> Exception:
    """Dagster wraps what an IO manager raised; the cause says what happened."""
    while isinstance(error, dg.DagsterError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    return error


def _text(error: Exception) -> str:
    """What the error says, but for what Spark says while it computes: that may quote row values."""
    from pyspark.errors import AnalysisException, PySparkException

    from dq_dagster.spark.failures import condition_of

    if isinstance(error, PySparkException) and not isinstance(error, AnalysisException):
        return condition_of(error)
    return str(error)


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return presentable(re.sub(r"\s*SQLSTATE: \w+.*$", "", line))
