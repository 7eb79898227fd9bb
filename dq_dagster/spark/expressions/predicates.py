"""Each row condition as one SQL predicate that built-in types cannot make raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.conditions import (
    BreaksAcrossRows,
    Condition,
    Fault,
    HasValue,
    InLastWhile,
    IsEmpty,
    KeptOut,
    Marked,
    NotValid,
    Outside,
    PatternMatch,
    RowBreaks,
    SetMembership,
    ValueCondition,
    ValueSql,
)
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.frequency import HasKey, Repeated
from dq_dagster.metrics.metric import ConditionCount, RowMetric
from dq_dagster.metrics.sources import ReferenceMembership
from dq_dagster.rules.fields.regex import pattern_length, whole
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.literals import member_of
from dq_dagster.spark.frames.columns import (
    COMPARABLE,
    FLOATS,
    ColumnRef,
    JudgedTable,
    identifier,
    text_literal,
)
from dq_dagster.spark.frames.frames import TARGET
from dq_dagster.sql.across_rows import among

# With more of them the pattern would be as fast.
_MOST = 30


def usual_texts(metrics: Iterable[RowMetric], table: JudgedTable) -> Mapping[str, tuple[str, ...]]:
    """The members of sets that rules compare columns with, by the SQL of the column."""
    found: dict[str, tuple[str, ...]] = {}
    for metric in metrics:
        condition = metric.condition if isinstance(metric, ConditionCount) else None
        if not isinstance(condition, SetMembership) or condition.ignore_case:
            continue
        texts = tuple(v.value for v in condition.values if isinstance(v.value, str))
        column = _text_column(table, condition.column)
        if column is not None and 0 < len(texts) == len(condition.values) <= _MOST:
            found.setdefault(column.sql, texts)
    return found


def matched(condition: PatternMatch, column: ColumnRef, table: JudgedTable) -> str:
    """True for the values that match the pattern; the usual ones are not matched one by one.

    Whether the usual ones match is a constant, which Spark computes when it plans the query: if
    they all do (where values should match), or none does (where they should not), a value that is
    one of them needs no matching. Otherwise the constant makes that part of the text void.
    """
    pattern = whole(condition.pattern) if condition.whole else condition.pattern
    match = f"RLIKE {text_literal(pattern)}"
    found = _fast(condition, column) or f"{column.sql} {match}"
    usual = [text_literal(text) for text in table.usual_texts.get(column.sql, ())]
    if not usual:
        return found
    known = f"{column.sql} IN ({', '.join(usual)})"
    if condition.matches:
        none = " OR ".join(f"{text} {match}" for text in usual)
        return f"(NOT ({known} AND NOT ({none})) AND {found})"
    every = " AND ".join(f"{text} {match}" for text in usual)
    return f"(({known} AND {every}) OR {found})"


def _fast(condition: PatternMatch, column: ColumnRef) -> str | None:
    """The predicate for patterns whose repetitions follow from the length of the text."""
    found = pattern_length(condition.pattern) if condition.whole else None
    if found is None or not _is_plain(column):
        return None
    # In bytes, which Spark need not count: all characters are ASCII if the text matches.
    size = f"octet_length({column.sql})"
    if found.most is None:
        length = f"{size} >= {found.least}"
    elif found.least == found.most:
        length = f"{size} = {found.least}"
    else:
        length = f"{size} BETWEEN {found.least} AND {found.most}"
    return f"({length} AND {column.sql} RLIKE {text_literal(found.pattern)})"


def _text_column(table: JudgedTable, name: str) -> ColumnRef | None:
    try:
        column = table.column(name)
    except RuleFailure:
        return None
    return column if _is_plain(column) else None


def _is_plain(column: ColumnRef) -> bool:
    """Whether equal texts are the same there; other collations match patterns leniently too."""
    return isinstance(column.kind, T.StringType) and column.kind.isUTF8BinaryCollation()


# What trimming takes away: the white space of ASCII. Hexadecimal, since escapes depend on settings.
_BLANKS = "CAST(X'20090A0B0C0D' AS STRING)"
_TEXT = (T.StringType, T.NullType)
TIMES = (T.DateType, T.TimestampType, T.TimestampNTZType, T.NullType)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Wall clocks near the ends of Spark's calendar have no instant in some zones; these all have.
_FIRST, _LAST = "TIMESTAMP_NTZ'-100000-01-01'", "TIMESTAMP_NTZ'+100000-01-01'"


def fault_sql(fault: Fault, table: JudgedTable) -> str:
    """The one SQL text of a fault: true for the rows that have it, else false, never NULL.

    Counts are made of it, and whatever else is done with such rows. Raises Misfit if the condition
    does not fit the table.
    """
    found = _predicate(fault.condition, table)
    # Not "where AND found": Spark computes both sides, and the filter may guard the condition.
    return found if fault.where is None else f"if(({fault.where}), {found}, false)"


def _predicate(condition: Condition, table: JudgedTable) -> str:
    for kind in type(condition).__mro__:
        if kind in _PREDICATES:
            return _PREDICATES[kind](condition, table)
    raise TypeError(f"No SQL for {type(condition).__name__}.")


def _decided(predicate: str, *, unknown: bool) -> str:
    """What an unknown answer (NULL) counts as: the only place where that is settled."""
    return f"coalesce(({predicate}), {str(unknown).lower()})"


def _is_empty(condition: IsEmpty, table: JudgedTable) -> str:
    column = table.column(condition.column)
    missing = f"{column.sql} IS NULL"
    return f"({missing} OR {is_blank(column)})" if _has_blanks(condition, column) else missing


def _has_value(condition: HasValue, table: JudgedTable) -> str:
    return _present(condition, table.column(condition.column))


def _set_membership(condition: SetMembership, table: JudgedTable) -> str:
    column = table.column(condition.column)
    found = in_set(column, condition.values, ignore_case=condition.ignore_case)
    if condition.member:
        return _on_values(condition, column, found)
    if found == "false":
        # Nothing in the set can be a value of the column: "NOT false" would be true for NULL, too.
        return _present(condition, column)
    return _on_values(condition, column, f"NOT ({found})")


def _outside(condition: Outside, table: JudgedTable) -> str:
    column = table.column(condition.column)
    if condition.of == "length":
        column.require(_TEXT, what="A length in characters", wanted="a string")
        return _on_values(condition, column, _of_other_length(column, condition))
    column.require(COMPARABLE, what="A range of values", wanted="a type with an order")
    return _on_values(condition, column, _beyond(column, condition))


def _pattern_match(condition: PatternMatch, table: JudgedTable) -> str:
    column = table.column(condition.column)
    column.require(_TEXT, what="A pattern", wanted="a string")
    found = matched(condition, column, table)
    return _on_values(condition, column, found if condition.matches else f"NOT ({found})")


def _not_valid(condition: NotValid, table: JudgedTable) -> str:
    # Here: its patterns take a while to build, and few tables have rules that need them.
    from dq_dagster.spark.expressions.meanings.validity import validity

    column = table.column(condition.column)
    present = _present(condition, column)
    valid = _decided(validity(condition.meaning, column), unknown=False)
    if condition.empty_is_valid:
        return f"({present} AND NOT {valid})"
    return f"NOT ({present} AND {valid})"


def _value_sql(condition: ValueSql, table: JudgedTable) -> str:
    table.require_ansi()
    column = table.column(condition.column)
    fits = column.type_name.partition("(")[0] in condition.types
    if condition.types and not fits and not isinstance(column.kind, T.NullType):
        wanted = " or ".join(condition.types)
        raise Misfit.wrong_type("This condition", column.name, column.type_name, wanted)
    found = condition.sql.replace("{value}", column.sql)
    # It may ask for missing values, which are left out all the same.
    return f"({_present(condition, column)} AND {_decided(found, unknown=False)})"


def _row_breaks(condition: RowBreaks, table: JudgedTable) -> str:
    table.require_columns_of(condition.sql)
    return f"NOT {_decided(condition.sql, unknown=not condition.null_breaks)}"


def _breaks_across_rows(condition: BreaksAcrossRows, table: JudgedTable) -> str:
    """Speaks of a table that has the condition's flag, which a window over the rows adds."""
    return identifier(condition.flag)


