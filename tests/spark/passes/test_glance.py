"""A glance at some rows decides how values are counted, and never what is found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.frequency import DistinctCount, GroupedRows, Grouping, UniqueCount
from dq_dagster.metrics.measured import BY_PARTITION, UNDIVIDED, Cut, Slice
from dq_dagster.metrics.metric import ColumnMedian, Metric, midpoint
from dq_dagster.plan.plan import Pass
from dq_dagster.spark.expressions.bins import SampledBins, median_sql
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.frames.slicing import UNSLICED, Division, Parts
from dq_dagster.spark.passes.blocks.workers import SETTING
from dq_dagster.spark.passes.run import run
from dq_dagster.spark.passes.values import measure, medians
from dq_dagster.spark.passes.values.glance import Glance, glance

ROWS = 24_000


def _columns() -> dict[str, list[Any]]:
    chance = random.Random(7)
    rising = list(range(-ROWS, ROWS, 2))
    return {
        "p": [f"p{n // 8_000}" for n in range(ROWS)],
        "rising": rising,
        "rising_with_holes": [None if chance.random() < 0.2 else n for n in rising],
        "rising_but_the_last": [*rising[:-1], rising[500]],
        "rising_anew": [n % 12_000 for n in range(ROWS)],
        "mixed_up": chance.sample(range(10**9), ROWS),
        "few": [chance.choice([0.5, 0.5, -0.0, 0.0, 2.0, None]) for _ in range(ROWS)],
        "few_at_first": [n % 3 if n < 16_000 else n for n in range(ROWS)],
        "few_texts": [chance.choice(["a", "b", "", " ", None]) for _ in range(ROWS)],
        "texts": [f"text {n // 2}" for n in range(ROWS)],
        "near_zero": [chance.gauss(0, 1) for _ in range(ROWS)],
        "nearly_nothing": [1 if n == 20_000 else None for n in range(ROWS)],
    }


COLUMNS = _columns()
NUMBERS = [name for name in COLUMNS if name != "p" and "texts" not in name]


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("glance") / "table.parquet")
    whole = {"rising_with_holes", "nearly_nothing"}
    kinds = dict.fromkeys(whole, "Int64")
    pd.DataFrame(COLUMNS).astype(kinds).to_parquet(path, row_group_size=5_000)
    return spark.read.parquet(path).repartitionByRange(3, "rising")


@pytest.fixture(params=["true", "false"], ids=["blocks", "sql"])
def way(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    spark.conf.set(SETTING, request.param)
    yield
    spark.conf.unset(SETTING)


def test_what_is_seen(table: DataFrame) -> None:
    rows = Parts.of(table, (UNDIVIDED,), UNSLICED)
    middle = median_sql(ColumnMedian("mixed_up"), JudgedTable.of(table))
    found = glance(rows, {name: name for name in COLUMNS}, [middle])
    seen = found.middles[middle.metric]
    assert 900 < seen.rows < 1_500
    assert seen.quantiles is not None
    assert 4e8 < SampledBins.of_middle(middle, seen).values[1] < 6e8
    assert found.rising == {
        "rising", "rising_with_holes", "rising_but_the_last", "rising_anew",
    }  # fmt: skip
    assert found.few == {"p", "few", "few_at_first", "few_texts"}
    nothing = Parts.of(table.where("false"), (UNDIVIDED,), UNSLICED)
    assert glance(nothing, {"rising": "rising"}) == glance(nothing, {}) == Glance()


@pytest.mark.parametrize("cuts", [(UNDIVIDED,), (UNDIVIDED, BY_PARTITION)])
@pytest.mark.usefixtures("way")
def test_what_is_found_is_what_python_finds(table: DataFrame, cuts: tuple[Cut, ...]) -> None:
    judged = JudgedTable.of(table)
    division = Division.of(judged, partition_by="p", dimensions=[])
    groupings = {
        name: Grouping((name,), blank_is_empty=False, where=None) for name in COLUMNS if name != "p"
    }
    metrics: list[Metric] = [
        metric(grouping)
        for grouping in groupings.values()
        for metric in (UniqueCount, DistinctCount, GroupedRows)
    ]
    found = run(Pass(PassKind.COUNT_VALUES, tuple(metrics), cuts), table, judged, division)
    middles = [ColumnMedian(name) for name in NUMBERS]
    found |= run(Pass(PassKind.MEDIANS, tuple(middles), cuts), table, judged, division)
    for cut in cuts:
        for part in _parts(cut):
            for name, grouping in groupings.items():
                values = _values(name, part)
                counts = Counter(values)
                once = sum(count == 1 for count in counts.values())
                wanted = [once, len(counts), len(values)]
                three = [m(grouping) for m in (UniqueCount, DistinctCount, GroupedRows)]
                assert [found[one].value(part) for one in three] == wanted, (name, part)
            for middle in middles:
                values = sorted(_values(middle.column, part))
                size = len(values)
                exact = midpoint(values[(size - 1) // 2], values[size // 2]) if values else None
                assert found[middle].value(part) == exact, (middle, part)


def _parts(cut: Cut) -> list[Slice]:
    return [Slice(f"p{n}") for n in range(3)] if cut.partitioned else [Slice()]


def _values(name: str, part: Slice) -> list[Any]:
    pairs = zip(COLUMNS[name], COLUMNS["p"], strict=True)
    return [v for v, p in pairs if v is not None and part.partition in (None, p)]


@pytest.mark.parametrize("most_listed", [0, 1_000_000], ids=["shuffled", "listed"])
def test_first_rows_that_mislead_cost_a_second_look_and_no_wrong_median(
    table: DataFrame, monkeypatch: pytest.MonkeyPatch, most_listed: int
) -> None:
    monkeypatch.setattr(medians, "_MOST_ROWS", 1_000)
    monkeypatch.setattr(medians, "_MOST_LISTED", most_listed)
    tried: list[list[str]] = []
    by_bins = medians._by_bins  # noqa: SLF001

    def seen(parts: Parts, wanted: Any, bins: Any, widest: float) -> Any:
        tried.append([one.metric.column for one in wanted])
        return by_bins(parts, wanted, bins, widest)

    monkeypatch.setattr(medians, "_by_bins", seen)
    names = ["rising", "few"]
    wanted = [median_sql(ColumnMedian(name), JudgedTable.of(table)) for name in names]
    rows = Parts.of(table, (UNDIVIDED,), UNSLICED)
    first = glance(Parts.of(table.where("rising < -20000"), (UNDIVIDED,), UNSLICED), {}, wanted)
    found = medians.medians(rows, wanted, first.middles)
    assert tried == [names, ["rising"]]
    for one in wanted:
        values = sorted(_values(one.metric.column, Slice()))
        middle = midpoint(values[(len(values) - 1) // 2], values[len(values) // 2])
        assert found[one.metric] == {Slice(): middle}


def test_no_worker_is_asked_for_what_is_counted_by_sql_anyway(
    table: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SparkSession] = []

    def none(session: SparkSession) -> bool:
        asked.append(session)
        return False

    monkeypatch.setattr(measure, "has_blocks", none)
    few, many = (
        UniqueCount(Grouping((name,), blank_is_empty=False, where=None))
        for name in ("few", "texts")
    )
    run(Pass(PassKind.COUNT_VALUES, (few,), (UNDIVIDED,)), table, JudgedTable.of(table))
    assert not asked
    run(Pass(PassKind.COUNT_VALUES, (many,), (UNDIVIDED,)), table, JudgedTable.of(table))
    assert asked
