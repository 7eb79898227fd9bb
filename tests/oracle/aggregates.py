"""Conditions on aggregates in SQL, each beside the same in Python.

A condition is made of aggregates of columns; ``verdict`` finds the Python side of a text again.
Unknown is None. What Spark raises on, ``Raised`` stands for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias

from tests.oracle import kinds
from tests.oracle.sql import answer, predicate, quoted
from tests.oracle.values import is_nan
from tests.oracle.verdicts import ANYTHING, NOTHING, Row, Rule, Verdict

Rows: TypeAlias = Sequence[Row]
Truth: TypeAlias = bool | None

_LONG = 2**63
_CONSTANTS = (-1000, -3, 0, 1, 2, 3, 5, 10, 1000)
_ROUNDING = 1e-9


# What an average of decimals is rounded to, and what sums of doubles may be off.
_SLACK = Fraction(1, 10**6)


class Raised(Exception):
    """Spark has no answer but an error."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A call in SQL and what it means; ``rounds`` if it computes with doubles."""

    sql: str
    value: Callable[[Rows], Any]
    rounds: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A condition: its text, the aggregates in it, and what it means."""

    sql: str
    aggregates: tuple[Aggregate, ...]
    truth: Callable[[Rows], Truth]

    def close(self, values: Mapping[str, Any]) -> bool:
        """Whether rounding could turn the answer."""
        rounded = [values[one.sql] for one in self.aggregates if one.rounds]
        known = [value for value in rounded if value is not None and math.isfinite(value)]
        return any(
            math.isclose(value, constant, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
            for value in known
            for constant in _CONSTANTS
        )


_SAID: dict[str, Said] = {}


def verdict(rule: Rule, rows: Rows) -> Verdict:
    """What the rule must say about the rows that pass its filter."""
    said = _SAID[rule["expectation"]]
    try:
        values = {one.sql: one.value(rows) for one in said.aggregates}
        truth = said.truth(rows)
    except Raised:
        return Verdict("Error")
    if truth is None and not rows:
        return NOTHING
    if truth is None:
        truth = rule.get("null_is") == "pass"
    elif any(map(is_nan, values.values())) and "isnan(" not in said.sql:
        truth = False
    observed = next(iter(values.values())) if len(values) == 1 else ANYTHING
    close = frozenset({"Ok", "Error"}) if said.close(values) else frozenset()
    slack = _SLACK + _size(observed) * Fraction(1, 10**9) if said.aggregates[0].rounds else 0
    status = "Ok" if truth else "Error"
    return Verdict(status, observed, None, len(rows), close, Fraction(slack))


def _size(value: Any) -> Fraction:
    finite = isinstance(value, int | Fraction) or (
        isinstance(value, float) and math.isfinite(value)
    )
    return abs(Fraction(value)) if finite else Fraction(0)


def values_of(text: str, rows: Rows) -> dict[str, Any]:
    """The value of each aggregate in a condition that was made here."""
    return {one.sql: one.value(rows) for one in _SAID[text].aggregates}


# --- aggregates ---------------------------------------------------------------------------------


def _present(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None]


def _ranked(value: Any) -> Any:
    """A key to order by: NaN above everything."""
    return (is_nan(value), 0.0 if is_nan(value) else value)


def _extreme(name: str, choose: Callable[..., Any]) -> Callable[[Rows], Any]:
    return lambda rows: choose(_present(rows, name), key=_ranked, default=None)


def _distinct(rows: Rows, name: str) -> int:
    return len({"NaN" if is_nan(value) else value for value in _present(rows, name)})


def _total(rows: Rows, name: str, kind: str) -> Any:
    found = _present(rows, name)
    if not found:
        return None
    if kind in kinds.FLOATING:
        return _float_sum(found)
    total = sum(map(Fraction, found), Fraction(0))
    if kind in kinds.WHOLE and not -_LONG <= total < _LONG:
        raise Raised
    return total


def _float_sum(values: Sequence[float]) -> float:
    infinite = {value for value in values if math.isinf(value)}
    if any(map(is_nan, values)) or len(infinite) == 2:
        return math.nan
    return infinite.pop() if infinite else math.fsum(values)


def _mean(rows: Rows, name: str, kind: str) -> Any:
    found = _present(rows, name)
    if not found:
        return None
    if kind in kinds.FLOATING:
        total = _float_sum(found)
        return total / len(found)
    return float(sum(map(Fraction, found), Fraction(0)) / len(found))


def _deviation(rows: Rows, name: str) -> Any:
    found = [float(value) for value in _present(rows, name)]
    if len(found) < 2:
        return None
    if not all(map(math.isfinite, found)):
        return math.nan
    exact = [Fraction(value) for value in found]
    middle = sum(exact, Fraction(0)) / len(exact)
    squares = sum(((value - middle) ** 2 for value in exact), Fraction(0))
    return math.sqrt(squares / (len(exact) - 1))


def _median(rows: Rows, name: str) -> Any:
    ordered = sorted(map(float, _present(rows, name)), key=_ranked)
    if not ordered:
        return None
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low if low == high else (low + high) / 2


def _mode(rows: Rows, name: str) -> Any:
    counts = Counter(_present(rows, name))
    most = max(counts.values(), default=0)
    return min((value for value, count in counts.items() if count == most), default=None)


def _every(rows: Rows, text: str) -> Truth:
    found = [truth for row in rows if (truth := answer(text, row)) is not None]
    return all(found) if found else None


def _some(rows: Rows, text: str) -> Truth:
    found = [truth for row in rows if (truth := answer(text, row)) is not None]
    return any(found) if found else None


def _count_if(rows: Rows, text: str) -> int:
    return sum(answer(text, row) is True for row in rows)


def _of_any(name: str, condition: str) -> Iterator[Aggregate]:
    column = quoted(name)
    yield Aggregate("count(*)", len)
    yield Aggregate(f"count({column})", lambda rows: len(_present(rows, name)))
    yield Aggregate(f"count_if({condition})", lambda rows: _count_if(rows, condition))
    yield Aggregate(
        f"sum(if({condition}, 1, 0))",
        lambda rows: _count_if(rows, condition) if rows else None,
    )


def _of_numbers(name: str, kind: str) -> Iterator[Aggregate]:
    column, floats = quoted(name), kind in kinds.FLOATING
    yield Aggregate(f"sum({column})", lambda rows: _total(rows, name, kind), floats)
    yield Aggregate(f"avg({column})", lambda rows: _mean(rows, name, kind), rounds=True)
    yield Aggregate(f"stddev({column})", lambda rows: _deviation(rows, name), rounds=True)
    yield Aggregate(f"min({column})", _extreme(name, min))
    yield Aggregate(f"MAX( {column} )", _extreme(name, max))


def _burdensome(name: str, kind: str) -> Iterator[Aggregate]:
    column = quoted(name)
    yield Aggregate(f"count(distinct {column})", lambda rows: _distinct(rows, name))
    if kind in kinds.WHOLE:
        yield Aggregate(f"mode({column}, true)", lambda rows: _mode(rows, name))
    if kind in kinds.NUMERIC:
        yield Aggregate(f"median({column})", lambda rows: _median(rows, name), rounds=True)


def aggregate(random: Random, name: str, kind: str, *, burdens: float) -> Aggregate:
    """Any aggregate of that column whose value is a number, now and then of some rows only."""
    choices = list(_of_any(name, predicate(random, name, kind)))
    if kind in kinds.NUMERIC:
        choices += [*_of_numbers(name, kind)] * 2
    if random.random() < burdens:
        choices = list(_burdensome(name, kind))
    chosen = random.choice(choices)
    if random.random() > 0.2:
        return chosen
    condition = predicate(random, name, kind)
    return Aggregate(
        f"{chosen.sql} FILTER (WHERE {condition})",
        lambda rows: chosen.value([row for row in rows if answer(condition, row) is True]),
        chosen.rounds,
    )


# --- conditions ---------------------------------------------------------------------------------


def _compare(random: Random, one: Aggregate) -> Said:
    bound = random.choice(_CONSTANTS)
    signs: dict[str, Callable[[Any], bool]] = {
        ">": lambda value: is_nan(value) or value > bound,
        "<=": lambda value: not is_nan(value) and value <= bound,
        "<>": lambda value: is_nan(value) or value != bound,
    }
    sign = random.choice(list(signs))
    return Said(f"{one.sql} {sign} {bound}", (one,), _unless_unknown(one, signs[sign]))


def _unless_unknown(one: Aggregate, meaning: Callable[[Any], bool]) -> Callable[[Rows], Truth]:
    def truth(rows: Rows) -> Truth:
        value = one.value(rows)
        return None if value is None else meaning(value)

    return truth


def _presence(random: Random, one: Aggregate) -> Said:
    if random.random() < 0.5:
        return Said(f"{one.sql} IS NULL", (one,), lambda rows: one.value(rows) is None)
    return Said(f"isnotnull({one.sql})", (one,), lambda rows: one.value(rows) is not None)


def _quotient(random: Random, one: Aggregate, other: Aggregate) -> Said:
    def truth(rows: Rows) -> Truth:
        above, below = one.value(rows), other.value(rows)
        if above is None or below is None:
            return None
        if below == 0:
            raise Raised
        if is_nan(above) or is_nan(below):
            return True
        return (math.isinf(above) and above * below > 0) or bool(above / below > bound)

    bound = random.choice((-2000.5, 2000.5))
    return Said(f"{one.sql} / {other.sql} > {bound}D", (one, other), truth)


def _joined(random: Random, left: Said, right: Said) -> Said:
    word = random.choice(("and", "or"))
    decisive = word == "or"

    def truth(rows: Rows) -> Truth:
        # In this order: where the left side decides, nothing can raise on the right.
        first = left.truth(rows)
        if first is decisive:
            return decisive
        second = right.truth(rows)
        if second is decisive:
            return decisive
        return None if first is None or second is None else not decisive

    both = {one.sql: one for one in left.aggregates + right.aggregates}
    return Said(f"({left.sql}) {word} ({right.sql})", tuple(both.values()), truth)


def _denied(one: Said) -> Said:
    def truth(rows: Rows) -> Truth:
        answer = one.truth(rows)
        return None if answer is None else not answer

    return Said(f"not ({one.sql})", one.aggregates, truth)


def _bool(random: Random, name: str, kind: str) -> Said:
    text = predicate(random, name, kind)
    meaning = random.choice((("bool_and", _every), ("any", _some)))
    one = Aggregate(f"{meaning[0]}({text})", lambda rows: meaning[1](rows, text))
    return Said(one.sql, (one,), one.value)


def condition(random: Random, columns: Sequence[tuple[str, str]], *, burdens: float = 0.0) -> str:
    """A condition on aggregates of these columns, given by name and type."""
    made = _condition(random, columns, burdens, random.choice((0, 0, 1, 1, 2)))
    _SAID[made.sql] = made
    return made.sql


def _condition(
    random: Random, columns: Sequence[tuple[str, str]], burdens: float, depth: int
) -> Said:
    if depth:
        sides = [_condition(random, columns, burdens, depth - 1) for _ in range(2)]
        return _denied(sides[0]) if random.random() < 0.2 else _joined(random, *sides)
    name, kind = random.choice(columns)
    if random.random() < 0.1:
        return _bool(random, name, kind)
    one = aggregate(random, name, kind, burdens=burdens)
    if random.random() < 0.15:
        return _presence(random, one)
    whole = aggregate(random, name, kinds.VOID, burdens=0)
    if random.random() < 0.4 and _is_sum(one) and whole.sql.startswith("count"):
        return _quotient(random, one, whole)
    return _compare(random, one)


def _is_sum(one: Aggregate) -> bool:
    return one.sql.startswith(("sum", "avg", "count"))
