"""Blocks of Arrow beside SQL and plain Python: counts of values and medians of any parts."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.frequency import DistinctCount, GroupedRows, Grouping, UniqueCount
from dq_dagster.metrics.measured import BY_PARTITION, NO_KEY, UNDIVIDED, Cut, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, midpoint
from dq_dagster.plan.plan import Pass
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.slicing import Division
from dq_dagster.spark.passes.blocks import ranks, tallies
from dq_dagster.spark.passes.blocks.workers import SETTING, has_blocks
from dq_dagster.spark.passes.run import run

CUTS = (UNDIVIDED, BY_PARTITION, Cut(dimension="d"), Cut(partitioned=True, dimension="d"))
WAYS_TO_CUT = (CUTS, CUTS[:2], CUTS[:1], CUTS[1:2])
MASK = 2**64 - 1
PRIME_1, PRIME_2, PRIME_4 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x85EBCA77C2B2AE63


@pytest.fixture
def by_sql(spark: SparkSession) -> Iterator[None]:
    """A session that leaves all to SQL."""
    spark.conf.set(SETTING, "false")
    yield
    spark.conf.unset(SETTING)


# --- texts that share both halves of a seeded hash ----------------------------------------------


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & MASK


def _unstirred(word: int) -> int:
    """The eight bytes that xxhash64 stirs in as that word, whatever its seed is."""
    word = word * pow(PRIME_1, -1, 2**64) & MASK
    return _turned(word, 64 - 31) * pow(PRIME_2, -1, 2**64) & MASK


def colliding() -> tuple[bytes, bytes]:
    """Two values of 16 bytes with equal xxhash64 for every seed."""
    one = [0x0123456789ABCDEF, 0x1122334455667788]
    # The first words differ in a bit that becomes the highest one; the second words undo it.
    other = [one[0] ^ 1 << 36, one[1] ^ 1 << 63]
    made = [b"".join(_unstirred(w).to_bytes(8, "little") for w in pair) for pair in (one, other)]
    return made[0], made[1]


# --- what runs on the workers, without Spark ----------------------------------------------------


def tasks(columns: Sequence[Any], many: int, size: int) -> Iterator[list[Any]]:
    """The rows as the batches of some tasks."""
    table = pa.table({f"x{n}": column for n, column in enumerate(columns)})
    step = -(-len(table) // many)
    for start in range(0, len(table), step):
        yield table.slice(start, step).to_batches(max_chunksize=size)


def shuffled(sent: list[Any], keys: list[str]) -> list[Any]:
    ordered = pa.Table.from_batches(sent).sort_by([(key, "ascending") for key in keys])
    return list(ordered.to_batches(max_chunksize=7))


def by_part(
    columns: Sequence[Any], keys: Sequence[Any], cuts: Sequence[tuple[int, ...]]
) -> dict[tuple[Any, ...], list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    texts = [key.to_pylist() for key in keys]
    for n, column in enumerate(columns):
        for row, value in enumerate(column.to_pylist()):
            if value is not None:
                for cut, places in enumerate(cuts):
                    found[n, cut, *(texts[place][row] for place in places)].append(value)
    return found


def _table(chance: random.Random, rows: int, most: int) -> tuple[list[Any], list[Any]]:
    def some(make: Any) -> list[Any]:
        return [None if chance.random() < 0.1 else make() for _ in range(rows)]

    floats = [0.0, -0.0, math.inf, -math.inf, 5e-324]
    columns = [
        pa.array(some(lambda: chance.randrange(-most, most)), pa.int64()),
        pa.array(some(lambda: chance.choice([*floats, chance.random() - 0.5])), pa.float64()),
        pa.array(some(lambda: Decimal(most * chance.randrange(-3, 3))), pa.decimal128(38, 0)),
    ]
    days = pa.array([chance.choice([b"a", b"b", b"c"]) for _ in range(rows)], pa.binary())
    groups = pa.array([chance.choice([None, b"", b"\xff"]) for _ in range(rows)], pa.binary())
    return columns, [days, groups]


ALL_CUTS = ((), (0,), (1,), (0, 1))


@pytest.mark.parametrize("most", [1, 40, 2**62])
@pytest.mark.parametrize("held", [100, 2_000_000])
def test_workers_count_as_python_does(
    most: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "_MOST_HELD", held)
    chance = random.Random(most + held)
    for rows in (1, 2, 30, 3_000):
        columns, all_keys = _table(chance, rows, most)
        for keys, cuts in (([], ALL_CUTS[:1]), (all_keys[:1], ALL_CUTS[:2]), (all_keys, ALL_CUTS)):
            sent = [
                block
                for task in tasks([*columns, *keys], 3, 50)
                for block in tallies.send_buckets(task, [1, 1, 1], len(keys))
            ]
            [sums] = tallies.tally_buckets(
                shuffled(sent, ["c", "b"]), cuts, len(keys), 10**6, tallied=3
            )
            found = {
                (row["c"], row["cut"], *(row[f"p{n}"] for n in range(len(cuts[row["cut"]])))): (
                    row["u"], row["d"], row["r"]
                )
                for row in sums.to_pylist()
            }  # fmt: skip
            assert found == {
                part: (sum(n == 1 for n in Counter(values).values()), len(set(values)), len(values))
                for part, values in by_part(columns, keys, cuts).items()
            }


@pytest.mark.parametrize("held", [100, 2_000_000])
def test_workers_send_the_ends_of_rising_numbers(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "_MOST_HELD", held)
    chance = random.Random(held)
    keys = [pa.array([chance.choice([b"a", b"b", None]) for _ in range(3_000)], pa.binary())]
    rising: list[int | None] = list(range(-1_500 * 7, 1_500 * 7, 7))
    holes = [None if chance.random() < 0.3 else number for number in rising]
    columns = {
        "rising": (rising, True),
        "with holes": (holes, True),
        "files in another order": ([*rising[2_000:], *rising[:2_000]], True),
        "one twice": ([*rising[:2_000], *rising[1_999:2_999]], False),
        "one twice, apart": ([*rising[:2_999], rising[500]], False),
        "starts anew in each task": ([*range(1_000)] * 3, False),
        "falling": (rising[::-1], False),
        "one value": ([4] * 3_000, False),
    }
    arrays = [pa.array(column, pa.int64()) for column, _ in columns.values()]
    sent = [
        block
        for task in tasks([*arrays, *keys], 3, 50)
        for block in tallies.send_buckets(task, [1] * len(arrays), 1, rising=range(len(arrays)))
    ]
    cuts = ALL_CUTS[:2]
    by_bucket = shuffled(sent, ["c", "b"])
    [sums] = tallies.tally_buckets(by_bucket, cuts, 1, 10**6, tallied=len(arrays))
    rows = sums.to_pylist()
    overlapping = {row["c"] for row in rows if row["cut"] == tallies.OVERLAP}
    assert overlapping == {n for n, (_, rises) in enumerate(columns.values()) if not rises}
    found = {_part_of(row, cuts): (row["u"], row["d"], row["r"]) for row in rows if row["cut"] >= 0}
    assert found == {
        part: (len(values), len(values), len(values))
        for part, values in by_part(arrays, keys, cuts).items()
        if part[0] not in overlapping
    }


def _middle_of(values: list[Any], kind: Any) -> tuple[int, int]:
    ordered = [int(n) for n in ranks.ordered_number(pa.array(sorted(values), kind))]
    return ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]


def _part_of(row: dict[str, Any], cuts: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    return (row["c"], row["cut"], *(row[f"p{n}"] for n in range(len(cuts[row["cut"]]))))


@pytest.mark.parametrize("bins", [1, 16_384])
@pytest.mark.parametrize("held", [100, 2_000_000])
def test_workers_find_the_middle_in_one_look_or_two(
    held: int, bins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"_MOST_HELD": held, "_FEW_BINS": bins, "_MOST_BINS": min(bins, 2_048)}
    monkeypatch.setattr(tallies, "_MOST_HELD", held)
    for name, limit in limits.items():
        monkeypatch.setattr(ranks, name, limit)
    chance = random.Random(held)
    for rows, most in ((1, 9), (2, 9), (30, 9), (3_000, 40), (3_000, 2**62)):
        columns, keys = _table(chance, rows, most)
        columns = columns[:2]
        middles = {
            part: _middle_of(values, columns[part[0]].type)
            for part, values in by_part(columns, keys, ALL_CUTS).items()
        }
        sent = [
            block
            for task in tasks([*columns, *keys], 3, 50)
            for block in tallies.send_buckets(task, [], len(keys), ranked=2)
        ]
        by_bucket = shuffled(sent, ["c", "b"])
        [sums] = tallies.tally_buckets(by_bucket, ALL_CUTS, len(keys), 10**6, tallied=0)
        found: dict[tuple[Any, ...], tuple[int, int]] = {}
        ends: list[list[dict[Any, Any]]] = [[{} for _ in ALL_CUTS] for _ in columns]
        for row in sums.to_pylist():
            part = _part_of(row, ALL_CUTS)
            if row["d"]:
                found[part] = row["low"], row["high"]
            else:
                places = (row["r"] - 1) // 2 - row["u"], row["r"] // 2 - row["u"]
                ends[part[0]][part[1]][part[2:]] = row["low"], row["high"], *places
        if rows == 3_000 and most > 40 and bins == 1:
            assert any(of_cut for of_column in ends for of_cut in of_column)
        again = [
            block
            for task in tasks([*columns, *keys], 3, 50)
            for block in ranks.send_between(task, ends, ALL_CUTS, len(keys))
        ]
        parts = shuffled(again, ["c", "cut", "p0", "p1"]) if again else []
        [picked] = ranks.pick_middles(parts, ends, ALL_CUTS, len(keys))
        found |= {_part_of(row, ALL_CUTS): (row["low"], row["high"]) for row in picked.to_pylist()}
        assert found == middles


def test_workers_say_that_the_values_are_others_than_before() -> None:
    [batch] = pa.table({"v": [1, 2, 3]}).to_batches()
    ends: ranks.Ends = [[{(): (2, 9, 0, 2)}]]
    sent = list(ranks.send_between([batch], ends, [()], 0))
    [picked] = ranks.pick_middles(sent, ends, [()], 0)
    assert picked.to_pylist() == [{"c": 0, "cut": 0, "low": None, "high": None}]


def test_workers_need_nothing_of_the_package() -> None:
    ends: ranks.Ends = [[{(): (2, 9, 0, 1)}]]
    functions = {
        "send": partial(tallies.send_buckets, widths=[1], keys=0, ranked=1),
        "tally": partial(tallies.tally_buckets, cuts=[()], keys=0, most=9, tallied=1),
        "between": partial(ranks.send_between, ends=ends, cuts=[()], keys=0),
        "pick": partial(ranks.pick_middles, ends=ends, cuts=[()], keys=0),
    }
    shipped: bytes = cloudpickle.dumps(functions)  # type: ignore[no-untyped-call]
    script = """
