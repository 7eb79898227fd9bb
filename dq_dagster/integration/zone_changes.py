"""When the clocks of a time zone are changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

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
    """Those from ``start`` to ``end``, found by looking at each day."""
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
