"""The rows that break rules: kept apart from the others, or with what each of them breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError, Misfit, Problem, RuleFailure, Unmeasurable
from dq_dagster.evaluation.evaluate import moment
from dq_dagster.metrics.conditions import Condition
from dq_dagster.metrics.frequency import Repeated
from dq_dagster.rules.base.rule import Rule
from dq_dagster.ruleset import RuleSet, as_rule_set
from dq_dagster.spark.frames.ansi import at_home, is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY, as_spark, require_readable
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.frames.reading import require_expression
from dq_dagster.spark.frames.slicing import partition_key
from dq_dagster.spark.passes.faults import JudgedRows, judged_rows
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.spark.passes.rows import FaultyRows, RowView, ShownRows, shown_rows

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    Rules = RuleSet | Sequence[Rule | Mapping[str, Any]]


def split(
    data: DataFrame | pd.DataFrame,
    rules: Rules,
    *,
    partition_by: str | None = None,
    references: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> tuple[DataFrame, DataFrame]:
    """The good rows and the bad ones, as two lazy Spark DataFrames with the columns of the data.

    Bad rows break a rule. Good ones break none, or only rules that say ``action_if_failed: ignore``
    or whose soft bounds are all that is broken: those rows are in both. Rules that say nothing of
    it keep their bad rows out of the good ones.

    Only rules that count rows take part; any other is refused. The data may be a stream, on which
    repeated values cannot be found. With ``partition_by``, a column or an SQL expression, values
    repeat within their partition only. ``references`` and ``now`` are those of ``evaluate``.
    """
    rows = judged(data, rules, partition_by, references, now)
    return at_home(rows.good()), at_home(rows.bad())


def failing_rows(
    data: DataFrame | pd.DataFrame,
    rules: Rules,
    *,
    limit: int | None = None,
    partition_by: str | None = None,
    references: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> DataFrame:
    """The rows that break rules as a lazy Spark DataFrame, with which rules each one breaks.

    That is the column ``dq_faults``: an array with an entry for each rule that the row breaks, a
    struct of rule, type, action, columns, quality_dimension, tags and severity. The arguments are
    those of ``split``; ``limit`` is how many rows there are at most.
    """
    rows = judged(data, rules, partition_by, references, now).bad_with_entries()
    return at_home(rows if limit is None else rows.limit(limit))


@dataclass(frozen=True, slots=True)
class RowsToShow:
    """Data of which the bad rows are to be shown, and what their rules may read beside it.

    Values repeat within partitions where the data says them, by rules of that scope, or
    ``by_partition`` by any rule.
    """

    data: Any
    by_partition: bool = False
    beside: OtherDatasets = field(default_factory=OtherDatasets)

    def found(self, rules: Sequence[Rule], view: RowView) -> FoundRows:
        """The first of the rows that break the rules, all of which have to count rows.

        A rule that cannot be judged leaves the others alone.
        """
        divided = self.data if isinstance(self.data, Divided) else None
        home = as_spark(self.data) if divided is None else divided.frame
        keyed = HIDDEN_KEY in home.columns
        frame = under_ansi(home)
        table = JudgedTable.of(
            home.drop(HIDDEN_KEY) if keyed else home,
            moment(None),
            self.beside,
            is_ansi=is_ansi(frame),
        )
        if divided is not None:
            clashes = {name: Unmeasurable(str(why)) for name, why in divided.clashes.items()}
            table = replace(table, clashes=clashes)
        failures: dict[str, RuleFailure] = {}
        while chosen := [rule for rule in rules if rule.name not in failures]:
            within = [rule for rule in chosen if keyed and self._repeats_within(rule)]
            others = [rule for rule in chosen if rule not in within]
            rows = FaultyRows.of(frame, within, others, table)
            failures |= rows.failures
            shown = attempted(lambda: shown_rows(rows.rows, view), lambda error: error)  # noqa: B023 (called at once)
            if isinstance(shown, ShownRows):
                missing = (*shown.unreadable, *table.clashes)
                return FoundRows(_in_order(replace(shown, unreadable=missing), rules), failures)
            raising = rows.raising()
            if not raising:
                raise shown
            failures |= raising
        return FoundRows(ShownRows(), failures)

    def _repeats_within(self, rule: Rule) -> bool:
        return compares_rows(rule) and (self.by_partition or rule.scope == "partitions")


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Some of the bad rows, and why rules have none, by their names, if they cannot be judged."""

    shown: ShownRows
    failures: Mapping[str, RuleFailure] = field(default_factory=dict)


def _in_order(shown: ShownRows, rules: Sequence[Rule]) -> ShownRows:
    """With what each row breaks in the order of the rules."""
    order = {rule.name: place for place, rule in enumerate(rules)}
    rows = [
        replace(row, faults=tuple(sorted(row.faults, key=lambda fault: order[fault["rule"]])))
        for row in shown.rows
    ]
    return replace(shown, rows=tuple(rows))


def judged(
    data: Any,
    rules: Rules,
    partition_by: str | None = None,
    references: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> JudgedRows:
    """The rows with what tells which rules each breaks; raises DeclarationError if any cannot."""
    rule_set = as_rule_set(rules)
    home = require_readable(as_spark(data))
    enabled = rule_set.enabled_rules
    failures = _not_by_row(enabled, streaming=home.isStreaming)
    # A stream cannot be moved to a session of ours: SQL from users is refused without ANSI.
    frame = home if home.isStreaming else under_ansi(home)
    beside = OtherDatasets(asset=rule_set.asset_name, references=references or {})
    table = JudgedTable.of(home, moment(now), beside, is_ansi=is_ansi(frame))
    partition = None if partition_by is None else partition_key(table, partition_by)
    if partition is not None and partition_by not in home.columns:
        require_expression(frame, partition, f"partition_by, '{partition_by}'")
    chosen = [_acting(rule) for rule in enabled if rule.name not in failures]
    rows = judged_rows(frame, chosen, table, partition=partition)
    failures |= rows.failures
    if failures:
        raise DeclarationError(
            [
                Problem(str(failures[one.name]), rule=one.name)
                for one in enabled
                if one.name in failures
            ]
        )
    return rows


def _acting(rule: Rule) -> Rule:
    """The rule with what becomes of its bad rows, where it leaves that open."""
    if "action_if_failed" in rule.model_fields_set:
        return rule
    return rule.model_copy(update={"action_if_failed": "drop"})


def _not_by_row(rules: Sequence[Rule], *, streaming: bool) -> dict[str, RuleFailure]:
    """Why rules say nothing of single rows, or cannot on a stream, by their names."""
    failures: dict[str, RuleFailure] = {}
    for rule in rules:
        if not rule.counts_rows:
            failures[rule.name] = Misfit.judges_all_rows()
        elif streaming and (found := _comparing_rows(rule)) is not None:
            repeats = isinstance(found, Repeated)
            failures[rule.name] = (
                Misfit.repeats_in_stream() if repeats else Misfit.across_rows_in_stream()
            )
    return failures


def _comparing_rows(rule: Rule) -> Condition | None:
    """The first condition of the rule whose answer for a row depends on the others."""
    try:
        conditions = [fault.condition for fault in rule.faults()]
    except RuleFailure:
        # All that is wrong is said together, later.
        return None
    return next((one for one in conditions if one.compares_rows), None)


def compares_rows(rule: Rule) -> bool:
    """Whether what it says of a row depends on the others, such as values that repeat."""
    return _comparing_rows(rule) is not None
