"""The middle values of each part: what the workers do.

Values are compared as whole numbers of 64 bits that have the same order. A task counts its values
in bins: a bin is one value where there are few, else the values that share as many of their first
bits as leave some thousand bins. Bins that are put together say in which of them the middle lies,
and often it is a single value. If not, a second query takes the values of that bin alone.

This module is shipped to the workers, so it uses nothing but numpy, Arrow and Python itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dq_dagster.spark.passes.blocks.arrays import (
    Name,
    PartCodes,
    Totals,
    few_codes,
    halves,
    sent_rows,
    short,
)

GREATEST = 2**63 - 1
# Numbers above this one stand for NaN, where values are floating point numbers.
INFINITY = 0x7FF0 << 48
_MOST_HELD = 2_000_000
# How many bins there may be for each part, and in all.
_MOST_BINS = 2_048
_FEW_BINS = 16_384

# What a second query is to find, by column, cut and part: values between two ends, and two ranks.
Ends = Sequence[Sequence[Mapping[Name, tuple[int, int, int, int]]]]


class Bins(NamedTuple):
    """How many values lie between which two, ordered by part.

    The level is the number of bits in which values of one bin may differ.
    """

    level: int
    part: Any
    low: Any
    high: Any
    count: Any


def ordered_number(column: Any) -> Any:
    """The values as whole numbers of the same order, copied; NaN is the greatest."""
    kind = column.type
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return _ordered_bits(numbers)
    if pa.types.is_decimal(kind):
        # Up to 18 digits: the lower half of the number is all of it.
        return halves(column)[:, 0].copy()
    return column.cast(pa.int64()).to_numpy(zero_copy_only=False).astype(np.int64)


def _ordered_bits(numbers: Any) -> Any:
    bits = numbers.view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(GREATEST))


# --- bins ---------------------------------------------------------------------------------------


def block(column: int, value: Any, part: Any, names: Sequence[Name]) -> Any:
    """The row that is sent for the values of one column."""
    bins = _shortened(_counted(value, part, len(names)), len(names))
    ends = bins.low if bins.level == 0 else np.stack([bins.low, bins.high], axis=1)
    numbers = None if len(names) == 1 else bins.part.astype(np.int32).tobytes()
    row = (column, 0, bins.level, ends.tobytes(), bins.count.tobytes(), numbers)
    return sent_rows([row], names)


def _counted(value: Any, part: Any, parts: int) -> Bins:
    """Each value of each part with how often it occurs."""
    coded = few_codes(value, _MOST_HELD // parts)
    if coded is None:
        return _sorted(value, part, parts)
    place, known = coded
    order = np.argsort(known)
    counts = np.bincount(part * np.int64(len(known)) + place, minlength=len(known) * parts)
    counts = counts.reshape(parts, -1)[:, order]
    at, which = np.nonzero(counts)
    low = known[order][which]
    return Bins(0, at, low, low, counts[at, which])


def _sorted(value: Any, part: Any, parts: int) -> Bins:
    if parts == 1:
        value = np.sort(value)
        part = np.zeros(len(value), np.int32)
    else:
        value = value[np.argsort(short(part, parts), kind="stable")]
        counts = np.bincount(part, minlength=parts)
        start = 0
        for end in np.cumsum(counts).tolist():
            value[start:end].sort()
            start = end
        part = np.repeat(np.arange(parts), counts)
    return _joined(0, part, value, Bins(0, part, value, value, None))


def _joined(level: int, part: Any, number: Any, bins: Bins) -> Bins:
    """One bin for those of one part and number, which follow each other."""
    new = np.ones(len(number), bool)
    new[1:] = (number[1:] != number[:-1]) | (part[1:] != part[:-1])
    start = np.flatnonzero(new)
    if bins.count is None:
        count = np.diff(start, append=len(number))
    else:
        count = np.add.reduceat(bins.count, start) if len(start) else bins.count
    end = np.append(start[1:], len(number)) - 1 if len(start) else start
    return Bins(level, part[start], bins.low[start], bins.high[end], count)


def _shortened(bins: Bins, parts: int) -> Bins:
    """As few bins as there may be, by leaving out as few bits as that takes."""
    most = max(_FEW_BINS, _MOST_BINS * parts)
    if len(bins.low) <= most:
        return bins
    levels = range(bins.level, 64)
    enough = bisect_left(levels, -most, key=lambda level: -_occupied(bins, level))
    level = levels[min(enough, len(levels) - 1)]
    return _joined(level, bins.part, bins.low >> np.int64(level), bins)


def _occupied(bins: Bins, level: int) -> int:
    number, part = bins.low >> np.int64(level), bins.part
    return int(np.count_nonzero((number[1:] != number[:-1]) | (part[1:] != part[:-1]))) + 1


def _together(blocks: Sequence[Bins]) -> Bins:
    """The bins of several blocks, as coarse as the coarsest of them."""
    level = max(bins.level for bins in blocks)
    part, low, high, count = (np.concatenate(some) for some in list(zip(*blocks, strict=True))[1:])
    order = np.lexsort((low, part))
    part, low, high, count = part[order], low[order], high[order], count[order]
    number = low >> np.int64(level)
    if level and len(low):
        # Within a bin the lows are ordered, the highs are not.
        new = np.ones(len(low), bool)
        new[1:] = (number[1:] != number[:-1]) | (part[1:] != part[:-1])
        start = np.flatnonzero(new)
        high = np.maximum.reduceat(high, start)[np.cumsum(new) - 1]
    return _joined(level, part, number, Bins(level, part, low, high, count))


class Collected:
    """What came in of one column."""

    def __init__(self, column: int, keys: int, totals: Totals) -> None:
        self._column = column
        self._keys = keys
        self._totals = totals
        self._blocks: list[Bins] = []
        self._held = 0
        self._most = _MOST_HELD
        self.rows: list[tuple[Any, ...]] = []

    def takes(self, row: Mapping[str, Any]) -> bool:
        return bool(self._column == row["c"])

    def add(self, row: Mapping[str, Any]) -> None:
        ends = np.frombuffer(row["k"], np.int64).reshape(-1, 1 if row["w"] == 0 else 2)
        part = self._totals.numbers_in(row, self._keys, len(ends))
        count = np.frombuffer(row["n"], np.int64)
        self._blocks.append(Bins(row["w"], part, ends[:, 0], ends[:, -1], count))
        self._held += len(ends)
        if self._held > self._most:
            parts = self._totals.combinations
            self._blocks = [_shortened(_together(self._blocks), parts)]
            self._held = len(self._blocks[0].low)
            self._most = _MOST_HELD + 2 * self._held

    def tally(self) -> None:
        """Where the middle of each part lies: the rows that go to the driver."""
        bins = _together(self._blocks)
        for cut in range(len(self._totals.cuts)):
            of_cut = _together([bins._replace(part=self._totals.parts(cut, bins.part))])
            names = self._totals.names(cut)
            self.rows += [
                (self._column, cut, *found, *names[part], *[None] * (self._keys - len(names[part])))
                for part, *found in zip(*_middles(of_cut), strict=True)
            ]


def _middles(bins: Bins) -> list[list[int]]:
    """Of each part: its number, and what ``tallies.tallied`` says of ranked columns."""
    part, low, high, count = bins.part, bins.low, bins.high, bins.count
    start = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
    end = np.append(start[1:], len(part)) - 1
    upto = np.cumsum(count)
    before = upto[start] - count[start]
    rows = upto[end] - before
    first, second = (
        np.searchsorted(upto, before + rank, side="right") for rank in ((rows - 1) // 2, rows // 2)
    )
    below = upto[first] - count[first] - before
    single = (low[first] == high[first]) & (low[second] == high[second])
    found = (part[start], below, single, rows, low[first], high[second], high[end])
    return [one.astype(np.int64).tolist() for one in found]


# --- the second query ---------------------------------------------------------------------------


def send_between(
    batches: Iterable[Any], ends: Ends, cuts: Sequence[Sequence[int]], keys: int
) -> Iterator[Any]:
    """For each column, cut and part: the values between the ends, with how often they occur."""
    columns = len(ends)
    for batch in batches:
        codes = PartCodes(keys)
        part = codes.of(batch.columns[columns:], batch.num_rows)
        for number, column in enumerate(batch.columns[:columns]):
            there = column.is_valid()
            value, at = (
                ordered_number(column.filter(there)),
                part[there.to_numpy(zero_copy_only=False)],
            )
            for cut, places in enumerate(cuts):
                wanted = ends[number][cut]
                if len(value) and wanted:
                    names = [tuple(name[key] for key in places) for name in codes.names()]
                    yield _between(number, cut, keys, _inside(value, at, names, wanted))


def _inside(
    value: Any, part: Any, names: Sequence[Name], wanted: Mapping[Name, tuple[int, ...]]
) -> dict[Name, Any]:
    known = np.asarray([wanted.get(name, (GREATEST, -GREATEST))[:2] for name in names], np.int64)
    inside = (value >= known[part, 0]) & (value <= known[part, 1])
    found: dict[Name, list[Any]] = {}
    value, part = value[inside], part[inside]
    for number in np.flatnonzero(np.bincount(part, minlength=len(names))).tolist():
        found.setdefault(names[number], []).append(value[part == number])
    return {name: np.concatenate(some) for name, some in found.items()}


_BETWEEN = ("c", "cut", "v")


def _between(column: int, cut: int, keys: int, found: Mapping[Name, Any]) -> Any:
    rows = [
        (column, cut, value.tobytes(), *name, *[None] * (keys - len(name)))
        for name, value in found.items()
    ]
    kinds = [*[pa.int32()] * 2, *[pa.binary()] * (1 + keys)]
    return _batch(rows, [*_BETWEEN, *(f"p{n}" for n in range(keys))], kinds)


def _batch(rows: list[tuple[Any, ...]], names: list[str], kinds: list[Any]) -> Any:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def pick_middles(
    batches: Iterable[Any], ends: Ends, cuts: Sequence[Sequence[int]], keys: int
) -> Iterator[Any]:
    """One row for each column, cut and part; those of a part follow each other.

    ``low`` and ``high`` are the middle values; both are NULL if there are other values than before.
    """
    part: _Part | None = None
    done: list[tuple[Any, ...]] = []
    for batch in batches:
        for n in range(batch.num_rows):
            column, cut, value, *name = (one[n].as_py() for one in batch.columns)
            if part is None or part.name != (column, cut, *name):
                done += [] if part is None else [part.middle()]
                _, _, *places = ends[column][cut][tuple(name[: len(cuts[cut])])]
                part = _Part((column, cut, *name), places)
            part.add(np.frombuffer(value, np.int64))
    done += [] if part is None else [part.middle()]
    names = ["c", "cut", *(f"p{n}" for n in range(keys)), "low", "high"]
    kinds = [*[pa.int32()] * 2, *[pa.binary()] * keys, *[pa.int64()] * 2]
    yield _batch(done, names, kinds)


class _Part:
    """The values between the ends of one part, as far as they have come in."""

    def __init__(self, name: tuple[Any, ...], places: Sequence[int]) -> None:
        self.name = name
        self._places = places
        self._values: list[Any] = []
        self._counts: list[Any] = []
        self._held = 0
        self._most = _MOST_HELD

    def add(self, value: Any) -> None:
        self._values.append(value)
        self._counts.append(np.ones(len(value), np.int64))
        self._held += len(value)
        if self._held > self._most:
            value, count = self._once()
            self._values, self._counts, self._held = [value], [count], len(value)
            self._most = _MOST_HELD + 2 * self._held

    def _once(self) -> tuple[Any, Any]:
        """Each of the values once, in order, with how often it occurs."""
        value, place = np.unique(np.concatenate(self._values), return_inverse=True)
        count = np.zeros(len(value), np.int64)
        np.add.at(count, place, np.concatenate(self._counts))
        return value, count

    def middle(self) -> tuple[Any, ...]:
        value, count = self._once()
        upto = np.cumsum(count)
        if self._places[1] >= upto[-1]:
            return (*self.name, None, None)
        places = np.searchsorted(upto, self._places, side="right")
        return (*self.name, *value[places].tolist())


def between(keys: int) -> str:
    """The columns that the second query sends, as SQL."""
    return "c int, cut int, v binary" + "".join(f", p{n} binary" for n in range(keys))


def picked(keys: int) -> str:
    """The columns of the middle values, as SQL."""
    names = "".join(f"p{n} binary, " for n in range(keys))
    return f"c int, cut int, {names}low bigint, high bigint"
