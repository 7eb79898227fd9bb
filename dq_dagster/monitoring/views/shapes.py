"""What a monitor gives, as frozen values; ``plain`` makes JSON of any of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any, Literal, TypeAlias

from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.model.scores import ObjectiveKept, Score

# Whether a rule counts: it is declared; it is declared, but switched off; no code location that is
# known has it any more; or no code location is known, so that all on record count.
Presence: TypeAlias = Literal["enabled", "disabled", "deleted", "on_record"]
Counts: TypeAlias = Mapping[Status, int]


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A check and what is known of its rule; most of it only if its code location is known."""

    check: str
    # What its author calls it.
    rule: str
    type: str = ""
    quality_dimension: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    weight: float = 1.0
    blocking: bool = False
    presence: Presence = "on_record"
    # Whether this library made the check.
    is_ours: bool = False

    @property
    def counts(self) -> bool:
        """Whether the current status is made of it."""
        return self.presence in {"enabled", "on_record"}


@dataclass(frozen=True, slots=True)
class StatusDay:
    """One UTC day: ``last`` as of its end, ``worst`` of what ran on it (None if nothing did)."""

    day: date
    last: Status
    worst: Status | None = None
    score: float | None = None

    @property
    def carried(self) -> bool:
        """Whether nothing ran on the day, so that the status before it stands."""
        return self.worst is None and self.last is not Status.NOT_COMPUTED


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A dataset in a list."""

    asset: str
    project: str
    status: Status
    monitored: bool
    score: Score
    # The last evaluation of any of its rules.
    last_run: datetime | None
    last_run_id: str
    worst_today: Status | None
    # The oldest first; the last one is today.
    days: tuple[StatusDay, ...]
    # How many of the rules that count have which status.
    counts: Counts
    group: str = ""
    location: str = ""
    owners: tuple[str, ...] = ()
    description: str = ""
    # It was built by a run that did not evaluate it, or not by all of its rules.
    outdated: bool = False
    built_at: datetime | None = None
    objective: ObjectiveKept | None = None

    @property
    def rules(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A code location or an asset group: the worst of its monitored datasets."""

    name: str
    status: Status
    score: Score
    datasets: int
    monitored: int
    # Of its monitored datasets.
    counts: Counts
    last_run: datetime | None
    worst_today: Status | None
    days: tuple[StatusDay, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All projects and datasets of an instance, the worst first."""

    at: datetime
    status: Status
    score: Score
    projects: tuple[ProjectRow, ...]
    datasets: tuple[DatasetRow, ...]
    days: tuple[StatusDay, ...]
    # How many evaluations of how many checks the index holds.
    evaluations: int
    checks: int


@dataclass(frozen=True, slots=True)
class PointBounds:
    """What a value was compared with; None where there is no such bound."""

    min: float | None = None
    max: float | None = None
    soft_min: float | None = None
    soft_max: float | None = None

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.min, self.max, self.soft_min, self.soft_max))


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """The last outcome of a rule on one partition, or on the whole dataset."""

    partition: str | None
    status: Status
    at: datetime
    run_id: str
    message: str
    # As the result shows it: a number, a text, or numbers by column.
    observed: Any = None
    expected: str = ""
    bounds: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    failed_rows: int | None = None
    # The data was built anew since, by a run that did not evaluate the rule.
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """A rule now: the worst of the slices that count, and these, the worst first."""

    info: RuleInfo
    status: Status
    counts: Counts
    # The worst of them; no more than some, where there are thousands.
    slices: tuple[SliceStatus, ...]
    last_run: datetime | None = None
    # Whether any slice is outdated.
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class DatasetView:
    """A dataset now: its rules, and which slices count.

    ``slices`` are the partitions that were computed on the last day any rule ran, None for the
    whole dataset. ``partition`` is the one that was chosen to look at, if any: then only its
    outcomes count. ``past_rules`` are disabled or deleted: they have a past and do not count.
    """

    row: DatasetRow
    rules: tuple[RuleStatus, ...]
    past_rules: tuple[RuleStatus, ...]
    slices: tuple[str | None, ...]
    slices_in_all: int
    last_day: date | None
    partition: str | None = None
    partitioned: bool = False


@dataclass(frozen=True, slots=True)
class StatusTimeline:
    """The days of a dataset, a project, or the instance (then ``subject`` is empty)."""

    subject: str
    kind: Literal["dataset", "project", "instance"]
    days: tuple[StatusDay, ...]


@dataclass(frozen=True, slots=True)
class RuleDay:
    """A rule on one day; ``last`` as of the day's end, ``worst`` of what ran on it."""

    info: RuleInfo
    last: Status
    worst: Status | None
    evaluations: int
    # How many slices had which status at the end of the day.
    counts: Counts
    # Of the last day up to then on which it ran, the worst evaluation, and of those the last one.
    at: datetime | None = None
    run_id: str = ""
    # What that said.
    message: str = ""


@dataclass(frozen=True, slots=True)
class DayView:
    """What is behind a day of a dataset. ``as_of`` is the last day up to it on which rules ran."""

    asset: str
    day: StatusDay
    as_of: date | None
    rules: tuple[RuleDay, ...]


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One evaluation of a rule, with what a chart needs.

    ``values`` are all numbers that were judged, by column or name, where there are several.
    """

    at: datetime
    partition: str | None
    status: Status
    run_id: str
    value: float | None = None
    bounds: PointBounds = PointBounds()
    values: Mapping[str, float] = field(default_factory=dict)
    bounds_by: Mapping[str, PointBounds] = field(default_factory=dict)
    rows: int | None = None
    failed_rows: int | None = None

    @property
    def shared_bounds(self) -> PointBounds:
        """Its own, or those that all of its columns have."""
        each = set(self.bounds_by.values())
        return self.bounds or (each.pop() if len(each) == 1 else self.bounds)


@dataclass(frozen=True, slots=True)
class RuleHistory:
    """The evaluations of one rule, the oldest first; ``before`` reads on into the past."""

    asset: str
    info: RuleInfo
    points: tuple[HistoryPoint, ...]
    # All partitions on record, None among them for the whole dataset; the latest first.
    partitions: tuple[str | None, ...]
    partition: str | None
    in_all: int
    # Give it as ``before`` for the points that came earlier; None if there are none.
    before: float | None = None


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """A partition (None: the whole dataset) with the status of each rule, as in ``rules``."""

    partition: str | None
    status: Status
    last_run: datetime
    # None where the rule was never judged on the partition.
    cells: tuple[Status | None, ...]
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class PartitionGrid:
    """Partitions by rules, the partitions that were evaluated last first."""

    asset: str
    rules: tuple[RuleInfo, ...]
    partitions: tuple[PartitionRow, ...]
    # How many partitions there are, and how many were passed over.
    in_all: int
    offset: int
    # If each partition is a day: what stands of the newest half year of them, the oldest first.
    days: tuple[StatusDay, ...] = ()
    # How many partitions there are of each status, the worst first; also of those left out.
    counts: Counts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QualityDimensionRow:
    """The rules of a dataset that speak of one quality."""

    name: str
    status: Status
    score: Score
    rules: tuple[str, ...]
    counts: Counts


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """One group of rows, as the result lists it."""

    group: str
    status: Status | None
    rows: int | None
    failed_rows: int | None
    observed: str
    impact: float | None


@dataclass(frozen=True, slots=True)
class GroupBreakdown:
    """The last outcome of a rule by the groups of one column."""

    info: RuleInfo
    partition: str | None
    dimension: str
    at: datetime
    groups: tuple[GroupStatus, ...]


@dataclass(frozen=True, slots=True)
class DimensionsView:
    """The qualities that rules speak of, and the groups that outcomes are broken down by."""

    asset: str
    qualities: tuple[QualityDimensionRow, ...]
    breakdowns: tuple[GroupBreakdown, ...]


@dataclass(frozen=True, slots=True)
class BuildRow:
    """What one guarded build of a slice did with its rows; ``rules``: rows with faults by rule."""

    at: datetime
    partition: str | None
    run_id: str
    status: str
    rows_in: int
    rows_published: int
    rows_quarantined: int
    rows_dropped: int
    seconds: float | None
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QuarantineView:
    """The builds of a guarded asset, the newest first; none if it is not guarded."""

    asset: str
    builds: tuple[BuildRow, ...]

    @property
    def guarded(self) -> bool:
        return bool(self.builds)


def plain(value: Any) -> Any:
    """A view as JSON takes it: times in ISO 8601 and UTC, statuses by their names."""
    match value:
        case Enum():
            return value.value
        case datetime() | date():
            return value.isoformat()
        case float():
            return value if math.isfinite(value) else str(value)
        case None | bool() | int() | str():
            return value
        case Mapping():
            return {str(plain(key)): plain(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return str(value)
