"""Which columns of two tables are compared with each other, and when two values are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pyspark.sql import types as T

from dq_dagster.errors import Misfit
from dq_dagster.metrics.diffs import Leeway, RowComparison, SchemaDifferences
from dq_dagster.spark.expressions.canonical import comparable_form, two_hashes
from dq_dagster.spark.expressions.differences import distance, largest_distance, within
from dq_dagster.spark.frames.columns import FLOATS, ColumnRef, JudgedTable
from dq_dagster.spark.passes.lookups import Pairs, comparable

_SPACES = r"'[\\s\\p{Z}]+'"
# Longer texts, in bytes, cost more to be carried along than to be hashed.
_LONG = 64


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column of both sides, and what of it counts."""

    left: ColumnRef
    right: ColumnRef
    leeway: Leeway
    ignores_case: bool
    ignores_whitespace: bool

    @property
    def name(self) -> str:
        return self.left.name

    def at(self, left: str, right: str) -> ComparedColumn:
        """The same where the values are found under other names."""
        return replace(
            self, left=replace(self.left, sql=left), right=replace(self.right, sql=right)
        )

    def pairs(self, place: str) -> Pairs:
        """Pairs of SQL that are all equal if and only if the values are.

        Raises Misfit if values of the two types are never equal.
        """
        left, right = comparable_form(self.left), comparable_form(self.right)
        if _is_mixed(left.kind, right.kind):
            return _either_way(left, right)
        try:
            return comparable(left, right, place, self._value)
        except Misfit:
            # In terms of the types that people know.
            one, other = self.left, self.right
            raise Misfit.incomparable(
                one.name, one.type_name, other.name, other.type_name, place
            ) from None

    def _value(self, column: ColumnRef) -> str:
        sql = column.sql
        if not isinstance(column.kind, T.StringType):
            return sql
        if self.ignores_whitespace:
            sql = f"trim(regexp_replace({sql}, {_SPACES}, ' '))"
        return f"lower({sql})" if self.ignores_case else sql

    def equal(self, place: str) -> str:
        """Whether the two values are equal, never NULL: NULL equals NULL and nothing else."""
        same = " AND ".join(f"({one}) <=> ({other})" for one, other in self.pairs(place))
        kinds = self.left.kind, self.right.kind
        close = within(self.leeway, self.left.sql, self.right.sql, *kinds)
        # First this: two infinities have no difference.
        return f"({same})" if close is None else f"(({same}) OR {close})"

    def shortened(self, place: str) -> ComparedColumn:
        """The same for whether two values are equal: of long texts 128 bits, as for their counts.

        Texts are then as they are compared, case and whitespace seen to.
        """
        if not all(isinstance(one.kind, T.StringType) for one in (self.left, self.right)):
            return self
        [(left, right)] = self.pairs(place)
        return replace(
            self.at(_shortened(left), _shortened(right)),
            ignores_case=False,
            ignores_whitespace=False,
        )

    @property
    def distance(self) -> str | None:
        """How far apart the values are; None where that means nothing."""
        return largest_distance(self.left.sql, self.right.sql, self.left.kind, self.right.kind)


def _shortened(text: str) -> str:
    both = ", '-', ".join(f"hex({one})" for one in two_hashes(f"CAST({text} AS BINARY)"))
    return f"if(octet_length({text}) > {_LONG}, concat({both}), {text})"


def _is_mixed(one: T.DataType, other: T.DataType) -> bool:
    """Whether one is an exact number, and the other a floating one."""
    numbers = isinstance(one, T.NumericType) and isinstance(other, T.NumericType)
    return numbers and isinstance(one, FLOATS) is not isinstance(other, FLOATS)


