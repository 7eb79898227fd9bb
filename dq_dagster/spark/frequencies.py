"""How often values occur, for many columns in one query and without an unbounded collect.

The inner aggregation counts each value of each grouping (grouping sets: one pass over the rows).
The outer one counts how many values have each count, which is a small table for any data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.frequency import Frequencies, Grouping, Level, Members
from dq_dagster.spark.aggregates import transport, value_or_null
from dq_dagster.spark.columns import ColumnRef, Table
from dq_dagster.spark.predicates import in_set, is_blank

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

_UNCOUNTABLE = (T.MapType, T.VariantType)


@dataclass(frozen=True, slots=True)
class Counting:
    """One grouping as SQL: its key, and the column that the key becomes."""

    grouping: Grouping
    sql: str
    key: ColumnRef
    sets: tuple[Members, ...] = ()

    def against(self, members: Members) -> Counting:
        """The same, with one more set to compare with; raises Misfit if it does not fit."""
        self.inside(members)
        return replace(self, sets=tuple(dict.fromkeys([*self.sets, members])))

    def inside(self, members: Members) -> str:
        return in_set(self.key, members.values, ignore_case=members.ignore_case)


def counting(grouping: Grouping, table: Table, *, alias: str) -> Counting:
    """Raises Misfit if a column is missing, or its values can not be counted or compared."""
    columns = [table.column(name) for name in grouping.columns]
    for column in columns:
        if isinstance(column.kind, _UNCOUNTABLE):
            what, wanted = "Counting values", "a type whose values can be compared"
            raise Misfit.wrong_type(what, column.name, column.type_name, wanted)
    sql = _key([_value(column, grouping) for column in columns])
    if grouping.where is not None:
        table.require_columns_of(grouping.where)
        sql = value_or_null(sql, grouping.where)
    kind = columns[0].kind if len(columns) == 1 else T.StructType()
    return Counting(grouping, sql, ColumnRef(grouping.key, alias, kind))


def count_values(frame: DataFrame, wanted: Sequence[Counting]) -> dict[Grouping, Frequencies]:
    """The frequencies of each grouping, from one pass over the table."""
    keys = [one.key.sql for one in wanted]
    counted = (
        frame.selectExpr(*(f"{one.sql} AS {one.key.sql}" for one in wanted))
        .groupingSets([[key] for key in keys], *keys)
        .agg(F.expr("grouping_id()").alias("g"), F.expr("count(1)").alias("n"))
        .where(_has_value(keys))
    )
    levels = counted.groupBy("g", "n").agg(*(F.expr(sql) for sql in _level_columns(wanted)))
    return _frequencies(levels.collect(), wanted)


def _value(column: ColumnRef, grouping: Grouping) -> str:
    if grouping.blank_is_empty and isinstance(column.kind, T.StringType):
        return f"if({is_blank(column)}, NULL, {column.sql})"
    return column.sql


def _key(values: list[str]) -> str:
    """One value as it is; several as a struct, unless all of them are empty."""
    if len(values) == 1:
        return values[0]
    any_set = " OR ".join(f"{value} IS NOT NULL" for value in values)
    fields = ", ".join(f"'f{n}', {value}" for n, value in enumerate(values))
    return f"if({any_set}, named_struct({fields}), NULL)"


def _has_value(keys: list[str]) -> str:
    cases = " ".join(f"WHEN {_grouping_id(n, len(keys))} THEN {k} IS NOT NULL"
                     for n, k in enumerate(keys))  # fmt: skip
    return f"CASE g {cases} END"


def _grouping_id(position: int, count: int) -> int:
    """Spark's number of the grouping set of the one key: a bit is set for each key left out."""
    return ((1 << count) - 1) ^ (1 << (count - 1 - position))


def _level_columns(wanted: Sequence[Counting]) -> list[str]:
    columns = ["count(1) AS m"]
    for n, one in enumerate(wanted):
        for s, members in enumerate(one.sets):
            columns.append(f"count(if({one.inside(members)}, 1, NULL)) AS i{n}_{s}")
        if one.sets:
            plain, _ = transport(one.key)
            columns.append(f"{plain.format(f'min({one.key.sql})')} AS a{n}")
            columns.append(f"{plain.format(f'max({one.key.sql})')} AS z{n}")
    return columns


def _frequencies(rows: Sequence[Row], wanted: Sequence[Counting]) -> dict[Grouping, Frequencies]:
    by_grouping: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_grouping[row["g"]].append(row)
    found = {}
    for n, one in enumerate(wanted):
        mine = by_grouping[_grouping_id(n, len(wanted))]
        levels = [_level(row.asDict(recursive=False), n, one) for row in mine]
        levels.sort(key=lambda level: -level.frequency)
        found[one.grouping] = Frequencies(tuple(levels))
    return found


def _level(row: Mapping[str, Any], n: int, one: Counting) -> Level:
    inside = {members: row[f"i{n}_{s}"] for s, members in enumerate(one.sets)}
    # With up to two values of one frequency, the least and the greatest are all of them.
    return Level(row["n"], row["m"], inside, _examples(row, n, one.key) if one.sets else ())


def _examples(row: Mapping[str, Any], n: int, key: ColumnRef) -> tuple[Any, ...]:
    _, from_plain = transport(key)
    try:
        return tuple(dict.fromkeys([from_plain(row[f"a{n}"]), from_plain(row[f"z{n}"])]))
    except RuleFailure:
        # A time that Python can not hold; it is only shown, not judged.
        return ()
