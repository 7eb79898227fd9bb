"""The rows in parts: one query answers for the parts of all cuts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, TooManyParts
from dq_dagster.metrics.measured import NO_KEY, UNDIVIDED, WHOLE, Cut, Measured, Slice
from dq_dagster.metrics.metric import Metric
from dq_dagster.spark.frames.columns import (
    COMPARABLE,
    JudgedTable,
    identifier,
    text_literal,
)
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.sql.expressions import columns_used

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData, Row

States: TypeAlias = dict[Metric, Measured]

# What is brought to the driver stays bounded, whatever the data is divided by.
MOST_PARTS = 50_000
_PARTITION = "dq_partition"
# Not times: wall clocks of a zone show some of them twice.
_ONE_TEXT_EACH = (T.DateType, T.IntegralType)
_SET = "dq_set"


@dataclass(frozen=True, slots=True)
class Division:
    """How the key of a partition, and of each dimension's groups, is computed for a row."""

    partition: str | None
    dimensions: Mapping[str, str]
    problems: Mapping[str, RuleFailure]
    # The partitions that are judged, once they are known.
    partitions: tuple[str, ...] = ()
    # What the partition was declared by: a column or SQL.
    partition_by: str | None = None
    # Columns that say the same as the key of the partition, or of a dimension, but are no texts.
    columns: Mapping[str | None, str] = field(default_factory=dict)
    # Whether the rows are few, and in one task.
    is_small: bool = False

    @classmethod
    def of(
        cls, table: JudgedTable, *, partition_by: str | None, dimensions: Iterable[str]
    ) -> Division:
        """A dimension that cannot be grouped by is a problem of its own, not of the others."""
        found: dict[str, str] = {}
        problems: dict[str, RuleFailure] = {}
        for name in dict.fromkeys(dimensions):
            try:
                found[name] = _group_key(table, name)
            except RuleFailure as failure:
                problems[name] = failure
        partition = None if partition_by is None else partition_key(table, partition_by)
        named: dict[str | None, str | None] = {None: partition_by}
        named |= {name: name for name in found}
        columns = {key: _plain_column(table, name) for key, name in named.items()}
        plain = {key: sql for key, sql in columns.items() if sql is not None}
        return cls(partition, found, problems, partition_by=partition_by, columns=plain)

    def usable(self, cuts: Sequence[Cut]) -> tuple[Cut, ...]:
        """The cuts that can be made; what remains of those that cannot is never less than all."""
        fine = tuple(cut for cut in cuts if cut.dimension not in self.problems)
        return fine or (Cut(cuts[0].partitioned),)

    def visible(self, frame: DataFrame) -> DataFrame:
        """The frame as people know it, without a key that was only added for us."""
        if self.partition is None or self.partition != identifier(HIDDEN_KEY):
            return frame
        return frame.drop(HIDDEN_KEY)


UNSLICED = Division(None, {}, {})


def partition_key(table: JudgedTable, partition_by: str) -> str:
    """The SQL of a row's partition key: a column, or an expression."""
    if partition_by == HIDDEN_KEY:
        return identifier(HIDDEN_KEY)
    if table.has(partition_by):
        sql = table.column(partition_by).sql
    else:
        if columns_used(partition_by):
            table.require_ansi()
        sql = f"({partition_by})"
    return _text_of(sql, is_partition=True)


def _plain_column(table: JudgedTable, name: str | None) -> str | None:
    """The column of a key if it has one text for each value; it is cheaper to group by."""
    if name is None or name == HIDDEN_KEY or not table.has(name):
        return None
    column = table.column(name)
    return column.sql if isinstance(column.kind, _ONE_TEXT_EACH) else None


def _group_key(table: JudgedTable, name: str) -> str:
    column = table.column(name)
    column.require(COMPARABLE, what="A breakdown", wanted="a type with simple values")
    return _text_of(column.sql, is_partition=False)