def _either_way(left: ColumnRef, right: ColumnRef) -> Pairs:
    """Equal as doubles and as exact numbers: neither alone tells all values apart."""
    exact, other = (right, left) if isinstance(left.kind, FLOATS) else (left, right)
    kind = exact.kind.simpleString()
    ways = [
        (f"CAST({exact.sql} AS DOUBLE)", f"CAST({other.sql} AS DOUBLE)"),
        (exact.sql, f"try_cast(CAST({other.sql} AS DOUBLE) AS {kind})"),
    ]
    return ways if exact is left else [(there, here) for here, there in ways]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The keys and the compared columns of two tables, and how their columns differ."""

    comparison: RowComparison
    keys: tuple[ComparedColumn, ...]
    columns: tuple[ComparedColumn, ...]
    schema: SchemaDifferences
    place: str

    def shortened(self) -> Alignment:
        """The same for counting what differs: less is carried along."""
        return replace(self, columns=tuple(one.shortened(self.place) for one in self.columns))

    def key_pairs(self) -> Pairs:
        """What rows are joined by, on the left and on the right."""
        return [pair for key in self.keys for pair in key.pairs(self.place)]


def align(
    comparison: RowComparison, left: JudgedTable, right: JudgedTable, *, place: str = "the right"
) -> Alignment:
    """Finds the columns of both sides; raises Misfit if a named one is missing or does not fit."""
    aligning = _Aligning(comparison, left, right, place)
    for name in comparison.named:
        aligning.pair(name)
    keys = tuple(aligning.pair(name) for name in comparison.keys)
    for key in keys:
        key.pairs(place)
    if comparison.columns is not None:
        columns = tuple(aligning.pair(n) for n in comparison.columns if not aligning.is_key(n))
        for column in columns:
            column.equal(place)
        return Alignment(comparison, keys, columns, aligning.types(columns), place)
    return aligning.of_all(keys)


@dataclass(frozen=True, slots=True)
class _Aligning:
    comparison: RowComparison
    left: JudgedTable
    right: JudgedTable
    place: str

    def pair(self, name: str) -> ComparedColumn:
        there = self.comparison.there(name)
        here = self.left.column(name)
        try:
            other = self.right.column(there)
        except Misfit as misfit:
            raise Misfit(f"In {self.place}: {misfit}") from None
        chosen = {self._fold(one): leeway for one, leeway in self.comparison.leeways}
        leeway = chosen.get(self._fold(name))
        if leeway is not None and not _may_be_near(here, other):
            kinds = "a number or a time on both sides"
            raise Misfit.wrong_type("A tolerance", name, here.type_name, kinds)
        return ComparedColumn(
            here,
            other,
            leeway or (self.comparison.leeway if _is_number(here, other) else Leeway()),
            self._chosen(self.comparison.ignores_case, name),
            self._chosen(self.comparison.ignores_whitespace, name),
        )

    def is_key(self, name: str) -> bool:
        return self._fold(name) in set(map(self._fold, self.comparison.keys))

    def of_all(self, keys: tuple[ComparedColumn, ...]) -> Alignment:
        """All columns that both sides have."""
        out = set(map(self._fold, self.comparison.left_out))
        theirs = {self._fold(name): name for name in self.right.schema.names}
        taken = {self._fold(self.comparison.there(key)) for key in self.comparison.keys}
        columns, only_left = [], []
        for name in self.left.schema.names:
            there = self._fold(self._there(name))
            if self._fold(name) in out or self.is_key(name):
                taken.add(there)
            elif there in theirs and there not in taken:
                columns.append(self.pair(name))
                taken.add(there)
            else:
                only_left.append(name)
        only_right = [n for f, n in theirs.items() if f not in taken and f not in out]
        kept, clashing = self._comparable(columns)
        found = replace(
            self.types([*keys, *columns]),
            only_left=tuple(only_left),
            only_right=tuple(only_right),
            not_compared=tuple(clashing),
        )
        return Alignment(self.comparison, keys, tuple(kept), found, self.place)

    def _there(self, name: str) -> str:
        renamed = {self._fold(here): there for here, there in self.comparison.renamed}
        return renamed.get(self._fold(name), name)

    def _comparable(
        self, columns: Iterable[ComparedColumn]
    ) -> tuple[list[ComparedColumn], list[str]]:
        """Those that can be compared, and the names of those whose types rule that out.

        Two columns of one type that Spark cannot compare are not passed over in silence.
        """
        kept, clashing = [], []
        named = set(map(self._fold, self.comparison.named))
        for column in columns:
            try:
                column.equal(self.place)
            except Misfit:
                alike = column.left.type_name == column.right.type_name
                if alike or self._fold(column.name) in named:
                    raise
                clashing.append(column.name)
            else:
                kept.append(column)
        return kept, clashing

    def types(self, columns: Iterable[ComparedColumn]) -> SchemaDifferences:
        return SchemaDifferences(
            types={
                one.name: (one.left.type_name, one.right.type_name)
                for one in columns
                if one.left.type_name != one.right.type_name
            }
        )

    def _chosen(self, names: bool | tuple[str, ...], column: str) -> bool:  # noqa: FBT001
        if isinstance(names, bool):
            return names
        return self._fold(column) in set(map(self._fold, names))

    @property
    def _fold(self) -> Callable[[str], str]:
        return str if self.left.case_sensitive else str.lower


def _is_number(here: ColumnRef, there: ColumnRef) -> bool:
    return all(isinstance(one.kind, T.NumericType) for one in (here, there))


def _may_be_near(here: ColumnRef, there: ColumnRef) -> bool:
    return distance("a", "b", here.kind, there.kind) is not None
