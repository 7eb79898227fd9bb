"""What Spark raised, without the row values that its own text may quote.

Columns that are in a table by name, but whose values Spark cannot hold, are marked in the metadata
of their field, which stays with it in unions and selections. Should a query read one all the same,
it raises the reason: it can never be taken for NULLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, SparkFailure

# The entries of a field's metadata: why it cannot be read, and its type in pandas.
UNREADABLE = "dq_dagster/unreadable"
UNREADABLE_TYPE = "dq_dagster/type"
_MARK = "dq_dagster: "
_RAISED = re.compile(
    rf"\[USER_RAISED_EXCEPTION\] {_MARK}(?P<reason>.*?)(?: SQLSTATE: \w+|$)", re.MULTILINE
)


def reason_of(field: T.StructField) -> str | None:
    """Why a column cannot be read; None if it can."""
    return (field.metadata or {}).get(UNREADABLE)


def raised_text(reason: str) -> str:
    """What a query raises that reads such a column."""
    return f"{_MARK}{reason}"


def raised_reason(error: Exception) -> str | None:
    """The reason in an error of Spark, if it comes from such a column."""
    found = _RAISED.search(str(error))
    return found["reason"] if found else None


_HINTS = {
    "DIVIDE_BY_ZERO": "a division by zero; try_divide gives NULL instead",
    "CAST_INVALID_INPUT": "a value that cannot be cast; try_cast gives NULL instead",
    "CAST_OVERFLOW": "a value too large for the type it is cast to; try_cast gives NULL instead",
    "ARITHMETIC_OVERFLOW": "a result too large for its type; cast to a wider type first",
    "NUMERIC_VALUE_OUT_OF_RANGE": "a number too large for its type; cast to a wider type first",
    "INVALID_ARRAY_INDEX": "an index outside the array; get() gives NULL instead",
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT": "an index outside the array; try_element_at gives NULL",
    "CANNOT_PARSE_TIMESTAMP": "a text that is no timestamp; try_to_timestamp gives NULL instead",
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": (
        "a subquery that stands for a value gives more than one row; aggregate them"
    ),
    "java.util.regex.PatternSyntaxException": "the pattern is not a regular expression of Java",
    "java.lang.StackOverflowError": "an expression or pattern too deep for the data",
}
_JAVA_CLASS = re.compile(r"\b(?:[a-z_]\w*\.)+[A-Z]\w*(?:Exception|Error)\b")
_NAMED = re.compile(r"\borg\.apache\.spark\.Spark\w*Exception: \[([A-Z][A-Z0-9_.]+)\]")
_WRAPPERS = {"org.apache.spark.SparkException", "java.util.concurrent.ExecutionException"}


def failure_of(error: Exception) -> RuleFailure:
    """A sentence with the error's class, fit to be shown anywhere."""
    if isinstance(error, RuleFailure):
        return error
    if isinstance(error, AnalysisException):
        # Raised before any row was read: the text speaks of names and types only.
        return SparkFailure(f"Spark does not accept this rule: {first_line(error)}")
    reason = raised_reason(error)
    if reason is not None:
        return SparkFailure(reason)
    condition = condition_of(error)
    hint = _HINTS.get(condition) or _HINTS.get(condition.split(".")[0])
    return SparkFailure(
        f"Spark raised {condition} while computing this rule{f' ({hint})' if hint else ''}."
    )


@contextmanager
def without_quoting_rows() -> Iterator[None]:
    """Keeps PySpark from logging errors whose text quotes row values; rules report them."""
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def condition_of(error: Exception) -> str:
    """Spark's own name for the error, else the class of the Java or Python exception."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    if condition:
        return condition
    classes = [name for name in _JAVA_CLASS.findall(str(error)) if name not in _WRAPPERS]
    # What stops a query on the driver comes as Java's exception, not as PySpark's.
    named = _NAMED.search(str(error))
    if named and (not classes or classes[0].startswith("org.apache.spark.")):
        return named[1]
    return classes[0] if classes else type(error).__name__


def first_line(error: Exception) -> str:
    """What Spark says without its codes; from its analyzer, that speaks of names and types only."""
    text = re.sub(r"^An error occurred while calling .*\n: (?:\w+\.)+\w+: ", "", str(error).strip())
    line = text.splitlines()[0]
    line = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", line)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", line)
