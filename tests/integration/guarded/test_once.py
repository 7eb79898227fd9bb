"""The plan of a guarded asset is evaluated once, also if each evaluation gives other rows."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import dq_dagster as dq
from tests.integration.guarded.gate import QUARANTINE, Gate, judged, positive, untyped

RULES = [
    positive(),
    untyped.ColumnUnique(name="unique", columns="amount", keep={"order_by": "id"}),
    dq.ColumnValuesInRange(name="range", columns="amount", max=40),
    dq.ColumnSumInRange(name="sum", columns="amount", min=0),
    dq.ColumnMedianInRange(name="median", columns="amount", min=0),
    dq.AggregateExpectation(name="sql", expectation="count(DISTINCT amount) > 1"),
    dq.SchemaContains(name="schema", expected=[{"name": "id", "type": "int"}]),
]


def counted(spark: SparkSession, rows: int) -> tuple[Any, DataFrame]:
    """Rows of a function that counts how often it is called."""
    calls = spark.sparkContext.accumulator(0)

    def called(number: int) -> int:
        calls.add(1)
        return number - 3

    amount = F.udf(called, T.IntegerType()).asNondeterministic()
    frame = spark.range(rows, numPartitions=2).selectExpr("CAST(id AS INT) AS id")
    return calls, frame.withColumn("amount", amount("id"))


def test_each_row_is_computed_once(spark: SparkSession, tmp_path: Path) -> None:
    calls, value = counted(spark, 50)
    gate = Gate(tmp_path, value, RULES)
    run = gate.build()
    assert run.success
    assert calls.value == 50
    assert judged(run)["sum"] == "Ok"
    assert len(gate.ids()) == 46


def test_each_row_of_a_partition_is_computed_once(spark: SparkSession, tmp_path: Path) -> None:
    calls, value = counted(spark, 60)
    value = value.withColumn("part", F.expr("element_at(array('a', 'b', 'c'), id % 3 + 1)"))
    gate = Gate(
        tmp_path,
        lambda keys: value,
        RULES,
        partitions_def=dg.StaticPartitionsDefinition(["a", "b", "c"]),
        metadata={"partition_expr": "part"},
    )
    assert gate.build("a", "c").success
    assert calls.value == 60


@pytest.fixture(scope="module")
def chance(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    value = spark.range(400, numPartitions=3).selectExpr(
        "CAST(id AS INT) AS id", "CAST(rand() * 60 - 10 AS INT) AS amount", "uuid() AS code"
    )
    with dg.DagsterInstance.ephemeral() as instance:
        gate = Gate(tmp_path_factory.mktemp("chance"), value, RULES, instance=instance)
        assert gate.build().success
        yield gate


def test_counts_split_and_quarantine_agree_where_each_evaluation_gives_others(
    chance: Gate,
) -> None:
    good, bad = chance.published(), chance.published(QUARANTINE)
    [record] = chance.stats()
    left_out = [row for row in bad if row["dq_state"] == "left_out"]
    kept = [row for row in bad if row["dq_state"] == "kept"]
    assert len(good) + len(left_out) == record["rows_in"] == 400
    assert (len(good), len(left_out), len(bad)) == (
        record["rows_published"],
        record["rows_dropped"],
        record["rows_quarantined"],
    )
    assert {row["id"] for row in good} | {row["id"] for row in left_out} == set(range(400))
    by_id = {row["id"]: row for row in good}
    # The same rows, not others with the same id.
    assert all(by_id[row["id"]]["code"] == row["code"] for row in kept)
    assert all(by_id[row["id"]]["amount"] == row["amount"] for row in kept)
    assert len({row["code"] for row in [*good, *left_out]}) == 400


def test_each_rule_is_right_about_the_rows_that_were_written(chance: Gate) -> None:
    good, bad = chance.published(), chance.published(QUARANTINE)
    amounts = {row["id"]: row["amount"] for row in [*good, *bad]}
    named = {
        name: {row["id"] for row in bad if name in {one["rule"] for one in row["dq_faults"]}}
        for name in ("positive", "range", "unique")
    }
    assert named["positive"] == {key for key, amount in amounts.items() if amount <= 0}
    assert named["range"] == {key for key, amount in amounts.items() if amount > 40}
    firsts: dict[int, int] = {}
    for key in sorted(amounts):
        firsts.setdefault(amounts[key], key)
    assert named["unique"] == set(amounts) - set(firsts.values())
    rules = chance.stats()[0]["rules"]
    assert {name: len(ids) for name, ids in named.items()} == {
        name: rules[name]["faults"] for name in named
    }
