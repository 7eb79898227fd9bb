"""Random bounds and sets for a column: in all the ways people write such constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

from tests.oracle import kinds
from tests.oracle.values import constant

_NAMES = ("min", "soft_min", "soft_max", "max")
_MISFITS = 0.05
_EAST = timezone(timedelta(hours=5, minutes=30))
# Something that is comparable for each kind, where the column has no values to choose from.
_FALLBACK: dict[str, Sequence[Any]] = {
    kinds.TEXT: ("", "a", "b", "\U0001f600"),
    kinds.BOOLEAN: (False, True),
    kinds.DATE: (date(2024, 1, 2), date(2024, 1, 4), date(1, 1, 1)),
    kinds.TIMESTAMP: (datetime(2024, 3, 10, 7, 30, tzinfo=UTC), datetime(2024, 3, 9, tzinfo=UTC)),
    kinds.WALL_CLOCK: (datetime(2024, 3, 10, 2, 30), datetime(2024, 3, 9)),  # noqa: DTZ001
}


def bounds(random: Random, kind: str, values: Sequence[Any]) -> dict[str, Any]:
    """One to four bounds of a kind, in order; at times of a kind that the column is not."""
    if random.random() < _MISFITS:
        return _bounds(random, random.choice((kinds.TEXT, kinds.BOOLEAN, "int", kinds.DATE)), ())
    return _bounds(random, kind if kind in kinds.ORDERED else "int", values)


def numeric_bounds(random: Random, numbers: Sequence[Any]) -> dict[str, Any]:
    """One to four bounds for what is always a number: another kind could not be declared."""
    return _bounds(random, "decimal(38,0)", numbers)


def _bounds(random: Random, kind: str, values: Sequence[Any]) -> dict[str, Any]:
    names = sorted(random.sample(_NAMES, random.randint(1, 4)), key=_NAMES.index)
    write = _writing(random, kind)
    chosen = [write(value) for value in _choose(random, kind, values, len(names))]
    # As written: two numbers that a column does not tell apart are still declared in order.
    order = "decimal(38,0)" if kind in kinds.NUMERIC else kind
    chosen.sort(key=lambda written: constant(written, order))
    made = dict(zip(names, chosen, strict=True))
    hard = [name for name in ("min", "max") if name in made]
    one_value = len({constant(made[name], order) for name in hard}) < len(hard)
    # Chance of its own, so that all that follows stays what it was.
    own = Random(repr(made))
    if hard and not one_value and own.random() < 0.4:
        made["exclusive"] = own.choice([*hard, "both"] if len(hard) == 2 else hard)
    return made


def members(random: Random, kind: str, values: Sequence[Any]) -> list[Any]:
    """A set's values; large ones are compared by Spark in another way than small ones."""
    if random.random() < _MISFITS:
        return random.choice(([True], ["no such"], [1, 2], [date(2024, 1, 1)]))
    write = _writing(random, kind)
    found = [write(value) for value in _choose(random, kind, values, random.choice((1, 3, 30)))]
    if kind in kinds.NUMERIC and random.random() < 0.3:
        found += [float("nan"), float("inf"), 0.5, 10**40]
    return found


def _choose(random: Random, kind: str, values: Sequence[Any], many: int) -> list[Any]:
    """Values of the column, values near them, and others."""
    there = [value for value in values if _is_usable(value)]
    if kind in kinds.NUMERIC or kind not in kinds.ORDERED:
        there = [number for number in there if isinstance(number, int | float | Decimal)]
        others: Sequence[Any] = (-7, -1, 0, 1, 1.5, 2, Decimal("0.005"), 1e6, 10**40)
        near = [number + random.choice((-1, 1)) for number in there[:5]]
        pool = [*there, *there, *near, *others]
    else:
        pool = [*there, *there, *_FALLBACK[kind]]
    return [random.choice(pool) for _ in range(many)]


def _is_usable(value: Any) -> bool:
    """Rules take finite numbers only, and a bool is no number."""
    if value is None:
        return False
    return not isinstance(value, float) or abs(value) < 1e300


def _writing(random: Random, kind: str) -> Callable[[Any], Any]:
    """One way to write times, so that the bounds of a rule are all written alike."""
    ways: tuple[Callable[[Any], Any], ...] = (lambda value: value,)
    if kind == kinds.DATE:
        ways = (lambda day: day, lambda day: day.isoformat())
    elif kind == kinds.WALL_CLOCK:
        ways = (lambda moment: moment, lambda moment: moment.isoformat(" "))
    elif kind == kinds.TIMESTAMP:
        ways = (
            lambda moment: moment,
            lambda moment: moment.isoformat(),
            _in_the_east,
            lambda moment: moment.replace(tzinfo=None),
            lambda moment: moment.replace(tzinfo=None).isoformat(),
            lambda moment: moment.date(),
        )
    elif kind in kinds.NUMERIC:
        ways = (lambda number: number, _as_decimal)
    return random.choice(ways)


def _in_the_east(moment: datetime) -> datetime:
    try:
        return moment.astimezone(_EAST)
    except OverflowError:
        return moment


def _as_decimal(number: Any) -> Any:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
