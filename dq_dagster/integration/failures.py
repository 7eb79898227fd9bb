"""What went wrong before any rule could be judged, told without secrets or row values."""

from __future__ import annotations

import re
import sysconfig
from pathlib import PurePath
from traceback import walk_tb

import dagster as dg

from dq_dagster.errors import DqError, NothingStored, UnreadableData
from dq_dagster.judging.secrets import presentable

_OURS = "dq_dagster."
_INSTALLED = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))
# Their texts speak of files, addresses and names. (What fails a type check is quoted, though.)
_HARMLESS = (OSError, ImportError, dg.DagsterError)
_QUOTING = (dg.DagsterTypeCheckDidNotPass,)
# Said before anything is read, and yet raised as an error of Java.
_NO_FORMAT = "[DATA_SOURCE_NOT_FOUND]"


def told(error: Exception, asset: str) -> DqError:
    """A sentence with the error's class and the first line of its text."""
    error = cause_of(error)
    if isinstance(error, DqError):
        return error
    reason = _first_line(_reason(error))
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


def _reason(error: Exception) -> str:
    """The error's class, and its text where that speaks of places, names and types only.

    The text of any other error may quote row values, whoever raised it: the place in the code has
    to do then.
    """
    from pyspark.errors import AnalysisException, PySparkException

    from dq_dagster.spark.failures import condition_of, first_line

    name = type(error).__name__
    if _NO_FORMAT in str(error):
        return first_line(error)
    harmless = isinstance(error, (AnalysisException, *_HARMLESS))
    if harmless and not isinstance(error, _QUOTING):
        return f"{name}: {error}" if str(error) else name
    if isinstance(error, PySparkException):
        return f"{name}: {condition_of(error)}"
    return f"{name} was raised{_place(error)}"


def _place(error: Exception) -> str:
    """The innermost place in the code of people: neither in a library nor in this one."""
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        file = frame.f_code.co_filename
        module = str(frame.f_globals.get("__name__", ""))
        foreign = not file.endswith(".py") or any(place in file for place in _INSTALLED)
        if not foreign and not module.startswith(_OURS):
            return f" in {frame.f_code.co_name} ({PurePath(file).name}, line {line})"
    return ""


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return presentable(re.sub(r"\s*SQLSTATE: \w+.*$", "", line))
