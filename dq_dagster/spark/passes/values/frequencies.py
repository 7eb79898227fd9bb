"""How often values occur, by SQL, for many columns in one query and without an unbounded collect.

An inner aggregation counts each value of each grouping (grouping sets: one pass over the rows). The
outer one counts how many values have each count, which is a small table for any data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from dq_dagster.errors import RuleFailure
from dq_dagster.metrics.frequency import Frequencies, Grouping, Level
from dq_dagster.metrics.measured import UNDIVIDED, Cut, Slice
from dq_dagster.spark.expressions.values import Counting, transport
from dq_dagster.spark.frames.columns import ColumnRef, identifier
from dq_dagster.spark.frames.slicing import Parts, grouped_by_sets, grouping_id
from dq_dagster.spark.passes.queries import side_by_side

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# Each set to group by multiplies the rows that are shuffled; past this a further query is cheaper.
_MOST_SETS = 8
# Levels of all parts together that are brought to the driver.
_MOST_LEVELS = 500_000


def count_values(
    parts: Parts, wanted: Sequence[Counting]
) -> dict[Grouping, dict[Slice, Frequencies]]:
    """The frequencies of each grouping in each part, from as few passes as is fast."""
    # Comparing with a set makes Spark sort all values it counts, so others are counted apart,
    # unless they are so few that a further query costs more.
    apart = ([one for one in wanted if one.sets], [one for one in wanted if not one.sets])
    size = max(1, _MOST_SETS // len(parts.cuts))
    batches = [
        some[start : start + size]
        for some in ([wanted] if parts.is_small else apart)
        for start in range(0, len(some), size)
    ]
    runs = {n: partial(_counted, parts, batch) for n, batch in enumerate(batches)}
    counted = side_by_side(runs, parts.frame.sparkSession)
    return {grouping: found for one in counted.values() for grouping, found in one.items()}


def _counted(parts: Parts, wanted: Sequence[Counting]) -> dict[Grouping, dict[Slice, Frequencies]]:
    """The frequencies of each grouping in each part, from one pass over the table."""
    sets = [Counted(cut, one, n) for cut in parts.cuts for n, one in enumerate(wanted)]
    keys = [identifier(key) for key in parts.keys.values()]
    # Frequent values are few: it pays to count those of the smallest parts first.
    several = len(parts.cuts) > 1 and any(one.sets for one in wanted)
    by = parts.plain_keys() if several else keys
    rows = parts.frame.selectExpr(*by, *(f"{one.sql} AS {one.key.sql}" for one in wanted))
    counted = _in_two_steps(rows, parts, wanted) if several else _in_one_step(rows, parts, sets)
    given = _cases(sets, lambda one: f"{one.counting.key.sql} IS NOT NULL")
    known = counted.where(f"CASE g {given} END")
    levels = known.groupBy("g", *keys, F.expr(_level_number(sets)).alias("level")).agg(
        *(F.expr(sql) for sql in _level_columns(wanted))
    )
    return _frequencies(_collected(levels, parts), parts, sets)


@dataclass(frozen=True, slots=True)
class Counted:
    """One grouping within the parts of one cut: a set of columns to group by."""

    cut: Cut
    counting: Counting
    number: int


def _in_one_step(rows: DataFrame, parts: Parts, sets: Sequence[Counted]) -> DataFrame:
    """Each value with its count, in the parts of each cut; ``g`` is the place among the sets."""
    columns = [identifier(key) for key in parts.keys.values()]
    columns += dict.fromkeys(one.counting.key.sql for one in sets)
    by = [[*_keys(parts, one.cut), one.counting.key.sql] for one in sets]
    return _grouped(rows, by, columns, "count(1)", parts)


def _in_two_steps(rows: DataFrame, parts: Parts, wanted: Sequence[Counting]) -> DataFrame:
    """The same; only what was counted in the smallest parts is counted for the cuts."""
    keys = [identifier(key) for key in parts.keys.values()]
    values = [one.key.sql for one in wanted]
    by_value = [[*keys, value] for value in values]
    counted = _with_texts(_grouped(rows, by_value, [*keys, *values], "count(1)", parts), parts)
    columns = ["w", *values, *keys]
    by = [["w", *values, *_keys(parts, cut)] for cut in parts.cuts]
    of_cuts = _grouped(counted.withColumnRenamed("g", "w"), by, columns, "sum(n)", parts)
    return of_cuts.withColumn("g", F.expr(f"g * {len(wanted)} + w"))


def counted_in_cuts(rows: DataFrame, parts: Parts, values: Sequence[str]) -> DataFrame:
    """How often each combination of values occurs in the parts of each cut, by ``g``, its place.

    The rows have the keys of their parts as ``Parts.plain_keys`` names them.
    """
    keys = [identifier(key) for key in parts.keys.values()]
    sets = [[*_keys(parts, cut), *values] for cut in parts.cuts]
    if len(sets) == 1:
        return _with_texts(_grouped(rows, sets, [*keys, *values], "count(1)", parts), parts)
    if parts.finest() is None:
        return _grouped(_with_texts(rows, parts), sets, [*keys, *values], "count(1)", parts)
    # What was counted in the smallest parts is few rows.
    counted = rows.groupBy(*keys, *values).agg(F.expr("count(1)").alias("n"))
    return _grouped(_with_texts(counted, parts), sets, [*keys, *values], "sum(n)", parts)


def _with_texts(rows: DataFrame, parts: Parts) -> DataFrame:
    for name, text in parts.texts().items():
        rows = rows.withColumn(name, F.expr(text))
    return rows


def _grouped(
    rows: DataFrame, sets: list[list[str]], columns: list[str], count: str, parts: Parts
) -> DataFrame:
    """How often each value occurs; ``g`` is the place of the grouping among the sets."""
    counted = F.expr(count).alias("n")
    if len(sets) == 1:
        return rows.groupBy(*sets[0]).agg(F.lit(0).alias("g"), counted)
    if parts.is_small:
        return grouped_by_sets(rows, sets, columns, number="g").agg(counted)
    cases = " ".join(
        f"WHEN {grouping_id(columns, kept)} THEN {number}" for number, kept in enumerate(sets)
    )
    number = F.expr(f"CASE grouping_id() {cases} END").alias("g")
    return rows.groupingSets(sets, *columns).agg(number, counted)


def _collected(levels: DataFrame, parts: Parts) -> list[Row]:
    undivided = parts.cuts == (UNDIVIDED,)
    return levels.collect() if undivided else parts.bounded(levels, _MOST_LEVELS)


def _keys(parts: Parts, cut: Cut) -> list[str]:
    return [identifier(key) for key in parts.keys_of(cut)]


def _cases(sets: Sequence[Counted], answer: Callable[[Counted], str]) -> str:
    return " ".join(f"WHEN {number} THEN {answer(one)}" for number, one in enumerate(sets))


def _level_number(sets: Sequence[Counted]) -> str:
    """Where no value matters by itself, all that occur more than once are one level."""
    cases = _cases(sets, lambda one: "n" if one.counting.sets else "least(n, 2)")
    return f"CASE g {cases} END"


def _level_columns(wanted: Sequence[Counting]) -> list[str]:
    columns = ["count(1) AS m", "sum(n) AS rows"]
    for n, one in enumerate(wanted):
        for s, members in enumerate(one.sets):
            columns.append(f"count(if({one.inside(members)}, 1, NULL)) AS i{n}_{s}")
        if one.sets:
            plain, _ = transport(one.key)
            columns.append(f"{plain.format(f'min({one.key.sql})')} AS a{n}")
            columns.append(f"{plain.format(f'max({one.key.sql})')} AS z{n}")
    return columns


def _frequencies(
    rows: Sequence[Row], parts: Parts, sets: Sequence[Counted]
) -> dict[Grouping, dict[Slice, Frequencies]]:
    levels: dict[Grouping, dict[Slice, list[Level]]] = {s.counting.grouping: {} for s in sets}
    for row in rows:
        one = sets[row["g"]]
        mine = levels[one.counting.grouping].setdefault(parts.slice(row, one.cut), [])
        mine.append(_level(row.asDict(recursive=False), one.number, one.counting))
    return {
        grouping: {
            part: Frequencies(tuple(sorted(mine, key=lambda level: -level.frequency)))
            for part, mine in by_part.items()
        }
        for grouping, by_part in levels.items()
    }


def _level(row: Mapping[str, Any], n: int, one: Counting) -> Level:
    inside = {members: row[f"i{n}_{s}"] for s, members in enumerate(one.sets)}
    # With up to two values of one frequency, the least and the greatest are all of them.
    examples = _examples(row, n, one.key) if one.sets else ()
    return Level(row["level"], row["m"], row["rows"], inside, examples)


def _examples(row: Mapping[str, Any], n: int, key: ColumnRef) -> tuple[Any, ...]:
    _, from_plain = transport(key)
    try:
        return tuple(dict.fromkeys([from_plain(row[f"a{n}"]), from_plain(row[f"z{n}"])]))
    except RuleFailure:
        # A time that Python cannot hold; it is only shown, not judged.
        return ()
