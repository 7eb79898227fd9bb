"""Some of the rows that break rules, for those who look at them: as texts, or as JSON.

What is sensitive is masked inside Spark. No more rows leave it than are shown, and one more, which
says whether there are others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.measured import NO_KEY
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.columns import ColumnRef, JudgedTable, identifier, text_literal
from dq_dagster.spark.frames.failures import reason_of, without_quoting_rows
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.spark.passes.faults import FAULTS, JudgedRows, judged_rows, raising
from dq_dagster.spark.passes.samples import ShownValue, is_masked
from dq_dagster.spark.passes.user_code import is_accepted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# So many characters of a text, and one more, are enough to look at; JSON, for machines, is whole.
LONGEST = 500
# What rows break within their partition, while they are judged by the other rules.
_WITHIN = f"{HIDDEN_KEY}within"
_JSON_OPTIONS = {
    "ignoreNullFields": "false",
    # Spark's own would leave out what is below a millisecond.
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]",
}


@dataclass(frozen=True, slots=True)
class RowView:
    """How many rows are shown, which of their columns masked, and whether to people or machines."""

    limit: int
    masked: frozenset[str] = frozenset()
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class ShownRow:
    """The values of a row, as texts or as JSON, and an entry for each rule that it breaks."""

    values: tuple[str | None, ...]
    faults: tuple[dict[str, Any], ...]
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class ShownRows:
    """Rows with the names of their columns; ``texts`` says which of these hold texts.

    ``unreadable`` are the columns that Spark has no values of.
    """

    columns: tuple[str, ...] = ()
    texts: tuple[bool, ...] = ()
    rows: tuple[ShownRow, ...] = ()
    more: bool = False
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FaultyRows:
    """The rows that break rules, with an entry for each in FAULTS. Nothing is read yet."""

    rows: DataFrame
    judged: tuple[JudgedRows, ...]
    failures: Mapping[str, RuleFailure] = field(default_factory=dict)

    @classmethod
    def of(
        cls, frame: DataFrame, within: Sequence[Rule], others: Sequence[Rule], table: JudgedTable
    ) -> FaultyRows:
        """``within`` are rules by which values repeat within a partition, that of HIDDEN_KEY."""
        first = judged_rows(frame, within, table, partition=identifier(HIDDEN_KEY))
        failures = dict(first.failures)
        if not first.rules:
            judged = judged_rows(frame, others, table)
            return cls(judged.bad_with_entries(), (judged,), failures | {**judged.failures})
        # One after the other: the columns that tell repeated values have the same names in both.
        marked = first.frame.selectExpr("*", f"{first.entries()} AS {identifier(_WITHIN)}")
        second = judged_rows(_only(marked, [*frame.columns, _WITHIN]), others, table)
        failures |= second.failures
        if not second.rules:
            return cls(first.bad_with_entries(), (first,), failures)
        broken = f"size({identifier(_WITHIN)}) > 0 OR {second.broken}"
        entries = f"concat({identifier(_WITHIN)}, {second.entries()}) AS {FAULTS}"
        rows = second.frame.where(broken).selectExpr("*", entries)
        return cls(_only(rows, [*frame.columns, FAULTS]), (first, second), failures)

    def raising(self) -> dict[str, RuleFailure]:
        """The rules that raise on some row, by name."""
        return {name: why for one in self.judged for name, why in raising(one).items()}


def _only(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    # By dropping the others: a name may occur twice.
    return frame.drop(*(name for name in frame.columns if name not in set(names)))


def rows_of_rules(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Of rows with FAULTS, those that break one of the rules of these names."""
    listed = ", ".join(map(text_literal, names))
    return rows.where(f"exists({FAULTS}, one -> one.rule IN ({listed}))")


def shown_rows(rows: DataFrame, view: RowView) -> ShownRows:
    """The first of the rows with FAULTS; HIDDEN_KEY is their partition, if they have it."""
    fields = rows.schema.fields
    # By number: a name may occur twice, and then Spark knows neither of the columns by it.
    named = rows.toDF(*(f"c{n}" for n in range(len(fields))))
    places = {one.name: n for n, one in enumerate(fields) if one.name in {FAULTS, HIDDEN_KEY}}
    own = {
        n: ShownValue(ColumnRef(one.name, f"c{n}", one.dataType), is_masked(one.name, view.masked))
        for n, one in enumerate(fields)
        if n not in places.values() and reason_of(one) is None
    }
    columns = [f"{sql} AS c{n}" for n, sql in zip(own, _written(named, own, view), strict=True)]
    with without_quoting_rows():
        partition = f"c{places[HIDDEN_KEY]}" if HIDDEN_KEY in places else "CAST(NULL AS STRING)"
        chosen = named.selectExpr(
            *columns, f"c{places[FAULTS]} AS faults", f"{partition} AS partition"
        )
        found = chosen.limit(view.limit + 1).collect()
    return ShownRows(
        tuple(value.column.name for value in own.values()),
        tuple(value.is_text for value in own.values()),
        tuple(_shown(row, len(own)) for row in found[: view.limit]),
        len(found) > view.limit,
        tuple(one.name for one in fields if reason_of(one) is not None),
    )


def _written(frame: DataFrame, values: Mapping[int, ShownValue], view: RowView) -> list[str]:
    """The values as SQL texts, each in the first of its ways that Spark has for its type."""
    ways = [(_ways_in_json if view.as_json else _ways)(value) for value in values.values()]
    first = [some[0] for some in ways]
    if not first or is_accepted(frame, first):
        return first
    return [next((one for one in some if is_accepted(frame, [one])), some[-1]) for some in ways]


def _ways(value: ShownValue) -> list[str]:
    return [f"left({sql}, {LONGEST + 1})" for sql in (value.whole, _type_alone(value))]


def _ways_in_json(value: ShownValue) -> list[str]:
    plain = [] if value.masked else [value.column.sql]
    return [_json(sql) for sql in (*plain, value.whole, _type_alone(value))]


def _json(sql: str) -> str:
    options = ", ".join(text_literal(word) for pair in _JSON_OPTIONS.items() for word in pair)
    json = f"to_json(named_struct('v', {sql}), map({options}))"
    # What is inside, without the braces and the name around it.
    return f"substring({json}, 6, length({json}) - 6)"


def _type_alone(value: ShownValue) -> str:
    name = text_literal(f"({value.column.type_name})")
    return f"if({value.column.sql} IS NULL, NULL, {name})"


def _shown(row: Row, own: int) -> ShownRow:
    faults = tuple(entry.asDict(recursive=True) for entry in row["faults"])
    partition = None if row["partition"] == NO_KEY else row["partition"]
    return ShownRow(tuple(row[:own]), faults, partition)
