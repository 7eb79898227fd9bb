"""Rows of several partitions, told apart so that one write stores each in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from dq_dagster.spark.frames.columns import identifier, text_literal
from dq_dagster.storage.folders import folder_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The name of no key: a mark is followed by the digits of a character.
OUTSIDE = "!!"


@dataclass(frozen=True, slots=True)
class Outsiders:
    """Rows that belong to none of the partitions: how many, and keys they have instead."""

    rows: int
    examples: tuple[str, ...]


def with_folder_names(
    frame: DataFrame, key: str, partitions: Sequence[str], column: str
) -> DataFrame:
    """The rows with the folder name of their partition, or ``OUTSIDE``, in a further column."""
    helper = _unused("dq_key", [*frame.columns, column])
    keyed = frame.selectExpr("*", f"{key} AS {identifier(helper)}")
    named = _name(identifier(helper), partitions)
    return keyed.selectExpr("*", f"{named} AS {identifier(column)}").drop(helper)


def partition_of(name: str, partitions: Iterable[str]) -> str:
    """The SQL of the partition whose folder name this is; a plain name is the partition itself."""
    odd = {folder_name(key): key for key in partitions if folder_name(key) != key}
    if not odd:
        return name
    table = ", ".join(f"{text_literal(each)}, {text_literal(key)}" for each, key in odd.items())
    return f"coalesce(element_at(map({table}), {name}), {name})"


def unused_column(frame: DataFrame, name: str) -> str:
    """A name like this one that the frame has no column of."""
    return _unused(name, frame.columns)


def outsiders(frame: DataFrame, key: str) -> Outsiders:
    """About rows that all are outside."""
    row = frame.selectExpr(f"{key} AS k").agg(*_about_outsiders(F.col("k"))).collect()[0]
    return _outsiders(row)


def survey(frame: DataFrame, key: str, partitions: Sequence[str]) -> tuple[set[str], Outsiders]:
    """The partitions that have rows, and those rows that have none of them."""
    names = {folder_name(partition): partition for partition in partitions}
    keyed = frame.selectExpr(f"{key} AS k").selectExpr("k", f"{_name('k', partitions)} AS name")
    rows = keyed.groupBy("name").agg(*_about_outsiders(F.col("k"))).collect()
    outside = [_outsiders(row) for row in rows if row["name"] == OUTSIDE]
    found = {names[row["name"]] for row in rows if row["name"] != OUTSIDE}
    return found, outside[0] if outside else Outsiders(0, ())


def _about_outsiders(key: Any) -> list[Any]:
    return [F.count("*").alias("n"), F.min(key).alias("first"), F.max(key).alias("last")]


def _outsiders(row: Any) -> Outsiders:
    seen = dict.fromkeys(key for key in (row["first"], row["last"]) if key is not None)
    return Outsiders(row["n"], tuple(seen))


def _name(key: str, partitions: Sequence[str]) -> str:
    """A set of plain keys is looked up by hash; only odd ones need a table of their names."""
    names = {partition: folder_name(partition) for partition in partitions}
    plain = [text_literal(partition) for partition, name in names.items() if partition == name]
    odd = {
        text_literal(partition): text_literal(name)
        for partition, name in names.items()
        if partition != name
    }
    cases = ""
    if plain:
        cases += f" WHEN {key} IN ({', '.join(plain)}) THEN {key}"
    if odd:
        table = ", ".join(f"{partition}, {name}" for partition, name in odd.items())
        cases += f" WHEN {key} IN ({', '.join(odd)}) THEN element_at(map({table}), {key})"
    return f"CASE{cases} ELSE {text_literal(OUTSIDE)} END"


def _unused(name: str, taken: Sequence[str]) -> str:
    known = {each.lower() for each in taken}
    while name.lower() in known:
        name += "_"
    return name
