"""All that a monitor says of random event logs is what an oracle in plain Python says.

The oracle knows no model, no index and no views: it goes over all evaluations for each question, by
the words of the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import dagster as dg
from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.declared import CodeLocation, DeclaredAsset, DeclaredCheck
from dq_dagster.monitoring.model.scores import Objective, Score
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.monitoring.views.shapes import DatasetRow, StatusDay
from tests.monitoring.logs import Told, store

FIRST = datetime(2026, 5, 28, tzinfo=UTC)
DAYS = 10
TODAY = FIRST.date() + timedelta(days=DAYS - 1)
WEEK_AGO = TODAY - timedelta(days=7)
ORDER = ["NotComputed", "Ok", "Empty", "Warning", "Error"]
VALUE = {"Ok": 1.0, "Warning": 0.5, "Error": 0.0}
ASSETS, CHECKS, PARTS = ("a", "shop/b", "c"), ("r1", "r2", "r3"), (None, "p1", "p2")


@dataclass(frozen=True)
class Log:
    """Evaluations in the order of time, and what a code location declares."""

    said: Sequence[Told]
    declared: Mapping[str, DeclaredAsset]

    def worst(self, statuses: Iterable[str]) -> str:
        return max(statuses, key=ORDER.index, default="NotComputed")

    def of(self, asset: str) -> list[Told]:
        return [one for one in self.said if one.asset == asset]

    @property
    def assets(self) -> set[str]:
        known = {one.asset for one in self.said}
        return known | {name for name, one in self.declared.items() if one.checks}

    def enabled(self, asset: str, check: str) -> bool:
        known = self.declared[asset].checks if asset in self.declared else {}
        return check in known and known[check].enabled

    def weight(self, asset: str, check: str) -> float:
        known = self.declared[asset].checks if asset in self.declared else {}
        return known[check].weight if check in known else 1.0

    def monitored(self, asset: str) -> bool:
        if asset not in self.declared:
            return False
        said = self.declared[asset].monitored
        enabled = any(one.enabled for one in self.declared[asset].checks.values())
        return enabled if said is None else said

    def project(self, asset: str) -> str:
        return self.declared[asset].group if asset in self.declared else "not declared"

    def counting(self, asset: str, day: date) -> list[Told]:
        """Up to the day, of those that count on it."""
        every = self.of(asset)
        ends = {one.check: one.at.date() for one in every}
        return [
            one
            for one in every
            if one.at.date() <= day
            and (self.enabled(asset, one.check) or (day < TODAY and day <= ends[one.check]))
        ]

    def standing(self, asset: str, day: date) -> dict[tuple[str, str | None], str]:
        """The last status of each check on each slice of the last day that counts."""
        every = self.counting(asset, day)
        if not every:
            return {}
        active = max(one.at.date() for one in every)
        slices = {one.partition for one in every if one.at.date() == active}
        return {
            (one.check, one.partition): one.status.value for one in every if one.partition in slices
        }

    def last(self, asset: str, day: date) -> str:
        return self.worst(self.standing(asset, day).values())

    def worst_of(self, asset: str, day: date) -> str | None:
        ran = [one.status.value for one in self.counting(asset, day) if one.at.date() == day]
        return self.worst(ran) if ran else None

    def score(self, asset: str, day: date, checks: Iterable[str] = CHECKS) -> float | None:
        total = reached = 0.0
        standing = self.standing(asset, day)
        for check in sorted(checks):
            values = [
                VALUE[status]
                for (name, _), status in standing.items()
                if name == check and status in VALUE
            ]
            if values:
                weight = self.weight(asset, check)
                total += weight
                reached += weight * (sum(values) / len(values))
        return round(100 * reached / total, 1) if total else None

    def mean(self, assets: Iterable[str], day: date) -> float | None:
        known = [one for asset in assets if (one := self.score(asset, day)) is not None]
        return sum(known) / len(known) if known else None

    def objective(self, asset: str, days: int) -> tuple[int, int]:
        """How many partitions, or days, and how many of them are Ok."""
        ours = [one for one in self.of(asset) if self.enabled(asset, one.check)]
        first = TODAY - timedelta(days=days - 1)
        if any(one.partition is not None for one in ours):
            latest = {(one.check, one.partition): one for one in ours}
            recent = {
                one.partition
                for one in latest.values()
                if one.partition is not None and one.at.date() >= first
            }
            found = [
                self.worst(one.status.value for one in latest.values() if one.partition == part)
                for part in recent
            ]
        else:
            every = [first + timedelta(days=n) for n in range(days)]
            found = [self.last(asset, day) for day in every if self.worst_of(asset, day)]
        judged = [status for status in found if status in VALUE]
        return len(judged), judged.count("Ok")


def close(found: float | None, expected: float | None) -> bool:
    """But for how the last digit is rounded."""
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= 0.0501


EVALUATIONS = st.lists(
    st.builds(
        lambda day, asset, check, part, status: (day, asset, check, part, status),
        st.integers(0, DAYS - 1),
        st.sampled_from(ASSETS),
        st.sampled_from(CHECKS),
        st.sampled_from(PARTS),
        st.sampled_from([Status.OK, Status.OK, Status.EMPTY, Status.WARNING, Status.ERROR]),
    ),
    max_size=30,
)
DECLARED_CHECKS = st.dictionaries(
    st.sampled_from(CHECKS),
    st.tuples(
        st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0]),
        st.sampled_from([True, True, False]),
        st.sampled_from(["validity", "completeness"]),
    ),
)
DECLARED = st.dictionaries(
    st.sampled_from(ASSETS),
    st.tuples(
        st.sampled_from(["shop", "lake"]),
        st.sampled_from([None, None, True, False]),
        DECLARED_CHECKS,
    ),
)


def log_of(evaluations: list[tuple[int, str, str, str | None, Status]], declared: object) -> Log:
    said = [
        Told(check, status, FIRST + timedelta(days=day, seconds=number), part, asset)
        for number, (day, asset, check, part, status) in enumerate(
            sorted(evaluations, key=lambda one: one[0])
        )
    ]
    assert isinstance(declared, dict)
    assets = {
        name: DeclaredAsset(
            name,
            "here",
            group,
            checks={
                check: DeclaredCheck(
                    check, check, weight=weight, enabled=enabled, quality_dimension=quality
                )
                for check, (weight, enabled, quality) in checks.items()
            },
            monitored=monitored,
            objective=Objective(0.9, 4),
        )
        for name, (group, monitored, checks) in declared.items()
    }
    return Log(said, assets)


def check_days(log: Log, assets: Sequence[str], days: Sequence[StatusDay]) -> None:
    """Of one dataset, or of several together."""
    for one in days:
        assert one.last.value == log.worst(log.last(asset, one.day) for asset in assets)
        ran = [status for asset in assets if (status := log.worst_of(asset, one.day))]
        assert (one.worst and one.worst.value) == (log.worst(ran) if ran else None)
        assert close(one.score, log.mean(assets, one.day))


def check_row(log: Log, row: DatasetRow) -> None:
    assert row.status.value == log.last(row.asset, TODAY)
    assert (row.monitored, row.project) == (log.monitored(row.asset), log.project(row.asset))
    assert (row.worst_today and row.worst_today.value) == log.worst_of(row.asset, TODAY)
    check_score(row.score, log.score(row.asset, TODAY), log.score(row.asset, WEEK_AGO))
    check_days(log, [row.asset], row.days)
    if row.asset in log.declared:
        assert row.objective is not None
        assert (row.objective.units, row.objective.ok) == log.objective(row.asset, 4)
        left = row.objective.units * 0.1 - (row.objective.units - row.objective.ok)
        assert abs(row.objective.left - left) < 1e-9


def check_score(found: Score, now: float | None, before: float | None) -> None:
    assert close(found.value, now)
    assert close(found.before, before)
    if found.value is None or found.before is None:
        assert found.trend is None
    else:
        assert found.trend == round(found.value - found.before, 1)


def check_overview(log: Log, monitor: Monitor) -> None:
    overview = monitor.overview(days=DAYS)
    assert {row.asset for row in overview.datasets} == log.assets
    for row in overview.datasets:
        check_row(log, row)
    seen = [asset for asset in sorted(log.assets) if log.monitored(asset)]
    assert overview.status.value == log.worst(log.last(asset, TODAY) for asset in seen)
    check_score(overview.score, log.mean(seen, TODAY), log.mean(seen, WEEK_AGO))
    assert {one.name for one in overview.projects} == {log.project(one) for one in log.assets}
    for project in overview.projects:
        ours = [asset for asset in seen if log.project(asset) == project.name]
        assert project.status.value == log.worst(log.last(asset, TODAY) for asset in ours)
        assert project.monitored == len(ours)
        check_score(project.score, log.mean(ours, TODAY), log.mean(ours, WEEK_AGO))
        check_days(log, ours, monitor.timeline(project=project.name, days=DAYS + 3).days)
    check_days(log, seen, monitor.timeline(days=DAYS + 3).days)


def check_dataset(log: Log, monitor: Monitor, asset: str) -> None:
    standing = log.standing(asset, TODAY)
    view = monitor.dataset(asset)
    assert set(view.slices) == {part for _, part in standing}
    for rule in view.rules:
        found = {
            part: status for (check, part), status in standing.items() if check == rule.info.check
        }
        assert {one.partition: one.status.value for one in rule.slices} == found
        assert rule.status.value == log.worst(found.values())
    assert {one.info.check for one in view.rules} == {
        check for check in CHECKS if log.enabled(asset, check)
    }
    check_days(log, [asset], monitor.timeline(asset, days=DAYS).days)
    for one in monitor.dimensions(asset).qualities:
        assert close(one.score.value, log.score(asset, TODAY, one.rules))
        assert one.status.value == log.worst(
            status for (check, _), status in standing.items() if check in one.rules
        )
    for number in range(DAYS):
        check_day(log, monitor, asset, FIRST.date() + timedelta(days=number))


def check_day(log: Log, monitor: Monitor, asset: str, day: date) -> None:
    view, standing = monitor.day(asset, day), log.standing(asset, day)
    assert view.day.last.value == log.last(asset, day)
    assert close(view.day.score, log.score(asset, day))
    assert {one.info.check for one in view.rules} == {check for check, _ in standing}
    for one in view.rules:
        ran = [
            said.status.value
            for said in log.of(asset)
            if said.check == one.info.check and said.at.date() == day
        ]
        assert (one.evaluations, one.worst and one.worst.value) == (
            len(ran),
            log.worst(ran) if ran else None,
        )
        here = [status for (check, _), status in standing.items() if check == one.info.check]
        assert one.last.value == log.worst(here)
        assert sum(one.counts.values()) == len(here)


def check_slices(log: Log, monitor: Monitor, asset: str) -> None:
    """Partitions by rules, and each rule's history."""
    latest = {
        (one.partition, one.check): one.status.value
        for one in log.of(asset)
        if log.enabled(asset, one.check)
    }
    grid = monitor.partitions(asset)
    assert {row.partition for row in grid.partitions} == {part for part, _ in latest}
    for row in grid.partitions:
        cells = {
            info.check: cell.value
            for info, cell in zip(grid.rules, row.cells, strict=True)
            if cell is not None
        }
        assert cells == {c: status for (part, c), status in latest.items() if part == row.partition}
        assert row.status.value == log.worst(cells.values())
    for check in {one.check for one in log.of(asset)}:
        points = monitor.history(asset, check).points
        ours = [one for one in log.of(asset) if one.check == check]
        assert [(one.at, one.partition, one.status) for one in points] == [
            (one.at, one.partition, one.status) for one in ours
        ]


@settings(max_examples=40)
@given(EVALUATIONS, DECLARED)
def test_a_monitor_says_what_the_oracle_says(
    evaluations: list[tuple[int, str, str, str | None, Status]], declared: object
) -> None:
    log = log_of(evaluations, declared)
    now = datetime.combine(TODAY, datetime.min.time(), UTC) + timedelta(hours=23)
    location = CodeLocation("here", log.declared)
    with (
        dg.DagsterInstance.ephemeral() as instance,
        Monitor(instance, locations=[location], now=lambda: now) as monitor,
    ):
        # Some before anybody looks, and some after.
        store(instance, *log.said[::2])
        monitor.refresh()
        store(instance, *log.said[1::2])
        monitor.refresh()
        check_overview(log, monitor)
        for asset in log.assets:
            check_dataset(log, monitor, asset)
            check_slices(log, monitor, asset)