@dataclass(frozen=True, slots=True)
class Parts:
    """A frame whose rows carry the keys of their parts."""

    frame: DataFrame
    cuts: tuple[Cut, ...]
    keys: Mapping[str | None, str]
    partitions: tuple[str, ...] = ()
    # What gives a row its partition, for those who divide other rows in the same way.
    partition_by: str | None = None
    # Columns of the frame that say the same as a key, and are cheaper to group by.
    columns: Mapping[str | None, str] = field(default_factory=dict)
    # Whether the rows are few, and in one task: nothing is shuffled, and no worker is started.
    is_small: bool = False

    @classmethod
    def of(cls, frame: DataFrame, cuts: tuple[Cut, ...], division: Division) -> Parts:
        if cuts == (UNDIVIDED,):
            rows, by = division.visible(frame), division.partition_by
            return cls(rows, cuts, {}, partition_by=by, is_small=division.is_small)
        sql: dict[str | None, str] = {}
        if any(cut.partitioned for cut in cuts) and division.partition is not None:
            sql[None] = division.partition
        for cut in cuts:
            if cut.dimension is not None:
                sql[cut.dimension] = division.dimensions[cut.dimension]
        taken = {name.lower() for name in frame.columns}
        keys = {name: unused(f"{_PARTITION}_{n}", taken) for n, name in enumerate(sql)}
        columns = [f"{sql[name]} AS {identifier(alias)}" for name, alias in keys.items()]
        keyed = division.visible(frame.selectExpr("*", *columns))
        columns_of = {name: division.columns[name] for name in keys if name in division.columns}
        return cls(
            keyed,
            cuts,
            keys,
            division.partitions,
            division.partition_by,
            columns=columns_of,
            is_small=division.is_small,
        )

    def one_by_one(self) -> Iterator[tuple[Slice, DataFrame]]:
        """Each partition, and all rows, as frames of their own: for what cannot be grouped."""
        plain = self.frame.drop(*self.keys.values())
        if UNDIVIDED in self.cuts:
            yield WHOLE, plain
        if Cut(partitioned=True) in self.cuts:
            key = identifier(self.keys[None])
            for name in self.partitions:
                rows = self.frame.where(f"{key} = {text_literal(name)}")
                yield Slice(name), rows.drop(*self.keys.values())

    def only(self, part: Slice) -> Parts:
        """One part, undivided."""
        named: dict[str | None, str | None] = {}
        if part.partition is not None:
            named[None] = part.partition
        if part.dimension is not None:
            named[part.dimension] = part.group
        same = [
            f"{identifier(self.keys[name])} <=> {'NULL' if key is None else text_literal(key)}"
            for name, key in named.items()
        ]
        rows = self.frame.where(" AND ".join(same) or "true")
        return Parts(rows, (UNDIVIDED,), {}, is_small=self.is_small)

    def without_rows(self) -> Parts:
        """No rows at all, of the same columns; Spark reads nothing for it."""
        return Parts(self.frame.where("false"), (UNDIVIDED,), {})

    def lacks_any(self, found: Collection[Slice]) -> bool:
        """Whether a partition that is judged, or the whole, is not among those that have rows."""
        judged = (
            [Slice(name) for name in self.partitions] if Cut(partitioned=True) in self.cuts else []
        )
        whole = [WHOLE] if UNDIVIDED in self.cuts else []
        return any(part not in found for part in (*judged, *whole))

    def measured(
        self, metric: Metric, states: Mapping[Slice, Any] | RuleFailure, nothing: Any = None
    ) -> Measured:
        """The states of a metric in these parts, or that it has none anywhere."""
        if isinstance(states, RuleFailure):
            return Measured.failed(metric, states)
        return Measured(metric, states, self.cuts, nothing)

    def keys_of(self, cut: Cut) -> list[str]:
        """The columns that tell the parts of a cut apart."""
        named = [self.keys[None]] if cut.partitioned else []
        return named if cut.dimension is None else [*named, self.keys[cut.dimension]]

    def aggregate(
        self, columns: Sequence[str], steps: tuple[Sequence[str], Sequence[str]] | None = None
    ) -> dict[Slice, Mapping[str, Any]]:
        """The aggregates of each part that has rows; of undivided rows in any case.

        ``steps`` have the same results, with a second one over what the first one says of parts.
        """
        if self.cuts == (UNDIVIDED,):
            row = self.frame.selectExpr(*columns).collect()[0]
            return {WHOLE: row.asDict(recursive=False)}
        aggregates = [F.expr(sql) for sql in columns]
        finest = self.finest()
        if steps is not None and finest is not None:
            grouped = self._in_steps(finest, *steps)
            number = _SET
        elif self.is_small and len(self.cuts) > 1:
            number = unused(_SET, {name.lower() for name in self.frame.columns})
            grouped = grouped_by_sets(self.frame, *self._sets(), number=number).agg(*aggregates)
        else:
            number = _SET
            grouped = self._grouped().agg(F.expr(self._set_number()).alias(_SET), *aggregates)
        found = self._with_texts(grouped) if len(self.cuts) == 1 else grouped
        rows = self.bounded(found, MOST_PARTS)
        return {
            self.slice(row, self.cuts[row[number]]): row.asDict(recursive=False) for row in rows
        }

    def finest(self) -> Cut | None:
        """The cut whose parts those of all others are made of, if there are several."""
        if self.is_small or len(self.cuts) == 1:
            return None
        return next((one for one in self.cuts if all(map(one.refines, self.cuts))), None)

    def _in_steps(self, finest: Cut, first: Sequence[str], second: Sequence[str]) -> DataFrame:
        """Each row is looked at once, in its part of the finest cut."""
        mine = self.keys_of(finest)
        named = zip(self.plain_keys(), self.keys.values(), strict=True)
        by = [F.expr(sql) for sql, key in named if key in mine]
        of_parts = self.frame.groupBy(*by).agg(*map(F.expr, first))
        sets, keys = self._sets()
        number = F.expr(self._set_number()).alias(_SET)
        return (
            self._with_texts(of_parts).groupingSets(sets, *keys).agg(number, *map(F.expr, second))
        )

    def bounded(self, found: DataFrame, most: int) -> list[Row]:
        """The rows of a result that is small unless the data falls into too many parts."""
        return bounded(found, most, by=[cut.dimension for cut in self.cuts])

    def slice(self, row: Any, cut: Cut) -> Slice:
        """The part that a row of results speaks of."""
        return Slice(
            row[self.keys[None]] if cut.partitioned else None,
            cut.dimension,
            None if cut.dimension is None else row[self.keys[cut.dimension]],
        )

    def plain_keys(self) -> list[str]:
        """All keys by their names, as they are cheapest to group by: not yet as texts."""
        return [
            f"{self.columns.get(name, identifier(key))} AS {identifier(key)}"
            for name, key in self.keys.items()
        ]

    def texts(self) -> dict[str, str]:
        """How keys that were not yet texts become so, by name."""
        return {
            self.keys[name]: _text_of(identifier(self.keys[name]), is_partition=name is None)
            for name in self.columns
        }

    def _with_texts(self, found: DataFrame) -> DataFrame:
        if not self.columns:
            return found
        texts = self.texts()
        return found.selectExpr(
            *(
                f"{texts[name]} AS {identifier(name)}" if name in texts else identifier(name)
                for name in found.columns
            )
        )

    def _grouped(self) -> Any:
        if len(self.cuts) == 1:
            mine = self.keys_of(self.cuts[0])
            by = [F.expr(sql) for sql in self.plain_keys()]
            return self.frame.groupBy(
                *(one for one, key in zip(by, self.keys.values(), strict=True) if key in mine)
            )
        sets, keys = self._sets()
        return self.frame.groupingSets(sets, *keys)

    def _sets(self) -> tuple[list[list[str]], list[str]]:
        """The keys to group by for each cut, and all of them."""
        sets = [[identifier(key) for key in self.keys_of(cut)] for cut in self.cuts]
        return sets, list(map(identifier, self.keys.values()))

    def _set_number(self) -> str:
        if len(self.cuts) == 1:
            return "0"
        cases = " ".join(
            f"WHEN {grouping_id(list(self.keys.values()), self.keys_of(cut))} THEN {number}"
            for number, cut in enumerate(self.cuts)
        )
        return f"CASE grouping_id() {cases} END"


