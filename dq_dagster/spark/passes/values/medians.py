"""Exact medians of many columns by SQL: values are counted in bins that a small sample chose.

The counts say in which bin the middle of each part lies. If that bin has several values, a second
query puts these in order. No query holds all values of a part at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as F
from pyspark.sql import types as T

from dq_dagster.errors import RuleFailure, Unmeasurable
from dq_dagster.metrics.measured import UNDIVIDED, Cut, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, midpoint
from dq_dagster.spark.expressions.bins import (
    SHARE,
    MedianSql,
    Middles,
    Number,
    Sampled,
    SampledBins,
    sampled,
)
from dq_dagster.spark.frames.ansi import home_of, under_ansi
from dq_dagster.spark.frames.columns import FLOATS, identifier
from dq_dagster.spark.frames.slicing import MOST_PARTS, Parts
from dq_dagster.spark.passes.aggregate import padding
from dq_dagster.spark.passes.values.frequencies import counted_in_cuts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row

# Rows that were others in the second query are counted anew, from another sample.
_SEEDS = (1, 2, 3)
# The middle values of a part; the same one twice, if their number is odd.
_TWO = 2
# So many values of a column are put in order by one task, and so many of all columns are listed.
_MOST_ROWS = 200_000
_MOST_LISTED = 1_000_000
# The share of all values that one bin may have which a glance at the first rows chose: these lie
# beside each other, and can mislead.
_WIDEST = 1 / 16
# The place of a cut, the number of a column and of a bin, how many values, and how many up to them.
_CUT, _COLUMN, _BIN, _COUNT, _UP_TO = "g", "c", "bin", "n", "upto"
_TOTAL = "total"


def medians(
    parts: Parts, wanted: Sequence[MedianSql], seen: Mapping[ColumnMedian, Sampled]
) -> Mapping[Metric, dict[Slice, Any] | RuleFailure]:
    """The median of each column in each part; None, or no part, where there is no value.

    ``seen`` is what a glance at the first rows said. It serves where the rows are not divided.
    """
    found: Middles = _of_few(parts, wanted) if parts.is_small else {}
    undivided = parts.cuts == (UNDIVIDED,)
    of = SampledBins.of_middle if undivided else SampledBins.of
    if known := [one for one in wanted if undivided and one.metric in seen]:
        found |= _by_bins(parts, known, [of(one, seen[one.metric]) for one in known], _WIDEST)
    for seed in _SEEDS:
        if missing := [one for one in wanted if one.metric not in found]:
            bins = [of(*pair) for pair in zip(missing, _sampled(parts, missing, seed), strict=True)]
            found |= _by_bins(parts, missing, bins, 1)
    unfound = {one.metric: Unmeasurable.not_bracketed(one.column.name) for one in wanted}
    return {one.metric: found.get(one.metric, unfound[one.metric]) for one in wanted}


def _of_few(parts: Parts, wanted: Sequence[MedianSql]) -> Middles:
    """The medians by one query; none of them if small files hold many rows after all."""
    rows = replace(parts, frame=parts.frame.limit(_MOST_ROWS + 1))
    columns = [sql for n, one in enumerate(wanted) for sql in _middle_of_few(n, one)]
    by_part = rows.aggregate(["count(1) AS rows", *columns])
    # Each cut divides all rows.
    counted = sum(row["rows"] for part, row in by_part.items() if part.cut == parts.cuts[0])
    if counted > _MOST_ROWS:
        return {}
    return {
        one.metric: {part: _median(row, n) for part, row in by_part.items()}
        for n, one in enumerate(wanted)
    }


def _middle_of_few(n: int, one: MedianSql) -> list[str]:
    value = one.value
    nan = f"isnan({value})" if isinstance(one.column.kind, FLOATS) else "false"
    first = f"CAST((count({value}) - 1) DIV 2 AS INT)"
    return [
        f"count({value}) AS c{n}",
        f"count(if({nan}, 1, NULL)) AS nan{n}",
        # Named once: Spark would collect the same list twice.
        f"slice(array_sort(collect_list({value})), greatest({first}, 0) + 1, 2) AS middle{n}",
    ]


def _median(row: Mapping[str, Any], n: int) -> Number | None:
    count, middle = row[f"c{n}"], row[f"middle{n}"]
    if not count:
        return None
    return float("nan") if row[f"nan{n}"] else midpoint(middle[0], middle[1 - count % 2])


class _Place(NamedTuple):
    """Which of the values of a bin, in order, is a middle one of a part and column."""

    part: Slice
    column: int
    bin: int
    rank: int


def _by_bins(
    parts: Parts, wanted: Sequence[MedianSql], bins: Sequence[SampledBins], widest: float
) -> Middles:
    """The medians, without those of columns whose rows were others in the second query.

    Those whose sample misled, so that a bin has more than that share of all values, are left out.
    """
    found: dict[tuple[Slice, int], list[Number | _Place]] = {}
    open_: dict[tuple[int, int], int] = {}
    undivided = parts.cuts == (UNDIVIDED,)
    for row in (_counted_at_once if undivided else _counted)(parts, wanted, bins):
        part, column, number = _part(row, parts), row[_COLUMN], row[_BIN]
        mine = found.setdefault((part, column), [])
        if number == bins[column].nan:
            # It is greater than all others, and there is no median beside it.
            mine[:] = [float("nan")] * _TWO
            continue
        most = max(_MOST_ROWS, widest * row[_TOTAL])
        if row[_COUNT] > most and bins[column].value(number) is None:
            continue
        for rank in ((row[_TOTAL] - 1) // 2, row[_TOTAL] // 2):
            place = rank - (row[_UP_TO] - row[_COUNT])
            if 0 <= place < row[_COUNT] and len(mine) < _TWO:
                value = bins[column].value(number)
                mine.append(_Place(part, column, number, place) if value is None else value)
                if value is None:
                    open_[column, number] = row[_COUNT]
    places = [one for mine in found.values() for one in mine if isinstance(one, _Place)]
    if undivided and sum(open_.values()) <= _MOST_LISTED:
        return _middles(wanted, found, _listed(parts, wanted, bins, places, open_))
    return _middles(wanted, found, _values(parts, wanted, bins, places) if places else {})


def _middles(
    wanted: Sequence[MedianSql],
    found: Mapping[tuple[Slice, int], Sequence[Number | _Place]],
    values: Mapping[_Place, Number],
) -> Middles:
    medians: Middles = {one.metric: {} for one in wanted}
    for (part, column), some in found.items():
        metric = wanted[column].metric
        known = (values.get(one) if isinstance(one, _Place) else one for one in some)
        middle = [one for one in known if one is not None]
        if len(middle) != _TWO:
            medians.pop(metric, None)
        elif metric in medians:
            medians[metric][part] = midpoint(*middle)
    return medians


def _sampled(parts: Parts, wanted: Sequence[MedianSql], seed: int) -> list[Sampled]:
    sample = parts.frame.where(f"rand({seed}) < {SHARE!r}D")
    texts = (sql for n, one in enumerate(wanted) for sql in sampled(n, one, one.value))
    [row] = sample.selectExpr(*texts).collect()
    return [Sampled.read(row, n) for n in range(len(wanted))]


def _counted_at_once(
    parts: Parts, wanted: Sequence[MedianSql], bins: Sequence[SampledBins]
) -> Iterator[Mapping[str, Any]]:
    """The same as ``_counted`` of rows that are not divided, by one plain aggregation."""
    values = parts.frame.selectExpr(*(f"{one.value} AS v{n}" for n, one in enumerate(wanted)))
    numbered = values.selectExpr(*(f"{one.number(f'v{n}')} AS b{n}" for n, one in enumerate(bins)))
    counts = [
        f"count(if(b{n} = {number}, 1, NULL)) AS c{n}_{number}"
        for n, one in enumerate(bins)
        for number in one.numbers
    ]
    [row] = numbered.selectExpr(*counts, *padding(len(counts))).collect()
    for n, one in enumerate(bins):
        found = [row[f"c{n}_{number}"] for number in one.numbers]
        total = sum(found)
        for number, (count, upto) in enumerate(zip(found, accumulate(found), strict=True)):
            is_middle = upto > (total - 1) // 2 and upto - count <= total // 2
            if count and (is_middle or number == one.nan):
                yield {
                    _CUT: 0,
                    _COLUMN: n,
                    _BIN: number,
                    _COUNT: count,
                    _UP_TO: upto,
                    _TOTAL: total,
                }


def _counted(parts: Parts, wanted: Sequence[MedianSql], bins: Sequence[SampledBins]) -> list[Row]:
    """Of each part and column the bins that hold a middle value, and the one of NaN."""
    keys = [identifier(key) for key in parts.keys.values()]
    values = [f"{one.value} AS v{n}" for n, one in enumerate(wanted)]
    each = (f"named_struct('c', {n}, 'b', {one.number(f'v{n}')})" for n, one in enumerate(bins))
    narrow = parts.frame.selectExpr(*parts.plain_keys(), *values).selectExpr(
        *keys, f"inline(array({', '.join(each)})) AS ({_COLUMN}, {_BIN})"
    )
    by_cut = counted_in_cuts(narrow.where(f"{_BIN} IS NOT NULL"), parts, [_COLUMN, _BIN])
    part = ", ".join([_CUT, *keys, _COLUMN])
    ranked = by_cut.selectExpr(
        "*",
        f"sum({_COUNT}) OVER (PARTITION BY {part} ORDER BY {_BIN}) AS {_UP_TO}",
        f"sum({_COUNT}) OVER (PARTITION BY {part}) AS {_TOTAL}",
    )
    nan = " ".join(f"WHEN {n} THEN {one.nan}" for n, one in enumerate(bins))
    held = ranked.where(
        f"({_UP_TO} > ({_TOTAL} - 1) DIV 2 AND {_UP_TO} - {_COUNT} <= {_TOTAL} DIV 2) "
        f"OR {_BIN} = CASE {_COLUMN} {nan} END"
    )
    return _collected(held, parts, 3 * len(wanted))


def _collected(found: DataFrame, parts: Parts, most: int) -> list[Row]:
    """``most`` are the rows that a part may have."""
    if parts.cuts == (UNDIVIDED,):
        return found.collect()
    return parts.bounded(found, MOST_PARTS * most)


def _part(row: Mapping[str, Any] | Row, parts: Parts) -> Slice:
    return parts.slice(row, parts.cuts[row[_CUT]])


# --- the values of a bin in order ---------------------------------------------------------------


def _listed(
    parts: Parts,
    wanted: Sequence[MedianSql],
    bins: Sequence[SampledBins],
    places: Sequence[_Place],
    open_: Mapping[tuple[int, int], int],
) -> dict[_Place, Number]:
    """The value at each place, of bins with few values: one query that lists these, no shuffle.

    ``open_`` says how many values each bin had; of one that has others by now nothing is found.
    """
    ranks: dict[tuple[int, int], list[int]] = {}
    for one in places:
        ranks.setdefault((one.column, one.bin), []).append(one.rank)
    if not ranks:
        return {}
    columns = dict.fromkeys(column for column, _ in ranks)
    values = parts.frame.selectExpr(*(f"{wanted[n].value} AS v{n}" for n in columns))
    numbered = values.selectExpr("*", *(f"{bins[n].number(f'v{n}')} AS b{n}" for n in columns))
    texts: list[str] = []
    for (column, number), some in ranks.items():
        inside = f"if(b{column} = {number}, v{column}, NULL)"
        ordered = f"array_sort(collect_list({inside}))"
        middle = f"slice({ordered}, {min(some) + 1}, {max(some) - min(some) + 1})"
        texts += [f"{middle} AS l{column}_{number}", f"count({inside}) AS n{column}_{number}"]
    near = (f"b{column} = {number}" for column, number in ranks)
    [row] = numbered.where(" OR ".join(near)).selectExpr(*texts).collect()
    found: dict[_Place, Number] = {}
    for one in places:
        column, number = one.column, one.bin
        if row[f"n{column}_{number}"] == open_[column, number]:
            found[one] = row[f"l{column}_{number}"][one.rank - min(ranks[column, number])]
    return found


def _values(
    parts: Parts, wanted: Sequence[MedianSql], bins: Sequence[SampledBins], places: Sequence[_Place]
) -> dict[_Place, Number]:
    """The value at each place, if it is there: one query, in which Spark sorts what lies near."""
    kinds = list(dict.fromkeys(_travelling(one) for one in wanted))
    keys = [identifier(key) for key in parts.keys.values()]
    rows = _near(parts, wanted, bins, places, kinds)
    known = F.broadcast(_frame_of(places, parts)).alias("k")
    shared = [_CUT, *parts.keys.values(), _COLUMN, _BIN]
    joined = rows.alias("r").join(known, _same("r", "k", shared))
    names = [f"v{n}" for n in range(len(kinds))]
    here = [F.col(f"r.{identifier(name)}") for name in (*shared, *names)]
    counted = joined.groupBy(*here, F.col("k.low"), F.col("k.high")).agg(
        F.expr("count(1)").alias(_COUNT)
    )
    part = ", ".join([_CUT, *keys, _COLUMN, _BIN])
    order = ", ".join(names)
    upto = f"sum({_COUNT}) OVER (PARTITION BY {part} ORDER BY {order}) AS {_UP_TO}"
    at = (f"({_UP_TO} > {rank} AND {_UP_TO} - {_COUNT} <= {rank})" for rank in ("low", "high"))
    held = counted.selectExpr("*", upto).where(" OR ".join(at))
    found: dict[_Place, Number] = {}
    wanted_places = frozenset(places)
    for row in _collected(held, parts, 2 * len(wanted)):
        value = row[f"v{kinds.index(_travelling(wanted[row[_COLUMN]]))}"]
        for rank in (row["low"], row["high"]):
            place = _Place(_part(row, parts), row[_COLUMN], row[_BIN], rank)
            if place in wanted_places and row[_UP_TO] - row[_COUNT] <= rank < row[_UP_TO]:
                found[place] = value
    return found


def _travelling(one: MedianSql) -> str:
    """The type as which the values of a column are put in order, beside those of others."""
    kind = one.column.kind
    if isinstance(kind, T.DecimalType):
        return kind.simpleString()
    return "double" if isinstance(kind, FLOATS) else "bigint"


def _near(
    parts: Parts,
    wanted: Sequence[MedianSql],
    bins: Sequence[SampledBins],
    places: Iterable[_Place],
    kinds: Sequence[str],
) -> DataFrame:
    """The values of the bins that are asked for, once for each cut."""
    open_: dict[int, set[int]] = {}
    for one in places:
        open_.setdefault(one.column, set()).add(one.bin)
    keys = [identifier(key) for key in parts.keys.values()]
    values = [f"{wanted[n].value} AS v{n}" for n in open_]
    plain = parts.frame.selectExpr(*keys, *values)
    numbered = plain.selectExpr("*", *(f"{bins[n].number(f'v{n}')} AS b{n}" for n in open_))
    inside = [f"b{n} IN ({', '.join(map(str, sorted(some)))})" for n, some in open_.items()]
    each = []
    for n in open_:
        own = kinds.index(_travelling(wanted[n]))
        cells = ", ".join(
            f"'v{k}', CAST({f'v{n}' if k == own else 'NULL'} AS {kind})"
            for k, kind in enumerate(kinds)
        )
        each.append(f"named_struct('c', {n}, 'b', b{n}, {cells})")
    names = ", ".join([_COLUMN, _BIN, *(f"v{k}" for k in range(len(kinds)))])
    narrow = numbered.where(" OR ".join(inside)).selectExpr(
        *keys, f"inline(array({', '.join(each)})) AS ({names})"
    )
    cuts = ", ".join(map(str, range(len(parts.cuts))))
    by_cut = narrow.selectExpr("*", f"explode(array({cuts})) AS {_CUT}")
    return by_cut.selectExpr(
        _CUT,
        *(f"{_key_in_cuts(parts, key)} AS {identifier(key)}" for key in parts.keys.values()),
        _COLUMN,
        _BIN,
        *(f"v{k}" for k in range(len(kinds))),
    )


def _key_in_cuts(parts: Parts, key: str) -> str:
    """The key in the cuts that are made by it, NULL in others."""
    numbers = [str(n) for n, cut in enumerate(parts.cuts) if key in parts.keys_of(cut)]
    return f"if({_CUT} IN ({', '.join(numbers)}), {identifier(key)}, NULL)"


def _frame_of(places: Sequence[_Place], parts: Parts) -> DataFrame:
    """One row for each bin of a part and column, with the ranks that are asked for."""
    fields = [T.StructField(_CUT, T.IntegerType())]
    fields += [T.StructField(key, T.StringType()) for key in parts.keys.values()]
    fields += [T.StructField(name, T.IntegerType()) for name in (_COLUMN, _BIN)]
    fields += [T.StructField(name, T.LongType()) for name in ("low", "high")]
    ranks: dict[tuple[Slice, int, int], list[int]] = {}
    for one in places:
        ranks.setdefault((one.part, one.column, one.bin), []).append(one.rank)
    rows = [
        (parts.cuts.index(part.cut), *_key_values(part, parts), column, bin_, min(of), max(of))
        for (part, column, bin_), of in ranks.items()
    ]
    # Of the home session: making a frame makes its session the active one for everybody.
    home = home_of(parts.frame.sparkSession)
    return under_ansi(home.createDataFrame(rows, T.StructType(fields)))


def _key_values(part: Slice, parts: Parts) -> list[str | None]:
    cut: Cut = part.cut
    return [
        (part.partition if cut.partitioned else None)
        if name is None
        else (part.group if cut.dimension == name else None)
        for name in parts.keys
    ]


def _same(left: str, right: str, names: Iterable[str]) -> Column:
    pairs = [(f"{left}.{identifier(name)}", f"{right}.{identifier(name)}") for name in names]
    return reduce(and_, (F.col(one).eqNullSafe(F.col(other)) for one, other in pairs))
