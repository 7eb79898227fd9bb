"""What differs between two tables: as numbers, rows, text, HTML and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from dq_dagster.evaluation.html import html_table
from dq_dagster.judging.wording import listing, plural, show
from dq_dagster.metrics.diffs import (
    ColumnChanges,
    DiffCounts,
    Difference,
    RowComparison,
    SchemaDifferences,
)
from dq_dagster.spark.frames.ansi import at_home
from dq_dagster.spark.passes.diff.join import rows_as_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from rich.console import RenderableType

    from dq_dagster.spark.passes.diff.join import DiffJoin

_HEADER = ("column", "changed", "only left NULL", "only right NULL", "largest difference")


@dataclass(frozen=True, slots=True)
class PartitionsRead:
    """How many partitions there are on both sides together, and how many were joined."""

    total: int
    read: int


@dataclass(frozen=True, slots=True, repr=False)
class Diff:
    """How many rows are on one side only, changed or the same; the rows themselves are lazy."""

    counts: DiffCounts
    comparison: RowComparison
    partitions: PartitionsRead | None
    _join: DiffJoin
    samples: Mapping[str, Sequence[Mapping[str, str | None]]] = field(default_factory=dict)

    @property
    def only_left(self) -> int:
        return self.counts.only_left

    @property
    def only_right(self) -> int:
        return self.counts.only_right

    @property
    def changed(self) -> int:
        """How many rows have the same key on both sides, and differ in a compared column."""
        return self.counts.changed

    @property
    def same(self) -> int:
        return self.counts.same

    @property
    def rows_left(self) -> int:
        return self.counts.left.rows

    @property
    def rows_right(self) -> int:
        return self.counts.right.rows

    @property
    def schema(self) -> SchemaDifferences:
        """How the columns of the two sides differ."""
        return self.counts.schema

    @property
    def columns(self) -> Mapping[str, ColumnChanges]:
        """What changed in each compared column, by its name on the left."""
        return {one.name: one for one in self.counts.columns}

    @property
    def equal(self) -> bool:
        """Whether all rows are the same, and both sides have the same columns to compare."""
        schema = self.schema
        lacking = schema.only_left or schema.only_right or schema.not_compared
        return not self.counts.differing and not lacking

    @property
    def only_left_rows(self) -> DataFrame:
        return at_home(self._join.only("left"))

    @property
    def only_right_rows(self) -> DataFrame:
        return at_home(self._join.only("right"))

    @property
    def changed_rows(self) -> DataFrame:
        """The keys of each changed row, ``changed`` (names of columns), ``left`` and ``right``."""
        return at_home(self._join.changed())

    def with_samples(self, most: int) -> Diff:
        """The same with a few rows of each kind and their values, as text."""
        rows: dict[str, tuple[int, Callable[[], DataFrame]]] = {
            "only_left": (self.only_left, partial(self._join.only, "left")),
            "only_right": (self.only_right, partial(self._join.only, "right")),
            "changed": (self.changed, self._join.changed),
        }
        found = {kind: rows_as_text(some(), most) for kind, (n, some) in rows.items() if n}
        return replace(self, samples=found)

    def headline(self) -> str:
        """Such as "3 of 1,204 rows differ: 1 only left, 2 changed; 1,201 are the same."."""
        counts = self.counts
        every = counts.differing + counts.same
        if not counts.differing:
            return f"All {plural(every, 'row')} are the same." if every else "There are no rows."
        kinds = {"only left": self.only_left, "only right": self.only_right}
        parts = [f"{n:,} {what}" for what, n in {**kinds, "changed": self.changed}.items() if n]
        verb = "differs" if counts.differing == 1 else "differ"
        return (
            f"{counts.differing:,} of {plural(every, 'row')} {verb}: {', '.join(parts)}; "
            f"{self.same:,} {'is' if self.same == 1 else 'are'} the same."
        )

    def notes(self) -> list[str]:
        """What is to be said of columns and partitions."""
        schema, found = self.schema, []
        if schema.only_left:
            found.append(f"Only left: {_columns(schema.only_left)}.")
        if schema.only_right:
            found.append(f"Only right: {_columns(schema.only_right)}.")
        for name, (one, other) in schema.types.items():
            compared = ", and is not compared" if name in schema.not_compared else ""
            found.append(f"'{name}' is of type {one} left, {other} right{compared}.")
        if self.partitions is not None:
            read, total = self.partitions.read, self.partitions.total
            found.append(f"{read:,} of {plural(total, 'partition')} were joined.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """All but the rows, as plain data."""
        return {
            "equal": self.equal,
            "rows_left": self.rows_left,
            "rows_right": self.rows_right,
            "only_left": self.only_left,
            "only_right": self.only_right,
            "changed": self.changed,
            "same": self.same,
            "keys": list(self.comparison.keys),
            "columns": [_plain(one) for one in self.counts.columns],
            "schema": self.schema.as_dict(),
            "partitions": None
            if self.partitions is None
            else {"total": self.partitions.total, "read": self.partitions.read},
            "samples": {kind: [dict(row) for row in rows] for kind, rows in self.samples.items()},
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        lines = [self.headline(), *self.notes(), *_aligned(self._table())]
        for kind, rows in self.samples.items():
            lines.append(f"{_KINDS[kind]}:")
            lines += [f"  {_line(row)}" for row in rows]
        return "\n".join(lines)

    __repr__ = __str__

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(*_HEADER)
        for row in self._table():
            table.add_row(*map(Text, row))
        return Group(Text(self.headline()), *map(Text, self.notes()), table)

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        columns = html_table(_HEADER, [[escape(cell) for cell in row] for row in self._table()])
        shown = "".join(
            f"<p>{_KINDS[kind]}</p>" + _sample_table(rows) for kind, rows in self.samples.items()
        )
        return f"<p><b>{escape(self.headline())}</b></p>{words}{columns}{shown}"

    def _table(self) -> list[tuple[str, ...]]:
        """The columns, those with most changes first."""
        ordered = sorted(self.counts.columns, key=lambda one: -one.changed)
        return [
            (
                one.name if one.name == one.other else f"{one.name} / {one.other}",
                f"{one.changed:,}",
                f"{one.filled:,}",
                f"{one.emptied:,}",
                "" if one.largest is None else _shown(one.largest),
            )
            for one in ordered
        ]


_KINDS = {"only_left": "Only left", "only_right": "Only right", "changed": "Changed"}


def _columns(names: Sequence[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {listing(names)}"


def _shown(difference: Difference) -> str:
    return str(difference) if isinstance(difference, timedelta) else show(difference)


def _plain(one: ColumnChanges) -> dict[str, Any]:
    largest: Any = one.largest
    if isinstance(largest, timedelta):
        largest = largest.total_seconds()
    elif isinstance(largest, Decimal) or (isinstance(largest, float) and math.isinf(largest)):
        largest = str(largest)
    return {
        "column": one.name,
        "right": one.other,
        "changed": one.changed,
        "only_left_null": one.filled,
        "only_right_null": one.emptied,
        "largest_difference": largest,
    }


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    every = [_HEADER, *rows]
    widths = [max(len(row[n]) for row in every) for n in range(len(_HEADER))]
    return [
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in every
    ]


def _line(row: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}: {'NULL' if value is None else value}" for name, value in row.items())


def _sample_table(rows: Sequence[Mapping[str, str | None]]) -> str:
    names = list(rows[0]) if rows else []
    cells = [["NULL" if row[n] is None else escape(str(row[n])) for n in names] for row in rows]
    return html_table([escape(name) for name in names], cells)
