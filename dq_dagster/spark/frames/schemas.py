"""Spark's schemas as plain trees, and as the declarations that describe them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import UNDIVIDED, WHOLE, Cut, Measured
from dq_dagster.metrics.metric import ColumnCount, Metric
from dq_dagster.metrics.schema import (
    ARRAY,
    ITEMS,
    KEYS,
    MAP,
    STRING,
    STRUCT,
    VALUES,
    ActualSchema,
    Field,
    Shape,
)
from dq_dagster.rules.fields.schema_columns import declaration
from dq_dagster.spark.frames.failures import UNREADABLE_TYPE, first_line, without_quoting_rows
from dq_dagster.spark.frames.frames import as_spark, require_readable
from dq_dagster.spark.session.session import current_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    original = (field.metadata or {}).get(UNREADABLE_TYPE)
    return Shape(original) if isinstance(original, str) else shape_of(field.dataType)


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


def outside_rows(
    frame: DataFrame, clashes: Mapping[str, RuleFailure] = MappingProxyType({})
) -> dict[Metric, Measured]:
    """The states of the metrics that the schema answers; none of the whole if columns clash."""
    known = {ColumnCount(): len(frame.columns), ActualSchema(): fields_of(frame.schema)}
    if not clashes:
        return {metric: Measured.of_all(metric, value) for metric, value in known.items()}
    whole = {WHOLE: next(iter(clashes.values()))}
    cuts = (UNDIVIDED, Cut(partitioned=True))
    return {metric: Measured(metric, whole, cuts, value) for metric, value in known.items()}


def type_of(expression: str, schema: T.StructType) -> T.DataType:
    """The type of the expression over rows of that schema; ValueError if it has none."""
    try:
        with without_quoting_rows():
            nothing = current_session().createDataFrame([], schema)
            return nothing.selectExpr(f"({expression}) AS found").schema["found"].dataType
    except (AnalysisException, ParseException) as error:
        raise ValueError(first_line(error)) from None
