"""What views read: the index as it is at one moment, beside what code locations declare."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby, starmap
from operator import itemgetter
from typing import Literal, TypeAlias

from dq_dagster.errors import NotOnRecord
from dq_dagster.judging.judgement import Status, score
from dq_dagster.monitoring.declared import DeclaredAsset
from dq_dagster.monitoring.index.writing import judged_alone
from dq_dagster.monitoring.model.days import (
    RANKED,
    CheckDay,
    DatasetDays,
    Day,
    date_of,
    day_of,
    moment_of,
)
from dq_dagster.monitoring.model.many_days import (
    DayInShort,
    DaysInShort,
    SaidOfDay,
    each_day,
    each_plain_day,
)
from dq_dagster.monitoring.views.shapes import Presence, RuleInfo, StatusDay

# What makes up a project.
ProjectBy: TypeAlias = Literal["group", "location"]
# The project of all assets where no code location is known, and of those that none has.
ALL, UNDECLARED = "all", "not declared"
# How many partitions a name that is none of them is compared with.
_MOST_SUGGESTED = 1_000
# Number, name and type of a check.
_KnownByLog: TypeAlias = tuple[int, str, str | None]
# When an asset was built last, by which event and run.
_Built: TypeAlias = tuple[float | None, int | None, str | None]
_ASSETS = "SELECT id, name, built_at, built_id, built_run FROM asset"
# Those that have any evaluation left.
_CHECKS = (
    "SELECT id, asset, name, type FROM checks WHERE EXISTS "
    "(SELECT 1 FROM slice WHERE slice.check_id = checks.id)"
)


@dataclass(frozen=True, slots=True)
class KnownCheck:
    """A check, with its number in the index if it was ever evaluated."""

    number: int | None
    info: RuleInfo


@dataclass(frozen=True)
class Dataset:
    """An asset with checks: in the index, in a code location, or in both."""

    name: str
    number: int | None
    declared: DeclaredAsset | None
    checks: tuple[KnownCheck, ...]
    project: str
    monitored: bool
    built_at: float | None = None
    built_id: int | None = None
    built_run: str | None = None

    @cached_property
    def counting(self) -> dict[int, KnownCheck]:
        """The checks that count today and were ever evaluated, by number."""
        return {one.number: one for one in self.checks if one.info.counts and one.number}

    @cached_property
    def weights(self) -> dict[int, float]:
        return {one.number: one.info.weight for one in self.checks if one.number is not None}

    @cached_property
    def qualities(self) -> dict[int, str]:
        known = [one for one in self.checks if one.number is not None]
        return {one.number or 0: one.info.quality_dimension for one in known}

    @cached_property
    def is_plain(self) -> bool:
        """Whether all checks that were ever evaluated count, and all alike."""
        known = [one.info for one in self.checks if one.number is not None]
        return all(one.counts and one.weight == 1 for one in known)

    def check(self, name: str) -> KnownCheck:
        """By the name of the check, or of the rule; raises NotOnRecord."""
        for one in self.checks:
            if one.info.check == name:
                return one
        for one in self.checks:
            if one.info.rule == name:
                return one
        raise NotOnRecord.check(name, self.name, sorted(one.info.check for one in self.checks))

    def score(self, days: Iterable[CheckDay], quality: str | None = None) -> float | None:
        """Of the rules on one day; of those that speak of one quality, if that is given."""
        weights, qualities = self.weights, self.qualities
        if quality is not None:
            days = [one for one in days if qualities[one.check] == quality]
        return score([(weights[one.check], one.worth) for one in days])


@dataclass(frozen=True)
class IndexReader:
    """One state of the index; ``now`` decides what today is."""

    connection: sqlite3.Connection
    assets: Mapping[str, DeclaredAsset]
    now: datetime
    by: ProjectBy = "group"
    # Whether any code location is known, so that what none has was deleted.
    knows: bool = field(default=False)

    @cached_property
    def today(self) -> Day:
        return day_of(self.now.timestamp())

    @cached_property
    def datasets(self) -> dict[str, Dataset]:
        """All assets with checks, by name."""
        checks: dict[int, list[_KnownByLog]] = {}
        for number, asset, name, kind in self.connection.execute(f"{_CHECKS} ORDER BY name"):
            checks.setdefault(asset, []).append((number, name, kind))
        rows = self.connection.execute(f"{_ASSETS} ORDER BY name").fetchall()
        found = {}
        for number, name, at, build, run in rows:
            dataset = self._dataset(name, number, checks.get(number, []), (at, build, run))
            if dataset.checks:
                found[name] = dataset
        for name, declared in self.assets.items():
            if name not in found and declared.checks:
                found[name] = self._dataset(name, None, [])
        return found

    def dataset(self, name: str) -> Dataset:
        """One of them, without reading all others."""
        row = self.connection.execute(f"{_ASSETS} WHERE name = ?", (name,)).fetchone()
        number, _, at, build, run = row or (None, name, None, None, None)
        rows = self.connection.execute(f"{_CHECKS} AND asset = ? ORDER BY name", (number,))
        checks = [(check, label, kind) for check, _, label, kind in rows]
        found = self._dataset(name, number, checks, (at, build, run))
        declared = self.assets.get(name)
        if not found.checks and (declared is None or not declared.checks):
            raise NotOnRecord.asset(name, sorted(self.datasets))
        return found

    def part_of(self, dataset: Dataset, partition: str) -> int:
        """The number of a partition; raises NotOnRecord if no check of this dataset knows it."""
        checks = {one.number for one in dataset.checks}
        rows = self.connection.execute(
            "SELECT check_id, part FROM slice JOIN part ON part.id = part WHERE name = ? "
            "AND asset = ?",
            (partition, dataset.number),
        )
        for check, part in rows:
            if check in checks:
                return int(part)
        newest = self.connection.execute(
            "SELECT name FROM slice JOIN part ON part.id = part WHERE asset = ? "
            "GROUP BY name ORDER BY max(at) DESC LIMIT ?",
            (dataset.number, _MOST_SUGGESTED),
        )
        raise NotOnRecord.slice(partition, dataset.name, [name for (name,) in newest])

    def project_of(self, declared: DeclaredAsset | None) -> str:
        if declared is None:
            return UNDECLARED if self.knows else ALL
        if self.by == "location":
            return declared.location or ALL
        return declared.group or declared.location or ALL

    def _dataset(
        self,
        name: str,
        number: int | None,
        checks: Sequence[_KnownByLog],
        built: _Built = (None, None, None),
    ) -> Dataset:
        declared = self.assets.get(name)
        known = [
            KnownCheck(check, self._info(declared, label, kind)) for check, label, kind in checks
        ]
        recorded = {label for _, label, _ in checks}
        if declared is not None:
            known += [
                KnownCheck(None, self._info(declared, label, None))
                for label, one in declared.checks.items()
                if label not in recorded and one.enabled
            ]
        monitored = declared.is_monitored if declared is not None else not self.knows
        return Dataset(
            name,
            number,
            declared,
            tuple(known),
            self.project_of(declared),
            monitored,
            *built,
        )

    def _info(self, declared: DeclaredAsset | None, check: str, kind: str | None) -> RuleInfo:
        one = None if declared is None else declared.checks.get(check)
        if one is None:
            presence: Presence = "deleted" if self.knows else "on_record"
            return RuleInfo(check, check, kind or "", presence=presence, is_ours=kind is not None)
        return RuleInfo(
            check,
            one.rule,
            one.type,
            one.quality_dimension,
            one.description,
            one.tags,
            one.owners,
            one.weight,
            one.blocking,
            "enabled" if one.enabled else "disabled",
            one.is_ours,
        )

    def days(self, dataset: Dataset, first: Day, last: Day) -> DatasetDays:
        """The days from the first to the last on which anything ran, and what stood before them."""
        last_runs = self._last_runs(dataset)
        rows: list[CheckDay] = []
        if dataset.number is not None:
            for day in self._days_before(dataset, first, last_runs):
                rows += self._check_days(dataset.number, day, day)
            rows += self._check_days(dataset.number, first, last)
        by_day = {day: list(some) for day, some in groupby(rows, key=itemgetter(0))}
        return DatasetDays(
            by_day, last_runs, dataset.counting.keys(), self.today, self._judged_alone
        )

    def _judged_alone(self, day: Day, checks: Collection[int]) -> Sequence[CheckDay]:
        return judged_alone(self.connection, day, checks)

    def _last_runs(self, dataset: Dataset) -> dict[int, Day]:
        """The last days of the checks that count no more."""
        found = {}
        for one in dataset.checks:
            if one.number is not None and not one.info.counts:
                [day] = self.connection.execute(
                    "SELECT max(day) FROM evaluation WHERE check_id = ?", (one.number,)
                ).fetchone()
                found[one.number] = day
        return found

    def _days_before(self, dataset: Dataset, first: Day, last_runs: Mapping[int, Day]) -> list[Day]:
        """The last days before the first on which checks ran that count on it, or after it."""
        if not last_runs:
            query = "SELECT max(day) FROM asset_day WHERE asset = ? AND day < ?"
            found = [self.connection.execute(query, (dataset.number, first)).fetchone()]
        else:
            # Each has its own: what one of the past says stands only until its own last day.
            past = [check for check, day in last_runs.items() if day >= first]
            query = "SELECT max(day) FROM evaluation WHERE check_id = ? AND day < ?"
            found = [
                self.connection.execute(query, (check, first)).fetchone()
                for check in (*dataset.counting, *past)
            ]
        return sorted({day for (day,) in found if day is not None})

    def _check_days(self, asset: int, first: Day, last: Day) -> Iterable[CheckDay]:
        """In the order of days."""
        rows = self.connection.execute(
            "SELECT day, check_id, last, worth, worst, evaluations, not_computed, ok, empty, "
            "warning, error FROM day WHERE asset = ? AND day BETWEEN ? AND ? "
            "ORDER BY day, check_id",
            (asset, first, last),
        )
        return starmap(CheckDay, rows)

    def status_days(self, dataset: Dataset, first: Day, last: Day) -> tuple[StatusDay, ...]:
        if dataset.is_plain:
            found = each_plain_day(self._plain_days(dataset, first, last), first, last)
        else:
            found = each_day(self._days_in_short(dataset, first, last), first, last)
        return tuple(map(status_day, found))

    def _days_in_short(self, dataset: Dataset, first: Day, last: Day) -> DaysInShort:
        """As ``days``, of many days at once."""
        last_runs = self._last_runs(dataset)
        before = self._days_before(dataset, first, last_runs)
        rows: list[DayInShort] = []
        for start, end in (*((day, day) for day in before), (first, last)):
            found = self.connection.execute(
                "SELECT day, checks, lasts, worsts, worths FROM asset_day "
                "WHERE asset = ? AND day BETWEEN ? AND ?",
                (dataset.number, start, end),
            )
            rows += starmap(DayInShort, found)
        return DaysInShort(
            {one.day: one for one in rows},
            last_runs,
            dataset.counting.keys(),
            self.today,
            self._judged_alone,
            dataset.weights,
        )

    def _plain_days(self, dataset: Dataset, first: Day, last: Day) -> Iterable[SaidOfDay]:
        """In the order of days, from the last one before the first."""
        rows = self.connection.execute(
            "SELECT day, last, worst, score FROM asset_day WHERE asset = ?1 AND day BETWEEN "
            "coalesce((SELECT max(day) FROM asset_day WHERE asset = ?1 AND day < ?2), ?2) AND ?3 "
            "ORDER BY day",
            (dataset.number, first, last),
        )
        return starmap(SaidOfDay, rows)

    def names(self, table: Literal["part", "run"], numbers: Iterable[int]) -> dict[int, str]:
        """What runs or partitions are called, by their numbers."""
        wanted = sorted(set(numbers))
        found: dict[int, str] = {}
        for start in range(0, len(wanted), 900):
            some = wanted[start : start + 900]
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, name FROM {table} WHERE id IN ({marks})"  # noqa: S608 (two tables)
            found |= dict(self.connection.execute(query, some).fetchall())
        return found


def status_day(said: SaidOfDay) -> StatusDay:
    worst = None if said.worst is None else RANKED[said.worst]
    return StatusDay(date_of(said.day), RANKED[said.last], worst, said.score)


def time_at(seconds: float | None) -> datetime | None:
    return None if seconds is None else moment_of(seconds)


def counted(statuses: Iterable[Status]) -> dict[Status, int]:
    """How often each occurs, the worst first."""
    found: dict[Status, int] = {}
    for status in sorted(statuses, key=RANKED.index, reverse=True):
        found[status] = found.get(status, 0) + 1
    return found
