"""Comparing two schemas: what is missing, different, out of order or unexpected."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.wording import plural
from dq_dagster.metrics.schema import Field, Path

OK = "ok"
MISSING = "missing"
UNEXPECTED = "unexpected"
WRONG_TYPE = "wrong type"
WRONG_MEANING = "wrong meaning"
WRONG_ORDER = "wrong order"
TOO_LONG = "too long"
UNKNOWN_LENGTH = "unknown length"
_LONGEST_TYPE = 120

Length = int | None | RuleFailure


@dataclass(frozen=True, slots=True)
class Line:
    """One column, or a part of one: what was expected, what there is, and the verdict."""

    path: Path
    expected: str = ""
    actual: str = ""
    # Each thing that is wrong, with the words that say so after the column's name.
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def column(self) -> str:
        return ".".join(self.path)

    @property
    def verdict(self) -> str:
        return ", ".join(self.faults) or OK

    def sentence(self) -> str:
        return f"'{self.column}' {' and '.join(self.faults.values())}"

    def row(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "column": self.column,
            "expected": self.expected,
            "actual": self.actual,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """How schemas are compared, and what is known of the columns beside their types.

    ``exact`` schemas have no further columns, and theirs in the expected order. ``meanings`` are
    those of columns that do not say theirs, ``lengths`` are those of the longest texts.
    """

    exact: bool
    meanings: Mapping[Path, str] = field(default_factory=dict)
    lengths: Mapping[Path, Length] = field(default_factory=dict)

    def lines(self, expected: Sequence[Field], actual: Sequence[Field]) -> list[Line]:
        """All expected columns in their order, then those that are there beyond them."""
        found, unexpected = self._compare((), expected, actual)
        return [*found, *unexpected]

    def _compare(
        self, above: Path, expected: Sequence[Field], actual: Sequence[Field]
    ) -> tuple[list[Line], list[Line]]:
        partners = _partners(expected, actual)
        misplaced = _misplaced(expected, partners) if self.exact else {}
        lines: list[Line] = []
        unexpected: list[Line] = []
        for wanted in expected:
            path = (*above, wanted.name)
            if wanted.name not in partners:
                lines.append(_missing(path, wanted, actual))
                continue
            there = actual[partners[wanted.name]]
            line = self._line(path, wanted, there, misplaced.get(wanted.name))
            lines.append(line)
            if WRONG_TYPE not in line.faults and not wanted.shape.is_whole:
                below, beyond = self._compare(path, wanted.shape.parts, there.shape.parts)
                lines += below
                unexpected += beyond
        if self.exact:
            unexpected = [*_beyond(above, actual, set(partners.values())), *unexpected]
        return lines, unexpected

    def _line(self, path: Path, wanted: Field, there: Field, misplaced: str | None) -> Line:
        meaning = there.meaning or self.meanings.get(path)
        faults: dict[str, str] = {}
        if not _same_type(wanted, there):
            said = _type(wanted) if wanted.shape.is_whole else wanted.shape.kind
            faults[WRONG_TYPE] = f"is of type {_type(there)} instead of {said}"
        else:
            faults |= self._length_faults(path, wanted)
        if wanted.meaning is not None and meaning != wanted.meaning:
            has = f"has the meaning '{meaning}'" if meaning else "has no meaning"
            faults[WRONG_MEANING] = f"{has} instead of '{wanted.meaning}'"
        if misplaced is not None:
            faults[WRONG_ORDER] = f"is out of order (it should come {misplaced})"
        brief = WRONG_TYPE not in faults and not wanted.shape.is_whole
        length = self.lengths.get(path) if wanted.max_length is not None else None
        return Line(
            path,
            _described(wanted, wanted.meaning, limit=wanted.max_length),
            _described(there, meaning if wanted.meaning else None, length=length, brief=brief),
            faults,
        )

    def _length_faults(self, path: Path, wanted: Field) -> dict[str, str]:
        if wanted.max_length is None:
            return {}
        longest = self.lengths.get(path)
        if isinstance(longest, RuleFailure):
            return {UNKNOWN_LENGTH: f"could not be measured ({str(longest).removesuffix('.')})"}
        if longest is None or longest <= wanted.max_length:
            return {}
        text = plural(longest, "character")
        return {TOO_LONG: f"has a text of {text} (at most {wanted.max_length:,} allowed)"}


def _partners(expected: Sequence[Field], actual: Sequence[Field]) -> dict[str, int]:
    """For each expected name that is there, the place of its first occurrence."""
    places: dict[str, int] = {}
    for place, there in enumerate(actual):
        places.setdefault(there.name, place)
    return {wanted.name: places[wanted.name] for wanted in expected if wanted.name in places}


def _misplaced(expected: Sequence[Field], partners: Mapping[str, int]) -> dict[str, str]:
    """The fewest columns that would have to move, each with where it belongs."""
    names = [wanted.name for wanted in expected if wanted.name in partners]
    staying = _longest_ascent([partners[name] for name in names])
    return {
        name: f"after '{names[place - 1]}'" if place else "first"
        for place, name in enumerate(names)
        if place not in staying
    }


def _longest_ascent(numbers: Sequence[int]) -> set[int]:
    """The places of a longest ascending subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_left(tails, number)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [number]
        ends[length : length + 1] = [place]
    staying: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        staying.add(place)
        place = before[place]
    return staying


def _missing(path: Path, wanted: Field, actual: Sequence[Field]) -> Line:
    alike = [there.name for there in actual if there.name.lower() == wanted.name.lower()]
    hint = f" (there is '{alike[0]}': upper and lower case differ)" if alike else ""
    expected = _described(wanted, wanted.meaning, limit=wanted.max_length)
    return Line(path, expected, faults={MISSING: f"is missing{hint}"})


def _beyond(above: Path, actual: Sequence[Field], matched: set[int]) -> list[Line]:
    names = {actual[place].name for place in matched}
    return [
        Line(
            (*above, there.name),
            actual=_described(there, None),
            faults={UNEXPECTED: "is there twice" if there.name in names else "is unexpected"},
        )
        for place, there in enumerate(actual)
        if place not in matched
    ]


def _same_type(wanted: Field, there: Field) -> bool:
    if wanted.shape.is_whole:
        return str(wanted.shape) == str(there.shape)
    return wanted.shape.kind == there.shape.kind


def _described(
    field: Field,
    meaning: str | None,
    *,
    limit: int | None = None,
    length: Length = None,
    brief: bool = False,
) -> str:
    """What a table says of a column: its type, and what else is known or demanded."""
    words = [field.shape.kind if brief or not field.shape.is_whole else _type(field)]
    if limit is not None:
        words.append(f"at most {plural(limit, 'character')}")
    if isinstance(length, int):
        words.append(f"up to {plural(length, 'character')}")
    if meaning is not None:
        words.append(f"meaning {meaning}")
    return ", ".join(words)


def _type(field: Field) -> str:
    text = str(field.shape)
    return text if len(text) <= _LONGEST_TYPE else f"{text[: _LONGEST_TYPE - 1]}…"
