"""One full outer join of two tables by their keys, and what its rows add up to.

Keys that repeat are found by windows over the order that the join needs anyway, so that nothing is
shuffled or sorted for it a second time. The first one ends the query: joined, a key that occurs a
million times on both sides would be a million times a million rows. How many there are is then
counted by a query of its own. The window itself raises, as what it adds up is too much from the
second row on: an expression that looks at its result would copy each row once more.

The compared columns of a side travel as one struct: shuffle, sort, window and join then copy each
row at once, instead of column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.metrics.diffs import ColumnChanges, DiffCounts, Difference, SideRows
from dq_dagster.spark.frames.ansi import compiled
from dq_dagster.spark.frames.columns import ColumnRef, identifier, text_literal
from dq_dagster.spark.frames.slicing import MOST_PARTS, bounded, unused
from dq_dagster.spark.passes.aggregate import MOST_IN_ONE_LOOP, MOST_PAIRED, padding
from dq_dagster.spark.passes.diff.columns import Alignment, ComparedColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LEFT, _RIGHT = "l", "r"
_PARTITION = "dq_partition"
# What is not NULL only where the join found a row of that side: whether one of its keys is missing.
_ON_BOTH = "l_missing IS NOT NULL AND r_missing IS NOT NULL"
# The sum over two rows or more raises, whatever the session makes of overflows of numbers.
_ONCE = "sum(INTERVAL '106751991' DAY)"
_TWICE = "INTERVAL_ARITHMETIC_OVERFLOW"
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Side:
    """The rows of one side. ``partition`` is the SQL of a row's partition, if that counts.

    Rows of the same key in different partitions are different rows, then.
    """

    frame: DataFrame
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class DiffJoin:
    """The join of two sides. Its columns have names of ours, whatever the tables call theirs."""

    alignment: Alignment
    left: Side
    right: Side

    @property
    def columns(self) -> list[ComparedColumn]:
        """The compared columns as the join has them."""
        return [
            one.at(f"{_LEFT}_v.c{n}", f"{_RIGHT}_v.c{n}")
            for n, one in enumerate(self.alignment.columns)
        ]

    def counts(self) -> dict[str | None, DiffCounts]:
        """What differs, by partition where that counts; one query, whatever the columns are.

        If keys do not tell rows apart, that is all that is said of the partition.
        """
        counting = replace(self, alignment=self.alignment.shortened())
        try:
            return counting._counted()  # noqa: SLF001 (its like)
        except PySparkException as error:
            if _TWICE not in str(error):
                raise
            broken = self._broken()
            if not broken:
                # The data raises so on its own.
                raise
        if None in broken:
            return broken
        rest = counting._without(broken)  # noqa: SLF001
        return {**rest._counted(), **broken}  # noqa: SLF001 (its like)

    def _broken(self) -> dict[str | None, DiffCounts]:
        """The partitions whose keys do not tell rows apart."""
        return {
            key: DiffCounts(left, right, schema=self.alignment.schema)
            for key, (left, right) in self._sides().items()
            if left.is_doubtful or right.is_doubtful
        }

    def _counted(self) -> dict[str | None, DiffCounts]:
        """The same; raises if a key repeats, or is missing in several rows."""
        try:
            rows = self._aggregated(_paired_nulls)
        except PySparkException as error:
            if error.getCondition() != "ARITHMETIC_OVERFLOW":
                raise
            rows = None
        if rows is None or any(row["joined"] >= MOST_PAIRED for row in rows.values()):
            rows = self._aggregated(_nulls)
        return {key: self._read(row) for key, row in rows.items()}

    def _aggregated(
        self, nulls: Callable[[ComparedColumn, str], dict[str, str]]
    ) -> dict[str | None, dict[str, Any]]:
        columns = self.columns
        flags = {f"dq_d{n}": one.equal(self.alignment.place) for n, one in enumerate(columns)}
        wanted = _rows(list(flags))
        for one, flag in zip(columns, flags, strict=True):
            wanted |= {**_figures(one, flag), **nulls(one, flag)}
        # Once a row, and not once for each number that is made of it.
        compared = {flag: f"{_ON_BOTH} AND NOT {equal}" for flag, equal in flags.items()}
        frame = self._joined().selectExpr("*", *_aliased(compared))
        if len(wanted) > MOST_IN_ONE_LOOP:
            frame = compiled(frame)
            wanted |= {f"dq_spare_{n}": sql for n, sql in enumerate(padding(len(wanted) + 1))}
        return self._by_partition(frame, "coalesce(l_p, r_p)", wanted)

    def _by_partition(
        self, frame: DataFrame, partition: str, columns: Mapping[str, str]
    ) -> dict[str | None, dict[str, Any]]:
        """Aggregates of all rows, or of each partition where that counts."""
        aliased = _aliased(columns)
        if self.left.partition is None:
            return {None: frame.selectExpr(*aliased).collect()[0].asDict()}
        grouped = frame.groupBy(F.expr(partition).alias(_PARTITION)).agg(*map(F.expr, aliased))
        return {row[_PARTITION]: row.asDict() for row in bounded(grouped, MOST_PARTS)}

    def _sides(self) -> dict[str | None, tuple[SideRows, SideRows]]:
        """The rows of both sides, with those that their keys do not tell apart."""
        left, right = (
            {
                key: SideRows(row["rows"] or 0, row["without_key"] or 0, row["repeated"] or 0)
                for key, row in self._by_partition(
                    self._keys_counted(rows, side), f"{side}_p", _of_keys("rows", "missing")
                ).items()
            }
            for rows, side in ((self.left, _LEFT), (self.right, _RIGHT))
        )
        none = SideRows()
        return {key: (left.get(key, none), right.get(key, none)) for key in {**left, **right}}

    def _keys_counted(self, rows: Side, side: str) -> DataFrame:
        keys = self._keys(side)
        frame = rows.frame.selectExpr(*_aliased(keys), f"{self._missing(side)} AS missing")
        names = [identifier(name) for name in (*keys, "missing")]
        return frame.groupBy(*names).agg(F.expr("count(1) AS rows"))

    def _without(self, partitions: Collection[str | None]) -> DiffJoin:
        listed = ", ".join(text_literal(str(key)) for key in partitions)
        left, right = (
            replace(side, frame=side.frame.where(f"{side.partition} NOT IN ({listed})"))
            for side in (self.left, self.right)
        )
        return replace(self, left=left, right=right)

    def no_counts(self) -> DiffCounts:
        """What is said of no rows at all."""
        columns = (ColumnChanges(one.name, one.right.name, 0) for one in self.alignment.columns)
        return DiffCounts(columns=tuple(columns), schema=self.alignment.schema)

    def _read(self, row: Mapping[str, Any]) -> DiffCounts:
        joined, left, right = row["joined"], row["l_rows"], row["r_rows"]
        return DiffCounts(
            SideRows(left, row["l_without_key"]),
            SideRows(right, row["r_without_key"]),
            joined - right,
            joined - left,
            row["changed"],
            left + right - joined - row["changed"],
            tuple(
                ColumnChanges(
                    one.name,
                    one.right.name,
                    row[f"{one.left.sql} changed"],
                    *_null_changes(one.left.sql, row),
                    _measured(row.get(f"{one.left.sql} largest"), named.left.kind),
                )
                for one, named in zip(self.columns, self.alignment.columns, strict=True)
            ),
            self.alignment.schema,
        )

    def _joined(self) -> DataFrame:
        left, right = self._distinct(self.left, _LEFT), self._distinct(self.right, _RIGHT)
        return left.join(right, F.expr(self._same_key()), "full_outer")

    def _same_key(self) -> str:
        names = zip(self._key_names(_LEFT), self._key_names(_RIGHT), strict=True)
        return " AND ".join(f"{one} = {other}" for one, other in names)

    def _key_names(self, side: str) -> list[str]:
        count = len(self.alignment.key_pairs())
        partition = [f"{side}_p"] if self.left.partition is not None else []
        return [*partition, *(f"{side}_k{n}" for n in range(count))]

    def _keys(self, side: str) -> dict[str, str]:
        """The SQL of the keys in the rows of a side, by their names in the join."""
        at = 0 if side == _LEFT else 1
        rows = self.left if side == _LEFT else self.right
        keys = [pair[at] for pair in self.alignment.key_pairs()]
        partition = [] if rows.partition is None else [rows.partition]
        return dict(zip(self._key_names(side), [*partition, *keys], strict=True))

    def _side(self, rows: Side, side: str, **further: str) -> DataFrame:
        """The keys and the compared columns, and what is asked for beside them."""
        compared = {f"c{n}": _of(one, side).sql for n, one in enumerate(self.alignment.columns)}
        columns = {f"{side}_v": _struct(compared)} if compared else {}
        selected = {**self._keys(side), **columns, **further}
        return rows.frame.selectExpr(*(f"{sql} AS {name}" for name, sql in selected.items()))

    def _distinct(self, rows: Side, side: str) -> DataFrame:
        """The rows, and whether a key of theirs is missing; a key of two rows raises."""
        frame = self._side(rows, side, **{f"{side}_missing": self._missing(side)})
        window = f"(PARTITION BY {', '.join(self._key_names(side))})"
        return frame.selectExpr("*", f"{_ONCE} OVER {window} AS {side}_once")

    def _missing(self, side: str) -> str:
        """Whether a row has no value in one of the keys."""
        return f"({' OR '.join(f'{_of(one, side).sql} IS NULL' for one in self.alignment.keys)})"

    def only(self, which: Literal["left", "right"]) -> DataFrame:
        """The rows of a side whose keys the other side does not have, with all of their columns."""
        mine, theirs = (_LEFT, _RIGHT) if which == "left" else (_RIGHT, _LEFT)
        rows, others = (self.left, self.right) if which == "left" else (self.right, self.left)
        taken = {name.lower() for name in rows.frame.columns}
        keys = {unused(f"dq_{name}", taken): sql for name, sql in self._keys(mine).items()}
        other = {unused(f"dq_{name}", taken): sql for name, sql in self._keys(theirs).items()}
        keyed = rows.frame.selectExpr("*", *_aliased(keys))
        there = others.frame.selectExpr(*_aliased(other))
        pairs = zip(map(identifier, keys), map(identifier, other), strict=True)
        same = " AND ".join(f"{one} = {another}" for one, another in pairs)
        return keyed.join(there, F.expr(same), "left_anti").drop(*keys)

    def changed(self) -> DataFrame:
        """The keys of rows that differ, the names of the columns that do, and both of their values.

        The keys are as the left side has them.
        """
        keys = {f"l_key{n}": key.left for n, key in enumerate(self.alignment.keys)}
        left = self._side(self.left, _LEFT, **{name: key.sql for name, key in keys.items()})
        joined = left.join(self._side(self.right, _RIGHT), F.expr(self._same_key()), "inner")
        columns = self.columns
        flags = {one.name: f"NOT {one.equal(self.alignment.place)}" for one in columns}
        names = ", ".join(f"if({sql}, {text_literal(name)}, NULL)" for name, sql in flags.items())
        taken = {key.name.lower() for key in keys.values()}
        shown = {
            "changed": f"array_compact(array({names}))",
            "left": _struct({one.name: one.left.sql for one in columns}),
            "right": _struct({one.right.name: one.right.sql for one in columns}),
        }
        return joined.where(" OR ".join(flags.values()) or "false").selectExpr(
            *(f"{name} AS {identifier(key.name)}" for name, key in keys.items()),
            *_aliased({unused(name, taken): sql for name, sql in shown.items()}),
        )


def _of(column: ComparedColumn, side: str) -> ColumnRef:
    return column.left if side == _LEFT else column.right


def _aliased(columns: Mapping[str, str]) -> list[str]:
    return [f"{sql} AS {identifier(name)}" for name, sql in columns.items()]


def _struct(fields: Mapping[str, str]) -> str:
    listed = ", ".join(f"{text_literal(name)}, {sql}" for name, sql in fields.items())
    return f"named_struct({listed})"


def _of_keys(rows: str, missing: str) -> dict[str, str]:
    return {
        "rows": f"sum({rows})",
        "without_key": f"sum(if({missing}, {rows}, 0))",
        "repeated": f"count(if({rows} > 1 AND NOT {missing}, 1, NULL))",
    }


def _rows(changed: Sequence[str]) -> dict[str, str]:
    found = {
        "joined": "count(1)",
        "changed": f"count(if({' OR '.join(changed) or 'false'}, 1, NULL))",
    }
    for side in (_LEFT, _RIGHT):
        found |= {
            # Of what the window gives: Spark leaves out a window that nobody asks.
            f"{side}_rows": f"count({side}_once)",
            f"{side}_without_key": f"count(if({side}_missing, 1, NULL))",
        }
    return found


def _figures(column: ComparedColumn, changed: str) -> dict[str, str]:
    """What is counted of one column, in rows that are on both sides."""
    one = column.left.sql
    found = {f"{one} changed": f"count(if({changed}, 1, NULL))"}
    if column.distance is not None:
        found[f"{one} largest"] = f"max(if({changed}, {column.distance}, NULL))"
    return found


def _nulls(column: ComparedColumn, changed: str) -> dict[str, str]:
    one, other = column.left.sql, column.right.sql
    return {
        f"{one} emptied": f"count(if({changed} AND {other} IS NULL, 1, NULL))",
        f"{one} filled": f"count(if({changed} AND {one} IS NULL, 1, NULL))",
    }


def _paired_nulls(column: ComparedColumn, changed: str) -> dict[str, str]:
    """Both counts in one number, since Spark is slow past some numbers of aggregates."""
    one, other = column.left.sql, column.right.sql
    both = f"if({other} IS NULL, 1L, 0L) + if({one} IS NULL, {MOST_PAIRED}L, 0L)"
    return {f"{one} nulls": f"sum(if({changed}, {both}, 0L))"}


def _null_changes(name: str, row: Mapping[str, Any]) -> tuple[int, int]:
    """How many values became NULL, and how many NULLs a value."""
    if f"{name} nulls" not in row:
        return row[f"{name} emptied"], row[f"{name} filled"]
    filled, emptied = divmod(row[f"{name} nulls"] or 0, MOST_PAIRED)
    return emptied, filled


def _measured(apart: Any, kind: T.DataType) -> Difference | None:
    if apart is None:
        return None
    if isinstance(kind, T.DateType):
        return timedelta(days=apart)
    if isinstance(kind, T.TimestampType | T.TimestampNTZType):
        return timedelta(microseconds=apart)
    figure: Difference = apart
    return figure


def rows_as_text(frame: DataFrame, most: int) -> list[dict[str, str | None]]:
    """A few rows with the values of their columns as texts, cut where they are long."""
    shown = [
        f"left({_as_text(identifier(field.name), field.dataType)}, {_LONGEST}) AS c{n}"
        for n, field in enumerate(frame.schema.fields)
    ]
    rows = frame.selectExpr(*shown).limit(most).collect()
    return [dict(zip(frame.columns, row, strict=True)) for row in rows]


def _as_text(sql: str, kind: T.DataType) -> str:
    if isinstance(kind, T.BinaryType):
        return f"hex({sql})"
    nested = isinstance(kind, T.ArrayType | T.MapType | T.StructType | T.VariantType)
    return f"to_json({sql})" if nested else f"CAST({sql} AS STRING)"
