"""Guarded assets in other hands: pandas, memory, pickled files, IO managers of others, formats."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import (
    ORDERS,
    QUARANTINE,
    Gate,
    built,
    judged,
    orders,
    positive,
    why,
)

RULES: list[Any] = [
    positive(),
    dq.ColumnUnique(name="unique", columns="amount"),
    dq.ColumnSumInRange(name="sum", columns="amount", max=10, on="validated"),
]


class Shelf(dg.IOManager):
    """Keeps what it is given, and says by which partitions."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        keys = tuple(context.asset_partition_keys) if context.has_asset_partitions else ()
        self.kept[context.asset_key.path[-1], *keys] = obj

    def load_input(self, context: dg.InputContext) -> Any:
        keys = tuple(context.asset_partition_keys) if context.has_asset_partitions else ()
        return self.kept[context.asset_key.path[-1], *keys]


def table() -> pd.DataFrame:
    """Three rows with an index of their own, and a column that Spark would make another one of."""
    return pd.DataFrame(
        {"id": [1, 2, 3], "amount": [5, -1, 6], "kind": pd.Categorical(["a", "b", "a"])},
        index=[7, 8, 9],
    )


def test_pandas_in_memory_stays_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    shelf = Shelf()
    gate = Gate(tmp_path, lambda *_: table(), RULES, io_manager=shelf)
    run = gate.build()
    assert run.success
    assert judged(run) == {"positive": "Error", "unique": "Ok", "sum": "Error"}
    pd.testing.assert_frame_equal(shelf.kept["orders",], table().loc[[7, 9]])
    kept = shelf.kept["orders_quarantine",]
    assert isinstance(kept, pd.DataFrame)
    assert kept["id"].tolist() == [2]
    assert [one["rule"] for one in kept["dq_faults"][0]] == ["positive"]
    assert not [name for name in kept.columns if name.startswith("__")]


def test_pandas_by_partition(spark: SparkSession, tmp_path: Path) -> None:
    def value(keys: list[str]) -> Any:
        if len(keys) == 1:
            return table()
        if keys[0] == day(2):
            return {key: table() for key in keys}
        return pd.concat([table().assign(day=key) for key in keys])

    shelf = Shelf()
    gate = Gate(
        tmp_path,
        value,
        RULES,
        io_manager=shelf,
        partitions_def=DAILY,
        metadata={"partition_expr": "CAST(day AS DATE)"},
    )
    assert gate.build(day(1)).success
    assert shelf.kept["orders", day(1)]["id"].tolist() == [1, 3]
    assert shelf.kept["orders_quarantine", day(1)]["id"].tolist() == [2]
    assert gate.build(day(2), day(3)).success
    by_key = shelf.kept["orders", day(2), day(3)]
    assert {key: part["id"].tolist() for key, part in by_key.items()} == {
        day(2): [1, 3],
        day(3): [1, 3],
    }
    run = gate.build(day(4), day(5))
    assert run.success
    assert shelf.kept["orders", day(4), day(5)]["id"].tolist() == [1, 3, 1, 3]
    assert shelf.kept["orders_quarantine", day(4), day(5)]["id"].tolist() == [2, 2]


def test_spark_in_memory(spark: SparkSession) -> None:
    @dq.guarded_asset(rules=RULES)
    def orders() -> DataFrame:
        return spark.createDataFrame([(1, 5), (2, -1), (3, 6)], "id int, amount int")

    @dg.asset
    def copy(orders: DataFrame, orders_quarantine: DataFrame) -> list[Any]:
        return [
            [row["id"] for row in orders.orderBy("id").collect()],
            [row["id"] for row in orders_quarantine.collect()],
        ]

    run = dg.materialize_to_memory([orders, copy])
    assert run.output_for_node("copy") == [[1, 3], [2]]
    assert run.output_for_node("orders", "result").columns == ["id", "amount"]


def test_frames_by_partition_for_others(spark: SparkSession, tmp_path: Path) -> None:
    def value(keys: list[str]) -> Any:
        found = {key: orders(spark, 5, -1, 6) for key in keys}
        return (
            found
            if keys[0] == day(1)
            else orders(spark, 1, -1).crossJoin(
                spark.createDataFrame([(key,) for key in keys], "day string")
            )
        )

    shelf = Shelf()
    gate = Gate(
        tmp_path,
        value,
        RULES[:2],
        io_manager=shelf,
        partitions_def=DAILY,
        metadata={"partition_expr": "CAST(day AS DATE)"},
        staging=str(tmp_path / "staged"),
    )
    assert gate.build(day(1), day(2)).success
    found = shelf.kept["orders", day(1), day(2)]
    assert {key: sorted(row["id"] for row in part.collect()) for key, part in found.items()} == {
        day(1): [1, 3],
        day(2): [1, 3],
    }
    assert found[day(1)].columns == ["id", "amount"]
    assert gate.build(day(3), day(4)).success
    whole = shelf.kept["orders", day(3), day(4)]
    assert sorted((row["day"], row["id"]) for row in whole.collect()) == [(day(3), 1), (day(4), 1)]
    assert (tmp_path / "staged" / "orders").is_dir()