import pickle, sys
sys.modules["dq_dagster"] = None
import pyarrow as pa
shipped = pickle.load(sys.stdin.buffer)
rows = [pa.record_batch({"k": pa.array([1, 2, 2, 7]), "v": pa.array([1, 2, 2, 7])})]
for block in shipped["tally"](shipped["send"](rows)):
    print([list(row.values()) for row in block.to_pylist()])
print([b.to_pylist() for b in shipped["pick"](shipped["between"]([rows[0].select(["v"])]))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], input=shipped, capture_output=True, check=True
    )
    assert done.stdout.decode().splitlines() == [
        "[[0, 0, 2, 3, 4, None, None, None], [1, 0, 1, 1, 4, 2, 2, 7]]",
        "[[{'c': 0, 'cut': 0, 'low': 2, 'high': 2}]]",
    ]


# --- with Spark ---------------------------------------------------------------------------------

SCHEMA = (
    "p string, d string, k int, i bigint, f float, x double, small decimal(9,2), "
    "large decimal(38,10), flag boolean, day date, at timestamp, local timestamp_ntz, s string, "
    "raw binary, free string collate utf8_lcase"
)
NAMES = [field.split()[0] for field in SCHEMA.split(", ")]
# An hour that clocks in New York show twice.
TWICE = datetime(2024, 11, 3, 5, 30, tzinfo=UTC)
ONE, OTHER = colliding()
VALUES: dict[str, list[Any]] = {
    "i": [2**63 - 1, -(2**63), 2**63 - 2, 0, -1, 1],
    "f": [0.0, -0.0, 1.5, math.inf],
    "x": [0.0, -0.0, 5e-324, 1e308, -math.inf, 0.1, 0.30000000000000004, 0.3],
    "small": [Decimal("0.00"), Decimal("-0.01"), Decimal("9999999.99")],
    "large": [Decimal("0E-10"), Decimal("1E-10"), Decimal(10**28 - 1), Decimal(1 - 10**28)],
    "flag": [True, False],
    "day": [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)],
    "at": [TWICE, TWICE + timedelta(hours=1), TWICE + timedelta(microseconds=1)],
    "local": [datetime(2024, 11, 3, 1, 30), datetime(1, 1, 1), datetime(2024, 11, 3, 1)],  # noqa: DTZ001
    "s": ["", " ", "a", "a\0", "ab", "x" * 15, "x" * 16, "x" * 17, "é" * 8, "e\u0301" * 8, "1:a"],
    "raw": [b"", b"\0", b"\0" * 16, ONE, OTHER, b"\xff" * 15, b"\xff" * 16],
    "free": ["a", "A", "b", "ß", "SS", "x" * 40, "X" * 40],
}
MORE_VALUES = {"f": math.nan, "x": math.nan}


