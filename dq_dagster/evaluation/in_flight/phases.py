"""What rules say of rows in flight: as they came (source), and as they are published (validated).

Rules that count rows are judged on the source: how many rows have each fault was counted among the
bad ones, so that only what it is compared with is measured on all of them. Rules about all rows
together are judged on either, or on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dq_dagster.errors import RuleFailure
from dq_dagster.evaluation.batch import BatchSource
from dq_dagster.evaluation.evaluate import evaluate_plan, judge_scan, sampled
from dq_dagster.evaluation.history.history import Given
from dq_dagster.evaluation.in_flight.rows import RowCounts, RowsInFlight, spans_partitions
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.samples import Sampling
from dq_dagster.evaluation.scan import scan
from dq_dagster.judging.judgement import BADNESS, Judgement, Status
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.conditions import Fault, HasValue, KeptOut
from dq_dagster.metrics.frequency import (
    Frequencies,
    GroupedRows,
    Grouping,
    HasKey,
    Level,
    Repeated,
    UniqueCount,
)
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE, Measured, Slice
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.metrics.sources import ReferenceMembership
from dq_dagster.metrics.states import Tally
from dq_dagster.plan.plan import Plan, by_partition, make_plan, wanted_by
from dq_dagster.plan.request import CheckRequest, RequestedRule
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.spark.frames.other_datasets import OtherDatasets

if TYPE_CHECKING:
    from collections.abc import Callable

PhaseName: TypeAlias = Literal["source", "validated"]
SliceKey: TypeAlias = tuple[str, str | None]
Outcomes: TypeAlias = dict[SliceKey, Outcome]


@dataclass(frozen=True, slots=True)
class JudgedInFlight:
    """What a rule says of a slice in each phase it was judged in, and all in all."""

    outcome: Outcome
    by_phase: Mapping[PhaseName, Outcome]

    @property
    def stops(self) -> bool:
        """Whether nothing may be published because of it.

        A rule that keeps rows out, and could not say which, would let bad rows pass.
        """
        action = self.outcome.rule.action_if_failed
        if self.outcome.status is not Status.ERROR or action == "ignore":
            return False
        return action == "fail" or _is_unanswered(self.outcome.judgement)


@dataclass(frozen=True, slots=True)
class Phases:
    """The rules of an asset on rows in flight, with what was counted of them."""

    rows: RowsInFlight
    rules: tuple[Rule, ...]
    counts: Mapping[str | None, RowCounts]
    faults: Mapping[Fault, Measured]
    history: Given | None
    # What rules may read beyond the data, for a request; it depends on the slices.
    beside: Callable[[CheckRequest], OtherDatasets]
    sampling: Sampling | None = None

    def judge(
        self, data: Callable[[PhaseName], Any], whole: Callable[[PhaseName], Any]
    ) -> list[JudgedInFlight]:
        """One outcome a rule and slice, in the order of the rules.

        ``data`` are the rows in flight, ``whole`` all data there will be, for rules about that.
        """
        request = CheckRequest.of(
            self.rules, partitioned=self.rows.keys is not None, partitions=self.rows.keys
        )
        parts, of_whole = request, request.only(())
        if self.rows.keys is not None:
            parts = request.of_partitions()
            of_whole = replace(request.of_whole(), partitions=None, partitioned=False)
        found: dict[PhaseName, Outcomes] = {"source": {}, "validated": {}}
        for phase in found:
            found[phase] |= self._judged(_in_phase(parts, phase), phase, data, counted=True)
            found[phase] |= self._judged(_in_phase(of_whole, phase), phase, whole, counted=False)
        if not any(counts.out for counts in self.counts.values()):
            # No row was left out, so that both are the same.
            found["validated"] |= _same(found["source"])
        keys = dict.fromkeys([*found["source"], *found["validated"]])
        judged = {key: self._combined(key, found) for key in keys}
        order = {rule.name: n for n, rule in enumerate(self.rules)}
        return sorted(judged.values(), key=lambda one: order[one.outcome.rule.name])

    def _judged(
        self,
        request: CheckRequest,
        phase: PhaseName,
        data: Callable[[PhaseName], Any],
        *,
        counted: bool,
    ) -> Outcomes:
        """``counted``: what is known of the faults of the rows speaks of these slices."""
        if not any(counts.out for counts in self.counts.values()) and phase == "validated":
            request = request.only(one for one in request.rules if one.rule.on == "validated")
        if not request.rules:
            return {}
        plan = make_plan(request)
        partition_by = HIDDEN_KEY if request.partitioned else None
        source = BatchSource(
            data(phase), request, partition_by, self.rows.now, self.beside(request)
        )
        if not counted or phase == "validated":
            every = evaluate_plan(
                plan, source, history=self.history, reuse=None, sampling=self.sampling
            )
        else:
            known = Known.of(self, request)
            scanned = scan(source, known.reduced(plan), None)
            metrics = {**scanned.found.metrics, **known.derived(scanned.found.metrics)}
            scanned = replace(scanned, found=replace(scanned.found, metrics=metrics), plan=plan)
            every = sampled(judge_scan(plan, scanned, history=self.history), scanned, self.sampling)
        return {(one.rule.name, one.partition): one for one in every}

    def _combined(self, key: SliceKey, found: Mapping[PhaseName, Outcomes]) -> JudgedInFlight:
        by_phase = {phase: found[phase][key] for phase in found if key in found[phase]}
        if len(by_phase) == 1:
            [outcome] = by_phase.values()
        else:
            outcome = _worse(by_phase["source"], by_phase["validated"])
        failure = self.rows.failures.get(outcome.rule.name)
        if failure is not None and not _is_unanswered(outcome.judgement):
            # It has an answer for all rows together, but not for each of them.
            outcome = replace(outcome, judgement=Judgement.error(failure))
        return JudgedInFlight(outcome, by_phase)

    def noted(
        self, judged: Sequence[JudgedInFlight], by_rule: Mapping[SliceKey, int]
    ) -> list[JudgedInFlight]:
        """With a sentence on what became of the rows that break a rule.

        ``by_rule`` is how many rows of the build do, by the rule's name and the slice.
        """
        publishes = not any(one.stops for one in judged)
        return [self._noted(one, by_rule, publishes=publishes) for one in judged]

    def _noted(
        self, judged: JudgedInFlight, by_rule: Mapping[SliceKey, int], *, publishes: bool
    ) -> JudgedInFlight:
        outcome = judged.outcome
        rule, partition = outcome.rule, outcome.partition
        if not (rule.counts_rows and outcome.failed_rows) or _is_unanswered(outcome.judgement):
            return judged
        keys = self.rows.keys
        if partition is None and keys is not None:
            # The whole of a partitioned asset has rows of other runs, too, which stay where they
            # are: only those of this one are in quarantine.
            rows = sum(by_rule.get((rule.name, key), 0) for key in keys)
            note = f"Of this build, {plural(rows, 'row')} {'break' if rows != 1 else 'breaks'} it"
            if rows and publishes:
                note += f", and {'are' if rows != 1 else 'is'} {self._fate(rule, keys)}"
        elif publishes:
            note = f"Such rows are {self._fate(rule, [partition])}"
        else:
            return judged
        return replace(judged, outcome=outcome.with_note(f"{note}."))

    def _fate(self, rule: Rule, keys: Sequence[str | None]) -> str:
        """What becomes of the rows of these slices that break a rule.

        Rows that are only beyond a soft bound are kept, whatever the action. So are those that a
        replay finds in the table.
        """
        hard = [
            self.faults[fault].value(WHOLE if key is None else Slice(key))
            for fault in rule.faults()
            for key in keys
            if fault.drops and fault in self.faults
        ]
        return "left out" if any(hard) and any(self.counts[key].out for key in keys) else "kept"


def _in_phase(request: CheckRequest, phase: PhaseName) -> CheckRequest:
    return request.only(
        one
        for one in request.rules
        if (phase == "source" if one.rule.counts_rows else one.rule.on in {phase, "both"})
    )


def _same(outcomes: Outcomes) -> Outcomes:
    return {key: one for key, one in outcomes.items() if _is_of_both(one.rule)}


def _is_of_both(rule: Rule) -> bool:
    return rule.on == "both" and not rule.counts_rows


def _worse(source: Outcome, validated: Outcome) -> Outcome:
    """What is published counts, unless what came was worse; the values are those published."""
    if BADNESS[source.status] <= BADNESS[validated.status]:
        return validated
    return validated.with_note(f"Of the rows as they came: {source.message}", status=source.status)


def _is_unanswered(judgement: Judgement) -> bool:
    return any("error" in one.details for one in (judgement, *judgement.columns.values()))


@dataclass(frozen=True, slots=True)
class Known:
    """The metrics that follow from the counted faults, and what has to be measured beside them."""

    flight: Phases
    rules: tuple[RequestedRule, ...]
    # What others are judged by as well: that is measured for all of them.
    shared: frozenset[Metric]
    # What the files say of all rows, by metric and slice.
    noted: Mapping[Metric, Mapping[str | None, int]]

    @classmethod
    def of(cls, flight: Phases, request: CheckRequest) -> Known:
        """Groups are not counted among the bad rows: rules with dimensions are measured.

        So are those whose rows are bad because of other partitions: of a single one they say less.
        """
        answerable = {
            rule.name
            for rule in flight.rows.answerable
            if flight.rows.keys is None or not spans_partitions(rule)
        }
        chosen = [
            one
            for one in request.rules
            if (one.rule.name in answerable and not one.dimensions) or DROPPED in one.metrics
        ]
        others = [one for one in request.rules if one not in chosen]
        shared = frozenset(metric for one in others for metric in one.needs)
        return cls(flight, tuple(chosen), shared, _noted(flight, request))

    def reduced(self, plan: Plan) -> Plan:
        """The plan without what is known."""
        known = {metric for metric, _ in self._states(None)}
        wanted = {m: cuts for m, cuts in wanted_by(plan.request).items() if m not in known}
        for metric in self._rows_with_keys():
            wanted[metric] = (self._cut,)
        if plan.request.partitioned:
            wanted = by_partition(wanted)
        return plan.measuring(wanted)

    def derived(self, found: Mapping[Metric, Measured]) -> dict[Metric, Measured]:
        """The states of what is known, with the help of what was measured."""
        return dict(self._states(found))

    @property
    def _cut(self) -> Any:
        return UNDIVIDED if self.flight.rows.keys is None else BY_PARTITION

    @property
    def _slices(self) -> list[Slice]:
        keys = self.flight.rows.keys
        return [WHOLE] if keys is None else [Slice(key) for key in keys]

    def _rows_with_keys(self) -> list[ConditionCount]:
        every = [_grouping(fault) for one in self.rules for fault in one.rule.faults()]
        return [_with_key(grouping) for grouping in dict.fromkeys(every) if grouping is not None]

    def _states(self, found: Mapping[Metric, Measured] | None) -> Iterable[tuple[Metric, Measured]]:
        """Each metric that is known, with its states; without ``found``, only which those are."""
        for metric, counts in self.noted.items():
            yield metric, self._counted(metric, counts)
        out = {key: counts.out for key, counts in self.flight.counts.items()}
        for one in self.rules:
            for fault in one.rule.faults():
                counted = self.flight.faults.get(fault)
                if counted is None:
                    continue
                for metric in _metrics_of(fault):
                    if metric not in self.shared:
                        yield metric, self._measured(metric, fault, counted, found)
            for metric in one.metrics:
                if metric == DROPPED:
                    yield metric, self._counted(metric, out)

    def _measured(
        self,
        metric: Metric,
        fault: Fault,
        counted: Measured,
        found: Mapping[Metric, Measured] | None,
    ) -> Measured:
        grouping = _grouping(fault)
        if found is None or grouping is None:
            return replace(counted, metric=metric)
        states = {}
        for part in self._slices:
            bad, rows = counted.value(part), found[_with_key(grouping)].value(part)
            failures = [value for value in (bad, rows) if isinstance(value, RuleFailure)]
            states[part] = failures[0] if failures else _state(metric, fault, bad, rows)
        return Measured(metric, states, (self._cut,), _state(metric, fault, 0, 0))

    def _counted(self, metric: Metric, counts: Mapping[str | None, int]) -> Measured:
        states = {part: Tally(counts[part.partition]) for part in self._slices}
        return Measured(metric, states, (self._cut,), Tally(0))


# What a limit on dropped rows is judged by.
DROPPED = ConditionCount(KeptOut())


def _noted(flight: Phases, request: CheckRequest) -> dict[Metric, Mapping[str | None, int]]:
    """Numbers of rows that the files know; not where rules are about groups of them."""
    if any(one.dimensions for one in request.rules):
        return {}
    found: dict[Metric, Mapping[str | None, int]] = {
        RecordCount(): {key: counts.source for key, counts in flight.counts.items()}
    }
    wanted = {
        metric.condition.column: metric
        for metric in wanted_by(request)
        if isinstance(metric, ConditionCount)
        and isinstance(metric.condition, HasValue)
        and not metric.condition.blank_is_empty
        and metric.where is None
    }
    for column, counts in flight.rows.with_values(wanted).items():
        found[wanted[column]] = counts
    return found


def _grouping(fault: Fault) -> Grouping | None:
    """The values whose rows are what a fault is compared with, where those have to be counted."""
    condition = fault.condition
    if isinstance(condition, Repeated):
        return condition.grouping
    if isinstance(condition, ReferenceMembership):
        lookup = condition.lookup
        return Grouping(lookup.columns, lookup.blank_is_empty, fault.where)
    return None


def _with_key(grouping: Grouping) -> ConditionCount:
    return ConditionCount(HasKey(grouping), where=grouping.where)


def _metrics_of(fault: Fault) -> list[Metric]:
    """The metrics that rules are judged by and that follow from the number of such rows."""
    condition = fault.condition
    if isinstance(condition, Repeated):
        grouping = condition.grouping
        return [kind(grouping, where=grouping.where) for kind in (UniqueCount, GroupedRows)]
    if isinstance(condition, ReferenceMembership):
        found = ConditionCount(replace(condition, member=True), where=fault.where)
        return [ConditionCount.of(fault), found]
    return [ConditionCount.of(fault)]


def _state(metric: Metric, fault: Fault, bad: int, rows: int) -> Any:
    if isinstance(fault.condition, Repeated):
        return Frequencies((Level(2, 0, bad), Level(1, rows - bad, rows - bad)))
    return Tally(bad if metric == ConditionCount.of(fault) else rows - bad)
