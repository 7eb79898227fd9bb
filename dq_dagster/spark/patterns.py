"""Patterns in SQL, and what is cheaper than matching: a length, and texts that rules list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.conditions import PatternMatch, SetMembership
from dq_dagster.metrics.metric import ConditionCount, RowMetric
from dq_dagster.rules.fixed_width import fixed_width
from dq_dagster.rules.regex import whole
from dq_dagster.spark import quoting
from dq_dagster.spark.columns import ColumnRef, Table

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
    match = f"RLIKE {quoting.text(pattern)}"
    found = _fast(condition, column) or f"{column.sql} {match}"
    usual = [quoting.text(text) for text in table.usual_texts.get(column.sql, ())]
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
    return f"({length} AND {column.sql} RLIKE {quoting.text(fixed.pattern)})"


def _text_column(table: Table, name: str) -> ColumnRef | None:
    try:
        column = table.column(name)
    except RuleFailure:
        return None
    return column if _is_plain(column) else None


def _is_plain(column: ColumnRef) -> bool:
    """Whether equal texts are the same there; other collations match patterns leniently too."""
    return isinstance(column.kind, T.StringType) and column.kind.isUTF8BinaryCollation()