def breaks_across_rows(condition: BreaksAcrossRows, table: JudgedTable, keys: Sequence[str]) -> str:
    """What the flag of a row says, among the rows that are alike in the keys and pass ``where``."""
    table.require_columns(condition.columns)
    unknown = not condition.null_breaks
    if condition.where is None:
        return f"NOT {_decided(among(condition.sql, keys), unknown=unknown)}"
    table.require_columns_of(condition.where)
    passes = _decided(condition.where, unknown=False)
    found = _decided(among(condition.sql, [*keys, passes], passes), unknown=unknown)
    return f"if({passes}, NOT {found}, false)"


def _in_last_while(condition: InLastWhile, table: JudgedTable) -> str:
    column = table.column(condition.column)
    column.require(TIMES, what="A number of new rows", wanted="a date or a timestamp")
    if isinstance(column.kind, T.NullType):
        return "false"
    until = (table.now - _EPOCH) // _MICROSECOND
    since = until - int(condition.seconds * 1_000_000)
    moment, after, up_to = _comparable(column, since, until)
    return f"({column.sql} IS NOT NULL AND {moment} > {after} AND {moment} <= {up_to})"


def _comparable(column: ColumnRef, since: int, until: int) -> tuple[str, str, str]:
    """The column and the ends of the window, as values of one type."""
    after, up_to = f"timestamp_micros({since}L)", f"timestamp_micros({until}L)"
    if isinstance(column.kind, T.DateType):
        # A midnight lies after an instant if its date does, and up to it likewise. Casting the
        # column instead would raise on dates that no timestamp can hold.
        return column.sql, f"CAST({after} AS DATE)", f"CAST({up_to} AS DATE)"
    if isinstance(column.kind, T.TimestampNTZType):
        within = f"least(greatest({column.sql}, {_FIRST}), {_LAST})"
        return f"CAST({within} AS TIMESTAMP)", after, up_to
    return column.sql, after, up_to


