"""Which values broke rules: the most frequent ones of each, from one query for all of them.

Of each row with a fault its values go on as texts, which are cut, masked where they are sensitive,
and counted inside Spark. Only the few that are shown leave it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.conditions import Fault, Sample
from dq_dagster.metrics.frequency import Repeated
from dq_dagster.spark.expressions.predicates import fault_sql
from dq_dagster.spark.expressions.values import counting
from dq_dagster.spark.frames.columns import ColumnRef, JudgedTable, text_literal
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.passes.faults import widened
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.session.deadline import DEADLINE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MOST_VALUES = 5
_LONGEST = 60
_MOST_COLUMNS = 4
# Of so many columns and conditions at most; each is one more expression for every row.
_MOST_AT_ONCE = 100
MASK = "***"
_AS_SHOWN = (T.IntegralType, T.DecimalType, T.BooleanType, T.DateType, T.BinaryType)
_NESTED = (T.ArrayType, T.MapType, T.StructType, T.VariantType)

# Faults that are looked at together, with the partitions to look in; None is all rows.
Wanted: TypeAlias = Mapping[tuple[Fault, ...], Collection[str | None]]
Found: TypeAlias = dict[tuple[tuple[Fault, ...], str | None], tuple[Sample, ...]]


@dataclass(frozen=True, slots=True)
class SampledRows:
    """Rows whose values may be shown; ``partition`` is the SQL of a row's partition."""

    frame: DataFrame
    table: JudgedTable
    partition: str | None
    # Columns whose values are masked; so are their fields, and what they are fields of.
    masked: frozenset[str] = frozenset()

    def samples(self, wanted: Wanted) -> Found:
        """For each the values with the most rows; nothing at all if the query raises."""
        deadline = DEADLINE.get()
        limited = (
            nullcontext() if deadline is None else deadline.cancelling(self.frame.sparkSession)
        )
        with without_quoting_rows(), limited:
            return attempted(lambda: self._samples(wanted), lambda _: {})

    def _samples(self, wanted: Wanted) -> Found:
        # Each rule has its share, so that many columns of one leave something for the others.
        share = max(1, _MOST_AT_ONCE // max(1, len(wanted)))
        shown = [one for faults in wanted for one in self._shown(faults)[:share]][:_MOST_AT_ONCE]
        branches = [
            branch
            for divided in (False, True)
            for branch in self._values(shown, wanted, divided=divided)
        ]
        if not branches:
            return {}
        values = reduce(lambda some, more: some.unionAll(more), branches)
        alike = values.groupBy("task", "part", "number", "texts", "hash")
        counted = alike.agg(F.expr("sum(n)").alias("count"))
        order = "count DESC, texts, number, hash"
        ranked = counted.selectExpr(
            "*", f"row_number() OVER (PARTITION BY task, part ORDER BY {order}) AS place"
        )
        rows = ranked.where(f"place <= {MOST_VALUES}").orderBy("task", "part", "place").collect()
        return _by_task(rows, list(wanted), shown)

    def _shown(self, faults: tuple[Fault, ...]) -> list[_Shown]:
        """The values of a rule's faults, those that speak of the same columns together."""
        by_columns: dict[tuple[str, ...], list[Fault]] = {}
        for fault in faults:
            by_columns.setdefault(fault.condition.columns, []).append(fault)
        found = []
        for columns, mine in by_columns.items():
            try:
                refs = [self.table.column(name) for name in columns]
                some = [ShownValue(ref, is_masked(ref.name, self.masked)) for ref in refs]
                found.append(_Shown(faults, tuple(map(_of_all_rows, mine)), tuple(some)))
            except RuleFailure:
                # Its outcome says why already.
                continue
        return [one for one in found if one.values]

    def _values(
        self, shown: Sequence[_Shown], wanted: Wanted, *, divided: bool
    ) -> Iterator[DataFrame]:
        """The values of each row with a fault, once for each rule that it breaks.

        Values that repeat are already counted.
        """
        wide, entries = self.frame, []
        key = self.partition if divided else None
        tasks = list(wanted)
        for number, one in enumerate(shown):
            parts = [part for part in wanted[one.task] if (part is not None) is divided]
            if not parts or (divided and key is None):
                continue
            inside = f" AND {key} IN ({_listed(parts)})" if divided else ""
            place = tasks.index(one.task), number
            if one.repeated is not None:
                yield self._repeated(one, one.repeated, place, key, inside)
                continue
            for fault in one.faults:
                wide = widened(fault, wide, self.table, key)
            found = " OR ".join(fault_sql(fault, self.table) for fault in one.faults)
            entries.append(f"if(({found}){inside}, {one.entry(*place, key)}, NULL)")
        if not entries:
            return
        # Not behind a filter of all these conditions: of twenty of them before a generator, Spark's
        # planner makes so many combinations that they take all memory.
        broken = f"filter(array({', '.join(entries)}), one -> one IS NOT NULL)"
        yield wide.selectExpr(f"inline_outer({broken})").where("task IS NOT NULL")

    def _repeated(
        self,
        one: _Shown,
        condition: Repeated,
        place: tuple[int, int],
        key: str | None,
        inside: str,
    ) -> DataFrame:
        """The same by counting each value: a window would put all rows in order."""
        [fault] = one.faults
        given = f"({counting(condition.grouping, self.table, alias='k').sql}) IS NOT NULL"
        among = given if fault.where is None else f"if(({fault.where}), {given}, false)"
        columns = {f"v{n}": value.column.sql for n, value in enumerate(one.values)}
        columns |= {} if key is None else {"p": key}
        rows = self.frame.where(f"{among}{inside}")
        named = rows.selectExpr(*(f"{sql} AS {name}" for name, sql in columns.items()))
        several = named.groupBy(*columns).agg(F.expr("count(1)").alias("n")).where("n > 1")
        fields = one.named(columns).fields(*place, None if key is None else "p") | {"n": "n"}
        return several.selectExpr(*(f"{sql} AS {name}" for name, sql in fields.items()))


@dataclass(frozen=True, slots=True)
class ShownValue:
    """The value of a column as SQL texts, for those who look and for telling values apart."""

    column: ColumnRef
    masked: bool

    @property
    def is_text(self) -> bool:
        return isinstance(self.column.kind, T.StringType) and not self.masked

    @property
    def whole(self) -> str:
        sql, kind = self.column.sql, self.column.kind
        if self.masked:
            return f"if({sql} IS NULL, NULL, {text_literal(MASK)})"
        if isinstance(kind, T.BinaryType):
            return f"hex({sql})"
        if isinstance(kind, _NESTED):
            # What is inside, without the braces and the name around it.
            json = f"to_json(named_struct('v', {sql}))"
            return f"if({sql} IS NULL, NULL, substring({json}, 6, length({json}) - 6))"
        return f"CAST({self.column.plain_text} AS STRING)"

    @property
    def cut(self) -> str:
        return f"left({self.whole}, {_LONGEST + 1})"


@dataclass(frozen=True, slots=True)
class _Shown:
    """Faults of a rule that speak of the same columns, and the values of those."""

    task: tuple[Fault, ...]
    faults: tuple[Fault, ...]
    values: tuple[ShownValue, ...]

    @property
    def repeated(self) -> Repeated | None:
        """The only fault, if it is that the values as they are shown occur more than once."""
        if len(self.faults) > 1 or not isinstance(self.faults[0].condition, Repeated):
            return None
        condition = self.faults[0].condition
        grouping = condition.grouping
        alone = len(grouping.columns) == 1 and not grouping.counts_empty
        blanks = grouping.blank_is_empty and not alone
        return condition if all(_is_itself(v.column.kind, blanks) for v in self.values) else None

    def named(self, names: Iterable[str]) -> _Shown:
        """The same where the values have these names."""
        pairs = zip(self.values, names, strict=False)
        values = (replace(one, column=replace(one.column, sql=name)) for one, name in pairs)
        return replace(self, values=tuple(values))

    def entry(self, task: int, number: int, key: str | None) -> str:
        fields = self.fields(task, number, key)
        listed = ", ".join(f"'{name}', {sql}" for name, sql in fields.items())
        return f"named_struct({listed})"

    def fields(self, task: int, number: int, key: str | None) -> dict[str, str]:
        return {
            "task": str(task),
            "part": "CAST(NULL AS STRING)" if key is None else key,
            "number": str(number),
            "texts": f"array({', '.join(one.cut for one in self.values[:_MOST_COLUMNS])})",
            "hash": f"xxhash64({', '.join(one.whole for one in self.values)})",
            "n": "1L",
        }

    def sample(self, row: Row) -> Sample:
        kept = self.values[:_MOST_COLUMNS]
        return Sample(
            tuple(one.column.name for one in kept),
            tuple(map(_shortened, row["texts"])),
            row["count"],
            tuple(one.is_text for one in kept),
        )


def _is_itself(kind: T.DataType, blanks: bool) -> bool:  # noqa: FBT001
    """Whether two values are equal only if they look the same; blanks may count as one value."""
    if isinstance(kind, T.StringType):
        return kind.isUTF8BinaryCollation() and not blanks
    return isinstance(kind, _AS_SHOWN)


def _by_task(
    rows: Iterable[Row], tasks: Sequence[tuple[Fault, ...]], shown: Sequence[_Shown]
) -> Found:
    found: dict[tuple[tuple[Fault, ...], str | None], list[Sample]] = {}
    for row in rows:
        place = tasks[row["task"]], row["part"]
        found.setdefault(place, []).append(shown[row["number"]].sample(row))
    return {place: tuple(samples) for place, samples in found.items()}


def _of_all_rows(fault: Fault) -> Fault:
    """A value that repeats is shown with all of its rows, whichever of them is kept in flight."""
    condition = fault.condition
    if isinstance(condition, Repeated) and condition.keep:
        return replace(fault, condition=replace(condition, keep=()))
    return fault


def is_masked(name: str, masked: Collection[str]) -> bool:
    """Whether a column is masked, is inside of one that is, or has one inside that is."""
    own = f"{name.lower()}."
    return any(own.startswith(one) or one.startswith(own) for one in _paths(masked))


def _paths(names: Iterable[str]) -> list[str]:
    return [f"{name.lower()}." for name in names]


def _listed(parts: Iterable[str | None]) -> str:
    return ", ".join(text_literal(str(part)) for part in parts)


def _shortened(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
