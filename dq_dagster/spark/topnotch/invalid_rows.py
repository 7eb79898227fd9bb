"""Rows that break assertions: all of them with the reasons, and what a report shows of them.

Every text that tells invalid rows from others is the one of the rule's fault, as in the counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure
from dq_dagster.plan.topnotch import REASON, Assertion, SampleWindow
from dq_dagster.spark.frames.columns import ColumnRef, JudgedTable, identifier, text_literal
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.passes.faults import JudgedRows
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures
from dq_dagster.sql.expressions import aggregate_columns_used, restricted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What stands between two reasons.
_JOINED = " &&& "
MOST_SAMPLES = 20
# Of each window; TopNotch has no limit.
MOST_WINDOW_ROWS = 100
# Of each text in it, in characters; likewise.
_LONGEST = 1_000
_HELPER = "dq_reason"


def invalid_rows(judged: JudgedRows, assertions: Sequence[Assertion]) -> DataFrame:
    """The rows that break any assertion, with the descriptions of those, lazily."""
    reasons = {one.rule.name: text_literal(one.description) for one in assertions}
    listed = ", ".join(f"if({one.found()}, {reasons[one.rule.name]}, NULL)" for one in judged.rules)
    reason = f"concat_ws({text_literal(_JOINED)}, {listed}) AS {_HELPER}"
    # Rows of another assertion have such a column; it may be what the conditions are about.
    rows = judged.frame.where(judged.broken).selectExpr("*", reason)
    return rows.drop(REASON).withColumnRenamed(_HELPER, REASON)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a report shows of the rows that are invalid to one assertion."""

    samples: Sequence[Mapping[str, Any]] = ()
    windows: Sequence[Sequence[Mapping[str, Any]]] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    failure: RuleFailure | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An assertion of which something is to be shown, as SQL."""

    invalid: str
    row: str
    same: str
    order: str
    summary: Mapping[str, str]

    @classmethod
    def of(cls, assertion: Assertion, invalid: str, table: JudgedTable) -> _Wanted:
        """Raises a RuleFailure if a column is missing."""
        for text in assertion.summary.values():
            table.require_columns(aggregate_columns_used(text))
        window = assertion.window or SampleWindow((), ())
        row = _row(assertion.columns, table)
        order = [table.column(name).sql for name in window.order]
        return cls(
            invalid,
            row,
            _json({name: table.column(name).sql for name in window.same}),
            ", ".join([*order, row] if order else []),
            {name: restricted(text, invalid) for name, text in assertion.summary.items()},
        )


def shown_rows(
    judged: JudgedRows, assertions: Sequence[Assertion], table: JudgedTable, *, samples: bool = True
) -> dict[str, Shown]:
    """For each assertion, by the name of its rule, what a report shows of its invalid rows.

    One query brings the samples of all, one their windows and one the statistics, as far as they
    are asked for. Of each assertion a limited number of rows comes to the driver.
    """
    texts = {one.rule.name: one.found() for one in judged.rules}
    wanted: dict[str, _Wanted] = {}
    found: dict[str, Shown] = {}
    for assertion in assertions:
        name = assertion.rule.name
        try:
            wanted[name] = _Wanted.of(assertion, texts[name], table)
        except RuleFailure as failure:
            found[name] = Shown(failure=failure)
    with without_quoting_rows():
        sampled = _each(judged.frame, wanted if samples else {}, _samples)
        known = {name for name, rows in sampled.items() if isinstance(rows, list) and rows}
        windowed = {name: one for name, one in wanted.items() if one.order and name in known}
        windows = _each(judged.frame, windowed, partial(_windows, samples=sampled))
        summarized = {name: one for name, one in wanted.items() if one.summary}
        summaries = _each(judged.frame, summarized, _summaries)
    for name in wanted:
        parts = [
            some.get(name, empty) for some, empty in ((sampled, []), (windows, []), (summaries, {}))
        ]
        failures = [part for part in parts if isinstance(part, RuleFailure)]
        rows, around, summary = ([] if isinstance(part, RuleFailure) else part for part in parts)
        found[name] = Shown(
            [json.loads(row) for row, _ in rows],
            [[json.loads(row) for row in window] for window in around],
            dict(summary),
            failures[0] if failures else None,
        )
    return found


_Answers = Callable[["DataFrame", Mapping[str, _Wanted]], Mapping[str, Any]]


def _each(frame: DataFrame, wanted: Mapping[str, _Wanted], answers: _Answers) -> dict[str, Any]:
    """The answers of one query for all; if that raises, the failures of those that do."""
    return isolated(wanted, lambda some: answers(frame, some), fail=with_failures, narrow=in_halves)


def _samples(frame: DataFrame, wanted: Mapping[str, _Wanted]) -> dict[str, list[tuple[str, str]]]:
    """Some invalid rows of each, in the order of their texts, with what their windows share."""
    entries = [
        f"if({one.invalid}, named_struct('task', {task}, 'shown', {one.row}, 'same', {one.same}), "
        "NULL)"
        for task, one in enumerate(wanted.values())
    ]
    listed = f"filter(array({', '.join(entries)}), entry -> entry IS NOT NULL)"
    rows = frame.selectExpr(f"inline({listed})").selectExpr(
        "*", "row_number() OVER (PARTITION BY task ORDER BY shown, same) AS place"
    )
    names = list(wanted)
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for row in rows.where(f"place <= {MOST_SAMPLES}").orderBy("task", "place").collect():
        found[names[row.task]].append((row.shown, row.same))
    return found


def _windows(
    frame: DataFrame,
    wanted: Mapping[str, _Wanted],
    *,
    samples: Mapping[str, Sequence[tuple[str, str]]],
) -> dict[str, list[list[str]]]:
    """For each sample the rows that have the same values as it, in their order."""
    branches = []
    for task, (name, one) in enumerate(wanted.items()):
        keys = ", ".join(text_literal(key) for key in {same for _, same in samples[name]})
        place = f"row_number() OVER (PARTITION BY {one.same} ORDER BY {one.order})"
        branches.append(
            frame.where(f"{one.same} IN ({keys})")
            .selectExpr(
                f"{task} AS task", f"{one.same} AS same", f"{one.row} AS shown", f"{place} AS place"
            )
            .where(f"place <= {MOST_WINDOW_ROWS}")
        )
    every = reduce(lambda some, more: some.unionAll(more), branches)
    by_key: dict[tuple[int, str], list[str]] = {}
    for row in every.orderBy("task", "same", "place").collect():
        by_key.setdefault((row.task, row.same), []).append(row.shown)
    return {
        name: [by_key[task, same] for _, same in samples[name]] for task, name in enumerate(wanted)
    }


def _summaries(frame: DataFrame, wanted: Mapping[str, _Wanted]) -> dict[str, dict[str, Any]]:
    """The statistics of the invalid rows; those that are NULL are left out, as in samples."""
    columns = [f"{_json(one.summary)} AS c{task}" for task, one in enumerate(wanted.values())]
    [row] = frame.selectExpr(*columns).collect()
    return {name: json.loads(row[f"c{task}"]) for task, name in enumerate(wanted)}


def _row(columns: Sequence[str], table: JudgedTable) -> str:
    """Those of the columns that are there, in lower case and in the order of their names."""
    there = {name.lower(): _cut(table.column(name)) for name in columns if table.has(name)}
    return _json(dict(sorted(there.items())))


def _cut(column: ColumnRef) -> str:
    """A value that is not too long to be shown."""
    is_text = isinstance(column.kind, T.StringType)
    return f"left({column.sql}, {_LONGEST})" if is_text else column.sql


def _json(values: Mapping[str, str]) -> str:
    """Values as the text of a JSON object, without those that are NULL."""
    listed = ", ".join(f"{sql} AS {identifier(name)}" for name, sql in values.items())
    return f"to_json(struct({listed}))" if listed else "'{}'"
