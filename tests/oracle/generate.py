"""Small random tables, the same for the same seed.

A query costs Spark far more than a row does, so a table has two columns of every type, each with
its own share of NULLs, and many rules are asked of it in one go. To a rule about one column this
is a table of its own; what a rule sees of the others is tested by the rules that name several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from random import Random
from typing import Any

from tests.oracle import kinds
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.sql import NUMBER
from tests.oracle.values import single

# Sizes of which shares such as 0.1 and 0.3 are met exactly, and others.
SIZES = (5, 10, 10, 13, 20, 30, 40)
_NULL_SHARES = (0.0, 0.0, 0.0, 0.2, 0.2, 0.5, 0.8, 1.0)
_TEXTS = (
    "", " ", "\t\n", " \x0b\x0c\r ", "\xa0", "a", "b", "ab", "a ", " a", "abc", "ABC", "aBc",
    "a\n", "a\r\n", "\n", "a\nb", "a\x00b", "\x00", "é", "e\u0301", "ü", "ß", "\U0001f600",
    "\U0001f600a", "\uffff", "\U00010000", "'", '"', "a'b", 'a"b', "\\", "a\\b", "%a", "a_b",
    "12", "-3.5", "null", "NaN", "true", "2024-01-01", "x" * 50, "{}", "--", ";", "`",
)  # fmt: skip
_DOUBLES = (
    0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 2.0, 1e-300, 5e-324, 1e16, 2.0**53, -3.75, 1e6, 123456.789,
)  # fmt: skip
_WILD_DOUBLES = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1.7976931348623157e308)
_DAYS = (date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), date(1970, 1, 1), date(2024, 2, 29))
_MOMENTS = (
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1, 1, 1, 6, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2024, 3, 10, 7, tzinfo=UTC),  # the hour that New York skips
    datetime(2024, 11, 3, 5, 30, tzinfo=UTC),  # the hour that New York has twice
    datetime(2024, 11, 3, 6, 30, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: str
    values: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length; the first numbers the rows."""

    size: int
    columns: Sequence[Column]

    @property
    def types(self) -> dict[str, str]:
        return {column.name: column.kind for column in self.columns}

    def rows(self) -> list[dict[str, Any]]:
        return [
            {column.name: column.values[number] for column in self.columns}
            for number in range(self.size)
        ]

    def of_kinds(self, wanted: Sequence[str]) -> list[Column]:
        return [column for column in self.columns if column.kind in wanted]


def table(seed: int) -> Table:
    random = Random(seed)
    # Every fourth table is very small: no row, one, two, three.
    size = seed // 4 % 4 if seed % 4 == 0 else random.choice(SIZES)
    types = [kind for kind in kinds.ALL for _ in range(2)]
    names = random.sample(HOSTILE_NAMES, len(types))
    columns = [Column(NUMBER, "int", range(size))]
    columns += [
        Column(name, kind, values(random, kind, size))
        for name, kind in zip(names, types, strict=True)
    ]
    return Table(size, columns)


def values(random: Random, kind: str, size: int) -> list[Any]:
    nulls = random.choice(_NULL_SHARES)
    make = _MAKERS[kind](random)
    return [None if random.random() < nulls else make() for _ in range(size)]


def _whole(kind: str) -> Callable[[Random], Callable[[], int]]:
    limit = 2 ** (kinds.WHOLE_BITS[kind] - 1)

    def maker(random: Random) -> Callable[[], int]:
        edges = (limit - 1, -limit, limit - 2, 0)
        few = random.random() < 0.6
        return lambda: random.randint(-6, 6) if few else random.choice(edges)

    return maker


def _doubles(random: Random) -> Callable[[], float]:
    # Either none is odd, or one in ten: in a sum of many odd ones nothing else would show.
    odd = random.choice((0.0, 0.1))
    return lambda: random.choice(_WILD_DOUBLES if random.random() < odd else _DOUBLES)


def _floats(random: Random) -> Callable[[], float]:
    make = _doubles(random)
    return lambda: single(make())


def _decimals(kind: str) -> Callable[[Random], Callable[[], Decimal]]:
    digits, scale = kinds.DIGITS[kind]
    context = Context(prec=digits)
    extreme = context.create_decimal(10**digits - 1).scaleb(-scale, context)
    smallest = Decimal(1).scaleb(-scale)

    def maker(random: Random) -> Callable[[], Decimal]:
        few = random.random() < 0.6
        edges = (extreme, extreme.copy_negate(), smallest, -smallest, Decimal(0))
        small = (Decimal(n) / 4 for n in range(-8, 9))
        rounded = [number.quantize(smallest, context=context) for number in small]
        return lambda: random.choice(rounded if few else edges)

    return maker


def _texts(random: Random) -> Callable[[], str]:
    pool = random.sample(_TEXTS, random.choice((3, 8, len(_TEXTS))))
    # Without a common value few patterns and sets would ever match everything.
    pool += random.choice(((), ("a", "a\n"), ("a",) * 8))
    return lambda: random.choice(pool)


def _days(random: Random) -> Callable[[], date]:
    few = [date(2024, 1, 1) + timedelta(days=n) for n in range(5)]
    return lambda: random.choice(few if random.random() < 0.7 else _DAYS)


def _moments(random: Random) -> Callable[[], datetime]:
    few = [
        datetime(2024, 3, 10, tzinfo=UTC) + timedelta(hours=n, microseconds=n) for n in range(12)
    ]
    return lambda: random.choice(few if random.random() < 0.7 else _MOMENTS)


def _wall_clocks(random: Random) -> Callable[[], datetime]:
    make = _moments(random)
    return lambda: make().replace(tzinfo=None)


def _any_of(*choices: Any) -> Callable[[Random], Callable[[], Any]]:
    return lambda random: lambda: random.choice(choices)


_MAKERS: dict[str, Callable[[Random], Callable[[], Any]]] = {
    **{kind: _whole(kind) for kind in kinds.WHOLE},
    **{kind: _decimals(kind) for kind in kinds.DECIMAL},
    "float": _floats,
    "double": _doubles,
    "string": _texts,
    "boolean": _any_of(True, False),
    "date": _days,
    "timestamp": _moments,
    "timestamp_ntz": _wall_clocks,
    "void": _any_of(None),
    "binary": _any_of(b"", b"\x00\xff", b"abc"),
    "array<int>": _any_of([], [1, None], [3]),
    "map<string,int>": _any_of({}, {"a": 1}),
    "struct<x:int,y:string>": _any_of((1, "a"), (None, None)),
}
