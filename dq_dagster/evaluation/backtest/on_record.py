"""Rules judged on the values that earlier evaluations recorded, without reading any data.

A value on record is that of a metric, whichever rule had it measured: so bounds, thresholds and
parameters of change detection can be others than those of the rule that was judged then, and a rule
can be new, as long as all that it looks at was measured for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from dq_dagster.errors import Misfit
from dq_dagster.evaluation.backtest.backtest import Calendar, replay
from dq_dagster.evaluation.history.history import Recorded
from dq_dagster.evaluation.judge import judged
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import BADNESS, Status
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.value_codec import NoValue
from dq_dagster.rules.base.rule import Rule

_MOST_DAYS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class DayVerdict:
    """The worst that a rule says of one day."""

    day: date
    status: Status
    message: str
    partition: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "day": self.day.isoformat(),
            "status": self.status.value,
            "message": self.message,
            "partition": self.partition,
        }


@dataclass(frozen=True, slots=True)
class OnRecord:
    """What a rule would have said on the last days that anything is on record of.

    ``unknown`` are those of which the record does not suffice, for want of ``missing`` metrics.
    """

    days: tuple[DayVerdict, ...] = ()
    unknown: int = 0
    missing: tuple[str, ...] = ()

    def count(self, status: Status) -> int:
        return sum(one.status is status for one in self.days)

    @property
    def words(self) -> str:
        """Such as "would have been Error on 3 of the last 90 days"."""
        if not self.days:
            wanted = ", ".join(self.missing) or "anything of it"
            return f"not on record: {wanted}"
        total = len(self.days) + self.unknown
        parts = [
            f"{status.value} on {self.count(status)}{self._which(status)}"
            for status in (Status.ERROR, Status.WARNING)
            if self.count(status)
        ]
        unknown = f"; {plural(self.unknown, 'day')} not on record" if self.unknown else ""
        if not parts:
            return f"would have been no Error in the last {plural(total, 'day')}{unknown}"
        said = " and ".join(parts)
        return f"would have been {said} of the last {plural(total, 'day')}{unknown}"

    def _which(self, status: Status) -> str:
        days = [one.day.isoformat() for one in self.days if one.status is status]
        more = ", …" if len(days) > _MOST_DAYS_SHOWN else ""
        return f" ({', '.join(days[-_MOST_DAYS_SHOWN:])}{more})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "errors": self.count(Status.ERROR),
            "warnings": self.count(Status.WARNING),
            "days": [one.to_dict() for one in self.days],
            "not_on_record": self.unknown,
            "missing": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class AssetRecord:
    """What all checks of an asset recorded: one point for each state of each slice."""

    points: tuple[Recorded, ...]
    calendar: Calendar = field(default_factory=Calendar)
    zone: tzinfo = UTC

    def judge(self, rule: Rule, *, days: int) -> OnRecord:
        """What the rule would have said of the last days on record."""
        points = self._points(rule)
        wanted = {self._moment(one).date() for one in points}
        window = sorted(wanted)[-days:]
        keys = {metric.key for metric in rule.metrics()}
        known = [one for one in points if _has_all(one, keys)]
        worst: dict[date, DayVerdict] = {}
        for at, outcome in self._outcomes(rule, known):
            found = DayVerdict(at.date(), outcome.status, outcome.message, outcome.partition)
            before = worst.get(found.day)
            if before is None or BADNESS[found.status] > BADNESS[before.status]:
                worst[found.day] = found
        judged_days = tuple(worst[day] for day in window if day in worst)
        missing = sorted(key for key in keys if not any(_has_all(one, {key}) for one in points))
        return OnRecord(judged_days, len(window) - len(judged_days), tuple(missing))

    def _points(self, rule: Rule) -> list[Recorded]:
        """Those of the slices that the rule is judged on."""
        divided = any(one.partition is not None for one in self.points)
        if not divided or rule.scope == "both":
            return list(self.points)
        by_partition = rule.scope == "partitions"
        return [one for one in self.points if (one.partition is not None) is by_partition]

    def _moment(self, one: Recorded) -> datetime:
        """When a point counts for: the time of its partition, or of its evaluation."""
        return self.calendar.times.get(one.partition or "", one.at)

    def _outcomes(
        self, rule: Rule, points: Sequence[Recorded]
    ) -> Iterator[tuple[datetime, Outcome]]:
        if rule.lookback is not None:
            try:
                for one in replay(points, rule, rule.lookback, self.calendar):
                    yield one.at, one.outcome
            except Misfit:
                # Partitions that have no time are compared with none before them.
                return
            return
        for point in points:
            values = {metric: point.metrics[metric.key] for metric in rule.metrics()}
            evidence = Evidence(values, self.zone, point.at)
            outcome = Outcome.of(
                rule, judged(rule, evidence), partition=point.partition, metrics={}
            )
            yield self._moment(point), outcome


def _has_all(point: Recorded, keys: set[str]) -> bool:
    return all(key in point.metrics and not isinstance(point.metrics[key], NoValue) for key in keys)


def merged_points(records: Mapping[str, Sequence[Recorded]]) -> tuple[Recorded, ...]:
    """What several checks recorded of the same state of the same slice, put together.

    ``records`` are by check, the newest first. Where nobody knows which state of the data was
    judged, the numbers of one evaluation stay by themselves.
    """
    found: dict[tuple[Any, ...], Recorded] = {}
    for check, some in records.items():
        for one in some:
            state = (one.data,) if one.data is not None else (check, one.at)
            key = (one.partition, *state)
            known = found.get(key)
            found[key] = one if known is None else _united(known, one)
    return tuple(sorted(found.values(), key=lambda one: one.at))


def _united(first: Recorded, second: Recorded) -> Recorded:
    newer, older = (first, second) if first.at >= second.at else (second, first)
    metrics = {**older.metrics, **newer.metrics}
    return replace(newer, metrics=metrics, groups={}, statuses={}, group_statuses={})
