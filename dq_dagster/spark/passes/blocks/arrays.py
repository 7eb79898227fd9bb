"""What the workers share: the parts that rows belong to, and columns of Arrow as arrays of numpy.

This module is shipped to the workers, so it uses nothing but numpy, Arrow and Python itself.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# A part by the keys of its cut, as bytes; None stands for NULL.
Name = tuple[bytes | None, ...]

# What crosses the shuffle: column and bucket, the form of the values, these themselves, how often
# each occurs, and its part.
SENT = "c int, b int, w int, k binary, n binary, p binary, names array<binary>"
_SENT = pa.schema(
    [
        *((name, pa.int32()) for name in "cbw"),
        *((name, pa.binary()) for name in "knp"),
        ("names", pa.list_(pa.binary())),
    ]
)
_SAMPLE = 4_096
_SHORT = 2**16
# The last day of the year 9999; later ones are written with a sign.
_LAST_DAY = 2_932_896


def sent_rows(rows: Sequence[tuple[Any, ...]], names: Sequence[Name]) -> Any:
    """One row a block; the names of the parts are the same for all."""
    flat = [text for name in names for text in name]
    columns = zip(*((*row, flat) for row in rows), strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(one, kind) for one, kind in zip(columns, _SENT.types, strict=True)],
        schema=_SENT,
    )


def settle() -> None:
    """What was imported is not looked through again by the collection that ends each task."""
    if not gc.get_freeze_count():
        gc.freeze()


def received(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The rows that were sent, one at a time: each may be large."""
    for batch in batches:
        for n in range(batch.num_rows):
            yield {field: batch.column(field)[n].as_py() for field in _SENT.names}