def test_pickled_files(spark: SparkSession, tmp_path: Path) -> None:
    manager = dg.FilesystemIOManager(base_dir=str(tmp_path / "pickles"))
    gate = Gate(
        tmp_path, lambda *_: table(), RULES, io_manager=manager, partitions_def=DAILY, metadata={}
    )
    assert gate.build(day(1)).success
    good = pd.read_pickle(tmp_path / "pickles" / "orders" / day(1))
    bad = pd.read_pickle(tmp_path / "pickles" / "orders_quarantine" / day(1))
    pd.testing.assert_frame_equal(good, table().loc[[7, 9]])
    assert bad["id"].tolist() == [2]
    # What is stored can be judged again.
    run = gate.build(job="checks", tags={"dagster/partition": day(1)})
    assert judged(run) == {
        ("positive", day(1)): "Ok",
        ("unique", day(1)): "Ok",
        ("sum", day(1)): "Error",
    }


def test_others_that_hold_bad_rows_have_to_be_selected(spark: SparkSession, tmp_path: Path) -> None:
    shelf = Shelf()
    gate = Gate(tmp_path, lambda *_: table(), RULES, io_manager=shelf)
    run = gate.build(job="asset_alone")
    assert why(run) == (
        "1 rows of 'orders' are to be kept in 'orders_quarantine', which is not selected, and "
        "whose IO manager stores what is: select it as well."
    )
    assert built(run) == []
    assert not shelf.kept


@pytest.mark.parametrize("kind", ["parquet", "orc", "json", "csv"])
def test_formats(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    gate = Gate(tmp_path, orders(spark, 5, -1, 6, 6), RULES)
    gate = Gate(
        tmp_path,
        orders(spark, 5, -1, 6, 6),
        RULES,
        io_manager=dq.SparkIOManager(pyspark=gate.io.pyspark, path=str(tmp_path), format=kind),
        # CSV has no arrays.
        quarantine=dq.Quarantine(path=str(tmp_path / "bad")) if kind == "csv" else True,
    )
    gate.io = dq.SparkIOManager(pyspark=gate.io.pyspark, path=str(tmp_path), format=kind)
    run = gate.build()
    assert run.success
    assert judged(run) == {"positive": "Error", "unique": "Error", "sum": "Error"}
    assert gate.ids() == [1, 3, 4]
    assert gate.frame().dtypes == [("id", "int"), ("amount", "int")]
    assert list((tmp_path / "orders").glob(f"dq_dataset/*/*.{kind}"))
    if kind == "csv":
        gate.io = dq.SparkIOManager(pyspark=gate.io.pyspark, path=str(tmp_path / "bad"))
    assert gate.quarantined() == {
        2: ("left_out", ["positive"]),
        3: ("kept", ["unique"]),
        4: ("kept", ["unique"]),
    }


def test_rows_that_cannot_be_quarantined_in_a_format_are_not_published(
    spark: SparkSession, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, orders(spark, 5, -1), RULES)
    gate.io = dq.SparkIOManager(pyspark=gate.io.pyspark, path=str(tmp_path), format="csv")
    gate = Gate(tmp_path, orders(spark, 5, -1), RULES, io_manager=gate.io)
    run = gate.build()
    assert not run.success
    assert built(run) == []
    assert not (tmp_path / "orders" / "dq_dataset").exists()


def test_behind_a_uri(spark: SparkSession, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/lake"
    gate = Gate(
        place,
        lambda keys: {key: orders(spark, 5, -1, 6, 6) for key in keys},
        [*RULES, dq.RecordCountInRange(name="all", min=9, scope="whole_dataset")],
        partitions_def=DAILY,
        metadata={},
    )
    assert gate.build(day(1)).success
    run = gate.build(day(2), day(3))
    assert run.success
    assert judged(run)["all"] == "Ok"
    frames = {}
    with dg.build_resources({"io": gate.io}, instance=gate.instance) as resources:
        for key in (ORDERS, QUARANTINE):
            frames[key] = resources.io.load_partitions(key, [day(1), day(2), day(3)])
    assert sorted(row["id"] for row in frames[ORDERS].collect()) == [1, 1, 1, 3, 3, 3, 4, 4, 4]
    assert sorted(row["id"] for row in frames[QUARANTINE].collect()) == [2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_pandas_stored_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    gate = Gate(tmp_path, lambda *_: table().drop(columns="kind"), RULES)
    assert gate.build().success
    assert (gate.ids(), list(gate.quarantined())) == ([1, 3], [2])


@pytest.mark.parametrize("kind", ["pandas", "spark"])
def test_without_a_rule_on_rows_faults_have_their_type(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    frame = table()[["id", "amount"]]
    shelf = Shelf()
    rules = [dq.RecordCountInRange(name="rows", min=1)]
    value = frame if kind == "pandas" else spark.createDataFrame(frame)
    gate = Gate(tmp_path, lambda: value, rules, io_manager=shelf)
    assert gate.build().success
    kept = shelf.kept["orders_quarantine",]
    if kind == "pandas":
        assert kept["dq_faults"].tolist() == []
        return
    assert kept.schema["dq_faults"].dataType.simpleString().startswith("array<struct<rule:string")
