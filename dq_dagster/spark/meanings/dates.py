"""Dates in texts: the shape by a pattern, the calendar by Spark's cast to a date."""

from __future__ import annotations

from dq_dagster.rules.regex import whole
from dq_dagster.spark import quoting
from dq_dagster.spark.meanings.patterns import DATE, YEAR

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH_NAME = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_NAME = (
    "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?)?|fri(?:day)?"
    "|sat(?:urday)?|sun(?:day)?)"
)
_SMALL = "([0-9]{1,2})"
_MINUTES = r":[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_CLOCK = (
    f"(?:(?:[01]?[0-9]|2[0-3]){_MINUTES}|(?:0?[1-9]|1[0-2])(?:{_MINUTES})? ?[ap]m)"
    "(?: ?(?:Z|UTC|GMT|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]))?"
)
_TIME = f"(?:(?:T|,? ){_CLOCK})?"

_YEAR_FIRST = f"({YEAR})([-/.]){_SMALL}\\2{_SMALL}{_TIME}"
_COMPACT = f"({YEAR})([0-9]{{2}})([0-9]{{2}})(?:T?(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?)?"
_YEAR_LAST = f"{_SMALL}([-/.]){_SMALL}\\2({YEAR}){_TIME}"
_DAY_THEN_NAME = f"(?:{_DAY_NAME},? )?{_SMALL}([- ]){_MONTH_NAME}\\2({YEAR}){_TIME}"
_NAME_THEN_DAY = f"(?:{_DAY_NAME},? )?{_MONTH_NAME} {_SMALL},? ({YEAR}){_TIME}"


def exists(value: str) -> str:
    """True for a text that Spark reads as a date that is in the calendar."""
    return f"try_cast({value} AS DATE) IS NOT NULL"


def is_date(value: str) -> str:
    return f"{_matches(value, DATE)} AND {exists(value)}"


def starts_with_date(value: str, pattern: str) -> str:
    return f"{_matches(value, pattern)} AND {exists(f'substr({value}, 1, 10)')}"


def is_date_to_parse(value: str) -> str:
    """Each way to write a date, turned into year, month and day for Spark."""

    def turned(pattern: str, groups: str) -> str:
        regex, new = quoting.text(_anchored(pattern)), quoting.text(groups)
        return exists(f"regexp_replace({value}, {regex}, {new})")

    ways = {
        _YEAR_FIRST: turned(_YEAR_FIRST, "$1-$3-$4"),
        _COMPACT: turned(_COMPACT, "$1-$2-$3"),
        _YEAR_LAST: f"{turned(_YEAR_LAST, '$4-$3-$1')} OR {turned(_YEAR_LAST, '$4-$1-$3')}",
        _DAY_THEN_NAME: _named(value, _DAY_THEN_NAME, year=4, month=3, day=1),
        _NAME_THEN_DAY: _named(value, _NAME_THEN_DAY, year=3, month=1, day=2),
    }
    cases = [f"WHEN {_matches(value, f'(?i){way}')} THEN {then}" for way, then in ways.items()]
    return f"CASE {' '.join(cases)} ELSE false END"


def _named(value: str, pattern: str, *, year: int, month: int, day: int) -> str:
    regex = quoting.text(_anchored(pattern))

    def part(group: int) -> str:
        return f"regexp_extract({value}, {regex}, {group})"

    # Where the first three letters stand in "janfebmar...": 1, 4, 7 and so on.
    number = f"(locate(lower(left({part(month)}, 3)), '{''.join(_MONTHS)}') + 2) DIV 3"
    return exists(f"concat({part(year)}, '-', {number}, '-', {part(day)})")


def _matches(value: str, pattern: str) -> str:
    return f"{value} RLIKE {quoting.text(whole(pattern))}"


def _anchored(pattern: str) -> str:
    return whole(f"(?i){pattern}")
