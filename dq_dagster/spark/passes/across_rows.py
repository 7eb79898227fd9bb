"""Conditions that compare a row with others: windows that add a flag to each row, then counting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, cast

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.metrics.conditions import BreaksAcrossRows, Fault
from dq_dagster.metrics.frequency import Repeated
from dq_dagster.metrics.measured import Cut, Measured
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.metrics.sources import ReferenceMembership
from dq_dagster.spark.expressions.predicates import breaks_across_rows
from dq_dagster.spark.expressions.values import counting
from dq_dagster.spark.frames.beside import COMPARED, IS_STORED, here
from dq_dagster.spark.frames.columns import JudgedTable, identifier
from dq_dagster.spark.frames.frames import HIDDEN_KEY, STORED
from dq_dagster.spark.frames.slicing import Parts, States
from dq_dagster.spark.passes.aggregate import measure_with_rows
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures
from dq_dagster.spark.passes.lookups import join_with
from dq_dagster.spark.passes.user_code import refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def flagged(
    frame: DataFrame, condition: BreaksAcrossRows, table: JudgedTable, keys: Sequence[str]
) -> DataFrame:
    """The rows with a flag that is true for those that break the condition, never NULL.

    They are compared with rows that are alike in the keys. Raises a RuleFailure if Spark does not
    take the condition.
    """
    found = f"{breaks_across_rows(condition, table, keys)} AS {identifier(condition.flag)}"
    reason = refusal(frame, ConditionCount.of(Fault(condition, condition.where)), [found])
    if reason is not None:
        raise reason
    return frame.selectExpr("*", found)


@dataclass(frozen=True, slots=True)
class WidenedRows:
    """Rows as they came, and the same with a column for each fault that needs one."""

    plain: DataFrame
    wide: DataFrame
    table: JudgedTable
    partition: str | None

    @property
    def _spans(self) -> bool:
        """Whether rows of other places are there to be compared with."""
        return COMPARED in self.wide.columns

    def compared(self, faults: Iterable[Fault]) -> WidenedRows:
        """With the columns of those faults that need the rows of other places, if there are any."""
        if not self._spans:
            return self
        spanning = [fault for fault in faults if fault.condition.spans_partitions]
        return reduce(WidenedRows.widened, spanning, self)

    def here(self) -> WidenedRows:
        """Without the rows of other places, to which nothing else is to be done."""
        if not self._spans:
            return self
        return replace(self, plain=here(self.plain), wide=here(self.wide))

    def widened(self, fault: Fault) -> WidenedRows:
        """With the column that the fault speaks of; raises a RuleFailure if there is none."""
        condition = fault.condition
        if isinstance(condition, ReferenceMembership):
            if condition.lookup.flag not in self.wide.columns:
                return replace(self, wide=self._with_reference(condition))
        elif isinstance(condition, Repeated) and condition.flag not in self.wide.columns:
            return replace(self, wide=self._with_repeats(fault, condition))
        elif isinstance(condition, BreaksAcrossRows) and condition.flag not in self.wide.columns:
            return replace(self, wide=flagged(self.wide, condition, self.table, self._among))
        return self

    @property
    def _among(self) -> list[str]:
        """In what rows are alike that are compared with each other."""
        return [] if self._spans or self.partition is None else [self.partition]

    def _with_reference(self, condition: ReferenceMembership) -> DataFrame:
        """The rows with a flag that is NULL for those whose value the reference has not."""
        join = join_with(condition.lookup, self.plain, self.table)
        if join.keys.isStreaming:
            raise Misfit.reference_is_stream(condition.lookup.dataset.label)
        return join.widen(self.wide)

    def _with_repeats(self, fault: Fault, condition: Repeated) -> DataFrame:
        """The rows with a flag that is true for those whose value occurs in others, too."""
        key, spread = f"{condition.flag}_key", f"{condition.flag}_spread"
        value = counting(condition.grouping, self.table, alias=key).sql
        order = self._order(condition) if condition.keep else None
        checked = f"{_occurrences([value], order)} AS {key}"
        reason = refusal(self.plain, ConditionCount.of(fault), [checked])
        if reason is not None:
            raise reason
        keyed = self.wide.selectExpr("*", f"{value} AS {key}")
        # Rows without a value would all meet in one place, where nobody needs them together.
        keyed = keyed.selectExpr("*", f"if({key} IS NULL, spark_partition_id(), -1) AS {spread}")
        among = [*self._among, key, spread]
        repeats = f"({key} IS NOT NULL AND {_occurrences(among, order)} > 1)"
        return keyed.selectExpr("*", f"{repeats} AS {condition.flag}").drop(key, spread)

    def _order(self, condition: Repeated) -> str:
        for term in condition.keep:
            self.table.require_columns_of(term.expression)
        # What is in the table already stays: of two rows of one value, it is the one to keep.
        first = [f"{identifier(STORED)} DESC"] if STORED in self.plain.columns else []
        every = [self.table.column(name).ordered for name in self.table.schema.names]
        if self._spans:
            # Partitions may have other columns: which of them comes first is the same for all.
            first, every = [f"{IS_STORED} DESC"], [identifier(HIDDEN_KEY), *every]
        return ", ".join([*first, *(term.sql for term in condition.keep), *every])


def _occurrences(among: Sequence[str], order: str | None) -> str:
    """How often a row's value occurs; with an order, up to the row itself."""
    parts = f"PARTITION BY {', '.join(among)}"
    if order is None:
        return f"count(1) OVER ({parts})"
    return f"row_number() OVER ({parts} ORDER BY {order})"


