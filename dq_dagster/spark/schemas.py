"""Spark's schemas as plain trees, and as the declarations that describe them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import types as T

from dq_dagster.metrics.shape import ARRAY, ITEMS, KEYS, MAP, STRING, STRUCT, VALUES, Field, Shape
from dq_dagster.rules.schema_columns import declaration
from dq_dagster.spark.frames import as_spark, require_readable
from dq_dagster.spark.unreadable import UNREADABLE_TYPE

# Where a Spark field's metadata says what its values mean.
MEANING = "meaning"


def schema_of(data: Any) -> list[dict[str, Any]]:
    """The columns of a Spark or pandas DataFrame, as schema rules and rule sets take them."""
    return declaration(fields_of(require_readable(as_spark(data)).schema))


def fields_of(schema: T.StructType) -> tuple[Field, ...]:
    """The fields of a struct, or the columns of a table; what they mean is in their metadata."""
    return tuple(
        Field(field.name, _shape_of_field(field), _meaning(field.metadata))
        for field in schema.fields
    )


def _shape_of_field(field: T.StructField) -> Shape:
    elsewhere = (field.metadata or {}).get(UNREADABLE_TYPE)
    return Shape(elsewhere) if isinstance(elsewhere, str) else shape_of(field.dataType)


def shape_of(kind: T.DataType) -> Shape:
    match kind:
        case T.StructType():
            return Shape(STRUCT, fields_of(kind))
        case T.ArrayType():
            return Shape(ARRAY, (Field(ITEMS, shape_of(kind.elementType)),))
        case T.MapType():
            keys = Field(KEYS, shape_of(kind.keyType))
            return Shape(MAP, (keys, Field(VALUES, shape_of(kind.valueType))))
        case T.CharType() | T.VarcharType():
            return Shape(STRING)
        case _:
            return Shape(kind.simpleString())


def _meaning(metadata: dict[str, Any] | None) -> str | None:
    meaning = (metadata or {}).get(MEANING)
    return meaning if isinstance(meaning, str) and meaning else None
