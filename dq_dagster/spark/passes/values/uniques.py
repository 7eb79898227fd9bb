"""How many values occur once, by SQL: words of fixed width are counted, all columns in one query.

A value that lives in one partition alone is counted there when it is counted in the whole. Only
columns with values that live in several are counted once more, by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.metrics.frequency import Frequencies, Grouping
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, WHOLE, Slice
from dq_dagster.spark.frames.columns import identifier
from dq_dagster.spark.frames.slicing import MOST_PARTS, Parts
from dq_dagster.spark.passes.blocks.keys import BlockKey
from dq_dagster.spark.passes.queries import side_by_side

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# So many digits are hashed like a whole number of 64 bits: no two values become the same.
_LONG_DIGITS = 18
_SALT = 7_919
# Rows of results for each part: two levels of as many columns as a pass has.
_MOST_LEVELS = 2 * 20

# By column and the number of a partition, which is None for the whole: unique, distinct, rows.
_Tallies = dict[tuple[int, int | None], tuple[int, int, int]]


def divides_by_partition_at_most(parts: Parts) -> bool:
    return set(parts.cuts) <= {UNDIVIDED, BY_PARTITION}


def count_unique(
    parts: Parts, keys: Mapping[Grouping, BlockKey]
) -> dict[Grouping, dict[Slice, Frequencies]]:
    """The frequencies of each grouping in each part, in which repeated values are one level.

    Nothing is found if the numbers of two partitions are the same, for which there is no reason.
    """
    rows = _narrow(parts, list(keys.values()))
    runs: dict[str, Callable[[], Any]] = {}
    if UNDIVIDED in parts.cuts:
        runs["whole"] = partial(_of_whole, rows, parts)
    if BY_PARTITION in parts.cuts:
        runs["names"] = partial(_names, parts)
    done = side_by_side(runs, parts.frame.sparkSession)
    names: dict[int, str] | None = done.get("names", {})
    if names is None:
        return {}
    tallies, spread = _read(done.get("whole", ()), range(len(keys)))
    if BY_PARTITION in parts.cuts:
        alone = {key: one for key, one in tallies.items() if key[1] is None or key[0] not in spread}
        some = rows.where(f"c IN ({', '.join(map(str, spread))})") if spread else None
        tallies = alone | ({} if some is None else _by_partition(_of_partitions(some, parts)))
    found: dict[Grouping, dict[Slice, Frequencies]] = {grouping: {} for grouping in keys}
    for (column, number), counts in tallies.items():
        if number is not None and number not in names:
            return {}
        part = WHOLE if number is None else Slice(names[number])
        found[list(keys)[column]][part] = Frequencies.once_or_more(*counts)
    return found


def _read(levels: Iterable[Row], columns: Iterable[int]) -> tuple[_Tallies, list[int]]:
    """What is known from the whole, and the columns that are to be counted by partition."""
    tallies: _Tallies = {}
    spread = set(columns)
    levels = list(levels)
    if levels:
        spread = {row["c"] for row in levels if row["p"] is None}
    for row in levels:
        _add(tallies, (row["c"], None), row)
        if row["p"] is not None:
            _add(tallies, (row["c"], row["p"]), row)
    return tallies, sorted(spread)


def _by_partition(levels: Iterable[Row]) -> _Tallies:
    tallies: _Tallies = {}
    for row in levels:
        _add(tallies, (row["c"], row["p"]), row)
    return tallies


def _add(tallies: _Tallies, key: tuple[int, int | None], row: Row) -> None:
    unique, distinct, rows = tallies.get(key, (0, 0, 0))
    once = row["m"] if row["level"] == 1 else 0
    tallies[key] = (unique + once, distinct + row["m"], rows + row["rows"])


def _narrow(parts: Parts, keys: Sequence[BlockKey]) -> DataFrame:
    """One row for each value: its column, one or two words that stand for it, and its partition."""
    kinds = parts.frame.selectExpr(*(f"{key[0]} AS k{n}" for n, key in enumerate(keys))).schema
    words = [_words(key, field.dataType) for key, field in zip(keys, kinds, strict=True)]
    width = max(map(len, words))
    cells = [
        ", ".join(f"'w{m}', {word}" for m, word in enumerate([*some, *["0L"] * width][:width]))
        for some in words
    ]
    each = ", ".join(f"named_struct('c', {n}, {some})" for n, some in enumerate(cells))
    names = ", ".join(["c", *(f"w{m}" for m in range(width))])
    partition = [f"{_number(parts)} AS p"] if BY_PARTITION in parts.cuts else []
    rows = parts.frame.selectExpr(*partition, f"inline(array({each})) AS ({names})")
    return rows.where("w0 IS NOT NULL")


def _words(key: BlockKey, kind: T.DataType) -> tuple[str, ...]:
    if len(key) > 1:
        return key
    [value] = key
    # Of 64 bits or fewer, no two values have the same hash.
    word = f"if({value} IS NULL, NULL, xxhash64({value}))"
    if isinstance(kind, T.DecimalType) and kind.precision > _LONG_DIGITS:
        return word, f"xxhash64({_SALT}L, {value})"
    return (word,)


def _number(parts: Parts) -> str:
    """A number for the partition of a row: the smallest and the greatest of texts are slow."""
    key = parts.keys[None]
    return f"xxhash64({parts.columns.get(None, identifier(key))})"


def _names(parts: Parts) -> dict[int, str] | None:
    """What the partitions are called, by their numbers; None if two have the same one."""
    key = identifier(parts.keys[None])
    # Of each partition one row: texts are made of few.
    each = parts.frame.selectExpr(*parts.plain_keys()).distinct()
    text = parts.texts().get(parts.keys[None], key)
    rows = parts.bounded(each.selectExpr(f"xxhash64({key}) AS p", f"{text} AS name"), MOST_PARTS)
    names = {row["p"]: row["name"] for row in rows}
    return names if len(names) == len(rows) else None


def _words_of(rows: DataFrame) -> list[str]:
    return [name for name in rows.columns if name != "p"]


def _of_whole(rows: DataFrame, parts: Parts) -> list[Row]:
    """Values by column and level, and by partition those that live in one alone."""
    divided = BY_PARTITION in parts.cuts
    ends = [F.expr("min(p)").alias("least"), F.expr("max(p)").alias("most")] if divided else []
    counted = rows.groupBy(*_words_of(rows)).agg(F.expr("count(1)").alias("n"), *ends)
    alone = "if(least = most, least, NULL)" if divided else "CAST(NULL AS BIGINT)"
    return _levels(counted.selectExpr("c", f"{alone} AS p", "n"), parts)


def _of_partitions(rows: DataFrame, parts: Parts) -> list[Row]:
    return _levels(rows.groupBy(*_words_of(rows), "p").agg(F.expr("count(1)").alias("n")), parts)


def _levels(counted: DataFrame, parts: Parts) -> list[Row]:
    levels = counted.groupBy("c", "p", F.expr("least(n, 2)").alias("level")).agg(
        F.expr("count(1)").alias("m"), F.expr("sum(n)").alias("rows")
    )
    if parts.cuts == (UNDIVIDED,):
        return levels.collect()
    return parts.bounded(levels, MOST_PARTS * _MOST_LEVELS)
