"""Each row condition as one SQL predicate that built-in types can not make raise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.conditions import (
    Condition,
    HasValue,
    IsEmpty,
    NotValid,
    Outside,
    PatternMatch,
    RowBreaks,
    SetMembership,
    ValueCondition,
    ValueSql,
)
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.metric import ConditionCount, RowMetric
from dq_dagster.rules.fields.regex import fixed_width, whole
from dq_dagster.spark.expressions import literals
from dq_dagster.spark.expressions.literals import member_of
from dq_dagster.spark.expressions.meanings.validity import validity
from dq_dagster.spark.frames.columns import COMPARABLE, FLOATS, ColumnRef, Table, text_literal

# With more of them the pattern would be as fast.
_MOST = 30


def usual_texts(metrics: Iterable[RowMetric], table: Table) -> Mapping[str, tuple[str, ...]]:
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


def matched(condition: PatternMatch, column: ColumnRef, table: Table) -> str:
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
    """The predicate for patterns that only texts of one length match."""
    fixed = fixed_width(condition.pattern) if condition.whole else None
    if fixed is None or not _is_plain(column):
        return None
    # In bytes, which Spark need not count: all characters are ASCII if the text matches.
    length = f"octet_length({column.sql}) = {fixed.width}"
    return f"({length} AND {column.sql} RLIKE {text_literal(fixed.pattern)})"


def _text_column(table: Table, name: str) -> ColumnRef | None:
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


@singledispatch
def predicate(condition: Condition, table: Table) -> str:
    """The SQL that is true for the rows the condition is true for, else false or NULL."""
    raise TypeError(f"No SQL for {type(condition).__name__}.")


@predicate.register
def _(condition: IsEmpty, table: Table) -> str:
    column = table.column(condition.column)
    missing = f"{column.sql} IS NULL"
    return f"({missing} OR {is_blank(column)})" if _has_blanks(condition, column) else missing


@predicate.register
def _(condition: HasValue, table: Table) -> str:
    column = table.column(condition.column)
    present = f"{column.sql} IS NOT NULL"
    return f"({present} AND NOT {is_blank(column)})" if _has_blanks(condition, column) else present


@predicate.register
def _(condition: SetMembership, table: Table) -> str:
    column = table.column(condition.column)
    found = in_set(column, condition.values, ignore_case=condition.ignore_case)
    return _on_values(condition, column, found if condition.member else f"NOT ({found})")


@predicate.register
def _(condition: Outside, table: Table) -> str:
    column = table.column(condition.column)
    if condition.of == "length":
        column.require(_TEXT, what="A length in characters", wanted="a string")
        length = ColumnRef(column.name, f"length({column.sql})", T.IntegerType())
        return _on_values(condition, column, _beyond(length, condition))
    column.require(COMPARABLE, what="A range of values", wanted="a type with an order")
    return _on_values(condition, column, _beyond(column, condition))


@predicate.register
def _(condition: PatternMatch, table: Table) -> str:
    column = table.column(condition.column)
    column.require(_TEXT, what="A pattern", wanted="a string")
    found = matched(condition, column, table)
    return _on_values(condition, column, found if condition.matches else f"NOT ({found})")


@predicate.register
def _(condition: NotValid, table: Table) -> str:
    column = table.column(condition.column)
    present = predicate(HasValue(condition.column, condition.blank_is_empty), table)
    valid = f"coalesce(({validity(condition.meaning, column)}), false)"
    if condition.empty_is_valid:
        return f"({present} AND NOT {valid})"
    return f"NOT ({present} AND {valid})"


@predicate.register
def _(condition: ValueSql, table: Table) -> str:
    table.require_ansi()
    column = table.column(condition.column)
    fits = column.type_name.partition("(")[0] in condition.types
    if condition.types and not fits and not isinstance(column.kind, T.NullType):
        wanted = " or ".join(condition.types)
        raise Misfit.wrong_type("This condition", column.name, column.type_name, wanted)
    found = condition.sql.replace("{value}", column.sql)
    return _on_values(condition, column, f"coalesce(({found}), false)")


@predicate.register
def _(condition: RowBreaks, table: Table) -> str:
    table.require_columns_of(condition.sql)
    unknown = "false" if condition.null_breaks else "true"
    return f"NOT coalesce(({condition.sql}), {unknown})"


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


def _has_blanks(condition: ValueCondition, column: ColumnRef) -> bool:
    return condition.blank_is_empty and isinstance(column.kind, T.StringType)


def _on_values(condition: ValueCondition, column: ColumnRef, found: str) -> str:
    """Leaves blank strings out where they count as empty; NULLs make no predicate true."""
    guards = [f"NOT {is_blank(column)}"] if _has_blanks(condition, column) else []
    # "NOT (false)" would be true for NULL as well.
    guards.append(f"{column.sql} IS NOT NULL")
    return f"({' AND '.join([*guards, f'({found})'])})"


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
