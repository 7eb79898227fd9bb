"""Rows that are judged while they are written: each goes to where its faults send it.

The rows are computed once, by the write. Which rules the bad ones break, and how many there are of
them, is found in what was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from dq_dagster.errors import DqError, RuleFailure
from dq_dagster.evaluation.batch import Batch
from dq_dagster.metrics.conditions import Fault, Marked
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE, Measured, Slice
from dq_dagster.metrics.metric import ConditionCount
from dq_dagster.metrics.sources import AssetData, ReferenceMembership
from dq_dagster.metrics.states import Tally
from dq_dagster.plan.plan import Plan
from dq_dagster.plan.request import CheckRequest
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.ansi import is_ansi, session_of_ours, under_ansi
from dq_dagster.spark.frames.beside import COMPARED, beside
from dq_dagster.spark.frames.columns import JudgedTable, identifier
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, OUT, ROW, STORED, TARGET
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.passes.faults import (
    JudgedRows,
    all_good,
    counted_by_rule,
    counted_by_target,
    judged_rows,
    raising,
    stored_rows,
)
from dq_dagster.spark.passes.isolation import attempted
from dq_dagster.storage.footers import noted_by
from dq_dagster.storage.judged import JudgedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Incoming:
    """Rows of one schema as they come: all of the data, or ``keys``, which HIDDEN_KEY tells apart.

    ``key_sql`` is what a row's key is made of, where the rows say it themselves.
    """

    frame: DataFrame
    keys: tuple[str, ...] | None = None
    key_sql: str | None = None


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Where the rows of a slice went: without a fault, kept in spite of one, or kept out."""

    good: int = 0
    kept: int = 0
    out: int = 0

    @property
    def source(self) -> int:
        return self.good + self.kept + self.out

    @property
    def validated(self) -> int:
        return self.good + self.kept

    @property
    def bad(self) -> int:
        return self.kept + self.out

    def __add__(self, other: RowCounts) -> RowCounts:
        return RowCounts(self.good + other.good, self.kept + other.kept, self.out + other.out)