def few_codes(word: Any, most: int) -> tuple[Any, Any] | None:
    """For each word its place among the distinct ones, and those; None if they are not few."""
    some = np.sort(word[:: max(1, len(word) // _SAMPLE)][:_SAMPLE])
    if np.count_nonzero(some[1:] != some[:-1]) > len(some) // 4:
        return None
    coded = pc.dictionary_encode(pa.array(word))
    if len(coded.dictionary) > most:
        return None
    return coded.indices.to_numpy(), coded.dictionary.to_numpy()


def short(numbers: Any, below: int) -> Any:
    """Numbers in a type that is fast to order by, if they are small enough."""
    return numbers.astype(np.uint16) if below <= _SHORT else numbers


class PartCodes:
    """Numbers for the combinations of keys that rows have."""

    def __init__(self, keys: int) -> None:
        self.keys = keys
        self._ids: list[dict[bytes | None, int]] = [{} for _ in range(keys)]
        # Rows without keys are all of one part.
        self._numbers: dict[tuple[int, ...], int] = {} if keys else {(): 0}

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, columns: Sequence[Any], rows: int) -> Any:
        """The number of each row's combination."""
        if not self.keys:
            return np.zeros(rows, np.int32)
        ids = [
            self._column(known, column) for known, column in zip(self._ids, columns, strict=True)
        ]
        together, first = _first_rows(ids)
        numbers = [
            self._numbers.setdefault(tuple(int(one[row]) for one in ids), len(self._numbers))
            for row in first
        ]
        return np.asarray(numbers, np.int32)[together]

    def names(self) -> list[Name]:
        """The keys of each number."""
        texts = [list(known) for known in self._ids]
        return [tuple(text[n] for text, n in zip(texts, ids, strict=True)) for ids in self._numbers]

    @staticmethod
    def _column(known: dict[bytes | None, int], column: Any) -> Any:
        coded = pc.dictionary_encode(column, null_encoding="encode")
        ids = [known.setdefault(text, len(known)) for text in _texts(coded.dictionary)]
        return np.asarray(ids, np.int64)[coded.indices.to_numpy(zero_copy_only=False)]


def _texts(keys: Any) -> list[bytes | None]:
    """Keys as bytes; of dates and whole numbers the texts that Spark writes."""
    if pa.types.is_binary(keys.type):
        texts: list[bytes | None] = keys.to_pylist()
        return texts
    is_date = pa.types.is_date(keys.type)
    numbers = (keys.cast(pa.int32()) if is_date else keys).to_pylist()
    return [None if n is None else (_date_text(n) if is_date else str(n)).encode() for n in numbers]


def _date_text(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    if days > _LAST_DAY:
        return f"+{text}"
    # Numpy counts the sign of a year as one of its four digits.
    return f"-{text[1:].zfill(10)}" if text.startswith("-") else text


def _first_rows(ids: Sequence[Any]) -> tuple[Any, Any]:
    """For each row the place of its combination, and of each combination one row."""
    combined = ids[0]
    if len(ids) == 1 and not np.any(combined[1:] != combined[:-1]):
        return np.zeros(len(combined), np.int64), range(min(1, len(combined)))
    for more in ids[1:]:
        # Places, not identities: small enough to be combined with the next.
        _, combined = np.unique(combined, return_inverse=True)
        combined = combined * (int(more.max(initial=0)) + 1) + more
    _, first, together = np.unique(combined, return_index=True, return_inverse=True)
    return together, first


class Totals:
    """Numbers by part, for the parts of each cut: what comes in by combination of keys is added."""

    def __init__(self, cuts: Sequence[Sequence[int]], width: int) -> None:
        self.cuts = cuts
        self._width = width
        self._combinations: dict[Name, int] = {}
        self._parts: list[dict[Name, int]] = [{} for _ in cuts]
        self._part_of: list[list[int]] = [[] for _ in cuts]
        self._sums = [np.zeros((0, width), np.int64) for _ in cuts]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def combinations(self) -> int:
        return len(self._combinations)

    def numbers_in(self, row: Mapping[str, Any], keys: int, many: int) -> Any:
        """The numbers here of the parts that a row that was sent has so many values of."""
        flat = row["names"]
        names = [tuple(flat[n : n + keys]) for n in range(0, len(flat), keys or 1)]
        numbers = np.asarray([self._number(name) for name in names or [()]], np.int64)
        if row["p"] is None:
            return np.full(many, numbers[0])
        return numbers[np.frombuffer(row["p"], np.int32)]

    def names(self, cut: int) -> list[Name]:
        """The keys of the parts of a cut, by number."""
        return list(self._parts[cut])

    def _number(self, name: Name) -> int:
        number = self._combinations.get(name)
        if number is None:
            number = self._combinations[name] = len(self._combinations)
            for parts, part_of, cut in zip(self._parts, self._part_of, self.cuts, strict=True):
                part_of.append(parts.setdefault(tuple(name[key] for key in cut), len(parts)))
        return number

    def parts(self, cut: int, numbers: Any) -> Any:
        """The part of each row, by its combination."""
        return np.asarray(self._part_of[cut], np.int64)[numbers]

    def add(self, cut: int, place: int, parts: Any, weights: Any = None) -> None:
        """Counts rows, or sums their weights, by part."""
        sums = self._sums[cut]
        if len(sums) < len(self._parts[cut]):
            more = np.zeros((len(self._parts[cut]) - len(sums), self._width), np.int64)
            sums = self._sums[cut] = np.vstack([sums, more])
        if weights is None:
            counts = np.bincount(parts, minlength=len(sums))
        else:
            # Not bincount: it sums as floating point numbers.
            counts = np.zeros(len(sums), np.int64)
            np.add.at(counts, parts, weights)
        sums[:, place] += counts

    def rows(self) -> Iterable[tuple[int, Name, list[int]]]:
        """Cut, part and sums."""
        for cut, (parts, sums) in enumerate(zip(self._parts, self._sums, strict=True)):
            for name, row in zip(parts, sums.tolist(), strict=False):
                yield cut, name, row


def words(columns: Sequence[Any]) -> tuple[Any, Any]:
    """The values as one or two words of 64 bits, equal if and only if the values are."""
    first, *more = columns
    if more:
        return whole_numbers(first), whole_numbers(more[0])
    if pa.types.is_floating(first.type):
        numbers = first.to_numpy(zero_copy_only=False) + 0.0  # one zero
        numbers = numbers.astype(np.float64)
        numbers[np.isnan(numbers)] = np.nan  # and one NaN
        return numbers.view(np.uint64), None
    if pa.types.is_decimal(first.type):
        both = halves(first).view(np.uint64)
        return both[:, 0].copy(), both[:, 1].copy()
    return whole_numbers(first), None


def whole_numbers(column: Any) -> Any:
    """A copy: the memory of a batch is used again."""
    kind = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    return column.cast(kind).to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)


def halves(column: Any) -> Any:
    """Decimals as pairs of whole numbers of 64 bits, the lower one first."""
    both = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    return both[column.offset : column.offset + len(column)]


def mixed(word: Any) -> Any:
    """The word with its bits spread evenly; no two words become the same."""
    word = (word ^ (word >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    word = (word ^ (word >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return word ^ (word >> np.uint64(32))
