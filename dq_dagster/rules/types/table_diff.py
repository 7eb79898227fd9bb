"""The rule that compares rows with those of another dataset."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar, Literal

from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status, worst
from dq_dagster.judging.thresholds import RowVerdict
from dq_dagster.judging.wording import are, listing
from dq_dagster.metrics.diffs import ColumnChanges, DiffCounts, TableDiffMetric
from dq_dagster.metrics.metric import Metric
from dq_dagster.rules.base.comparison import ComparisonFields
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.constraints import FilterSql, QualityDimension
from dq_dagster.rules.fields.reference import Reference, names_files
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold, leniency, on_bad_rows

# So many columns are named in a message, and listed in details.
_MOST_NAMED = 3
_MOST_LISTED = 30


class TableDiff(ComparisonFields, Rule):
    """The rows are the same in another asset, table or file, found by their keys.

    Rows are only here, only there, or differ in one of the compared columns; each kind has its own
    threshold. NULL equals NULL, NaN equals NaN, and exact numbers of different types compare by
    value. A key that is missing or occurs twice, on either side, is an Error. On a partition, the
    rows of the same partition there are compared: an asset's partitions are those it is stored in,
    and rows of tables and files are assigned like those here.

    Observed: the number of rows that are only here, only there, or differ.

    Example::

        - type: table_diff
          keys: [order_id]
          reference: {asset: shipped_orders}
          columns: [customer, amount]
          tolerance: {amount: 0.5}
          changed: 2
    """

    type: Literal["table_diff"] = "table_diff"
    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""
    reference: Reference
    """The dataset to compare with."""
    reference_partition_by: FilterSql | None = None
    """A column there, or SQL over columns there, that gives a row's partition; where omitted, rows
    are assigned as those here."""
    only_here: EitherThreshold = ALL
    """How many rows here may be missing there; ``all``: none."""
    only_there: EitherThreshold = ALL
    """How many rows there may be missing here; ``all``: none."""
    changed: EitherThreshold = ALL
    """How many of the rows that are on both sides may differ; ``all``: none."""

    family = RuleFamily.REFERENCES
    named_after: ClassVar[tuple[str, ...]] = ("keys",)

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:
        return names_files(fields.get("reference")) or super().code_in(fields)

    def metrics(self) -> tuple[Metric, ...]:
        return (
            TableDiffMetric(
                self.comparison,
                self.reference.dataset,
                self.reference_partition_by,
                where=self.where,
            ),
        )

    def judge(self, evidence: Evidence) -> Judgement:
        counts: DiffCounts
        [counts] = evidence.each(self.metrics())
        place = self.reference.dataset.label
        counts.left.require_keys("this table", self.keys)
        counts.right.require_keys(place, map(self.comparison.there, self.keys))
        if not counts.left.rows and not counts.right.rows:
            return Judgement.of_no_rows()
        verdicts = {
            "only_here": on_bad_rows(self.only_here, counts.only_left, counts.left.rows),
            "only_there": on_bad_rows(self.only_there, counts.only_right, counts.right.rows),
            "changed": on_bad_rows(self.changed, counts.changed, counts.matched),
        }
        judged = [one.status for one in verdicts.values() if one.status is not Status.EMPTY]
        return Judgement(
            worst(judged),
            _message(verdicts, counts, place),
            observed=counts.differing,
            bounds={k: one.tolerance.given() for k, one in verdicts.items() if one.considered},
            expected=_expected(verdicts),
            rows=counts.left.rows,
            failed_rows=counts.only_left + counts.changed,
            details=_details(counts),
        )

    def demand(self) -> str:
        kinds = {
            "only here": self.only_here,
            "only there": self.only_there,
            "changed": self.changed,
        }
        lenient = [f"{what}{leniency(one)}" for what, one in kinds.items() if leniency(one)]
        but = f", with exceptions: {', '.join(lenient)}" if lenient else ""
        place = self.reference.dataset.label
        return f"The rows are those of {place}, by {listing(self.keys)}{but}."

    @property
    def other_assets(self) -> tuple[str, ...]:
        return () if self.reference.asset is None else (self.reference.asset,)


def _message(verdicts: Mapping[str, RowVerdict], counts: DiffCounts, place: str) -> str:
    here, there, changed = verdicts.values()
    said = []
    if here.bad:
        words = here.tolerance.words()
        said.append(f"{here.counted('row')} {are(here.bad)} not in {place} ({words})")
    if there.bad:
        words = there.tolerance.words()
        said.append(f"{there.counted('row')} of {place} {are(there.bad)} not here ({words})")
    if changed.bad:
        words = changed.tolerance.words()
        verb = "differs" if changed.bad == 1 else "differ"
        common = f"{changed.counted('common row')} {verb} ({words})"
        said.append(f"{common}: {_changes(counts)}")
    if not said:
        rows = "The only row is" if counts.same == 1 else f"All {counts.same:,} rows are"
        said.append(f"{rows} the same in {place}")
    alone = [*counts.schema.only_left, *counts.schema.only_right]
    note = f" On one side only, and not compared: {listing(alone)}." if alone else ""
    return f"{'; '.join(said)}.{note}"


def _changes(counts: DiffCounts) -> str:
    """The columns that differ in most rows."""
    named = [one for one in _ordered(counts) if one.changed]
    shown = ", ".join(f"'{one.name}' in {one.changed:,}" for one in named[:_MOST_NAMED])
    more = len(named) - _MOST_NAMED
    return (
        f"{shown} and {more:,} more {'column' if more == 1 else 'columns'}" if more > 0 else shown
    )


def _ordered(counts: DiffCounts) -> list[ColumnChanges]:
    return sorted(counts.columns, key=lambda one: -one.changed)


def _expected(verdicts: Mapping[str, RowVerdict]) -> str:
    words = {name.replace("_", " "): one.tolerance.words() for name, one in verdicts.items()}
    return "; ".join(f"{name}: {text}" for name, text in words.items())


def _details(counts: DiffCounts) -> dict[str, Any]:
    changes = {one.name: _figures(one) for one in _ordered(counts)[:_MOST_LISTED] if one.changed}
    return {
        "only_here": counts.only_left,
        "only_there": counts.only_right,
        "changed": counts.changed,
        "same": counts.same,
        "rows_there": counts.right.rows,
        "changes": changes,
        "unlike_columns": _unlike_columns(counts),
    }


def _unlike_columns(counts: DiffCounts) -> dict[str, Any]:
    """How the columns differ, as far as a record has room for it."""
    schema = counts.schema
    return {
        "only_here": list(schema.only_left[:_MOST_LISTED]),
        "only_there": list(schema.only_right[:_MOST_LISTED]),
        "types": {name: list(both) for name, both in list(schema.types.items())[:_MOST_LISTED]},
    }


def _figures(one: ColumnChanges) -> dict[str, Any]:
    largest = one.largest
    figures = {
        "rows": one.changed,
        "empty_here": one.filled,
        "empty_there": one.emptied,
        "largest_difference": largest.total_seconds()
        if isinstance(largest, timedelta)
        else largest,
    }
    return {name: figure for name, figure in figures.items() if figure}
