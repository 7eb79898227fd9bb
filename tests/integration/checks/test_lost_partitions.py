"""Partitions that Dagster knows as built and whose data is gone: an Error, never 0 rows."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.integration.checks.request import PARTITION_TAG
from dq_dagster.storage.folders import folder_name
from tests.depth import deep_after
from tests.integration.calendar import (
    DAILY,
    RANGE_END,
    RANGE_START,
    Shop,
    day,
    orders_asset,
    orders_of,
    results,
    statuses,
)
from tests.integration.io_manager.warehouse import manager as stored
from tests.integration.io_manager.warehouse import why

RULES = [
    dq.RecordCountInRange(name="rows", max=9, scope="both", blocking=False),
    dq.ColumnMaxInRange(name="largest", columns="amount", max=50, scope="whole_dataset"),
]
AMOUNTS = {day(1): [10.0, 20.0], day(2): [30.0], day(3): [40.0, 45.0], day(4): [1.0]}
SPAN = {RANGE_START: day(1), RANGE_END: day(3)}
WHOLE: dict[tuple[str, str | None], str] = {
    ("rows__dataset", None): "Error",
    ("largest", None): "Error",
}
LOST = (
    f"Partition '{day(2)}' of asset 'orders' is materialized in Dagster, but its files are gone. "
    "Materialize it again, or wipe its materializations in Dagster (without Dagster+, those of "
    "the whole asset)."
)
LOST_IN_WHOLE = (
    "1 of the 3 partitions of asset 'orders' that are materialized in Dagster cannot be read, so "
    f"the whole dataset cannot be judged: the files of '{day(2)}' are gone. Materialize them "
    "again, or wipe their materializations in Dagster (without Dagster+, those of the whole asset)."
)


def folder_of(place: Path, key: str) -> Path:
    return place / "orders" / f"dq_partition={folder_name(key)}"


def lose_all(folder: Path) -> None:
    shutil.rmtree(folder)


def lose_rows(folder: Path) -> None:
    files = list(folder.rglob("*.parquet"))
    assert files
    for file in files:
        file.unlink()


RANGED: dict[tuple[str, str | None], str] = {
    ("rows", day(1)): "Ok",
    ("rows", day(2)): "Error",
    ("rows", day(3)): "Ok",
}


def built_shop(spark: SparkSession, place: str, *, incremental: bool = False) -> Shop:
    asset = orders_asset(spark, AMOUNTS)
    rule_set = dq.RuleSet(asset=asset, rules=RULES, incremental=incremental)
    shop = Shop(asset, rule_set, io_manager=stored(place))
    shop.build(day(1), day(3))
    return shop


@pytest.mark.parametrize(("scheme", "incremental"), [("", False), ("file://", True)])
def test_in_every_kind_of_run(
    spark: SparkSession, tmp_path: Path, scheme: str, incremental: bool
) -> None:
    shop = built_shop(spark, f"{scheme}{tmp_path}", incremental=incremental)
    lose_all(folder_of(tmp_path, day(2)))

    single = shop.check("rows", tags={"dagster/partition": day(2)})
    assert statuses(single) == {("rows", day(2)): "Error"}
    assert results(single)["rows", day(2)].description == LOST
    assert statuses(shop.check("rows", tags=SPAN)) == RANGED
    beside = shop.check(tags=SPAN)
    assert statuses(beside) == {**RANGED, **WHOLE}
    assert results(beside)["rows", day(2)].description == LOST
    assert results(beside)["largest", None].description == LOST_IN_WHOLE
    assert statuses(shop.check("largest")) == {("largest", None): "Error"}
    by_hand = shop.check("rows__dataset", tags={PARTITION_TAG: day(1)})
    assert statuses(by_hand) == {("rows", day(1)): "Ok", ("rows__dataset", None): "Error"}
    assert statuses(shop.build(day(4))) == {("rows", day(4)): "Ok", **WHOLE}


@pytest.mark.parametrize(
    ("scheme", "incremental", "lose"),
    [
        ("", False, lose_rows),
        ("", True, lose_rows),
        ("file://", False, lose_rows),
        ("file://", False, lose_all),
    ],
)
def test_however_the_files_got_lost(
    spark: SparkSession,
    tmp_path: Path,
    scheme: str,
    incremental: bool,
    lose: Callable[[Path], None],
) -> None:
    shop = built_shop(spark, f"{scheme}{tmp_path}", incremental=incremental)
    lose(folder_of(tmp_path, day(2)))
    assert statuses(shop.check("rows", tags=SPAN)) == RANGED
    run = shop.check(tags=SPAN)
    assert statuses(run) == {**RANGED, **WHOLE}
    assert results(run)["rows", day(2)].description == LOST


def test_both_remedies(spark: SparkSession, tmp_path: Path) -> None:
    shop = built_shop(spark, str(tmp_path))
    lose_all(folder_of(tmp_path, day(2)))
    assert statuses(shop.build(day(2))) == {
        ("rows", day(2)): "Ok",
        ("rows__dataset", None): "Ok",
        ("largest", None): "Ok",
    }
    lose_all(folder_of(tmp_path, day(2)))
    shop.instance.wipe_assets([shop.key])
    for number in (1, 3):
        shop.build(day(number))
    wiped = shop.check(tags=SPAN)
    assert statuses(wiped)["rows", day(2)] == "Empty"
    assert statuses(wiped)["largest", None] == "Ok"


def test_all_partitions_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES, io_manager=stored(tmp_path))
    shop.build(day(1), day(3))
    lose_all(tmp_path / "orders")
    run = shop.check(tags=SPAN)
    lost: dict[tuple[str, str | None], str]
    lost = {("rows", day(number)): "Error" for number in (1, 2, 3)}
    assert statuses(run) == {**lost, **WHOLE}
    assert results(run)["rows", day(2)].description == LOST
    assert results(run)["largest", None].description == (
        "3 of the 3 partitions of asset 'orders' that are materialized in Dagster cannot be read, "
        "so the whole dataset cannot be judged: the files of "
        f"'{day(1)}', '{day(2)}', '{day(3)}' are gone. Materialize them again, or wipe their "
        "materializations in Dagster (without Dagster+, those of the whole asset)."
    )


REGIONS = dg.StaticPartitionsDefinition(["DE", "FR", "a/b"])
BOTH = dg.MultiPartitionsDefinition({"day": DAILY, "region": REGIONS})


@dataclass(frozen=True)
class Layout:
    partitions_def: Any
    expression: Any
    keys: Sequence[str]


LAYOUTS = {
    "static": Layout(REGIONS, "key", ["DE", "FR", "a/b"]),
    "without an expression": Layout(REGIONS, None, ["DE", "FR", "a/b"]),
    "two dimensions": Layout(
        BOTH,
        {"day": "split(key, '[|]')[0]", "region": "split(key, '[|]')[1]"},
        [f"{day(1)}|DE", f"{day(1)}|FR", f"{day(1)}|a/b"],
    ),
}


def parts_asset(spark: SparkSession, layout: Layout) -> dg.AssetsDefinition:
    """A row a partition that holds its key."""

    @dg.asset(
        name="orders",
        partitions_def=layout.partitions_def,
        metadata={} if layout.expression is None else {"partition_expr": layout.expression},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        return spark.createDataFrame([(context.partition_key, 1.0)], "key string, amount double")

    return orders


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("scheme", deep_after(1, ["", "file://"]))
def test_all_kinds_of_partitions(
    spark: SparkSession, tmp_path: Path, name: str, scheme: str
) -> None:
    layout = LAYOUTS[name]
    first, lost, last = layout.keys
    place = f"{scheme}{tmp_path}"
    shop = Shop(parts_asset(spark, layout), RULES, io_manager=stored(place))
    for key in layout.keys:
        assert shop.build(key).success
    lose_all(folder_of(tmp_path, lost))
    run = shop.check(tags={RANGE_START: first, RANGE_END: last})
    expected: dict[tuple[str, str | None], str]
    expected = {("rows", first): "Ok", ("rows", lost): "Error", ("rows", last): "Ok"}
    assert statuses(run) == {**expected, **WHOLE}
    assert str(results(run)["rows", lost].description).startswith(f"Partition '{lost}' of asset")


def frames(spark: SparkSession, keys: Sequence[str], tmp_path: Path) -> dict[str, Any]:
    there = [key for key in keys if (tmp_path / "orders" / key).exists()]
    return {key: orders_of(spark, {key: AMOUNTS[key]}) for key in there}


@pytest.mark.parametrize(
    ("kind", "incremental"),
    [
        ("io manager", False),
        ("all by partition", True),
        ("some by partition", False),
        ("folders", True),
    ],
)
def test_other_readers(spark: SparkSession, tmp_path: Path, kind: str, incremental: bool) -> None:
    """As far as what they return, or why they cannot, tells which partitions there are."""

    @dg.asset(partitions_def=DAILY, backfill_policy=dg.BackfillPolicy.multi_run())
    def orders(context: dg.AssetExecutionContext) -> pd.DataFrame:
        return pd.DataFrame({"amount": AMOUNTS[context.partition_key]})

    def read_all() -> Any:
        return frames(spark, list(AMOUNTS), tmp_path)

    def read_some(partitions: Any) -> Any:
        return frames(spark, partitions or list(AMOUNTS), tmp_path)

    def read_folders(partitions: Any) -> Any:
        root = tmp_path / "parquet"
        return spark.read.parquet(*(str(root / key) for key in partitions or AMOUNTS))

    readers = {
        "io manager": None,
        "all by partition": read_all,
        "some by partition": read_some,
        "folders": read_folders,
    }
    for key, amounts in AMOUNTS.items():
        orders_of(spark, {key: amounts}).write.parquet(str(tmp_path / "parquet" / key))
    rule_set = dq.RuleSet(asset=orders, rules=RULES, reader=readers[kind], incremental=incremental)
    shop = Shop(orders, rule_set, io_manager=dg.FilesystemIOManager(base_dir=str(tmp_path)))
    for number in (1, 2, 3):
        shop.build(day(number))
    (tmp_path / "orders" / day(2)).unlink()
    shutil.rmtree(tmp_path / "parquet" / day(2))
    run = shop.check(tags=SPAN)
    assert statuses(run) == {**RANGED, **WHOLE}
    assert "is materialized in Dagster, but " in str(results(run)["rows", day(2)].description)
    assert f"'{day(2)}'" in str(results(run)["largest", None].description)
    assert statuses(shop.check("rows", tags=SPAN)) == RANGED


def test_in_memory_only_what_the_run_did_not_build_is_an_error(spark: SparkSession) -> None:
    shop = Shop(orders_asset(spark, AMOUNTS), RULES)
    shop.build(day(1))
    run = shop.build(day(2), tags={PARTITION_TAG: day(1)})
    assert statuses(run) == {
        ("rows", day(2)): "Ok",
        ("rows", day(1)): "Error",
        ("rows__dataset", None): "Ok",
        ("largest", None): "Ok",
    }


def test_rules_that_refer_to_other_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """What a partition refers to, in its own asset or in another one, may have been there."""

    @dg.asset(partitions_def=DAILY, backfill_policy=dg.BackfillPolicy.single_run())
    def customers(context: dg.AssetExecutionContext) -> Any:
        return orders_of(spark, {context.partition_key: AMOUNTS[context.partition_key]})

    asset = orders_asset(spark, AMOUNTS)
    rules = [
        dq.ColumnValuesInReference(
            name=name,
            columns="amount",
            reference=dq.Reference(asset=name),
            reference_columns="amount",
        )
        for name in ("customers", "orders")
    ]
    checks = dq.build_asset_checks(
        dq.RuleSet(asset=asset, rules=[*rules, dq.RecordCountInRange(name="rows", max=9)]),
        assets=[asset],
    )
    with dg.DagsterInstance.ephemeral() as instance:
        for key in (day(1), day(2)):
            dg.materialize(
                [asset, customers],
                partition_key=key,
                instance=instance,
                resources={"io_manager": stored(tmp_path)},
            )
        for name in ("customers", "orders"):
            lose_all(tmp_path / name / f"dq_partition={day(2)}")
        run = dg.materialize(
            [asset, customers, *checks],
            selection=dg.AssetSelection.checks_for_assets(asset),
            tags={"dagster/partition": day(1)},
            instance=instance,
            resources={"io_manager": stored(tmp_path)},
            raise_on_error=False,
        )
    assert statuses(run) == {
        ("customers", day(1)): "Error",
        ("orders", day(1)): "Error",
        ("rows", day(1)): "Ok",
    }
    for name in ("customers", "orders"):
        assert str(results(run)[name, day(1)].description).startswith(
            f"1 of the 2 partitions of asset '{name}' that are materialized in Dagster cannot be "
            f"read, so the whole dataset cannot be judged: the files of '{day(2)}' are gone."
        )


def test_assets_downstream_do_not_get_less_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    @dg.asset(partitions_def=DAILY)
    def orders(context: dg.AssetExecutionContext) -> Any:
        if context.partition_key == day(3):
            return None
        return orders_of(spark, {context.partition_key: AMOUNTS[context.partition_key]})

    @dg.asset
    def report(orders: DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"rows": [orders.count()]})

    def run(instance: dg.DagsterInstance, **options: Any) -> dg.ExecuteInProcessResult:
        return dg.materialize(
            [orders, report],
            instance=instance,
            resources={"io_manager": stored(tmp_path)},
            raise_on_error=False,
            **options,
        )

    with dg.DagsterInstance.ephemeral() as instance:
        for number in (1, 2, 3):
            run(instance, partition_key=day(number), selection=[orders])
        # A partition that was never stored, or never built, is left out.
        assert run(instance, selection=[report]).success
        lose_all(folder_of(tmp_path, day(2)))
        assert "the files of '2024-03-02' are gone" in why(run(instance, selection=[report]))
