"""Values as keys of fixed width: equal values have equal keys, and others have other ones.

Numbers and times are their own keys. For texts and for several columns together 128 bits stand: two
hashes, the second of the text behind a few bytes that are chosen anew in every process. That two
texts share both is not excluded, only unlikely: were the hashes ideal, it would happen in one of
10 ** 18 tables of ten billion texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as T

from dq_dagster.metrics.frequency import Grouping
from dq_dagster.spark.expressions.canonical import two_hashes
from dq_dagster.spark.expressions.predicates import value_or_empty
from dq_dagster.spark.expressions.values import value_or_null
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable

_AS_THEY_ARE = (T.IntegralType, T.DecimalType, T.DateType, T.TimestampType, T.TimestampNTZType)

BlockKey = tuple[str, ...]


def block_key(grouping: Grouping, table: JudgedTable) -> BlockKey | None:
    """The columns of a grouping's key; None if its values are of a type that has none.

    Raises Misfit if a column is missing.
    """
    columns = [table.column(name) for name in grouping.columns]
    blank = grouping.blank_is_empty
    values = [
        ColumnRef(one.name, value_or_empty(one, blank_is_empty=blank), one.kind) for one in columns
    ]
    if grouping.where is not None:
        table.require_columns_of(grouping.where)
    if len(values) == 1 and not grouping.counts_empty:
        key = _alone(values[0])
    else:
        key = _together(values, counts_empty=grouping.counts_empty)
    return None if key is None else tuple(value_or_null(one, grouping.where) for one in key)


def _alone(value: ColumnRef) -> BlockKey | None:
    match value.kind:
        case T.NullType():
            return ("CAST(NULL AS INT)",)
        case T.BooleanType():
            return (f"CAST({value.sql} AS INT)",)
        case _ if _is_text(value.kind):
            return _hashed(f"CAST({value.sql} AS BINARY)", f"{value.sql} IS NOT NULL")
        case _ if isinstance(value.kind, (*_AS_THEY_ARE, *FLOATS)):
            return (value.sql,)
    return None


def _together(values: Sequence[ColumnRef], *, counts_empty: bool) -> BlockKey | None:
    """The texts of all values with their lengths, so that none runs into the next."""
    texts = [_text(value) for value in values]
    if None in texts:
        return None
    marked = [
        f"coalesce(concat(CAST(concat(octet_length({text}), ':') AS BINARY), {text}), X'6E')"
        for text in texts
    ]
    given = " OR ".join(f"{value.sql} IS NOT NULL" for value in values)
    return _hashed(f"concat({', '.join(marked)})", "true" if counts_empty else given)


def _text(value: ColumnRef) -> str | None:
    """A value as bytes, different for different values."""
    match value.kind:
        case _ if _is_text(value.kind):
            return f"CAST({value.sql} AS BINARY)"
        case T.NullType():
            return "CAST(NULL AS BINARY)"
        case T.FloatType() | T.DoubleType():
            # Minus zero plus zero is zero.
            text = f"CAST((CAST({value.sql} AS DOUBLE) + 0D) AS STRING)"
        case T.TimestampType():
            # Not as text: wall clocks of a zone show some times twice.
            text = f"CAST(unix_micros({value.sql}) AS STRING)"
        case _ if isinstance(value.kind, (*_AS_THEY_ARE, T.BooleanType)):
            text = f"CAST({value.sql} AS STRING)"
        case _:
            return None
    return f"CAST({text} AS BINARY)"


def _is_text(kind: T.DataType) -> bool:
    """Whether values are equal if their bytes are: other collations take more for equal."""
    if isinstance(kind, T.StringType):
        return kind.isUTF8BinaryCollation()
    return isinstance(kind, T.BinaryType)


def _hashed(sql: str, given: str) -> BlockKey:
    return tuple(f"if({given}, {one}, NULL)" for one in two_hashes(sql))