def _rows(chance: random.Random, many: int, *, nan: bool) -> list[tuple[Any, ...]]:
    """Each value with some others of its column, many of them more than once."""
    rows = []
    for n in range(many):
        row: list[Any] = [f"p{n % 3}", chance.choice(["g", "h", None]), n % 5]
        for name in NAMES[3:]:
            values = VALUES[name] + ([MORE_VALUES[name]] if nan and name in MORE_VALUES else [])
            row.append(chance.choice([*values, None]))
        rows.append(tuple(row))
    return rows


def _key(name: str, value: Any) -> Any:
    if name == "free":
        return value.lower()
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _slices(row: tuple[Any, ...]) -> list[Slice]:
    p, d = row[:2]
    return [Slice(), Slice(p), Slice(None, "d", d), Slice(p, "d", d)]


def measured(
    frame: DataFrame, kind: PassKind, metrics: Sequence[Metric], cuts: Sequence[Cut] = CUTS
) -> dict[Metric, Any]:
    table = JudgedTable.of(frame)
    division = Division.of(table, partition_by="p", dimensions=["d"])
    return dict(run(Pass(kind, tuple(metrics), tuple(cuts)), frame, table, division))


def _counts(rows: list[tuple[Any, ...]], grouping: Grouping) -> dict[Slice, Counter[Any]]:
    places = [NAMES.index(name) for name in grouping.columns]
    found: dict[Slice, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        values = [row[place] for place in places]
        keys = tuple(
            None if value is None or (grouping.blank_is_empty and value in {"", " "})
            else _key(name, value)
            for name, value in zip(grouping.columns, values, strict=True)
        )  # fmt: skip
        given = grouping.counts_empty or any(key is not None for key in keys)
        if given and (grouping.where is None or row[2] > 1):
            for part in _slices(row):
                found[part][keys] += 1
    return found


def _groupings() -> list[Grouping]:
    alone = [Grouping((name,), blank_is_empty=False, where=None) for name in NAMES[3:]]
    return [
        *alone,
        Grouping(("s",), blank_is_empty=True, where=None),
        Grouping(("s",), blank_is_empty=False, where=None, counts_empty=True),
        Grouping(("raw",), blank_is_empty=False, where="k > 1"),
        Grouping(("s", "i"), blank_is_empty=False, where=None),
        Grouping(("flag", "x", "at"), blank_is_empty=False, where=None),
        Grouping(("free", "raw", "local", "small"), blank_is_empty=False, where="k > 1"),
    ]


def _same_counts(spark: SparkSession) -> None:
    chance = random.Random(5)
    for many, cuts in ((3, CUTS), *((400, cuts) for cuts in WAYS_TO_CUT)):
        rows = _rows(chance, many, nan=True)
        frame = spark.createDataFrame(rows, SCHEMA)
        groupings = _groupings()
        kinds = (UniqueCount, DistinctCount, GroupedRows)
        metrics = [kind(one, where=one.where) for one in groupings for kind in kinds]
        found = measured(frame, PassKind.COUNT_VALUES, metrics, cuts)
        for grouping in groupings:
            counts = _counts(rows, grouping)
            for part in {part for row in rows for part in _slices(row) if part.cut in cuts}:
                values = counts[part].values()
                expected = [sum(n == 1 for n in values), len(values), sum(values)]
                mine = [found[kind(grouping, where=grouping.where)].value(part) for kind in kinds]
                assert mine == expected, (grouping, part)


def test_blocks_count_as_python_does(spark: SparkSession) -> None:
    assert has_blocks(spark)
    _same_counts(spark)


def test_sql_counts_as_python_does(spark: SparkSession, by_sql: None) -> None:
    assert not has_blocks(spark)
    _same_counts(spark)


def _same_medians(spark: SparkSession) -> None:
    chance = random.Random(6)
    sizes = ((3, False, CUTS), *((300, False, cuts) for cuts in WAYS_TO_CUT), (60, True, CUTS[:2]))
    for many, nan, cuts in sizes:
        rows = _rows(chance, many, nan=nan)
        frame = spark.createDataFrame(rows, SCHEMA)
        names = ("i", "f", "x", "small", "large", "k")
        metrics = [*map(ColumnMedian, names), ColumnMedian("i", where="k > 1")]
        found = measured(frame, PassKind.MEDIANS, metrics, cuts)
        for metric in metrics:
            for part in {part for row in rows for part in _slices(row) if part.cut in cuts}:
                mine = found[metric].value(part)
                expected = _median(rows, metric, part)
                assert type(mine) is type(expected), (metric, part)
                assert str(mine) == "nan" if str(expected) == "nan" else mine == expected


def _median(rows: list[tuple[Any, ...]], metric: ColumnMedian, part: Slice) -> Any:
    place = NAMES.index(metric.column)
    values = [
        row[place]
        for row in rows
        if part in _slices(row) and row[place] is not None and (metric.where is None or row[2] > 1)
    ]
    if any(isinstance(value, float) and math.isnan(value) for value in values):
        return math.nan
    ordered = sorted(value + 0 for value in values)
    if not ordered:
        return None
    return midpoint(ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2])


