"""The middle values of each part between two known ends: what the workers do.

Values are compared as whole numbers of 64 bits that have the same order. A task counts the values
below the ends of their part and sends those between them; the middle ones are then picked by rank.

This module is shipped to the workers, so it uses nothing but numpy, Arrow and Python itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dq_dagster.spark.passes.blocks.arrays import Name, PartCodes, halves

LEAST, GREATEST = -(2**63), 2**63 - 1
_MOST_HELD = 2_000_000

# The ends of each part, by column and cut; a part that is not named has all values between them.
Ends = Sequence[Sequence[Mapping[Name, tuple[int, int]]]]


def ordered_number(column: Any) -> Any:
    """The values as whole numbers of the same order; a NaN has none."""
    kind = column.type
    if pa.types.is_floating(kind):
        bits = (column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0).view(np.int64)
        return bits ^ ((bits >> np.int64(63)) & np.int64(GREATEST))
    if pa.types.is_decimal(kind):
        # Up to 18 digits: the lower half of the number is all of it.
        return halves(column)[:, 0]
    return column.cast(pa.int64()).to_numpy(zero_copy_only=False)


def send_between(
    batches: Iterable[Any], ends: Ends, cuts: Sequence[Sequence[int]], keys: int, most: int
) -> Iterator[Any]:
    """For each column, cut and part: what lies below, and the values between the ends."""
    columns = len(ends)
    held: list[list[Any]] = [[] for _ in range(columns)]
    codes, values = PartCodes(keys), 0
    for batch in batches:
        part = codes.of(batch.columns[columns:], batch.num_rows)
        for mine, column in zip(held, batch.columns[:columns], strict=True):
            there = column.is_valid()
            given = column.filter(there)
            if len(given):
                mine.append((_numbers(given), part[there.to_numpy(zero_copy_only=False)]))
                values += len(given)
        if values >= _MOST_HELD:
            yield from _between(held, codes.names(), ends, cuts, most)
            held, codes, values = [[] for _ in range(columns)], PartCodes(keys), 0
    if values:
        yield from _between(held, codes.names(), ends, cuts, most)


def _numbers(column: Any) -> tuple[Any, Any]:
    """The numbers, copied since the memory of a batch is used again, and which are NaN."""
    nan = None
    if pa.types.is_floating(column.type):
        nan = np.isnan(column.to_numpy(zero_copy_only=False))
    return ordered_number(column).copy(), nan if nan is not None and nan.any() else None


def _between(
    held: Sequence[Sequence[Any]],
    names: Sequence[Name],
    ends: Ends,
    cuts: Sequence[Sequence[int]],
    most: int,
) -> Iterator[Any]:
    for column, mine in enumerate(held):
        if not mine:
            continue
        value = np.concatenate([number for (number, _), _ in mine])
        part = np.concatenate([at for _, at in mine])
        nan = np.concatenate(
            [np.zeros(len(number), bool) if nan is None else nan for (number, nan), _ in mine]
        )
        for cut, places in enumerate(cuts):
            parts: dict[Name, int] = {}
            to_part = [
                parts.setdefault(tuple(name[key] for key in places), len(parts)) for name in names
            ]
            if len(parts) > most:
                raise ValueError("There are too many parts.")
            known = [ends[column][cut].get(name, (LEAST, GREATEST)) for name in parts]
            of_part = np.asarray(to_part, np.int32)[part]
            found = _of_parts(value, nan, of_part, np.asarray(known, np.int64))
            yield _sent(column, cut, list(parts), found, len(names[0]))


def _of_parts(value: Any, nan: Any, part: Any, ends: Any) -> list[tuple[Any, ...]]:
    """Of each part: how many values, NaN and lower ones there are, and those between the ends."""
    many = len(ends)
    low, high = ends[0] if many == 1 else (ends[part, 0], ends[part, 1])
    below = value < low
    inside = np.flatnonzero(~below & (value <= high) & ~nan)
    counts = [
        np.bincount(part if which is None else part[which], minlength=many)
        for which in (None, nan, below & ~nan)
    ]
    at, chosen = part[inside], value[inside]
    order = np.lexsort((chosen, at)) if many > 1 else np.argsort(chosen)
    at, chosen = at[order], chosen[order]
    edges = np.searchsorted(at, np.arange(many + 1))
    return [
        (*(int(one[n]) for one in counts), *_once(chosen[edges[n] : edges[n + 1]], None))
        for n in range(many)
    ]


def _once(value: Any, count: Any) -> tuple[Any, Any]:
    """Each of the ordered values once, with how often it occurs."""
    new = np.ones(len(value), bool)
    new[1:] = value[1:] != value[:-1]
    start = np.flatnonzero(new)
    if count is None:
        return value[start], np.diff(start, append=len(value))
    return value[start], np.add.reduceat(count, start) if len(start) else count


_SENT = ("c", "cut", "rows", "nan", "below", "v", "n")


def _sent(column: int, cut: int, names: list[Name], found: list[tuple[Any, ...]], keys: int) -> Any:
    rows = [
        (column, cut, rows, nan, below, value.tobytes(), count.astype(np.int64).tobytes(),
         *name, *[None] * (keys - len(name)))
        for name, (rows, nan, below, value, count) in zip(names, found, strict=True)
        if rows
    ]  # fmt: skip
    kinds = [*[pa.int32()] * 2, *[pa.int64()] * 3, *[pa.binary()] * (2 + keys)]
    return _batch(rows, [*_SENT, *(f"p{n}" for n in range(keys))], kinds)


def _batch(rows: list[tuple[Any, ...]], names: list[str], kinds: list[Any]) -> Any:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def pick_middles(batches: Iterable[Any], keys: int) -> Iterator[Any]:
    """One row for each column, cut and part; those of a part follow each other.

    ``low`` and ``high`` are the middle values; both are NULL if they are not between the ends.
    """
    part: _Part | None = None
    done: list[tuple[Any, ...]] = []
    for batch in batches:
        for n in range(batch.num_rows):
            row = [column[n].as_py() for column in batch.columns]
            name = (row[0], row[1], *row[len(_SENT) :])
            if part is None or part.name != name:
                done += [] if part is None else [part.middle()]
                part = _Part(name)
            part.add(*row[2 : len(_SENT)])
    done += [] if part is None else [part.middle()]
    names = ["c", "cut", *(f"p{n}" for n in range(keys)), "nan", "low", "high"]
    kinds = [*[pa.int32()] * 2, *[pa.binary()] * keys, *[pa.int64()] * 3]
    yield _batch(done, names, kinds)


class _Part:
    """What came in of one column in one part."""

    def __init__(self, name: tuple[Any, ...]) -> None:
        self.name = name
        self._rows = self._nan = self._below = 0
        self._blocks: list[tuple[Any, Any]] = []
        self._held = 0
        self._most = _MOST_HELD

    def add(self, rows: int, nan: int, below: int, value: bytes, count: bytes) -> None:
        self._rows += rows
        self._nan += nan
        self._below += below
        self._blocks.append((np.frombuffer(value, np.int64), np.frombuffer(count, np.int64)))
        self._held += len(self._blocks[-1][0])
        if self._held > self._most:
            self._blocks = [self._joined()]
            self._held = len(self._blocks[0][0])
            self._most = _MOST_HELD + 2 * self._held

    def _joined(self) -> tuple[Any, Any]:
        value, count = (np.concatenate(some) for some in zip(*self._blocks, strict=True))
        order = np.argsort(value, kind="stable")
        return _once(value[order], count[order])

    def middle(self) -> tuple[Any, ...]:
        value, count = self._joined()
        upto = self._below + np.cumsum(count)
        ranks = (self._rows - 1) // 2, self._rows // 2
        within = len(upto) and self._below <= ranks[0] and ranks[1] < upto[-1]
        found = [int(value[np.searchsorted(upto, rank, side="right")]) for rank in ranks if within]
        return (*self.name, self._nan, *(found or (None, None)))


def between(keys: int) -> str:
    """The columns that are sent, as SQL."""
    counts = "rows bigint, nan bigint, below bigint, v binary, n binary"
    return f"c int, cut int, {counts}" + "".join(f", p{n} binary" for n in range(keys))


def picked(keys: int) -> str:
    """The columns of the middle values, as SQL."""
    names = "".join(f"p{n} binary, " for n in range(keys))
    return f"c int, cut int, {names}nan bigint, low bigint, high bigint"
