"""Other formats, other file systems, failed writes and writers at the same time."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.storage.local import LocalStore
from tests.integration.io_manager.warehouse import (
    ORDERS,
    amounts,
    build,
    days,
    manager,
    orders_of,
    rows,
    whole,
    why,
)
from tests.integration.shelf import asset_of


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_other_formats_keep_their_types(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    asset = orders_of(lambda keys: rows(spark, {keys[0]: [1]}))
    build(tmp_path, asset, *days(1, 2), settings={"format": kind})
    frame = manager(tmp_path, format=kind).load_partitions(ORDERS, None)
    assert (frame.dtypes, amounts(frame)) == (
        [("day", "date"), ("amount", "int")],
        {"2024-03-01": [1]},
    )


def test_a_failed_write_leaves_every_partition_as_it_was(
    spark: SparkSession, tmp_path: Path
) -> None:
    build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1] for key in keys})), *days(1, 2))
    broken = rows(spark, {"2024-03-01": [1, 2], "2024-03-02": [3]}).selectExpr(
        "day", "CAST(IF(amount = 3, 'x', amount) AS INT) AS amount"
    )
    for keys in (days(1, 1), days(1, 2)):
        result = build(tmp_path, orders_of(lambda _: broken), *keys, raise_on_error=False)
        assert "CAST_INVALID_INPUT" in why(result)
        stored = amounts(manager(tmp_path).load_partitions(ORDERS, None))
        assert stored == {"2024-03-01": [1], "2024-03-02": [1]}
    assert not list((tmp_path / "orders" / ".staging").iterdir())
    assert {path.name for path in (tmp_path / "orders").iterdir()} == {
        ".journal",
        ".lock",
        ".staging",
        "dq_partition=2024-03-01",
        "dq_partition=2024-03-02",
    }


def test_writers_at_the_same_time(spark: SparkSession, tmp_path: Path) -> None:
    store = LocalStore("orders", tmp_path, "parquet")

    def write(number: int) -> None:
        shared, own = days(1, 1)[0], days(2 + number, 2 + number)[0]
        frames = {key: rows(spark, {key: [number] * 5}) for key in (shared, own)}
        store.write({key: frame.repartition(3) for key, frame in frames.items()})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(8)))
    found = amounts(store.load(spark, None).frame)
    shared = found.pop("2024-03-01")
    assert found == {key: [number] * 5 for number, key in enumerate(days(2, 9))}
    assert shared in [[number] * 5 for number in range(8)]
    assert not list(tmp_path.glob(".staging/*"))
    # What was replaced stays, and is known.
    replaced = sorted(note.name.partition(",")[2] for note in (tmp_path / ".journal").iterdir())
    attempts = [path.name for path in (tmp_path / "dq_partition=2024-03-01").glob("[!_]*")]
    assert len(replaced) == 7
    assert len(attempts) == 8
    assert set(replaced) < set(attempts)


def test_a_lazy_frame_can_be_written_over_what_it_reads(
    spark: SparkSession, tmp_path: Path
) -> None:
    build(tmp_path, orders_of(lambda keys: rows(spark, {key: [1] for key in keys})), *days(1, 2))
    old = manager(tmp_path).load_partitions(ORDERS, None)
    build(tmp_path, orders_of(lambda _: old.selectExpr("day", "amount + 1 AS amount")), *days(1, 2))
    stored = amounts(manager(tmp_path).load_partitions(ORDERS, None))
    assert stored == {"2024-03-01": [2], "2024-03-02": [2]}


def test_readers_that_began_before_a_rebuild_get_the_old_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    def built(amount: int) -> None:
        build(tmp_path, orders_of(lambda keys: rows(spark, {key: [amount] for key in keys})), *both)
        single = asset_of(rows(spark, {"2024-03-01": [amount, amount]}), "single")
        build(tmp_path, single)

    both, single = days(1, 2), dg.AssetKey("single")
    built(1)
    io = manager(tmp_path)
    partitions, divided = io.load_partitions(ORDERS, None), io.load_divided(ORDERS, both)
    alone = whole(io, single)
    built(2)
    built(3)
    for frame in (partitions, divided.frame):
        assert (frame.count(), amounts(frame)) == (2, {key: [1] for key in both})
    assert (alone.count(), amounts(alone)) == (2, {"2024-03-01": [1, 1]})
    assert amounts(io.load_partitions(ORDERS, None)) == {key: [3] for key in both}
    assert amounts(whole(io, single)) == {"2024-03-01": [3, 3]}


def test_a_write_that_is_interrupted_keeps_the_old_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    def interrupted(event: str, arguments: tuple[object, ...]) -> None:
        if active and event == "os.rename" and str(arguments[0]).startswith(str(tmp_path)):
            active.pop()
            raise KeyboardInterrupt

    active: list[bool] = []
    sys.addaudithook(interrupted)
    store = LocalStore("orders", tmp_path / "orders", "parquet")
    store.write_whole(rows(spark, {"2024-03-01": [1]}))
    active.append(True)
    with pytest.raises(KeyboardInterrupt):
        store.write_whole(rows(spark, {"2024-03-01": [2]}))
    assert amounts(store.load_whole(spark)) == {"2024-03-01": [1]}
    assert not list((tmp_path / "orders" / ".staging").iterdir())


def test_behind_a_uri_spark_overwrites_the_partitions(spark: SparkSession, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/lake"
    with dg.DagsterInstance.ephemeral() as instance:
        ones = orders_of(lambda keys: rows(spark, {key: [1] for key in keys}))
        build(place, ones, *days(1, 4), instance=instance)
        few = orders_of(lambda _: rows(spark, {"2024-03-02": [5, 6]}))
        build(place, few, *days(2, 4), instance=instance)
        wider = orders_of(lambda _: rows(spark, {"2024-03-04": [9]}).selectExpr("*", "'x' AS note"))
        build(place, wider, "2024-03-04", instance=instance)

        said = []
        with dg.build_resources({"io": manager(place)}, instance=instance) as resources:
            store = resources.io
            assert store.existing_partitions(ORDERS) == days(1, 4)
            frame = store.load_partitions(ORDERS, None)
            assert amounts(store.load_partitions(ORDERS, days(2, 9))) == {
                "2024-03-02": [5, 6],
                "2024-03-04": [9],
            }
            for keys in (days(7, 7), days(7, 8)):
                with pytest.raises(dq.DqError) as raised:
                    store.load_partitions(ORDERS, keys)
                said.append(str(raised.value))
    assert (frame.columns, amounts(frame)) == (
        ["day", "amount", "note"],
        {"2024-03-01": [1], "2024-03-02": [5, 6], "2024-03-04": [9]},
    )
    one, several = said
    assert one == (
        f"Partition '2024-03-07' of asset 'orders' is not stored at '{place}/orders': materialize "
        "it first."
    )
    assert several == (
        "None of the 2 partitions ('2024-03-07', '2024-03-08') of asset 'orders' is stored at "
        f"'{place}/orders': materialize it first."
    )


def test_behind_a_uri_rows_of_other_partitions_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    strange = orders_of(lambda _: rows(spark, {"2024-03-01": [1], "2024-03-09": [2]}))
    result = build(f"file://{tmp_path}", strange, *days(1, 2), raise_on_error=False)
    assert (
        "1 rows of asset 'orders' belong to none of the 2 partitions of this run ('2024-03-01', "
        "'2024-03-02'), but to '2024-03-09'. Nothing was written" in why(result)
    )
    assert not list(tmp_path.iterdir())


def test_checks_of_partitions_and_of_the_whole_dataset(spark: SparkSession, tmp_path: Path) -> None:
    orders = orders_of(lambda keys: rows(spark, {key: [int(key[-2:])] for key in keys}))
    rules = dq.RuleSet(
        asset=orders, rules=[dq.ColumnSumInRange(columns="amount", max=4, scope="both")]
    )
    with dg.DagsterInstance.ephemeral() as instance:
        build(tmp_path, orders, "2024-03-01", instance=instance)
        assets = [orders, *dq.build_asset_checks(rules)]
        result = build(tmp_path, assets, *days(3, 4), instance=instance, raise_on_error=False)
    said = {e.partition: e.description for e in result.get_asset_check_evaluations()}
    assert said == {
        "2024-03-03": "The sum of 'amount' is 3, as expected (at most 4).",
        "2024-03-04": "The sum of 'amount' is 4, as expected (at most 4).",
        None: "The sum of 'amount' is 8, above the maximum of 4.",
    }
