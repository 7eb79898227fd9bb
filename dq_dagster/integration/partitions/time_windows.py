"""The key of the time window that holds a row, as SQL.

Regular schedules have a formula; Dagster itself knows the few windows around a change of
clocks, where wall time and real time part. Anything else becomes a search among the windows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import dagster as dg
from pyspark.sql import types as T

from dq_dagster.errors import Unassignable
from dq_dagster.spark.expressions.times import (
    ShownTime,
    Window,
    formatted,
    key_of_window,
    seconds_of,
    seconds_of_wall,
    shows_time_of_day,
    shows_year,
    wall_of,
    wall_of_seconds,
)
from dq_dagster.spark.frames.columns import text_literal

_DAY = 86_400


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """At ``moment`` (seconds since 1970) the offset from UTC goes from one value to another."""

    moment: int
    before: int
    after: int

    @property
    def repeats(self) -> bool:
        """Clocks are set back: some wall times occur twice."""
        return self.after < self.before

    @property
    def length(self) -> int:
        """For how long wall times are repeated or skipped, in seconds."""
        return abs(self.after - self.before)

    def offset_after(self) -> str:
        """Such as +0100, as Python writes it."""
        zone = timezone(timedelta(seconds=self.after))
        return datetime.fromtimestamp(self.moment, zone).strftime("%z")

    def wall_times(self) -> tuple[datetime, datetime]:
        """The first wall time that is repeated or skipped, and the first that is not any more."""
        first, last = sorted((self.before, self.after))
        return _wall(self.moment + first), _wall(self.moment + last)


def zone_changes(zone: str, start: int, end: int) -> Iterator[ZoneChange]:
    """Those from ``start`` to ``end``, found day by day."""
    place = ZoneInfo(zone)
    before = _offset(place, start)
    for day in range(start, end, _DAY):
        after = _offset(place, day + _DAY)
        if after != before:
            yield ZoneChange(_change_within(place, day, day + _DAY), before, after)
            before = after


def offsets(zone: str, start: int, end: int) -> set[int]:
    """All offsets from UTC, in seconds, that the zone has in that time."""
    found = {_offset(ZoneInfo(zone), start)}
    for change in zone_changes(zone, start, end):
        found |= {change.before, change.after}
    return found


def _change_within(place: tzinfo, low: int, high: int) -> int:
    """The first second with the offset of ``high``."""
    wanted = _offset(place, high)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(place, middle) == wanted:
            high = middle
        else:
            low = middle
    return high


def _offset(place: tzinfo, moment: int) -> int:
    offset = datetime.fromtimestamp(moment, place).utcoffset()
    return int((offset or timedelta()).total_seconds())


def _wall(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


MOST_WINDOWS = 2_000
_YEAR = 366 * 86_400
_EVERY_FEW_MINUTES = re.compile(r"\*(?:/(\d+))? \* \* \* \*")


class TimeWindowKeys:
    """The SQL of one definition's keys, over a row's moment of one type."""

    def __init__(
        self, definition: dg.TimeWindowPartitionsDefinition, sql: str, kind: T.DataType
    ) -> None:
        self._definition = definition
        self._zone = "UTC" if definition.timezone.upper() == "UTC" else definition.timezone
        self._sql = sql
        self._kind = kind
        self._seconds = seconds_of(sql, kind, self._zone)

    def key(self, keys: Sequence[str] | None) -> str:
        """With ``keys``, only their windows need to be distinguished."""
        formula = self._formula()
        return self._searched(keys) if formula is None else self._in_bounds(formula)

    def _formula(self) -> str | None:
        step = _minutes_between_ticks(self._definition)
        if step is not None:
            return self._every(step * 60)
        return None if self._definition.schedule_type is None else self._by_calendar()

    def _in_bounds(self, key: str) -> str:
        """Without a year in the key, rows of another century would be taken for those of now."""
        if shows_year(self._definition.fmt):
            return key
        first = self._definition.get_first_partition_window()
        last = self._definition.get_last_partition_window()
        if first is None or last is None:
            return "CAST(NULL AS STRING)"
        lowest, beyond = int(first.start.timestamp()), int(last.end.timestamp())
        within = f"{self._seconds} >= {lowest}L AND {self._seconds} < {beyond}L"
        return f"CASE WHEN {within} THEN {key} END"

    def _every(self, step: int) -> str | None:
        """Windows of equal length in real time: no change of clocks moves them."""
        fractions = {offset % step for offset in offsets(self._zone, *self._span())}
        if len(fractions) > 1:
            return None
        minute = self._definition.minute_offset if step == 3600 else 0
        phase = (minute * 60 - fractions.pop()) % step
        tick = f"({self._seconds} - pmod({self._seconds} - {phase}, {step}L))"
        wall = wall_of_seconds(tick, self._zone)
        shown = ShownTime(
            day=f"CAST({wall} AS DATE)",
            hour=f"hour({wall})",
            minute=f"minute({wall})",
            offset=f"({seconds_of_wall(wall)} - {tick})",
        )
        key = formatted(self._definition.fmt, shown)
        return None if key is None else self._distinguished(key, tick)

    def _distinguished(self, key: str, tick: str) -> str:
        """Of windows with the same wall time, Dagster gives the second one its offset."""
        if "%z" in self._definition.fmt:
            return key
        cases = "".join(
            f" WHEN {tick} >= {change.moment}L AND {tick} < {change.moment + change.length}L"
            f" THEN {text_literal(change.offset_after())}"
            for change in self._changes()
            if change.repeats
        )
        return f"concat({key}, CASE{cases} ELSE '' END)" if cases else key

    def _by_calendar(self) -> str | None:
        """Days, weeks and months by wall time."""
        definition = self._definition
        wall = wall_of(self._sql, self._kind, self._zone)
        shift = str(_time_of_day(definition).seconds)
        late = "".join(
            f" WHEN {self._seconds} >= {first}L AND {self._seconds} < {second}L"
            f" THEN {second - first}"
            for first, second in self._late_starts()
        )
        if late:
            shift = f"{shift} + CASE{late} ELSE 0 END"
        day = f"CAST({wall if shift == '0' else _earlier(wall, shift)} AS DATE)"
        start = _start_of_window(definition, day)
        fixed = offsets(self._zone, *self._span())
        shown = ShownTime(
            day=start,
            hour=str(definition.hour_offset),
            minute=str(definition.minute_offset),
            offset=str(fixed.pop()) if len(fixed) == 1 else None,
        )
        key = formatted(definition.fmt, shown)
        return None if key is None else self._with_moved_starts(key, start)

    def _late_starts(self) -> Iterator[tuple[int, int]]:
        """Windows that start when their wall time comes for the second time: both moments."""
        for change in self._changes():
            for wall in _starts_within(change, self._definition) if change.repeats else ():
                first, second = wall - change.before, wall - change.after
                if self._tick(first) < first and self._tick(second) == second:
                    yield first, second

    def _with_moved_starts(self, key: str, start: str) -> str:
        """A window whose start is skipped by the clocks starts later, and its key says so."""
        if not shows_time_of_day(self._definition.fmt):
            return key
        cases = "".join(
            f" WHEN {start} = DATE'{day.isoformat()}' THEN {text_literal(moved)}"
            for day, moved in self._moved_starts()
        )
        return f"CASE{cases} ELSE {key} END" if cases else key

    def _moved_starts(self) -> Iterator[tuple[date, str]]:
        for change in self._changes():
            for wall in () if change.repeats else _starts_within(change, self._definition):
                day = datetime.fromtimestamp(wall, UTC).date()
                tick = self._tick(change.moment + 2 * change.length)
                if datetime.fromtimestamp(tick + change.after, UTC).date() == day:
                    yield day, self._schedule(self._definition.fmt, tick)

    def _searched(self, keys: Sequence[str] | None) -> str:
        wanted = self._definition.get_partition_keys() if keys is None else keys
        if len(wanted) > MOST_WINDOWS:
            schedule = self._definition.cron_schedule
            raise Unassignable.too_many_windows(schedule, len(wanted), MOST_WINDOWS)
        windows = []
        for key in dict.fromkeys(wanted):
            found = self._definition.time_window_for_partition_key(key)
            windows.append(Window(int(found.start.timestamp()), int(found.end.timestamp()), key))
        return key_of_window(self._seconds, windows)

    def _changes(self) -> list[ZoneChange]:
        return list(zone_changes(self._zone, *self._span()))

    def _span(self) -> tuple[int, int]:
        """From before the first window to after the last, in seconds since 1970."""
        last = self._definition.get_last_partition_window()
        end = max(datetime.now(UTC).timestamp(), last.end.timestamp() if last else 0.0)
        return int(self._definition.start.timestamp()) - _YEAR, int(end) + _YEAR

    def _tick(self, moment: int) -> int:
        """The latest tick of the schedule up to the moment, excluded windows or not."""
        tick = self._schedule("%Y-%m-%dT%H:%M:%S%z", moment)
        return int(datetime.fromisoformat(tick).timestamp())

    def _schedule(self, fmt: str, moment: int) -> str:
        definition = self._definition
        plain = dg.TimeWindowPartitionsDefinition(
            start=definition.start.replace(tzinfo=None),
            fmt=fmt,
            timezone=definition.timezone,
            cron_schedule=definition.cron_schedule,
        )
        return plain.get_partition_key_for_timestamp(moment)


def _minutes_between_ticks(definition: dg.TimeWindowPartitionsDefinition) -> int | None:
    """Of schedules that tick every hour, or every few minutes that make up an hour."""
    if re.fullmatch(r"\d+ \* \* \* \*", definition.cron_schedule):
        return 60
    found = _EVERY_FEW_MINUTES.fullmatch(definition.cron_schedule)
    minutes = int(found.group(1) or 1) if found else 0
    return minutes if minutes and 60 % minutes == 0 else None


def _time_of_day(definition: dg.TimeWindowPartitionsDefinition) -> timedelta:
    return timedelta(hours=definition.hour_offset, minutes=definition.minute_offset)


def _starts_within(
    change: ZoneChange, definition: dg.TimeWindowPartitionsDefinition
) -> Iterator[int]:
    """The wall times, as seconds, at which windows may start and which the change affects."""
    first, beyond = change.wall_times()
    for day in sorted({first.date(), beyond.date()}):
        start = datetime.combine(day, time()) + _time_of_day(definition)
        if first <= start < beyond:
            yield int(start.replace(tzinfo=UTC).timestamp())


def _earlier(wall: str, seconds: str) -> str:
    return f"timestampadd(SECOND, -({seconds}), {wall})"


def _start_of_window(definition: dg.TimeWindowPartitionsDefinition, day: str) -> str:
    """The day on which the window starts that holds a day."""
    kind = definition.schedule_type
    if kind is not None and kind.value == "WEEKLY":
        first = definition.day_offset % 7
        return f"date_sub({day}, pmod(dayofweek({day}) - 1 - {first}, 7))"
    if kind is not None and kind.value == "MONTHLY":
        return _start_of_month(day, definition.day_offset)
    return day


def _start_of_month(day: str, first: int) -> str:
    """Months that lack the day have no start of a window; no two of them follow each other."""
    month = f"trunc({day}, 'MM')"
    back = "-1"
    if first > 28:
        back = f"IF(day(last_day(add_months({month}, -1))) >= {first}, -1, -2)"
    started = f"IF(day({day}) >= {first}, 0, {back})"
    return f"date_add(add_months({month}, {started}), {first - 1})"
