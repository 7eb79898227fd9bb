"""Rows of other places, brought beside those that are judged: to be compared with, and no more.

The rows that are judged come first: those that are stored already and those of a quarantine in a
replay, or the rows of a run beside what other partitions hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.frames import HIDDEN_KEY, STORED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A column that says whether a row is of another place: NULL if it is not, else whether it is stored
# there, or on its way like the others.
COMPARED = f"{HIDDEN_KEY}compared"
# Whether a row stays where it is, whatever it breaks.
IS_STORED = f"coalesce({identifier(COMPARED)}, {identifier(STORED)})"


def beside(frame: DataFrame, stored: Sequence[DataFrame], moving: Sequence[DataFrame]) -> DataFrame:
    """The rows, and with COMPARED those of other partitions: stored ones, and others on their way.

    All have the columns of the former, NULL where there is no such value.
    """
    own = frame if STORED in frame.columns else frame.withColumn(STORED, F.expr("false"))
    found = own.withColumn(COMPARED, F.lit(None).cast("boolean"))
    for others, are_stored in ((stored, True), (moving, False)):
        for one in others:
            found = found.unionAll(_like(one, found, stored=are_stored))
    return found


def beside_stored(stored: DataFrame, others: DataFrame) -> DataFrame:
    """The stored rows and others, with the columns of the former; STORED tells them apart."""
    there = {name.lower() for name in others.columns}
    known = [F.col(identifier(name)) for name in stored.columns if name.lower() in there]
    mine = stored.withColumn(STORED, F.expr("true"))
    return mine.unionByName(
        others.select(*known).withColumn(STORED, F.expr("false")), allowMissingColumns=True
    )


def here(frame: DataFrame) -> DataFrame:
    """The rows of this place alone."""
    return frame.where(f"{identifier(COMPARED)} IS NULL").drop(COMPARED)


def _like(others: DataFrame, frame: DataFrame, *, stored: bool) -> DataFrame:
    there = {one.name.lower(): one for one in others.schema.fields}
    known = {COMPARED: F.lit(stored), STORED: F.expr("false")}
    columns = [
        known[one.name] if one.name in known else _value(there.get(one.name.lower()), one)
        for one in frame.schema.fields
    ]
    return others.select(
        *(column.alias(one.name) for column, one in zip(columns, frame.schema.fields, strict=True))
    )


def _value(given: T.StructField | None, wanted: T.StructField) -> Column:
    """The same value in the wanted type; NULL where that has none like it."""
    nothing = F.lit(None).cast(wanted.dataType)
    if given is None:
        return nothing
    value, kind = F.col(identifier(given.name)), wanted.dataType
    if given.dataType.simpleString() == kind.simpleString():
        return value
    if isinstance(given.dataType, T.NumericType) and isinstance(kind, T.NumericType):
        there = value.try_cast(kind)
        return F.when(there == value, there)
    # What is a text here and a number there cannot be compared: then the rule has no answer.
    return nothing