def _text_of(sql: str, *, is_partition: bool) -> str:
    text = f"CAST({sql} AS STRING)"
    return f"coalesce({text}, {text_literal(NO_KEY)})" if is_partition else text


def bounded(found: DataFrame, most: int, *, by: Iterable[str | None] = ()) -> list[Row]:
    """The rows of a result that is small unless the data falls into too many parts."""
    # As one task, or Spark would take the first rows of each by a job of its own.
    rows = found.coalesce(1).limit(most + 1).collect()
    if len(rows) > most:
        raise TooManyParts.by(by)
    return rows


def grouped_by_sets(
    rows: DataFrame, sets: Sequence[Sequence[str]], columns: Sequence[str], *, number: str
) -> GroupedData:
    """Grouping sets for rows that lie in one task: Spark would shuffle them nevertheless.

    ``number`` is what the place of a group's set is called.
    """
    places = ", ".join(map(str, range(len(sets))))
    repeated = rows.selectExpr("*", f"explode(array({places})) AS {number}")
    keys = []
    for column in columns:
        kept = ", ".join(str(n) for n, one in enumerate(sets) if column in one)
        value = f"if({number} IN ({kept}), {column}, NULL)" if kept else "NULL"
        keys.append(F.expr(f"{value} AS {column}"))
    return repeated.groupBy(F.expr(number), *keys)


def grouping_id(columns: Sequence[str], kept: Sequence[str]) -> int:
    """Spark's number of a grouping set: a bit is set for each column left out."""
    return sum(1 << position for position, name in enumerate(reversed(columns)) if name not in kept)


def unused(name: str, taken: set[str]) -> str:
    """A name that is not taken yet, and is from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
