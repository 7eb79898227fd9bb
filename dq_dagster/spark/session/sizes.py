"""Which data is small for sure: it is judged in one task, without a shuffle or Python workers.

Nothing is read to find that out. What is made of pandas is measured when it is made. Of other data
classic Spark says how large its files are, or the rows that it holds itself. Spark Connect tells
nobody, so there, as wherever nothing is known, data counts as large.
"""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING

from dq_dagster.spark.session.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A setting of the session: up to this size data is small; "0" lets nothing be.
SMALL = "spark.dq_dagster.small"
# One task is through with so much before shuffles and workers would have begun.
_DEFAULT = "4m"
_SIZE = re.compile(r"(\d+)\s*([kmg]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
# Of these, all that is read and all that comes of it is about as large as Spark says. Others may
# make many rows of few, or take long over each of them, as Python does.
_PLAIN_STEPS = {
    *("Aggregate", "Deduplicate", "Filter", "GlobalLimit", "Join", "LocalLimit", "LocalRelation"),
    *("LogicalRDD", "OneRowRelation", "Project", "Range", "Relation", "Repartition", "Sort"),
    *("RepartitionByExpression", "Union", "Window"),
}
_STEP = re.compile(r"^\d+ [\s:+-]*(\w+)", re.MULTILINE)
# Each part is a few calls of Java.
_MOST_PARTS = 50

_measured: weakref.WeakKeyDictionary[DataFrame, int] = weakref.WeakKeyDictionary()


def note_size(frame: DataFrame, size: int) -> DataFrame:
    """The frame itself, of which it is known from now on how many bytes its rows take."""
    _measured[frame] = size
    return frame


def is_small(frame: DataFrame) -> bool:
    """Whether it is known to be small. No job of Spark is started for this."""
    most = most_bytes(frame.sparkSession)
    if not most:
        return False
    size = _measured[frame] if frame in _measured else _size(frame)
    return size is not None and size <= most


def most_bytes(session: SparkSession) -> int:
    """How large small data may be, as the session says it; nothing is small if nobody can tell."""
    said = _SIZE.fullmatch((session.conf.get(SMALL, _DEFAULT) or "").strip())
    return int(said[1]) * _UNITS[said[2].lower()] if said else 0


def _size(frame: DataFrame) -> int | None:
    """The bytes that are read, or that come of them if those are more; None if it is unknown."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    if is_connect(frame.sparkSession) or frame.isStreaming:
        return None
    try:
        plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 (no public way)
        if not set(_STEP.findall(plan.numberedTreeString())) <= _PLAIN_STEPS:
            return None
        read = plan.collectLeaves()
        if read.size() > _MOST_PARTS:
            return None
        of_parts = (read.apply(n).stats().sizeInBytes() for n in range(read.size()))
        return max(int(plan.stats().sizeInBytes()), sum(map(int, of_parts)))
    except (Py4JError, PySparkException):
        # What is wrong with the data is said when it is read.
        return None