def test_blocks_find_the_medians_of_python(spark: SparkSession) -> None:
    _same_medians(spark)


def test_sql_finds_the_medians_of_python(spark: SparkSession, by_sql: None) -> None:
    _same_medians(spark)


# How many parts the rows below fall into by each cut.
SLICES_OF = dict(zip(CUTS, (1, 2, 2, 4), strict=True))


def _many(spark: SparkSession) -> DataFrame:
    """Rows enough for a sample to say where the medians lie."""
    return spark.range(0, 400_000, 1, 4).selectExpr(
        "concat('p', pmod(xxhash64(id), 2)) AS p",
        "if(id % 7 = 0, NULL, 'g') AS d",
        "if(id % 3 = 0, 0D, (id - 200000) / 3D) AS x",
        "CAST(9000000000000000000 + id AS BIGINT) AS i",
        "CAST(pow(id, 2) / 100 AS DECIMAL(18, 2)) AS m",
        "id % 5 AS few",
    )


@pytest.mark.parametrize("cuts", WAYS_TO_CUT)
def test_both_ways_find_the_same_medians_of_many_rows(
    spark: SparkSession, cuts: Sequence[Cut]
) -> None:
    frame = _many(spark)
    names = ("x", "i", "m", "few")
    metrics = [ColumnMedian(name) for name in names]
    found = measured(frame, PassKind.MEDIANS, metrics, cuts)
    spark.conf.set(SETTING, "false")
    try:
        by_sql = measured(frame, PassKind.MEDIANS, metrics, cuts)
    finally:
        spark.conf.unset(SETTING)
    for metric in metrics:
        assert found[metric].states == by_sql[metric].states
        assert len(found[metric].states) == sum(SLICES_OF[cut] for cut in cuts)
    if BY_PARTITION not in cuts:
        return
    exact = frame.groupBy("p").agg(dict.fromkeys(names, "median")).collect()
    for row in exact:
        for name in ("x", "few"):
            assert found[ColumnMedian(name)].value(Slice(row["p"])) == row[f"median({name})"]


def test_keys_that_are_no_texts_become_those_that_spark_writes(spark: SparkSession) -> None:
    days = ("0", "2932896", "2932897", "-719529", "-800000", "NULL")
    keys = ", ".join(f"({day}, {n % 3 - 1 if n else 'NULL'}, {n})" for n, day in enumerate(days))
    frame = spark.sql(f"SELECT * FROM VALUES {keys} AS t(day, d, i)").selectExpr(
        "date_from_unix_date(CAST(day AS INT)) AS p", "d", "i"
    )
    written = f"coalesce(CAST(p AS STRING), '{NO_KEY}') AS p", "CAST(d AS STRING) AS d"
    texts = [(row["p"], row["d"]) for row in frame.selectExpr(*written).collect()]
    slices = {part for p, d in texts for part in _slices((p, d))}
    assert {"+10000-01-01", "9999-12-31", NO_KEY} < {p for p, _ in texts}
    grouping = Grouping(("i",), blank_is_empty=False, where=None)
    for kind, metric in (
        (PassKind.COUNT_VALUES, UniqueCount(grouping)),
        (PassKind.MEDIANS, ColumnMedian("i")),
    ):
        assert set(measured(frame, kind, [metric])[metric].states) == slices