@dataclass(frozen=True)
class RowsInFlight:
    """The rows of an asset, and those of its rules that count rows.

    ``other_partitions`` reads what those hold, for rules about the whole dataset that compare rows.
    ``failures`` are the rules that could not be judged on single rows, by name.
    """

    asset: str
    rules: tuple[Rule, ...]
    files: JudgedFiles
    now: datetime
    beside: OtherDatasets
    other_partitions: Callable[[], Sequence[DataFrame]] = tuple
    failures: dict[str, RuleFailure] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The partitions that were written; None if the data has none."""
        every = [one.keys for one in self.files.writes]
        if any(keys is None for keys in every):
            return None
        return tuple(dict.fromkeys(key for keys in every for key in keys or ()))

    @property
    def answerable(self) -> tuple[Rule, ...]:
        """The rules that say of each row whether it breaks them, once the rows are written."""
        return tuple(rule for rule in self.rules if rule.name not in self.failures)

    def write(self, incoming: Sequence[Incoming]) -> None:
        """Computes the rows and writes each of them to where its faults send it.

        If a rule raises on a row, the rows are written as they are and judged there without that
        rule: it has no answer then. So they are if a rule looks for values among the rows
        themselves, or compares those of one schema with those of another.
        """
        read_twice = self._refers_to_itself or (len(incoming) > 1 and self.spans_partitions)
        failure = None
        if not read_twice:
            with without_quoting_rows():
                failure = attempted(lambda: self._write_judged(incoming), _unless_ours)
        if failure is not None or read_twice:
            self._write_without_raising(self._as_they_came(incoming))

    @property
    def _refers_to_itself(self) -> bool:
        return any(
            isinstance(fault.condition, ReferenceMembership)
            and fault.condition.lookup.dataset == AssetData(self.asset)
            for rule in self.rules
            for fault in attempted(rule.faults, lambda _: ())
        )

    @property
    def spans_partitions(self) -> bool:
        """Whether a rule compares rows with those of all partitions."""
        return any(map(spans_partitions, self.rules))

    def _write_judged(self, incoming: Sequence[Incoming]) -> None:
        self.files.writes.clear()
        judged = [self._judged(one, incoming) for one in incoming]
        failed = {name: why for rows in judged for name, why in rows.failures.items()}
        if failed:
            # The same rules for all rows: a mark is known by its place among them.
            self.failures.update(failed)
            judged = [self._judged(one, incoming) for one in incoming]
        for one, rows in zip(incoming, judged, strict=True):
            self.files.write(rows.with_target(), one.keys, one.key_sql, marks=len(rows.marks))

    def _judged(self, one: Incoming, incoming: Sequence[Incoming]) -> JudgedRows:
        home = one.frame
        if one.keys is not None and self.spans_partitions:
            others = [other.frame for other in incoming if other is not one]
            home = beside(home, self.other_partitions(), others)
        frame, table = self._table(home)
        rules = [rule for rule in self.rules if rule.name not in self.failures]
        partition = None if one.keys is None else identifier(HIDDEN_KEY)
        return judged_rows(frame, rules, table, partition=partition)

    def _table(self, home: DataFrame) -> tuple[DataFrame, JudgedTable]:
        frame = under_ansi(home)
        visible = home.drop(HIDDEN_KEY, TARGET, ROW, STORED, COMPARED)
        return frame, JudgedTable.of(visible, self.now, self.beside, is_ansi=is_ansi(frame))

    def _as_they_came(self, incoming: Sequence[Incoming]) -> list[Incoming]:
        """The rows, read from where they were written without a judgement."""
        stage = JudgedFiles(self.asset, f"{self.files.root}/as-they-came")
        for one in incoming:
            stage.write(all_good(one.frame), one.keys, one.key_sql)
        kinds = stage.rows(incoming[0].frame.sparkSession, GOOD)
        return [
            replace(one, frame=kind.frame.drop(TARGET))
            for one, kind in zip(incoming, kinds, strict=True)
        ]

    def _write_without_raising(self, stored: Sequence[Incoming]) -> None:
        """Judges rows that are written already once more, without the rules that raise on one."""
        for one in stored:
            self.failures.update(raising(self._judged(one, stored)))
        self._write_judged(stored)

    def _batch(self, data: DataFrame | Divided, partition_by: str | None = None) -> Batch:
        return Batch.of(data, (), partition_by=partition_by, now=self.now, around=self.beside)

    def counted(
        self, session: SparkSession
    ) -> tuple[dict[str | None, RowCounts], dict[Fault, Measured]]:
        """How many rows of each slice went where, and how many have each fault.

        Where one fault is enough to send a row somewhere, Spark does not ask for the others: that
        another rule raises on the row shows here.
        """
        counts = self.counts(session)
        if not any(one.bad for one in counts.values()):
            return counts, self.no_faults()
        faults = self.fault_counts(session)
        if not any(_has_failed(faults[fault]) for fault in faults):
            return counts, faults
        kinds = self.files.rows(session, GOOD, KEPT, OUT)
        self._write_without_raising(
            [
                Incoming(kind.frame.drop(TARGET), write.keys)
                for write, kind in zip(self.files.writes, kinds, strict=True)
            ]
        )
        return self.counts(session), self.fault_counts(session)

    def counts(self, session: SparkSession) -> dict[str | None, RowCounts]:
        """How many rows of each slice went where: from the files' footers, else by one query."""
        found: dict[str | None, RowCounts] = dict.fromkeys(self.keys or (None,), RowCounts())
        noted = noted_by(self.files)
        if noted is not None:
            for (key, target), one in noted.items():
                found[key] += RowCounts(**{target: one.rows})
            return found
        for kind in self.files.rows(session, GOOD, KEPT, OUT):
            for key, target, rows in counted_by_target(kind.frame):
                found[key] += RowCounts(**{target: rows})
        return found

    def with_values(self, columns: Iterable[str]) -> dict[str, dict[str | None, int]]:
        """How many rows of each slice have a value, by column; of columns whose files say so."""
        noted = noted_by(self.files)
        if noted is None:
            return {}
        found: dict[str, dict[str | None, int]] = {}
        everywhere = set.intersection(*(set(one.schema.names) for one in self.files.writes))
        for column in everywhere.intersection(columns):
            counts = dict.fromkeys(self.keys or (None,), 0)
            for (key, _), one in noted.items():
                empty = one.without_value(column)
                if empty is None:
                    break
                counts[key] += one.rows - empty
            else:
                found[column] = counts
        return found

    def bad(self, session: SparkSession, targets: Sequence[str] = (KEPT, OUT)) -> list[JudgedRows]:
        """The stored rows that break rules, or those of some targets, by their columns."""
        found = []
        for kind in self.files.rows(session_of_ours(session), *targets):
            frame, table = self._table(kind.frame)
            found.append(stored_rows(frame, self.answerable, table))
        return found

    def fault_counts(self, session: SparkSession) -> dict[Fault, Measured]:
        """How many rows have each fault, by slice; counted among the bad ones alone."""
        metrics = {
            fault: ConditionCount.of(fault) if place is None else ConditionCount(Marked(place))
            for fault, place in _places(self.answerable).items()
        }
        keys = self.keys
        cut = UNDIVIDED if keys is None else BY_PARTITION
        request = CheckRequest((), keys, partitioned=keys is not None)
        plan = Plan(request).measuring(dict.fromkeys(metrics.values(), (cut,)))
        kinds = self.files.rows(session_of_ours(session), KEPT, OUT)
        data = kinds[0].frame if keys is None else Divided.of_kinds(kinds)
        batch = self._batch(data, None if keys is None else HIDDEN_KEY)
        measured = batch.measure(plan, keys).metrics
        return {fault: measured[metric] for fault, metric in metrics.items()}

    def rule_counts(
        self, session: SparkSession, faults: Mapping[Fault, Measured]
    ) -> dict[tuple[str, str | None], int]:
        """How many rows break each rule, by the rule's name and the slice.

        For most rules that is as many as have its one fault, which are counted already.
        """
        found: dict[tuple[str, str | None], int] = {}
        several: set[str] = set()
        for rule in self.answerable:
            every = rule.faults()
            if len(every) != 1:
                several.add(rule.name)
                continue
            for key in self.keys or (None,):
                found[rule.name, key] = faults[every[0]].value(Slice(key))
        for rows in self.bad(session) if several else ():
            for (name, key), count in counted_by_rule(rows.of_rules(several)).items():
                found[name, key] = found.get((name, key), 0) + count
        return found

    def kept_out_by_rule(self, session: SparkSession) -> dict[str, int]:
        """Of the rows that are left out: how many break each rule that any of them breaks."""
        found: Counter[str] = Counter()
        for rows in self.bad(session, (OUT,)):
            for (name, _), count in counted_by_rule(rows).items():
                found[name] += count
        return dict(found)

    def no_faults(self) -> dict[Fault, Measured]:
        """The same where no row is bad."""
        cut, slices = (UNDIVIDED, [WHOLE])
        if self.keys is not None:
            cut, slices = BY_PARTITION, [Slice(key) for key in self.keys]
        nothing = dict.fromkeys(slices, Tally(0))
        return {
            fault: Measured(ConditionCount.of(fault), nothing, (cut,), Tally(0))
            for fault in _places(self.answerable)
        }


def spans_partitions(rule: Rule) -> bool:
    """Whether what it says of a row depends on rows of other partitions."""
    faults = attempted(rule.faults, lambda _: ())
    return any(fault.condition.spans_partitions for fault in faults)


def _places(rules: Sequence[Rule]) -> Mapping[Fault, int | None]:
    """Where a row's marks speak of each fault; None for those that are found in the row itself."""
    found: dict[Fault, int | None] = {}
    place = 0
    for rule in rules:
        for fault in rule.faults():
            found[fault] = None if fault.lasting else place
            place += not fault.lasting
    return found


def _has_failed(measured: Measured) -> bool:
    every = [measured.nothing, *measured.states.values()]
    return any(isinstance(state, RuleFailure) for state in every)


def exactly(rule: Rule) -> Rule:
    """The rule as it is in flight: which rows break it is known, so nothing is estimated."""
    if not rule.counts_rows or not getattr(rule, "approximate", False):
        return rule
    return rule.model_copy(update={"approximate": False})


def _unless_ours(error: Exception) -> Exception:
    """What Spark raised; what we refuse, we refuse."""
    if isinstance(error, DqError):
        raise error
    return error
