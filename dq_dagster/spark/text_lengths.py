"""The longest text of a column, also inside structs, arrays and maps. Can not raise."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.schema import LongestText
from dq_dagster.metrics.shape import ITEMS, KEYS, VALUES
from dq_dagster.metrics.states import Extreme
from dq_dagster.spark.aggregates import Aggregates, aggregates
from dq_dagster.spark.columns import ColumnRef, Table
from dq_dagster.spark.quoting import identifier


@aggregates.register
def _(metric: LongestText, table: Table) -> Aggregates:
    column = table.column(metric.path[0])
    length = _length(column, metric.path[1:], depth=0)
    return Aggregates(
        lambda results: Extreme("max", results["length"]), others={"length": f"max({length})"}
    )


def _length(part: ColumnRef, path: Sequence[str], depth: int) -> str:
    """The SQL of the longest text that the path leads to, within one row."""
    if not path:
        part.require((T.StringType,), what="A length in characters", wanted="a string")
        return f"length({part.sql})"
    name, *rest = path
    below = f"{part.name}.{name}"
    match part.kind:
        case T.StructType():
            field = _field(part.kind, name, below)
            step = ColumnRef(below, f"{part.sql}.{identifier(field.name)}", field.dataType)
            return _length(step, rest, depth)
        case T.ArrayType() if name == ITEMS:
            return _longest(part.sql, part.kind.elementType, below, rest, depth)
        case T.MapType() if name == KEYS:
            return _longest(f"map_keys({part.sql})", part.kind.keyType, below, rest, depth)
        case T.MapType() if name == VALUES:
            return _longest(f"map_values({part.sql})", part.kind.valueType, below, rest, depth)
    raise Misfit.no_column(below, [])


def _longest(array: str, kind: T.DataType, name: str, path: Sequence[str], depth: int) -> str:
    item = f"x{depth}"
    inner = _length(ColumnRef(name, item, kind), path, depth + 1)
    return f"array_max(transform({array}, {item} -> {inner}))"


def _field(kind: T.StructType, name: str, path: str) -> T.StructField:
    """Spark finds fields without regard to case, so two that differ only there clash."""
    if "${" in name:
        raise Misfit.substituted_name(path)
    alike = [field for field in kind.fields if field.name.lower() == name.lower()]
    if len(alike) > 1:
        raise Misfit.ambiguous_column(path, [field.name for field in alike])
    if not alike:
        raise Misfit.no_column(path, kind.names)
    return alike[0]
