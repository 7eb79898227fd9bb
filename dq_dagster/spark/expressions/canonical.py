"""Values in the one form that equal values share: maps by key, one zero, texts by their bytes.

Spark neither compares maps nor hashes them, takes ``-0.0`` for another value than ``0.0`` in a
hash, lets a NULL leave no trace in the hash of a row, and forgets in one where an array ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, identifier, text_literal

_SIMPLE = (
    T.BooleanType,
    T.BinaryType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.DayTimeIntervalType,
    T.YearMonthIntervalType,
    T.TimeType,
)
_NESTED = (T.ArrayType, T.StructType, T.MapType)
_FORMATS = (
    "map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)
_SHORT_DECIMAL, _LONG_DECIMAL = 18, 38
# So many flags fit into a whole number without its sign.
_FLAGS = 62
# What the second hash begins with, so that it is another function than the first.
_SEED = 0x9E3779B97F4A7C1
# Not a multiple of eight bytes: what hashes alike by words does not if the words are others.
_SALT = secrets.token_hex(3 + secrets.randbelow(5))


def comparable_form(column: ColumnRef) -> ColumnRef:
    """The column as Spark can compare it: maps are lists of entries, in the order of their keys.

    Raises Misfit for types that have no order at any depth.
    """
    return ColumnRef(column.name, *_form(column.name, column.sql, column.kind, depth=0))


def _form(name: str, sql: str, kind: T.DataType, depth: int) -> tuple[str, T.DataType]:
    item = f"x{depth}"
    match kind:
        case T.ArrayType():
            inner, inner_kind = _form(name, item, kind.elementType, depth + 1)
            array = T.ArrayType(inner_kind)
            return (sql if inner == item else f"transform({sql}, {item} -> {inner})"), array
        case T.MapType():
            key, key_kind = _form(name, f"{item}.key", kind.keyType, depth + 1)
            value, value_kind = _form(name, f"{item}.value", kind.valueType, depth + 1)
            entries = f"transform(map_entries({sql}), {item} -> struct({key} AS k, {value} AS v))"
            fields = [T.StructField("k", key_kind), T.StructField("v", value_kind)]
            return f"sort_array({entries})", T.ArrayType(T.StructType(fields))
        case T.StructType():
            return _struct(name, sql, kind, depth)
        case T.StringType():
            return ColumnRef(name, sql, kind).plain_text, T.StringType()
        case T.NumericType() | T.NullType():
            return sql, kind
        case _ if isinstance(kind, _SIMPLE):
            return sql, kind
    wanted = "a type whose values can be compared"
    raise Misfit.wrong_type("A comparison", name, kind.simpleString(), wanted)


def _struct(name: str, sql: str, kind: T.StructType, depth: int) -> tuple[str, T.DataType]:
    parts = [(one.name, f"{sql}.{identifier(one.name)}", one.dataType) for one in kind.fields]
    formed = [_form(name, part, inner, depth) for _, part, inner in parts]
    fields = [
        T.StructField(field, inner) for (field, *_), (_, inner) in zip(parts, formed, strict=True)
    ]
    if all(part == made for (_, part, _), (made, _) in zip(parts, formed, strict=True)):
        return sql, T.StructType(fields)
    made = ", ".join(
        f"{text_literal(field)}, {inner}"
        for (field, *_), (inner, _) in zip(parts, formed, strict=True)
    )
    return f"if({sql} IS NULL, NULL, named_struct({made}))", T.StructType(fields)


def hashed_form(column: ColumnRef) -> tuple[str, str]:
    """What a row's hash is made of, and a word for its type: equal words, comparable hashes."""
    kind = column.kind
    if isinstance(kind, T.IntegralType):
        return f"CAST({column.sql} AS BIGINT)", "bigint"
    if isinstance(kind, FLOATS):
        # Minus zero plus zero is zero.
        return f"(CAST({column.sql} AS DOUBLE) + 0D)", "double"
    if isinstance(kind, T.DecimalType):
        digits = _SHORT_DECIMAL if kind.precision <= _SHORT_DECIMAL else _LONG_DECIMAL
        word = f"DECIMAL({digits}, {kind.scale})"
        return f"CAST({column.sql} AS {word})", word.lower()
    if isinstance(kind, T.NullType):
        return "CAST(NULL AS STRING)", "void"
    form = comparable_form(column)
    if isinstance(kind, _NESTED):
        text = f"to_json(named_struct('v', {_one_zero(form.sql, form.kind)}), {_FORMATS})"
        return text, kind.simpleString()
    return form.sql, "string" if isinstance(kind, T.StringType) else kind.simpleString()


def _one_zero(sql: str, kind: T.DataType, depth: int = 0) -> str:
    """The same with no minus zero in it, which JSON would write down."""
    item = f"z{depth}"
    if isinstance(kind, FLOATS):
        return f"({sql} + CAST(0 AS {kind.simpleString()}))"
    if isinstance(kind, T.ArrayType):
        inner = _one_zero(item, kind.elementType, depth + 1)
        return sql if inner == item else f"transform({sql}, {item} -> {inner})"
    if isinstance(kind, T.StructType):
        parts = {one.name: f"{sql}.{identifier(one.name)}" for one in kind.fields}
        made = {one.name: _one_zero(parts[one.name], one.dataType, depth) for one in kind.fields}
        if made == parts:
            return sql
        fields = ", ".join(f"{text_literal(name)}, {inner}" for name, inner in made.items())
        return f"if({sql} IS NULL, NULL, named_struct({fields}))"
    return sql


def row_hashes(values: Sequence[str]) -> tuple[str, str]:
    """Two hashes of a row, of 64 bits each. A NULL counts, at its place."""
    flags = [
        " + ".join(
            f"if({value} IS NULL, {1 << bit}L, 0L)"
            for bit, value in enumerate(values[start : start + _FLAGS])
        )
        for start in range(0, len(values), _FLAGS)
    ]
    forwards = ", ".join([*values, *flags])
    backwards = ", ".join([f"{_SEED}L", *flags, *reversed(values)])
    return f"xxhash64({forwards})", f"xxhash64({backwards})"


def two_hashes(sql: str) -> tuple[str, str]:
    """Of bytes: 128 bits together, and nobody can tell beforehand which bytes share them.

    They are others in each process, so only ``row_hashes`` can be kept.
    """
    return f"xxhash64({sql})", f"xxhash64(concat(X'{_SALT}', {sql}))"
