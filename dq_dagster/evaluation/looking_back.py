"""The slices of one rule judged one after the other, each with its past."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from dq_dagster.errors import Misfit, RuleFailure
from dq_dagster.evaluation.baseline import Pasts, same_slice
from dq_dagster.evaluation.history import History, Recorded
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.evaluation.timeline import Timeline, previous_partitions
from dq_dagster.evaluation.verdict import attempted
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.lookback import Lookback
from dq_dagster.metrics.slices import Slice
from dq_dagster.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class LookingBack:
    """What the slices of a rule, and the groups in them, are compared with.

    ``own`` holds the past of slices that are compared with themselves, ``timeline`` that of
    partitions that are compared with those before them, at their ``times``. ``failure`` says why
    nothing of it could be read.
    """

    times: Mapping[str | None, datetime] = field(default_factory=dict)
    own: Mapping[Slice, Pasts | RuleFailure] = field(default_factory=dict)
    timeline: Timeline | None = None
    failure: RuleFailure | None = None

    def in_order(self, parts: Iterable[Slice]) -> list[Slice]:
        """The earliest first, so that each is a past for those after it."""
        every = list(parts)
        timed = [part for part in every if part.partition in self.times]
        others = [part for part in every if part.partition not in self.times]
        return [*sorted(timed, key=lambda part: self.times[part.partition]), *others]

    def add_to(self, evidence: Evidence, part: Slice) -> Evidence:
        """The evidence on a slice, or on a group in it, with its past."""
        if self.failure is not None:
            return replace(evidence, pasts=self.failure)
        moment = self.times.get(part.partition)
        if moment is None or self.timeline is None:
            return replace(evidence, pasts=self.own.get(part, {}))
        return replace(evidence, pasts=self.timeline.before(part, moment), moment=moment)

    def note(self, outcome: Outcome) -> None:
        """An outcome becomes part of the past of later partitions."""
        moment = self.times.get(outcome.partition)
        if moment is not None and self.timeline is not None:
            self.timeline.add(Recorded.of(outcome, at=moment), moment)


NO_PAST = LookingBack()


def look_back(
    rule: Rule,
    lookback: Lookback,
    parts: Collection[Slice],
    history: History,
    *,
    now: datetime,
) -> LookingBack:
    """Reads the past of a rule for these slices and groups, as far as it matters."""
    read = _Reader(rule, lookback, history, now)
    found = attempted(lambda: read.all_of(parts), f"rule {rule.name}")
    return LookingBack(failure=found) if isinstance(found, RuleFailure) else found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the past of one rule."""

    rule: Rule
    lookback: Lookback
    history: History
    now: datetime

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys(metric.key for metric in self.rule.metrics()))

    def all_of(self, parts: Collection[Slice]) -> LookingBack:
        times = self._times(parts)
        untimed = [part for part in parts if part.partition not in times]
        whole = [part for part in untimed if part.partition is None]
        single = [part for part in untimed if part.partition is not None]
        own: dict[Slice, Pasts | RuleFailure] = dict(self._own(whole, by_partition=False))
        if self.lookback.baseline == "previous_partitions":
            own |= {part: Misfit.no_time(str(part.partition)) for part in single}
        else:
            own |= self._own(single, by_partition=True)
        timed = [part for part in parts if part.partition in times]
        return LookingBack(times, own, self._timeline(timed, times))

    def _times(self, parts: Iterable[Slice]) -> dict[str | None, datetime]:
        if self.lookback.baseline == "same_slice":
            return {}
        keys = dict.fromkeys(part.partition for part in parts if part.partition is not None)
        times = {key: self.history.time_of(key) for key in keys}
        return {key: moment for key, moment in times.items() if moment is not None}

    def _own(self, parts: Collection[Slice], *, by_partition: bool) -> dict[Slice, Pasts]:
        if not parts:
            return {}
        return same_slice(
            self.history.of(self.rule, by_partition=by_partition),
            parts,
            self.keys,
            typical=self.lookback.typical,
            at=self.now,
            data_of=self.history.data_of,
        )

    def _timeline(
        self, parts: Collection[Slice], times: Mapping[str | None, datetime]
    ) -> Timeline | None:
        if not parts:
            return None
        return previous_partitions(
            self.history.of(self.rule, by_partition=True),
            times,
            parts,
            self.keys,
            typical=self.lookback.typical,
            time_of=self.history.time_of,
            series_of=self.history.series_of,
        )
