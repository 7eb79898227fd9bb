"""Whether a text is a date or a time, told by Python's own calendar."""

from __future__ import annotations

import string
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time

DIGITS = set(string.digits)
#: More than the longest date and time take; it keeps the many ways to split a text few.
_LONGEST = 100
_DAYS = {"%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"} | {
    f"%{one}{sign}%{other}{sign}%Y" for one, other in ("dm", "md") for sign in "-/."
}
_NAMED = {"%d {} %Y", "%d-{}-%Y", "{} %d %Y", "{} %d, %Y"}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT_WEEKDAYS = "mon tue tues wed thu thur thurs fri sat sun".split()


def is_date(text: str) -> bool:
    if [len(part) for part in text.split("-")] != [4, 2, 2] or not _digits(text.replace("-", "")):
        return False
    with suppress(ValueError):
        return bool(date.fromisoformat(text))
    return False


def is_time_without_zone(text: str) -> bool:
    seconds, point, fraction = text[11:].partition(".")
    return is_date(text[:10]) and text[10:11] in {"T", " "} and _is_clock(seconds, parts=3) and (
        not point or _digits(fraction)
    )  # fmt: skip


def is_time_with_zone(text: str) -> bool:
    if text.endswith("Z"):
        return is_time_without_zone(text[:-1])
    return (
        text[-6:-5] in {"+", "-"}
        and _is_clock(text[-5:], parts=2)
        and is_time_without_zone(text[:-6])
    )


def is_date_to_parse(text: str) -> bool:
    return len(text) <= _LONGEST and any(_is_whole(day, rest) for day, rest in _splits(text))


def _splits(text: str) -> Iterator[tuple[str, str]]:
    return ((text[:place], text[place:]) for place in range(len(text) + 1))


def _is_whole(day: str, rest: str) -> bool:
    if len(day) == 8 and _digits(day):
        return _parses(day, "%Y%m%d") and (not rest or _is_compact_clock(rest))
    return (not rest or _is_time_of_day(rest)) and _is_day(day)


def _is_day(text: str) -> bool:
    if _digits(text[:1]) or not text:
        plain = any(_parses(text, form) for form in _DAYS)
        return plain or _is_named_day(text)
    first, _, rest = text.partition(" ")
    if first.removesuffix(",").lower() in {*_WEEKDAYS, *_SHORT_WEEKDAYS}:
        return _is_named_day(rest)
    return _is_named_day(text)


def _is_named_day(text: str) -> bool:
    # Python knows Sep and September only.
    words = text.lower()
    for sept in ("sept ", "sept-"):
        if sept in words:
            words = words.replace(sept, f"sep{sept[-1]}")
    return any(
        _parses(words, form.format(name)) for form in _NAMED for name in ("%b", "%B")
    )  # fmt: skip


def _parses(text: str, form: str) -> bool:
    """Whether Python reads it so; it would also take more white space than one."""
    if set(text) - set(string.ascii_letters + string.digits + "-/., ") or "  " in text:
        return False
    if text != text.strip():
        return False
    with suppress(ValueError):
        return bool(datetime.strptime(text, form))  # noqa: DTZ007 (the day is all that counts)
    return False


def _is_time_of_day(text: str) -> bool:
    for start in ("T", "t", ", ", " "):
        if text.startswith(start) and _is_clock_with_zone(text.removeprefix(start)):
            return True
    return False


def _is_clock_with_zone(text: str) -> bool:
    return any(
        _is_lenient_clock(clock) and (not rest or _is_zone(rest.removeprefix(" ")))
        for clock, rest in _splits(text)
    )


def _is_zone(text: str) -> bool:
    if text.upper() in {"Z", "UTC", "GMT"}:
        return True
    digits = text[1:].replace(":", "", 1) if text[3:4] == ":" else text[1:]
    return text[:1] in {"+", "-"} and len(digits) == 4 and _is_compact_clock(digits)


def _is_lenient_clock(text: str) -> bool:
    lower = text.lower()
    half = lower.endswith(("am", "pm"))
    clock = lower[:-2].removesuffix(" ") if half else text
    parts = clock.split(":")
    if not 1 <= len(parts[0]) <= 2 or not _digits(parts[0]):
        return False
    hours = range(1, 13) if half else range(24)
    if int(parts[0]) not in hours or not (half or len(parts) > 1) or len(parts) > 3:
        return False
    if len(parts) == 3:
        parts[2], fraction = _fraction(parts[2])
        if fraction is not None and not (_digits(fraction) and len(fraction) <= 9):
            return False
    return all(len(part) == 2 and _digits(part) and int(part) < 60 for part in parts[1:])


def _fraction(seconds: str) -> tuple[str, str | None]:
    for sign in ".,":
        if sign in seconds:
            whole, _, fraction = seconds.partition(sign)
            return whole, fraction
    return seconds, None


def _is_compact_clock(text: str) -> bool:
    digits = text[1:] if text[:1] in {"T", "t"} else text
    pairs = [digits[n : n + 2] for n in range(0, len(digits), 2)]
    return (
        len(digits) in {4, 6} and _digits(digits) and _is_clock(":".join(pairs), parts=len(pairs))
    )


def _is_clock(text: str, *, parts: int) -> bool:
    pieces = text.split(":")
    if len(pieces) != parts or not all(len(piece) == 2 and _digits(piece) for piece in pieces):
        return False
    with suppress(ValueError):
        return bool(time.fromisoformat(text))
    return False


def _digits(text: str) -> bool:
    return bool(text) and set(text) <= DIGITS