def _reference_membership(condition: ReferenceMembership, table: JudgedTable) -> str:
    """Speaks of a table that has the lookup's flag, which a join with the reference adds."""
    lookup = condition.lookup
    present = [
        f"{value_or_empty(table.column(name), blank_is_empty=lookup.blank_is_empty)} IS NOT NULL"
        for name in lookup.columns
    ]
    found = f"{identifier(lookup.flag)} IS {'NOT ' if condition.member else ''}NULL"
    return f"(({' OR '.join(present)}) AND {found})"


def _repeated(condition: Repeated, table: JudgedTable) -> str:
    """Speaks of a table that has the condition's flag, which a window over the rows adds."""
    return identifier(condition.flag)


def _has_key(condition: HasKey, table: JudgedTable) -> str:
    grouping = condition.grouping
    if grouping.counts_empty:
        return "true"
    values = [
        f"{value_or_empty(table.column(name), blank_is_empty=grouping.blank_is_empty)} IS NOT NULL"
        for name in grouping.columns
    ]
    return f"({' OR '.join(values)})"


def _marked(condition: Marked, table: JudgedTable) -> str:
    marks = f"substring_index({identifier(TARGET)}, '-', -1)"
    return f"(substring({marks}, {condition.place + 1}, 1) = '1')"


def _kept_out(condition: KeptOut, table: JudgedTable) -> str:
    raise Misfit("Which rows were kept out is known while the asset is built, and not afterwards.")


