"""Row predicates in SQL, each beside the same in Python with SQL's unknown (None).

A predicate is written once for a type of column and then said of a column; ``answer`` finds the
Python side of a text again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from random import Random
from typing import Any, TypeAlias

from tests.oracle import kinds
from tests.oracle.values import is_nan

Row: TypeAlias = Mapping[str, Any]
Meaning: TypeAlias = Callable[[Any], bool | None]

#: The column of row numbers that every generated table has.
NUMBER = "id"

_SAID: dict[str, Callable[[Row], bool | None]] = {}
_COLUMNS: dict[str, str] = {}


def column_of(text: str) -> str:
    """The column that a predicate speaks of."""
    return _COLUMNS[text]


def answer(text: str, row: Row) -> bool | None:
    return _SAID[text](row)


def _known(meaning: Meaning) -> Meaning:
    """Unknown where the value is NULL."""
    return lambda value: None if value is None else meaning(value)


def _greater(bound: float) -> Meaning:
    # NaN is the greatest value to Spark.
    return _known(lambda value: is_nan(value) or value > bound)


_OF_ANY: tuple[tuple[str, Meaning], ...] = (
    ("{c} IS NOT NULL", lambda value: value is not None),
    ("{c} IS NULL", lambda value: value is None),
    ("not isnull({c})", lambda value: value is not None),
)
_OF_NUMBERS: tuple[tuple[str, Meaning], ...] = (
    ("{c} > 0", _greater(0)),
    ("{c} <= 1", _known(lambda value: not is_nan(value) and value <= 1)),
    ("{c} BETWEEN -5 AND 5", _known(lambda value: not is_nan(value) and -5 <= value <= 5)),
    ("coalesce({c}, 0) >= 0", lambda value: value is None or is_nan(value) or value >= 0),
    ("{c} = {c}", _known(lambda value: True)),
    ("{c} IN (1, 2, NULL)", _known(lambda value: True if value in {1, 2} else None)),
    ("{c} > 0 OR {c} IS NULL", lambda value: value is None or is_nan(value) or value > 0),
)
_OF_DOUBLES: tuple[tuple[str, Meaning], ...] = (
    ("NOT isnan({c})", lambda value: not is_nan(value)),
    ("abs({c}) < 1e300", _known(lambda value: math.isfinite(value) and abs(value) < 1e300)),
)
_OF_TEXT: tuple[tuple[str, Meaning], ...] = (
    ("length({c}) < 4", _known(lambda value: len(value) < 4)),
    ("{c} LIKE '%a%'", _known(lambda value: "a" in value)),
    ("{c} <> ''", _known(lambda value: value != "")),
    ("{c} >= 'b'", _known(lambda value: value >= "b")),
    ("startswith({c}, 'a') OR length({c}) = 0", _known(lambda v: v.startswith("a") or not v)),
    ("trim({c}) = {c}", _known(lambda value: value.strip(" ") == value)),
    ("{c} IN ('a', 'b')", _known(lambda value: value in {"a", "b"})),
)
_OF_BOOLEANS: tuple[tuple[str, Meaning], ...] = (
    ("{c}", lambda value: value),
    ("NOT {c}", _known(lambda value: not value)),
    ("{c} <=> true", lambda value: value is True),
)
_OF_DATES: tuple[tuple[str, Meaning], ...] = (
    ("{c} >= date'2000-01-01'", _known(lambda value: value >= date(2000, 1, 1))),
    ("year({c}) < 9999", _known(lambda value: value.year < 9999)),
)
_BY_KIND = {
    **dict.fromkeys(kinds.EXACT, _OF_NUMBERS),
    **dict.fromkeys(kinds.FLOATING, _OF_NUMBERS + _OF_DOUBLES),
    kinds.TEXT: _OF_TEXT,
    kinds.BOOLEAN: _OF_BOOLEANS,
    kinds.DATE: _OF_DATES,
}
_OF_ROWS: tuple[tuple[str, Callable[[int], bool | None]], ...] = (
    ("{c} % 2 = 0", lambda number: number % 2 == 0),
    ("{c} < 3", lambda number: number < 3),
    ("{c} >= 1", lambda number: number >= 1),
    ("{c} < 0", lambda number: False),
    ("CAST(NULL AS BOOLEAN)", lambda number: None),
    ("true", lambda number: True),
    ("if({c} = 0, NULL, {c} > 2)", lambda number: None if number == 0 else number > 2),
)


def quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def predicate(random: Random, column: str, kind: str) -> str:
    """A predicate on that column."""
    choices = _OF_ANY + _BY_KIND.get(kind, ())
    template, meaning = random.choice(choices)
    return say(template, column, meaning)


def row_filter(random: Random) -> str:
    """A filter on row numbers: some leave everything, some nothing."""
    template, meaning = random.choice(_OF_ROWS)
    return say(template, NUMBER, meaning)


def say(template: str, column: str, meaning: Meaning) -> str:
    """The predicate as text; its meaning is remembered for ``answer``."""
    text = template.replace("{c}", quoted(column))
    _SAID[text] = lambda row: meaning(row[column])
    _COLUMNS[text] = column
    return text
