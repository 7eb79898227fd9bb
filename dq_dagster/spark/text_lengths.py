"""The longest text of a column, also inside structs, arrays and maps. Can not raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.schema import LongestText
from dq_dagster.metrics.shape import ITEMS, KEYS, VALUES
from dq_dagster.metrics.states import Extreme
from dq_dagster.spark.aggregates import Aggregates, aggregates
from dq_dagster.spark.columns import ColumnRef, Table, find_field
from dq_dagster.spark.quoting import identifier


@aggregates.register
def _(metric: LongestText, table: Table) -> Aggregates:
    column = table.column(metric.path[0])
    length = _Lengths(table.case_sensitive).of(column, metric.path[1:], depth=0)
    return Aggregates(
        lambda results: Extreme("max", results["length"]), others={"length": f"max({length})"}
    )


@dataclass(frozen=True, slots=True)
class _Lengths:
    """The SQL of the longest text that a path leads to, within one row."""

    case_sensitive: bool

    def of(self, part: ColumnRef, path: Sequence[str], depth: int) -> str:
        if not path:
            part.require((T.StringType,), what="A length in characters", wanted="a string")
            return f"length({part.sql})"
        name, *rest = path
        below = f"{part.name}.{name}"
        match part.kind:
            case T.StructType():
                field = self._field(part.kind, name, below)
                step = ColumnRef(below, f"{part.sql}.{identifier(field.name)}", field.dataType)
                return self.of(step, rest, depth)
            case T.ArrayType() if name == ITEMS:
                return self._longest(part.sql, part.kind.elementType, below, rest, depth)
            case T.MapType() if name == KEYS:
                keys = f"map_keys({part.sql})"
                return self._longest(keys, part.kind.keyType, below, rest, depth)
            case T.MapType() if name == VALUES:
                values = f"map_values({part.sql})"
                return self._longest(values, part.kind.valueType, below, rest, depth)
        raise Misfit.no_column(below, [])

    def _longest(
        self, array: str, kind: T.DataType, name: str, path: Sequence[str], depth: int
    ) -> str:
        item = f"x{depth}"
        inner = self.of(ColumnRef(name, item, kind), path, depth + 1)
        return f"array_max(transform({array}, {item} -> {inner}))"

    def _field(self, kind: T.StructType, name: str, path: str) -> T.StructField:
        if "${" in name:
            raise Misfit.substituted_name(path)
        found = find_field(kind, name, path, case_sensitive=self.case_sensitive)
        if found is None:
            raise Misfit.no_column(path, kind.names)
        return found
