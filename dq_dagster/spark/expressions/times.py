"""Times as SQL: seconds since 1970, wall clocks of a zone, formats of ``strftime``, time windows.

No text here depends on the time zone of the Spark session: it works on whole numbers and on
timestamps without a zone only.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import types as T

from dq_dagster.spark.frames.columns import text_literal

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
UTC = "UTC"


def seconds_of(sql: str, kind: T.DataType, zone: str) -> str:
    """Whole seconds since 1970 of a timestamp, or of a date or wall time as meant in the zone.

    A wall time that occurs twice is the first one; one that is skipped counts as the time the
    clock would have shown had it been set forward later, as Java and Python have it.
    """
    if isinstance(kind, T.TimestampType):
        return f"unix_seconds({sql})"
    wall = f"CAST({sql} AS TIMESTAMP_NTZ)" if isinstance(kind, T.DateType) else sql
    return seconds_of_wall(_converted(wall, zone, UTC))


def wall_of(sql: str, kind: T.DataType, zone: str) -> str:
    """What the zone's wall clock shows at that moment, as a timestamp without a zone."""
    if isinstance(kind, T.DateType):
        return f"CAST({sql} AS TIMESTAMP_NTZ)"
    if isinstance(kind, T.TimestampNTZType):
        # There and back, so that a skipped time becomes one that was shown.
        return _converted(_converted(sql, zone, UTC), UTC, zone)
    return wall_of_seconds(f"unix_seconds({sql})", zone)


def wall_of_seconds(seconds: str, zone: str) -> str:
    return _converted(f"timestampadd(SECOND, {seconds}, {_EPOCH})", UTC, zone)


def seconds_of_wall(wall: str) -> str:
    """Seconds since 1970 as if the wall clock were one of UTC."""
    day = f"unix_date(CAST({wall} AS DATE))"
    return f"({day} * 86400L + hour({wall}) * 3600 + minute({wall}) * 60 + second({wall}))"


def _converted(wall: str, source: str, target: str) -> str:
    if source == target:
        return wall
    return f"convert_timezone({text_literal(source)}, {text_literal(target)}, {wall})"


# A day in the usual form is what Spark writes itself, and by far the fastest.
_TOKEN = re.compile(r"%Y-%m-%d|%.", re.DOTALL)
_DAY = "%Y-%m-%d"
_TIMES = frozenset({"%H", "%M", "%S", "%f", "%I", "%p"})
_YEARS = frozenset({_DAY, "%Y", "%G"})


@dataclass(frozen=True, slots=True)
class ShownTime:
    """The time to be formatted: its parts as SQL; ``offset`` in seconds where there is one."""

    day: str
    hour: str
    minute: str
    offset: str | None = None


def formatted(fmt: str, time: ShownTime) -> str | None:
    """The SQL of the text that ``strftime`` gives; None if the format is beyond it."""
    pieces: list[str] = []
    for token in _tokens(fmt):
        piece = _piece(token, time)
        if piece is None:
            return None
        pieces.append(piece)
    return f"concat({', '.join(pieces)})"


def shows_time_of_day(fmt: str) -> bool:
    return not _TIMES.isdisjoint(_tokens(fmt))


def shows_year(fmt: str) -> bool:
    """Whether texts of different centuries differ."""
    return not _YEARS.isdisjoint(_tokens(fmt))


def _tokens(fmt: str) -> list[str]:
    """Directives, and the literal texts between them."""
    tokens: list[str] = []
    end = 0
    for found in _TOKEN.finditer(fmt):
        tokens += [fmt[end : found.start()], found.group()]
        end = found.end()
    return [token for token in [*tokens, fmt[end:]] if token]


def _piece(token: str, time: ShownTime) -> str | None:
    if not token.startswith("%"):
        return text_literal(token)
    day = time.day
    match token[1:]:
        case "%":
            return "'%'"
        case "Y-%m-%d":
            return f"CAST({day} AS STRING)"
        case "Y":
            # Not lpad: it would cut the year 20240 down to 2024.
            return f"substring_index(CAST({day} AS STRING), '-', 1)"
        case "f":
            return "'000000'"
        case "S":
            return "'00'"
        case "z":
            return None if time.offset is None else _offset(time.offset)
    return _number(token, time) or _name(token, day)


def _number(token: str, time: ShownTime) -> str | None:
    day = time.day
    padded = {
        "%m": (f"month({day})", 2),
        "%d": (f"day({day})", 2),
        "%H": (time.hour, 2),
        "%I": (f"(pmod({time.hour} - 1, 12) + 1)", 2),
        "%M": (time.minute, 2),
        "%y": (f"pmod(year({day}), 100)", 2),
        "%j": (f"dayofyear({day})", 3),
        "%V": (f"weekofyear({day})", 2),
        "%G": (f"extract(YEAROFWEEK FROM {day})", 1),
        "%u": (f"(weekday({day}) + 1)", 1),
        "%w": (f"(dayofweek({day}) - 1)", 1),
    }
    if token not in padded:
        return None
    number, width = padded[token]
    plain = f"CAST({number} AS STRING)"
    return plain if width == 1 else f"lpad({plain}, {width}, '0')"


def _name(token: str, day: str) -> str | None:
    # Python writes these in the language of its locale, so its own lists are taken.
    names: dict[str, tuple[str, Sequence[str]]] = {
        "%b": (f"month({day})", calendar.month_abbr[1:]),
        "%B": (f"month({day})", calendar.month_name[1:]),
        "%a": (f"(weekday({day}) + 1)", calendar.day_abbr[:]),
        "%A": (f"(weekday({day}) + 1)", calendar.day_name[:]),
    }
    if token not in names:
        return None
    number, known = names[token]
    return f"elt({number}, {', '.join(map(text_literal, known))})"


def _offset(seconds: str) -> str:
    """Such as +0130."""
    minutes = f"CAST(abs({seconds}) DIV 60 AS INT)"
    digits = f"lpad(CAST({minutes} DIV 60 * 100 + {minutes} % 60 AS STRING), 4, '0')"
    return f"IF({seconds} < 0, '-', '+'), {digits}"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """A span of seconds since 1970, its end excluded, and the key of what lies in it."""

    start: int
    end: int
    key: str


def key_of_window(seconds: str, windows: Sequence[Window]) -> str:
    """The key of the window that holds the moment; NULL where there is none.

    A balanced tree of comparisons: eleven of them find one of two thousand windows.
    """
    steps: list[tuple[int, str]] = []
    for window in sorted(windows):
        if steps and steps[-1][0] == window.start:
            steps.pop()
        steps += [(window.start, text_literal(window.key)), (window.end, _NOTHING)]
    return _tree(seconds, [(None, _NOTHING), *steps])


_NOTHING = "CAST(NULL AS STRING)"


def _tree(seconds: str, steps: Sequence[tuple[int | None, str]]) -> str:
    if len(steps) == 1:
        return steps[0][1]
    middle = len(steps) // 2
    before, after = _tree(seconds, steps[:middle]), _tree(seconds, steps[middle:])
    return f"IF({seconds} < {steps[middle][0]}L, {before}, {after})"