def measure_across_rows(metrics: Sequence[Metric], parts: Parts, table: JudgedTable) -> States:
    """The counts of a pass's metrics, with a RuleFailure for each that could not be counted."""
    wanted = cast("Sequence[ConditionCount]", metrics)
    # A partition is compared within itself, the whole dataset as a whole.
    apart = [tuple(c for c in parts.cuts if c.partitioned is divided) for divided in (True, False)]
    runs = [_of_cuts(wanted, cuts, parts, table) for cuts in apart if cuts]
    return {metric: _joined(metric, [found[metric] for found in runs]) for metric in wanted}


def _of_cuts(
    metrics: Sequence[ConditionCount], cuts: tuple[Cut, ...], parts: Parts, table: JudgedTable
) -> dict[ConditionCount, Measured]:
    keys = [identifier(parts.keys[None])] if cuts[0].partitioned else []

    def counted(
        some: Mapping[ConditionCount, None],
    ) -> dict[ConditionCount, Measured | RuleFailure]:
        conditions = dict.fromkeys(cast("BreaksAcrossRows", metric.condition) for metric in some)
        wide = reduce(lambda rows, one: flagged(rows, one, table, keys), conditions, parts.frame)
        there = replace(table, schema=wide.schema)
        states = measure_with_rows(list(some), replace(parts, frame=wide, cuts=cuts), there)
        rows = states.get(RecordCount())
        if rows is not None and isinstance(rows.nothing, RuleFailure):
            raise rows.nothing
        return {metric: states[metric] for metric in some}

    found = isolated(dict.fromkeys(metrics), counted, narrow=in_halves, fail=with_failures)
    return {
        metric: Measured.failed(metric, of) if isinstance(of, RuleFailure) else of
        for metric, of in found.items()
    }


def _joined(metric: ConditionCount, runs: Sequence[Measured]) -> Measured:
    """What the partitions and the whole gave, as if it had been one run."""
    failed = [found for found in runs if not found.cuts]
    if failed or len(runs) == 1:
        return (failed or runs)[0]
    states = {part: state for found in runs for part, state in found.states.items()}
    cuts = tuple(cut for found in runs for cut in found.cuts)
    return Measured(metric, states, cuts, runs[0].nothing)
