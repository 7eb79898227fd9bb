"""Standard deviations of partitions that are merged: as exact as one pass over all rows."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One column for each: its type, and the value that it holds everywhere.
CONSTANTS: list[tuple[str, Any]] = [
    ("double", 0.1),
    ("double", 3.3),
    ("double", 1e300),
    ("double", 1.7e308),
    ("double", -1e-300),
    ("double", 5e-324),
    ("double", -0.0),
    ("double", 1234567890.1237),
    ("float", 3.3),
    ("float", 3.4e38),
    ("float", 1e-45),
    ("decimal(10,2)", Decimal("3.30")),
    ("decimal(38,10)", Decimal("-0.1")),
    ("bigint", 987654321),
    ("int", -7),
]
COLUMNS = [f"c{n}" for n in range(len(CONSTANTS))]
SCHEMA = "p int, " + ", ".join(
    f"{name} {kind}" for name, (kind, _) in zip(COLUMNS, CONSTANTS, strict=True)
)
NO_DEVIATION = dq.ColumnStddevInRange(name="dev", columns=COLUMNS, max=0, scope="both")


def _equal_rows(partition: int, count: int) -> list[tuple[Any, ...]]:
    return [(partition, *(value for _, value in CONSTANTS))] * count


@pytest.mark.parametrize("tasks", [1, 5])
def test_equal_values_have_no_deviation(spark: SparkSession, tasks: int) -> None:
    random = Random(tasks)
    sizes = [random.randint(2, 9) ** random.randint(1, 3) for _ in range(12)]
    rows = [row for part, size in enumerate(sizes) for row in _equal_rows(part, size)]
    random.shuffle(rows)
    frame = spark.createDataFrame(rows, SCHEMA).repartition(tasks)
    found = dq.evaluate(frame, [NO_DEVIATION], partition_by="p")
    assert len(found.outcomes) == len(sizes) + 1
    for outcome in found:
        assert outcome.observed == dict.fromkeys(COLUMNS, 0.0), outcome.partition
        assert outcome.status == "Ok", outcome.message


def test_equal_values_have_no_deviation_beside_what_is_on_record(spark: SparkSession) -> None:
    sizes = {"0": 3, "1": 41, "2": 700, "3": 1}
    rule = NO_DEVIATION.model_copy(update={"scope": "whole_dataset"})

    def evaluated(names: list[str], blocks: dict[str, list[dq.states.Block]]) -> dq.Outcome:
        [outcome] = dq.evaluate(
            lambda keys: spark.createDataFrame(
                [row for key in keys or names for row in _equal_rows(int(key), sizes[key])], SCHEMA
            ),
            [rule],
            partition_by="p",
            reuse=dq.states.Reuse(tuple(names), blocks),
        )
        assert outcome.states is not None
        return outcome

    blocks: dict[str, list[dq.states.Block]] = {}
    for count in (1, 2, 3, 4):
        outcome = evaluated(list(sizes)[:count], blocks)
        assert outcome.observed == dict.fromkeys(COLUMNS, 0.0)
        assert ("reused" in outcome.details) is (count > 1)
        assert outcome.states is not None
        blocks = outcome.states.blocks()


def test_one_partition_of_other_values_is_told(spark: SparkSession) -> None:
    rows = [(n % 3, 0.1 if n % 3 else 0.3) for n in range(300)]
    frame = spark.createDataFrame(rows, "p int, x double")
    rule = dq.ColumnStddevInRange(columns=["x"], max=0, scope="both")
    found = {one.partition: one for one in dq.evaluate(frame, [rule], partition_by="p")}
    assert [found[key].observed for key in ("0", "1", "2")] == [0.0, 0.0, 0.0]
    assert found[None].observed == pytest.approx(0.2 * math.sqrt(2 / 9 * 300 / 299), rel=1e-14)
    assert found[None].status == "Error"


@pytest.mark.parametrize(("centre", "spread"), [(1e9, 1e-3), (1234567890.1237, 1e-3), (0.3, 1e5)])
def test_small_deviations_far_from_zero(spark: SparkSession, centre: float, spread: float) -> None:
    random = Random(7)
    # Parts of very different sizes: a sum is rounded by more, the more rows there are.
    rows = [(min(int(random.expovariate(0.5)), 9), random.gauss(centre, spread))
            for _ in range(100_000)]  # fmt: skip
    exact = [Fraction(value) for _, value in rows]
    mean = sum(exact) / len(exact)
    expected = math.sqrt(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))
    frame = spark.createDataFrame(rows, "p int, x double")
    rule = dq.ColumnStddevInRange(columns=["x"], min=0, scope="whole_dataset")
    [merged] = dq.evaluate(frame, [rule], partition_by="p")
    assert merged.observed == pytest.approx(expected, rel=1e-4)


def test_odd_values_stay_odd(spark: SparkSession) -> None:
    rows = [
        ("nan", math.nan), ("nan", 1.0), ("inf", math.inf), ("inf", math.inf), ("large", 1e300),
        ("large", -1e300), ("null", None), ("one", 1e300),
    ]  # fmt: skip
    rule = dq.ColumnStddevInRange(columns=["x"], max=0)
    frame = spark.createDataFrame(rows, "p string, x double")
    found = {one.partition: one for one in dq.evaluate(frame, [rule], partition_by="p")}
    assert {key: one.status for key, one in found.items()} == {
        "inf": "Error", "large": "Error", "nan": "Error", "null": "Empty", "one": "Empty",
    }  # fmt: skip
    assert "NaN" in found["nan"].message
    assert "too large" in found["inf"].message
    assert "too large" in found["large"].message
