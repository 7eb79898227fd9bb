"""How many values occur once and how many more often, by part: what the workers do.

A task cuts its values into buckets by their bits and sends each bucket as one row. All values that
could be equal then meet in one task, where a bucket is sorted. A value that stands alone there is
unique in the whole and in its part; only the others are counted again, part by part.

This module is shipped to the workers, so it uses nothing but numpy, Arrow and Python itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dq_dagster.spark.passes.blocks.arrays import Name, PartCodes, Totals, mixed, words

_BUCKET_BITS = 56
_BUCKETS = 256
# So many values are held before they are sent, or counted together.
_MOST_HELD = 2_000_000
_SAMPLE = 4_096

SENT = "c int, b int, w int, k binary, n binary, p binary, names array<binary>"
_SENT = pa.schema(
    [
        ("c", pa.int32()),
        ("b", pa.int32()),
        ("w", pa.int32()),
        ("k", pa.binary()),
        ("n", pa.binary()),
        ("p", pa.binary()),
        ("names", pa.list_(pa.binary())),
    ]
)
UNIQUE, DISTINCT, ROWS = range(3)


class Values(NamedTuple):
    """Values as one or two words, the part of each, and how often it occurs where that is known."""

    first: Any
    second: Any
    part: Any
    count: Any = None

    def at(self, places: Any) -> Values:
        return Values(*(None if one is None else one[places] for one in self))


def send_buckets(batches: Iterable[Any], widths: Sequence[int], keys: int) -> Iterator[Any]:
    """Each value has one or two columns, as ``widths`` say; ``keys`` after them name its part."""
    held: list[list[Values]] = [[] for _ in widths]
    codes, many = PartCodes(keys), 0
    for batch in batches:
        part = codes.of(batch.columns[sum(widths) :], batch.num_rows)
        for mine, values in zip(held, _values(batch, widths, part), strict=True):
            if len(values.part):
                mine.append(values)
                many += len(values.part)
        if many >= _MOST_HELD:
            yield from _blocks(held, codes.names())
            held, codes, many = [[] for _ in widths], PartCodes(keys), 0
    yield from _blocks(held, codes.names())


def _values(batch: Any, widths: Sequence[int], part: Any) -> Iterator[Values]:
    start = 0
    for width in widths:
        columns, at = batch.columns[start : start + width], part
        start += width
        if columns[0].null_count:
            there = columns[0].is_valid()
            columns = [column.filter(there) for column in columns]
            at = part[there.to_numpy(zero_copy_only=False)]
        yield Values(*words(columns), at)


def _blocks(held: Sequence[Sequence[Values]], names: list[Name]) -> Iterator[Any]:
    for number, mine in enumerate(held):
        if mine:
            yield _block(number, _counted(_spread(joined(mine)), len(names)), names)


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
    some = np.sort(first[:: max(1, len(first) // _SAMPLE)][:_SAMPLE])
    if np.count_nonzero(some[1:] != some[:-1]) > len(some) // 4:
        return values
    coded = pc.dictionary_encode(pa.array(first))
    place, known = coded.indices.to_numpy(), coded.dictionary.to_numpy()
    if len(known) * parts > _MOST_HELD:
        return values
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


def _block(column: int, values: Values, names: list[Name]) -> Any:
    """One row for each bucket."""
    bucket = (values.first >> np.uint64(_BUCKET_BITS)).astype(np.uint8)
    ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
    first, second, part, count = values.at(np.argsort(bucket, kind="stable"))
    value = first if second is None else np.stack([first, second], axis=1)
    # The rows of one part need no numbers.
    part = None if len(names) == 1 else part
    flat = [text for name in names for text in name]
    rows: list[tuple[Any, ...]] = []
    for at in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
        where = slice(ends[at - 1] if at else 0, ends[at])
        arrays = [None if one is None else one[where].tobytes() for one in (value, count, part)]
        rows.append((column, at, 1 if second is None else 2, *arrays, flat))
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(one, kind) for one, kind in zip(columns, _SENT.types, strict=True)],
        schema=_SENT,
    )


def tally_buckets(
    batches: Iterable[Any], cuts: Sequence[Sequence[int]], keys: int, most: int
) -> Iterator[Any]:
    """The sums of each column, by cut and part; a cut is the places of its keys.

    The rows come ordered by column and bucket, so that one bucket at a time is in memory. With
    more than ``most`` parts the rest does not matter.
    """
    totals: dict[int, Totals] = {}
    bucket = None
    for row in _rows(batches):
        if bucket is None or not bucket.takes(row):
            if bucket is not None:
                bucket.tally()
                if sum(map(len, totals.values())) > most:
                    break
            mine = totals.setdefault(row["c"], Totals(cuts, 3))
            bucket = _Bucket(row["c"], row["b"], keys, mine)
        bucket.add(row)
    else:
        if bucket is not None:
            bucket.tally()
    yield _sums(totals, keys)


def _rows(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for n in range(batch.num_rows):
            # One at a time: a row may be large.
            yield {field: batch.column(field)[n].as_py() for field in _SENT.names}


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
        flat = row["names"]
        names = [tuple(flat[n : n + self._keys]) for n in range(0, len(flat), self._keys or 1)]
        numbers = self._totals.numbers(names or [()])
        if row["p"] is None:
            part = np.full(len(value), numbers[0])
        else:
            part = numbers[np.frombuffer(row["p"], np.int32)]
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


def _sums(totals: dict[int, Totals], keys: int) -> Any:
    """One row for each column, cut and part."""
    rows = [
        (column, cut, *sums, *name, *[None] * (keys - len(name)))
        for column, mine in totals.items()
        for cut, name, sums in mine.rows()
        if sums[ROWS]
    ]
    names = ["c", "cut", "u", "d", "r", *(f"p{n}" for n in range(keys))]
    kinds = [pa.int32(), pa.int32(), *[pa.int64()] * 3, *[pa.binary()] * keys]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(one, kind) for one, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def tallied(keys: int) -> str:
    """The columns of the sums, as SQL."""
    return "c int, cut int, u bigint, d bigint, r bigint" + "".join(
        f", p{n} binary" for n in range(keys)
    )
