"""How many values occur once and how many more often, by part: what the workers do.

A task cuts its values into buckets by their bits and sends each bucket as one row. All values that
could be equal then meet in one task, where a bucket is sorted. A value that stands alone there is
unique in the whole and in its part; only the others are counted again, part by part.

Numbers that rise from row to row, as those of new rows do, need not be sent: of each stretch in
which they do, its ends are enough, as long as no two stretches overlap.

This module is shipped to the workers, so it uses nothing but numpy, Arrow and Python itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dq_dagster.spark.passes.blocks import ranks
from dq_dagster.spark.passes.blocks.arrays import (
    Name,
    PartCodes,
    Totals,
    few_codes,
    mixed,
    received,
    sent_rows,
    settle,
    words,
)

_BUCKET_BITS = 56
_BUCKETS = 256
# So many values are held before they are sent, or counted together.
_MOST_HELD = 2_000_000

# The bucket of stretches, before all others, and the cut of a column whose stretches overlap.
_STRETCHES = -1
OVERLAP = -1
# With fewer values in each of them on average it does not pay, unless they are few.
_SHORTEST = 64
_FEW = 16

UNIQUE, DISTINCT, ROWS = range(3)


class Values(NamedTuple):
    """Values as one or two words, the part of each, and how often it occurs where that is known."""

    first: Any
    second: Any
    part: Any
    count: Any = None

    def at(self, places: Any) -> Values:
        return Values(*(None if one is None else one[places] for one in self))


def send_buckets(
    batches: Iterable[Any],
    widths: Sequence[int],
    keys: int,
    ranked: int = 0,
    rising: Collection[int] = (),
) -> Iterator[Any]:
    """Each value that is counted has one or two columns, as ``widths`` say.

    After them come columns that are ``ranked``, and ``keys`` that name a row's part. Of the
    ``rising`` ones among the first, stretches are sent.
    """
    settle()
    several = [*widths, *[1] * ranked]
    held: list[list[Values]] = [[] for _ in several]
    codes, many = PartCodes(keys), 0
    for batch in batches:
        part = codes.of(batch.columns[sum(several) :], batch.num_rows)
        for mine, values in zip(held, _values(batch, widths, ranked, part), strict=True):
            if len(values.part):
                mine.append(values)
                many += len(values.part)
        if many >= _MOST_HELD:
            yield from _blocks(held, codes.names(), len(widths), rising)
            held, codes, many = [[] for _ in several], PartCodes(keys), 0
    yield from _blocks(held, codes.names(), len(widths), rising)


def _values(batch: Any, widths: Sequence[int], ranked: int, part: Any) -> Iterator[Values]:
    start = 0
    for number, width in enumerate([*widths, *[1] * ranked]):
        columns, at = batch.columns[start : start + width], part
        start += width
        if columns[0].null_count:
            there = columns[0].is_valid()
            columns = [column.filter(there) for column in columns]
            at = part[there.to_numpy(zero_copy_only=False)]
        if number < len(widths):
            yield Values(*words(columns), at)
        else:
            yield Values(ranks.ordered_number(columns[0]), None, at)


def _blocks(
    held: Sequence[Sequence[Values]], names: list[Name], tallied: int, rising: Collection[int]
) -> Iterator[Any]:
    for number, mine in enumerate(held):
        if not mine:
            continue
        values = joined(mine)
        if number in rising:
            yield _stretches(number, values, names)
        elif number < tallied:
            yield _block(number, _counted(_spread(values), len(names)), names)
        else:
            yield ranks.block(number, values.first, values.part, names)


def joined(values: Sequence[Values]) -> Values:
    first, second, part, counts = zip(*values, strict=True)
    count = None
    if any(one is not None for one in counts):
        ones = [
            np.ones(len(some), np.int64) if one is None else one
            for some, one in zip(first, counts, strict=True)
        ]
        count = np.concatenate(ones)
    return Values(
        np.concatenate(first),
        None if second[0] is None else np.concatenate(second),
        np.concatenate(part),
        count,
    )


def _spread(values: Values) -> Values:
    """The first word decides on the bucket; with the second it still says which value it is."""
    first, second = values.first, values.second
    return values._replace(first=mixed(first if second is None else first ^ mixed(second)))


def _counted(values: Values, parts: int) -> Values:
    """Values with how often they occur, if a sample says that they are few; else as they are."""
    first, second = values.first, values.second
    coded = few_codes(first, _MOST_HELD // parts)
    if coded is None:
        return values
    place, known = coded
    if second is not None:
        seconds = np.zeros(len(known), np.uint64)
        seconds[place] = second
        if np.any(seconds[place] != second):
            # Two values share their first word: the next task tells them apart.
            return values
        second = seconds
    counts = np.bincount(place * np.int64(parts) + values.part, minlength=len(known) * parts)
    there = np.flatnonzero(counts)
    which, part = there // parts, (there % parts).astype(np.int32)
    return Values(known[which], None if second is None else second[which], part, counts[there])


def stretches(first: Any) -> Any:
    """Where stretches of rising values begin; None if they are too short.

    They also end at the widest gaps: what lies there may be in the files of another task.
    """
    falls = first[1:] <= first[:-1]
    if np.count_nonzero(falls) > max(_FEW, len(first) // _SHORTEST):
        return None
    gaps = np.where(falls, np.uint64(0), first[1:] - first[:-1])
    widest = len(first) // _SHORTEST
    begins = np.append(True, falls)
    if widest:
        begins[1 + np.argpartition(gaps, -widest)[-widest:]] = True
    return np.flatnonzero(begins)


def _stretches(column: int, values: Values, names: list[Name]) -> Any:
    """One row: the ends of each stretch, none if they are too short, and the values by part."""
    first, start = values.first, stretches(values.first)
    if start is None:
        start = np.zeros(0, np.int64)
    end = np.append(start[1:], len(first))[: len(start)] - 1
    ends = np.stack([first[start], first[end]], axis=1)
    counts = np.bincount(values.part, minlength=len(names)).astype(np.int64)
    parts = None if len(names) == 1 else np.arange(len(names), dtype=np.int32).tobytes()
    return sent_rows([(column, _STRETCHES, 2, ends.tobytes(), counts.tobytes(), parts)], names)


def _block(column: int, values: Values, names: list[Name]) -> Any:
    """One row for each bucket."""
    bucket = (values.first >> np.uint64(_BUCKET_BITS)).astype(np.uint8)
    ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
    first, second, part, count = values.at(np.argsort(bucket, kind="stable"))
    value = first if second is None else np.stack([first, second], axis=1)
    # The rows of one part need no numbers.
    part = None if len(names) == 1 else part
    rows: list[tuple[Any, ...]] = []
    for at in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
        where = slice(ends[at - 1] if at else 0, ends[at])
        arrays = [None if one is None else one[where].tobytes() for one in (value, count, part)]
        rows.append((column, at, 1 if second is None else 2, *arrays))
    return sent_rows(rows, names)


def tally_buckets(
    batches: Iterable[Any], cuts: Sequence[Sequence[int]], keys: int, most: int, tallied: int
) -> Iterator[Any]:
    """The sums of each column, by cut and part; a cut is the places of its keys.

    The rows come ordered by column and bucket, so that one bucket at a time is in memory. Columns
    after those that are ``tallied`` are ranked. With more than ``most`` parts the rest does not
    matter.
    """
    settle()
    totals: dict[int, Totals] = {}
    ranked: list[tuple[Any, ...]] = []
    bucket: _Bucket | _Stretches | ranks.Collected | None = None
    for row in received(batches):
        if bucket is None or not bucket.takes(row):
            ranked += _done(bucket)
            bucket = None
            if sum(map(len, totals.values())) > most:
                break
            mine = totals.setdefault(row["c"], Totals(cuts, 3))
            if row["b"] == _STRETCHES:
                bucket = _Stretches(row["c"], keys, mine)
            elif row["c"] < tallied:
                bucket = _Bucket(row["c"], row["b"], keys, mine)
            else:
                bucket = ranks.Collected(row["c"], keys, mine)
        bucket.add(row)
    ranked += _done(bucket)
    yield _sums(totals, ranked, keys)


def _done(bucket: _Bucket | _Stretches | ranks.Collected | None) -> list[tuple[Any, ...]]:
    """The rows of what is ranked; what is tallied is in the totals."""
    if bucket is None:
        return []
    bucket.tally()
    return [] if isinstance(bucket, _Bucket) else bucket.rows


class _Stretches:
    """The stretches of a column, as far as they have come in."""

    def __init__(self, column: int, keys: int, totals: Totals) -> None:
        self._column = column
        self._keys = keys
        self._totals = totals
        self._ends: list[Any] = []
        self._parts: list[Any] = []
        self._counts: list[Any] = []
        self.rows: list[tuple[Any, ...]] = []

    def takes(self, row: dict[str, Any]) -> bool:
        return bool(self._column == row["c"])

    def add(self, row: dict[str, Any]) -> None:
        counts = np.frombuffer(row["n"], np.int64)
        self._ends.append(np.frombuffer(row["k"], np.uint64).reshape(-1, 2))
        self._parts.append(self._totals.numbers_in(row, self._keys, len(counts)))
        self._counts.append(counts)

    def tally(self) -> None:
        """Each value is unique if no two stretches overlap; else nothing is known."""
        ends = np.concatenate(self._ends)
        ends = ends[np.argsort(ends[:, 0])]
        apart = ends[1:, 0] > ends[:-1, 1]
        if not all(map(len, self._ends)) or not apart.all():
            self.rows.append((self._column, OVERLAP, *[0] * 3, *[None] * (3 + self._keys)))
            return
        parts, counts = np.concatenate(self._parts), np.concatenate(self._counts)
        for cut in range(len(self._totals.cuts)):
            of_cut = self._totals.parts(cut, parts)
            for place in (UNIQUE, DISTINCT, ROWS):
                self._totals.add(cut, place, of_cut, counts)


class _Bucket:
    """The values of one bucket, as far as they have come in."""

    def __init__(self, column: int, number: int, keys: int, totals: Totals) -> None:
        self._id = column, number
        self._keys = keys
        self._totals = totals
        self._blocks: list[Values] = []
        self._held = 0
        self._most = _MOST_HELD

    def takes(self, row: dict[str, Any]) -> bool:
        return self._id == (row["c"], row["b"])

    def add(self, row: dict[str, Any]) -> None:
        value = np.frombuffer(row["k"], np.uint64).reshape(-1, row["w"])
        count = None if row["n"] is None else np.frombuffer(row["n"], np.int64)
        part = self._totals.numbers_in(row, self._keys, len(value))
        second = value[:, 1] if row["w"] == 2 else None
        self._blocks.append(Values(value[:, 0], second, part, count))
        self._held += len(value)
        if self._held > self._most:
            # What one value fills up becomes short; what many values do stays.
            self._blocks = [_shortened(joined(self._blocks))]
            self._held = len(self._blocks[0].first)
            self._most = _MOST_HELD + 2 * self._held

    def tally(self) -> None:
        values = joined(self._blocks)
        again = _repeated(values)
        if again is None:
            _add_single(values.part, self._totals)
            return
        _add_single(values.part[~again], self._totals)
        _add_repeated(values.at(again), self._totals)


def _repeated(values: Values) -> Any:
    """Which values may occur more than once; None if none does."""
    first, count = values.first, values.count
    ordered = np.sort(first)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    many = None if count is None or count.max() == 1 else count > 1
    if not len(twice):
        return many
    if len(twice) > len(first) // 2:
        return np.ones(len(first), bool)
    place = np.minimum(np.searchsorted(twice, first), len(twice) - 1)
    found = twice[place] == first
    return found if many is None else found | many


def _add_single(part: Any, totals: Totals) -> None:
    for cut in range(len(totals.cuts)):
        of_cut = totals.parts(cut, part)
        for place in (UNIQUE, DISTINCT, ROWS):
            totals.add(cut, place, of_cut)


def _add_repeated(values: Values, totals: Totals) -> None:
    for cut in range(len(totals.cuts)):
        once = _shortened(values._replace(part=totals.parts(cut, values.part)))
        totals.add(cut, UNIQUE, once.part[once.count == 1])
        totals.add(cut, DISTINCT, once.part)
        totals.add(cut, ROWS, once.part, once.count)


def _shortened(values: Values) -> Values:
    """Each value of each part once, with how often it occurs."""
    given = [one for one in (values.part, values.second, values.first) if one is not None]
    order = np.lexsort(given)
    new = np.zeros(len(order), bool)
    new[:1] = True
    for one in given:
        ordered = one[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    start = np.flatnonzero(new)
    ones = np.ones(len(order), np.int64) if values.count is None else values.count[order]
    times = np.add.reduceat(ones, start) if len(start) else ones
    return values.at(order[start])._replace(count=times)


def _sums(totals: dict[int, Totals], ranked: list[tuple[Any, ...]], keys: int) -> Any:
    """One row for each column, cut and part."""
    rows = [
        (column, cut, *sums, None, None, None, *name, *[None] * (keys - len(name)))
        for column, mine in totals.items()
        for cut, name, sums in mine.rows()
        if sums[ROWS]
    ]
    names = ["c", "cut", "u", "d", "r", "low", "high", "top", *(f"p{n}" for n in range(keys))]
    kinds = [pa.int32(), pa.int32(), *[pa.int64()] * 6, *[pa.binary()] * keys]
    columns = list(zip(*rows, *ranked, strict=True)) or [()] * len(names)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def tallied(keys: int) -> str:
    """The columns of the sums, as SQL.

    Of a column that is ranked, ``r`` are its values, ``low`` and ``high`` the ends of its middle
    bins, ``u`` the values below them, ``d`` is 1 if the ends are the middle values themselves, and
    ``top`` is the greatest.
    """
    sums = ", ".join(f"{name} bigint" for name in ("u", "d", "r", "low", "high", "top"))
    return f"c int, cut int, {sums}" + "".join(f", p{n} binary" for n in range(keys))
