"""From rows to the keys of Dagster's partitions, as SQL; and from keys to times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import dagster as dg
from pyspark.sql import types as T

from dq_dagster.errors import Unassignable
from dq_dagster.integration.partitions.time_windows import TimeWindowKeys
from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.spark.frames.schemas import type_of
from dq_dagster.sql.expressions import refusals

# Dagster's own name for it.
PARTITION_EXPR = "partition_expr"
_MOMENTS = (T.DateType, T.TimestampType, T.TimestampNTZType)
_DELIMITER = "|"


def partition_expr_of(asset: str, metadata: Mapping[str, Any]) -> str | Mapping[str, str]:
    """What the asset's metadata says about the partition of a row."""
    found = metadata.get(PARTITION_EXPR)
    # Dagster wraps what its definitions hold.
    found = getattr(found, "value", found)
    if isinstance(found, str) and found.strip():
        return found
    if isinstance(found, Mapping) and found:
        return {str(name): str(sql) for name, sql in found.items()}
    raise Unassignable.no_expression(asset)


def partition_key_sql(
    partitions_def: dg.PartitionsDefinition[Any],
    partition_expr: str | Mapping[str, str],
    schema: T.StructType,
    *,
    keys: Sequence[str] | None = None,
    asset: str = "data",
) -> str:
    """The SQL over a row that gives its Dagster partition key as text.

    ``partition_expr`` is a column or an SQL expression; for several dimensions, one for each. In
    time windows, texts are taken for keys, and dates and times fall into the window that holds
    them: timestamps as instants, dates and wall times as meant in the partitions' time zone. A row
    outside all windows has no key or one that is not in the definition. With ``keys``, only those
    need to be distinguished; they matter to schedules that have no formula.
    """
    if not isinstance(partitions_def, dg.MultiPartitionsDefinition):
        if not isinstance(partition_expr, str):
            raise Unassignable.one_expression(asset, list(partition_expr))
        return _key(partitions_def, partition_expr, schema, keys, asset)
    parts = []
    for dimension in partitions_def.partitions_defs:
        own = None if keys is None else _keys_of_dimension(partitions_def, dimension.name, keys)
        sql = _expression_of(partition_expr, dimension.name, partitions_def, asset)
        parts.append(_key(dimension.partitions_def, sql, schema, own, asset))
    return f"concat({f', {text_literal(_DELIMITER)}, '.join(parts)})"


def partition_time(partitions_def: dg.PartitionsDefinition[Any], key: str) -> datetime | None:
    """When the time window of a key starts; None if the key is not one of time."""
    found = _of_time(partitions_def, key)
    return None if found is None else _start(*found)


def time_before(
    partitions_def: dg.PartitionsDefinition[Any], key: str, periods: int
) -> datetime | None:
    """When the window so many before that of a key starts; None if the key is not one of time.

    Whether there is a partition of that window does not matter.
    """
    found = _of_time(partitions_def, key)
    start = None if found is None else _start(*found)
    if found is None or start is None:
        return None
    for _ in range(periods):
        window = found[0].get_prev_partition_window(start, respect_bounds=False)
        if window is None:
            return None
        start = window.start
    return start


def _of_time(
    partitions_def: dg.PartitionsDefinition[Any], key: str
) -> tuple[dg.TimeWindowPartitionsDefinition, str] | None:
    """The windows of time that a key is of, and its key there; None if it is of none."""
    if isinstance(partitions_def, dg.TimeWindowPartitionsDefinition):
        return partitions_def, key
    if not isinstance(partitions_def, dg.MultiPartitionsDefinition):
        return None
    times = [
        (dimension.name, dimension.partitions_def)
        for dimension in partitions_def.partitions_defs
        if isinstance(dimension.partitions_def, dg.TimeWindowPartitionsDefinition)
    ]
    # Of two times, neither is the time of the partition.
    if len(times) != 1 or not partitions_def.is_valid_key_format(key):
        return None
    [(name, definition)] = times
    names = partitions_def.partition_dimension_names
    return definition, key.split(_DELIMITER)[names.index(name)]


def _start(definition: dg.TimeWindowPartitionsDefinition, key: str) -> datetime | None:
    try:
        start = definition.time_window_for_partition_key(key).start
    except ValueError:
        return None
    # Dagster takes any text it can parse, and goes on to the next window from there.
    same = definition.get_partition_key_for_timestamp(start.timestamp()) == key
    return start if same else None


def _expression_of(
    given: str | Mapping[str, str],
    dimension: str,
    definition: dg.MultiPartitionsDefinition,
    asset: str,
) -> str:
    if isinstance(given, Mapping) and dimension in given:
        return given[dimension]
    known = list(given) if isinstance(given, Mapping) else []
    raise Unassignable.no_dimension(asset, dimension, definition.partition_dimension_names, known)


def _keys_of_dimension(
    definition: dg.MultiPartitionsDefinition, dimension: str, keys: Sequence[str]
) -> list[str]:
    found = (definition.get_partition_key_from_str(key).keys_by_dimension for key in keys)
    return list(dict.fromkeys(each[dimension] for each in found))


def _key(
    definition: dg.PartitionsDefinition[Any],
    expression: str,
    schema: T.StructType,
    keys: Sequence[str] | None,
    asset: str,
) -> str:
    sql, kind = _typed(expression, schema, asset)
    if not isinstance(definition, dg.TimeWindowPartitionsDefinition):
        return f"CAST({sql} AS STRING)"
    if isinstance(kind, T.StringType | T.NullType):
        return f"CAST({sql} AS STRING)"
    if not isinstance(kind, _MOMENTS):
        raise Unassignable.wrong_type(asset, expression, kind.simpleString())
    return TimeWindowKeys(definition, sql, kind).key(keys)


def _typed(expression: str, schema: T.StructType, asset: str) -> tuple[str, T.DataType]:
    """A column of that name, else an expression that stays one between brackets."""
    # Where two names differ only in case, the one that is written like this is meant.
    for same in (str, str.lower):
        for field in schema.fields:
            if same(field.name) == same(expression):
                return identifier(field.name), field.dataType
    problems = [problem.reason for problem in refusals(expression)]
    if not problems:
        try:
            return f"({expression})", type_of(expression, schema)
        except ValueError as error:
            problems = [str(error)]
    raise Unassignable.not_an_expression(asset, expression, problems[0])
