"""Values looked up in other datasets: a join that adds one flag to each row, then counting.

The reference's distinct keys are joined to the rows, so that no row is doubled, and nothing but
counts leaves Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.measured import Measured
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.metrics.sources import Lookup, ReferenceMembership
from dq_dagster.spark.expressions.predicates import value_or_empty
from dq_dagster.spark.frames.ansi import home_of, under_ansi
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable, identifier
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.aggregate import measure_with_rows
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_INCOMPARABLE = (T.MapType, T.VariantType)
_WHOLE_DIGITS: dict[type[T.DataType], int] = {
    T.ByteType: 3,
    T.ShortType: 5,
    T.IntegerType: 10,
    T.LongType: 19,
}
_MOST_DIGITS = 38

Pairs = list[tuple[str, str]]


def comparable(
    here: ColumnRef, there: ColumnRef, place: str, value: Callable[[ColumnRef], str]
) -> Pairs:
    """Pairs of SQL whose members are all equal if and only if the two values are equal.

    ``value`` is the SQL of a column's value. Raises Misfit if values of the two types are never
    equal, or only after a cast that would lose something.
    """
    if isinstance(here.kind, T.NullType) or isinstance(there.kind, T.NullType):
        # A column of NULLs only equals nothing but NULL, and Spark cannot join by its type.
        return [(f"{value(here)} IS NULL", f"{value(there)} IS NULL")]
    if isinstance(here.kind, T.IntegralType) and isinstance(there.kind, T.IntegralType):
        # A decimal would hold them as well, but Spark sorts and joins it slower.
        return [(f"CAST({value(here)} AS BIGINT)", f"CAST({value(there)} AS BIGINT)")]
    numbers = _digits(here.kind), _digits(there.kind)
    if numbers[0] and numbers[1]:
        return _exact(value(here), numbers[0], value(there), numbers[1])
    if isinstance(here.kind, FLOATS) and isinstance(there.kind, FLOATS):
        return [(f"CAST({value(here)} AS DOUBLE)", f"CAST({value(there)} AS DOUBLE)")]
    if here.type_name != there.type_name or _holds(here.kind, _INCOMPARABLE):
        raise Misfit.incomparable(here.name, here.type_name, there.name, there.type_name, place)
    return [(value(here), value(there))]


def _digits(kind: T.DataType) -> tuple[int, int] | None:
    """How many digits an exact number has before and after the point."""
    if isinstance(kind, T.DecimalType):
        return kind.precision - kind.scale, kind.scale
    digits = _WHOLE_DIGITS.get(type(kind))
    return None if digits is None else (digits, 0)


def _exact(here: str, size: tuple[int, int], there: str, other: tuple[int, int]) -> Pairs:
    before, after = max(size[0], other[0]), max(size[1], other[1])
    if before + after <= _MOST_DIGITS:
        kind = f"DECIMAL({before + after}, {after})"
        return [(f"CAST({here} AS {kind})", f"CAST({there} AS {kind})")]
    # No decimal holds both: whole part and fraction are compared on their own.
    parts = ("CAST(floor({}) AS DECIMAL(38, 0))", "CAST({} % 1BD AS DECIMAL(38, 38))")
    return [(part.format(here), part.format(there)) for part in parts]


def _holds(kind: T.DataType, kinds: tuple[type[T.DataType], ...]) -> bool:
    """Whether the type is one of those, or holds one of them at any depth."""
    if isinstance(kind, kinds):
        return True
    if isinstance(kind, T.StructType):
        return any(_holds(field.dataType, kinds) for field in kind.fields)
    return isinstance(kind, T.ArrayType) and _holds(kind.elementType, kinds)


@dataclass(frozen=True, slots=True)
class Join:
    """A reference's distinct keys beside the SQL of the same keys in the data."""

    lookup: Lookup
    keys: DataFrame
    names: tuple[str, ...]
    here: tuple[str, ...]

    def widen(self, frame: DataFrame) -> DataFrame:
        """The frame with one more column, which is NULL where the reference has no such key."""
        # A single value is never looked up if it is empty; in a combination, empty equals empty.
        sign = "=" if len(self.lookup.columns) == 1 else "<=>"
        pairs = zip(self.here, self.names, strict=True)
        matched = " AND ".join(f"({sql}) {sign} {identifier(name)}" for sql, name in pairs)
        return frame.join(self.keys, F.expr(matched), "left").drop(*self.names)


def measure_lookups(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The counts of a pass's metrics, with a RuleFailure for each that could not be counted."""
    wanted: dict[Lookup, list[ConditionCount]] = {}
    for metric in cast("Sequence[ConditionCount]", metrics):
        condition = cast("ReferenceMembership", metric.condition)
        wanted.setdefault(condition.lookup, []).append(metric)
    found: dict[Lookup, States | RuleFailure] = {}
    joins: dict[Lookup, Join] = {}
    for lookup in wanted:
        try:
            joins[lookup] = join_with(lookup, parts.frame, table)
        except RuleFailure as failure:
            found[lookup] = failure

    def counted(some: Mapping[Lookup, Join]) -> dict[Lookup, States | RuleFailure]:
        return _count(parts, some, wanted, table)

    found |= isolated(joins, counted, narrow=in_halves, fail=with_failures)
    return {
        metric: Measured.failed(metric, of) if isinstance(of, RuleFailure) else of[metric]
        for lookup, of in found.items()
        for metric in wanted[lookup]
    }


def join_with(lookup: Lookup, frame: DataFrame, table: JudgedTable) -> Join:
    """Raises a RuleFailure if the reference cannot be read or does not fit."""
    reference = under_ansi(
        table.other_datasets.frame_of(lookup.dataset, frame, home_of(frame.sparkSession))
    )
    pairs = [
        pair
        for name, other in zip(lookup.columns, lookup.reference_columns, strict=True)
        for pair in comparable(
            table.column(name), _column_there(other, reference, lookup), lookup.dataset.label,
            lambda column: _value(column, lookup),
        )
    ]  # fmt: skip
    names = tuple(f"{lookup.flag}_{n}" for n in range(len(pairs)))
    keys = reference.selectExpr(
        *(f"{there} AS {identifier(name)}" for (_, there), name in zip(pairs, names, strict=True))
    )
    flagged = keys.distinct().selectExpr("*", f"true AS {identifier(lookup.flag)}")
    return Join(lookup, flagged, names, tuple(here for here, _ in pairs))


def _column_there(name: str, reference: DataFrame, lookup: Lookup) -> ColumnRef:
    try:
        return JudgedTable.of(reference).column(name)
    except Misfit as misfit:
        raise Misfit(f"In {lookup.dataset.label}: {misfit}") from None


def _value(column: ColumnRef, lookup: Lookup) -> str:
    return value_or_empty(column, blank_is_empty=lookup.blank_is_empty)


def _count(
    parts: Parts,
    joins: Mapping[Lookup, Join],
    wanted: Mapping[Lookup, Sequence[ConditionCount]],
    table: JudgedTable,
) -> dict[Lookup, States | RuleFailure]:
    """The counts behind some joins; raises if not even the rows can be counted."""
    widened = reduce(lambda left, join: join.widen(left), joins.values(), parts.frame)
    metrics = [metric for lookup in joins for metric in wanted[lookup]]
    schema = replace(table, schema=widened.schema)
    states = measure_with_rows(metrics, replace(parts, frame=widened), schema)
    rows = states.get(RecordCount())
    if rows is not None and isinstance(rows.nothing, RuleFailure):
        raise rows.nothing
    return {lookup: {metric: states[metric] for metric in wanted[lookup]} for lookup in joins}