def in_set(column: ColumnRef, values: Sequence[Constant], *, ignore_case: bool) -> str:
    """True for the values of the column that are in the set."""
    return member_of(column, values, "ignore_case" if ignore_case else "exact")


def is_blank(column: ColumnRef) -> str:
    return f"trim(BOTH {_BLANKS} FROM {column.sql}) = ''"


def value_or_empty(column: ColumnRef, *, blank_is_empty: bool) -> str:
    """The column's value, NULL where it is a blank string and those count as empty."""
    if blank_is_empty and isinstance(column.kind, T.StringType):
        return f"if({is_blank(column)}, NULL, {column.sql})"
    return column.sql


def _present(condition: ValueCondition, column: ColumnRef) -> str:
    there = f"{column.sql} IS NOT NULL"
    return f"({there} AND NOT {is_blank(column)})" if _has_blanks(condition, column) else there


def _has_blanks(condition: ValueCondition, column: ColumnRef) -> bool:
    return condition.blank_is_empty and isinstance(column.kind, T.StringType)


def _on_values(condition: ValueCondition, column: ColumnRef, found: str) -> str:
    """A predicate that is never true for NULL; blank strings are left out where they are empty.

    Not "column IS NOT NULL AND found", of which Spark makes half as much code again: methods that
    grow too long for Java to compile take many times as long.
    """
    if _has_blanks(condition, column):
        found = f"NOT {is_blank(column)} AND ({found})"
    return _decided(found, unknown=False)


def _beyond(column: ColumnRef, outside: Outside) -> str:
    ways = []
    if outside.low is not None:
        at_low = outside.low_is_outside
        ways.append(literals.below(column, column.sql, outside.low, or_at=at_low))
    if outside.high is not None:
        at_high = outside.high_is_outside
        ways.append(literals.above(column, column.sql, outside.high, or_at=at_high))
    if isinstance(column.kind, FLOATS):
        # Spark holds NaN for the greatest value: it would be within a range without a maximum.
        ways.append(f"isnan({column.sql})")
    return " OR ".join(ways)


def _of_other_length(column: ColumnRef, outside: Outside) -> str:
    """Characters are counted one by one, bytes are not: most texts are judged by their bytes.

    There are at most as many characters as bytes, and at least one in four bytes.
    """
    length, size = (
        ColumnRef(column.name, f"{function}({column.sql})", T.IntegerType())
        for function in ("length", "octet_length")
    )
    ways = []
    if outside.low is not None:
        low: Any = outside.low.value
        at_low = outside.low_is_outside
        # There is no byte without a character: whether there is any, bytes tell as well.
        if low < 1 if at_low else low <= 1:
            ways.append(literals.below(size, size.sql, outside.low, or_at=at_low))
        else:
            enough = Constant.of(4 * low)
            ways.append(
                f"({literals.below(size, size.sql, enough, or_at=True)} AND "
                f"{literals.below(length, length.sql, outside.low, or_at=at_low)})"
            )
    if outside.high is not None:
        beyond = [
            literals.above(one, one.sql, outside.high, or_at=outside.high_is_outside)
            for one in (size, length)
        ]
        ways.append(f"({' AND '.join(beyond)})")
    return " OR ".join(ways)


_PREDICATES: Mapping[type[Condition], Callable[[Any, JudgedTable], str]] = {
    IsEmpty: _is_empty,
    HasValue: _has_value,
    SetMembership: _set_membership,
    Outside: _outside,
    PatternMatch: _pattern_match,
    NotValid: _not_valid,
    ValueSql: _value_sql,
    RowBreaks: _row_breaks,
    BreaksAcrossRows: _breaks_across_rows,
    InLastWhile: _in_last_while,
    ReferenceMembership: _reference_membership,
    Repeated: _repeated,
    HasKey: _has_key,
    Marked: _marked,
    KeptOut: _kept_out,
}
