"""Keys of partitions as people write them, and as Spark writes the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation

from pyspark.sql import types as T

from dq_dagster.errors import DeclarationError
from dq_dagster.metrics.measured import NO_KEY
from dq_dagster.metrics.states import EXACT
from dq_dagster.spark.frames.columns import ColumnRef, JudgedTable


def require_possible(table: JudgedTable, partition_by: str, keys: Sequence[str]) -> None:
    """Refuses keys that no value of the column has as its text, such as '2024-03-1' of a date."""
    if not table.has(partition_by):
        return
    column = table.column(partition_by)
    for key in keys:
        written = key if key == NO_KEY else _written(column.kind, key)
        if written != key:
            raise DeclarationError.of(_no_key(column, key, written))


def _written(kind: T.DataType, key: str) -> str | None:
    """The text that a value of that type has, however it was written; None if it is no such."""
    try:
        if isinstance(kind, T.DateType) and not key.startswith(("+", "-")):
            return datetime.strptime(key, "%Y-%m-%d").date().isoformat()  # noqa: DTZ007 (a date)
        if isinstance(kind, T.TimestampType | T.TimestampNTZType) and key[:1] not in {"+", "-"}:
            return _time_text(datetime.fromisoformat(key))
        if isinstance(kind, T.IntegralType):
            return str(int(key))
        if isinstance(kind, T.DecimalType) and "e" not in key.lower():
            return _decimal_text(Decimal(key), kind.scale)
    except (ValueError, InvalidOperation):
        return None
    if isinstance(kind, T.BooleanType):
        return key.lower() if key.lower() in {"true", "false"} else None
    return key


def _time_text(moment: datetime) -> str | None:
    """As Spark writes it: without a zone, and without zeros at the end of a fraction."""
    if moment.tzinfo is not None:
        return None
    written = moment.isoformat(" ")
    return written.rstrip("0") if moment.microsecond else written


def _decimal_text(value: Decimal, scale: int) -> str | None:
    """As Spark writes it: with all digits of the scale."""
    written = value.quantize(Decimal(1).scaleb(-scale), context=EXACT)
    return f"{written:f}" if written == value else None


def _no_key(column: ColumnRef, key: str, written: str | None) -> str:
    hint = "" if written is None else f" Did you mean '{written}'?"
    return (
        f"partitions names '{key}', which no row can belong to: the column '{column.name}' of "
        f"partition_by is of type {column.type_name}.{hint}"
    )
