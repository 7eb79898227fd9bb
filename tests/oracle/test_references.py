"""Values in another table against plain Python: 200 pairs of columns, many to a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle import kinds
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table, values
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.plain import by_threshold, identity
from tests.oracle.sql import NUMBER, answer, row_filter
from tests.oracle.values import is_empty, is_nan, single

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRS = 26
SEEDS = range(8)
SIZES = (0, 1, 3, 10, 25, 40)
THRESHOLDS: tuple[Any, ...] = (
    "all", "all",
    {"type": "count", "soft_max": 1, "max": 5},
    {"type": "proportion", "max": 0.5},
    {"type": "proportion", "soft_min": 0.9, "min": 0.2},
)  # fmt: skip
SAME = (*kinds.ORDERED, "binary", "array<int>", "struct<x:int,y:string>", kinds.VOID)


@dataclass(frozen=True, slots=True)
class Pair:
    """A rule, its columns here, the columns of the reference, and whether their types fit."""

    rule: dict[str, Any]
    here: Sequence[Column]
    there: Sequence[Column]
    fits: bool


@dataclass(frozen=True, slots=True)
class Case:
    data: Table
    reference: Table
    pairs: Sequence[Pair]


def case(seed: int) -> Case:
    random = Random(seed)
    sizes = random.choice(SIZES[1:] if seed else SIZES[:1]), random.choice(SIZES)
    free = [random.sample(HOSTILE_NAMES, len(HOSTILE_NAMES)) for _ in range(2)]
    pairs = [_pair(random, f"r{n}", sizes, free) for n in range(PAIRS)]
    number = Column(NUMBER, "int", range(sizes[0]))
    data = [number, *(column for pair in pairs for column in pair.here)]
    there = [column for pair in pairs for column in pair.there]
    return Case(Table(sizes[0], data), Table(sizes[1], there), pairs)


def _pair(random: Random, name: str, sizes: tuple[int, int], free: list[list[str]]) -> Pair:
    many = random.choice((1, 1, 1, 2, 2, 3) if len(free[0]) > 2 * PAIRS else (1, 1, 2))
    many = max(1, min(many, len(free[0]) - PAIRS))
    types = [_types(random) for _ in range(many)]
    here = [Column(free[0].pop(), kind, values(random, kind, sizes[0])) for kind, _ in types]
    there = _reference(random, here, [kind for _, kind in types], sizes[1], free[1])
    rule: dict[str, Any] = {
        "type": "column_values_in_reference",
        "name": name,
        "columns": [column.name for column in here],
        "reference": {"asset": "there"},
        "reference_columns": [column.name for column in there],
        "threshold": random.choice(THRESHOLDS),
    }
    if random.random() < 0.2:
        rule["where"] = row_filter(random)
    if random.random() < 0.3:
        rule["empty_includes_blank"] = True
    return Pair(rule, here, there, all(_comparable(one, other) for one, other in types))


def _types(random: Random) -> tuple[str, str]:
    way = random.random()
    if way < 0.55:
        return (kind := random.choice(SAME)), kind
    if way < 0.8:
        return random.choice(kinds.EXACT), random.choice(kinds.EXACT)
    if way < 0.9:
        return random.choice(kinds.FLOATING), random.choice(kinds.FLOATING)
    return random.choice(kinds.ALL), random.choice(kinds.ALL)


def _comparable(one: str, other: str) -> bool:
    if kinds.VOID in {one, other}:
        return True
    families = (kinds.EXACT, kinds.FLOATING)
    if any(one in family and other in family for family in families):
        return True
    return one == other and not one.startswith("map")


def _reference(
    random: Random, here: Sequence[Column], types: Sequence[str], size: int, free: list[str]
) -> list[Column]:
    """Mostly values from the data, where the type can hold them, in rows that belong together."""
    noise = [values(random, kind, size) for kind in types]
    rows = list(zip(*(column.values for column in here), strict=True))
    taken = random.choice((0.4, 0.9, 1.0)) if rows else 0.0
    picked = [random.choice(rows) if random.random() < taken else None for _ in range(size)]
    columns = []
    for n, kind in enumerate(types):
        made = [
            other if row is None else _as(kind, here[n].kind, row[n], other)
            for row, other in zip(picked, noise[n], strict=True)
        ]
        columns.append(Column(free.pop(), kind, made))
    return columns


def _as(kind: str, before: str, value: Any, otherwise: Any) -> Any:
    """The value in another type, or something else where that type has none such."""
    if value is None or kind == before:
        return value
    if kind not in kinds.NUMERIC or before not in kinds.NUMERIC:
        return otherwise
    made = _CONVERT[kind](value)
    return otherwise if made is None else made


def _whole(bits: int) -> Callable[[Any], int | None]:
    def make(value: Any) -> int | None:
        if isinstance(value, float) or value != int(value):
            return None
        return int(value) if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None

    return make


def _decimal(digits: int, scale: int) -> Callable[[Any], Decimal | None]:
    def make(value: Any) -> Decimal | None:
        if isinstance(value, float):
            return None
        sign, figures, exponent = Decimal(value).as_tuple()
        units = int("".join(map(str, figures))) * 10 ** (scale + int(exponent) + 60)
        if units % 10**60 or units // 10**60 >= 10**digits:
            return None
        return Decimal((sign, tuple(map(int, str(units // 10**60))), -scale))

    return make


_CONVERT: dict[str, Callable[[Any], Any]] = {
    **{kind: _whole(bits) for kind, bits in kinds.WHOLE_BITS.items()},
    **{kind: _decimal(*digits) for kind, digits in kinds.DIGITS.items()},
    "double": lambda value: value if isinstance(value, float) else None,
    "float": lambda value: (
        value if isinstance(value, float) and (is_nan(value) or single(value) == value) else None
    ),
}


def keys(columns: Sequence[Column], rows: Sequence[int], *, blank: bool) -> list[tuple[Any, ...]]:
    found = [
        tuple(_identity(column.values[row], blank=blank) for column in columns) for row in rows
    ]
    return [key for key in found if any(part is not None for part in key)]


def _identity(value: Any, *, blank: bool) -> Any:
    return None if is_empty(value, blank=blank) else (type(value) is bool, identity(value))


def expected(pair: Pair, given: Case) -> tuple[str, int | None, int | None]:
    """Status, missing and considered."""
    if not pair.fits:
        return "Error", None, None
    where, blank = pair.rule.get("where"), bool(pair.rule.get("empty_includes_blank"))
    rows = given.data.rows()
    kept = [n for n, row in enumerate(rows) if where is None or answer(where, row) is True]
    wanted = keys(pair.here, kept, blank=blank)
    known = set(keys(pair.there, range(given.reference.size), blank=blank))
    missing = sum(key not in known for key in wanted)
    if not wanted:
        return "Empty", None, 0
    return by_threshold(pair.rule["threshold"], missing, len(wanted)), missing, len(wanted)


def test_there_are_enough_pairs() -> None:
    found: Counter[str] = Counter()
    partly = 0
    for seed in SEEDS:
        given = case(seed)
        for pair in given.pairs:
            status, missing, considered = expected(pair, given)
            found[status] += 1
            partly += bool(missing and considered and missing < considered)
    assert sum(found.values()) >= 200
    assert min(found[status] for status in ("Ok", "Warning", "Error", "Empty")) >= 10, found
    assert partly >= 40


@pytest.mark.parametrize("seed", deep_after(1, SEEDS))
def test_lookups_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    given = case(seed)
    evaluation = dq.evaluate(
        frame(spark, given.data).coalesce(1),
        [pair.rule for pair in given.pairs],
        references={"there": frame(spark, given.reference).coalesce(1)},
    )
    wrong = []
    for pair, outcome in zip(given.pairs, evaluation, strict=True):
        right = expected(pair, given)
        if (outcome.status, outcome.observed, outcome.rows) != right:
            wrong.append(f"{pair}\n  {right}\n  {outcome.message}")
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:3])
