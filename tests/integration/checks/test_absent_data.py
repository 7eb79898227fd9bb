"""Checks of assets whose IO manager has no data: what is the case, and what to do about it."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.io_manager.warehouse import why
from tests.integration.shelf import PYSPARK, status_of

RULE = dq.RecordCountInRange(name="rows", max=9, blocking=False)
DAYS = dg.StaticPartitionsDefinition(["mon", "tue"])
READER = "ive the rule set a reader, such as dq.Table(...), dq.Files(...) or a function."
UNRETURNED = (
    "Asset 'orders' is materialized in Dagster, but its IO manager has stored nothing of it, for "
    "the asset returned no value (None, or a MaterializeResult). Let it return its rows, or, if it "
    f"stores them itself, g{READER}"
)
EXTERNAL = (
    "Asset 'orders' is an external asset: Dagster does not build it, so that its IO manager has "
    f"stored nothing of it. G{READER}"
)
PARTITION = (
    "Partition 'mon' of asset 'orders' is materialized in Dagster, but nothing is stored of it, "
    "for the asset returned no value. Let it return its rows (a DataFrame without any where there "
    f"are none), or, if it stores them itself, g{READER}"
)


@dg.asset(name="orders")
def returns_none() -> Any:
    return None


@dg.asset(name="orders")
def returns_a_result() -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(metadata={"rows": 3})


@dg.asset(name="orders")
def says_where_it_is() -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(metadata={"path": __file__})


@dg.asset(name="orders")
def has_no_value() -> None:
    return None


@dg.asset(name="orders")
def returns_rows() -> Any:
    return pd.DataFrame({"amount": [1]})


@dg.asset(name="orders", partitions_def=DAYS)
def partitions_of_nothing() -> Any:
    return None


def managers(tmp_path: Path) -> dict[str, Any]:
    return {
        "local": dq.SparkIOManager(pyspark=PYSPARK, path=str(tmp_path)),
        "uri": dq.SparkIOManager(pyspark=PYSPARK, path=f"file://{tmp_path}"),
        "pickles": dg.FilesystemIOManager(base_dir=str(tmp_path)),
    }


def said(asset: Any, io_manager: Any, instance: dg.DagsterInstance, **options: Any) -> str:
    """What the one check of an asset says."""
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=[RULE]), assets=[asset])
    run = dg.materialize(
        [asset, *checks],
        instance=instance,
        resources={"io_manager": io_manager},
        raise_on_error=False,
        **options,
    )
    [evaluation] = run.get_asset_check_evaluations()
    assert status_of(evaluation) == "Error"
    return str(evaluation.description)


@pytest.mark.parametrize("manager", ["local", "uri", "pickles"])
def test_what_is_the_case(spark: SparkSession, tmp_path: Path, manager: str) -> None:
    io_manager = managers(tmp_path)[manager]
    only_checks = {"selection": dg.AssetSelection.all_asset_checks()}
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (returns_a_result, {}, UNRETURNED),
        (says_where_it_is, {}, UNRETURNED),
        (has_no_value, {}, UNRETURNED),
        (dg.AssetSpec("orders"), only_checks, EXTERNAL),
        (
            dg.AssetSpec("orders", partitions_def=DAYS),
            {**only_checks, "tags": {"dagster/partition": "mon"}},
            EXTERNAL,
        ),
    ]
    if manager != "pickles":
        cases += [
            (returns_none, {}, UNRETURNED),
            (partitions_of_nothing, {"partition_key": "mon"}, PARTITION),
        ]
    for asset, options, expected in cases:
        with dg.DagsterInstance.ephemeral() as instance:
            assert said(asset, io_manager, instance, **options) == expected


@pytest.mark.parametrize("manager", ["local", "uri", "pickles"])
def test_files_that_are_gone_and_assets_never_built(
    spark: SparkSession, tmp_path: Path, manager: str
) -> None:
    io_manager = managers(tmp_path)[manager]
    only_checks = {"selection": dg.AssetSelection.all_asset_checks()}
    with dg.DagsterInstance.ephemeral() as instance:
        never = said(returns_rows, io_manager, instance, **only_checks)
        if manager != "pickles":
            assert never.startswith("Asset 'orders' has not been materialized yet: nothing is ")
        dg.materialize([returns_rows], instance=instance, resources={"io_manager": io_manager})
        if manager == "pickles":
            (tmp_path / "orders").unlink()
        else:
            shutil.rmtree(tmp_path / "orders")
        assert said(returns_rows, io_manager, instance, **only_checks) == (
            "Asset 'orders' is materialized in Dagster, but its files are gone. Materialize it "
            "again."
        )


def test_an_asset_that_takes_what_was_not_returned(spark: SparkSession, tmp_path: Path) -> None:
    @dg.asset
    def report(orders: DataFrame) -> Any:
        return orders

    for upstream, expected in ((returns_none, UNRETURNED), (dg.AssetSpec("orders"), EXTERNAL)):
        run = dg.materialize(
            [upstream, report],
            resources={"io_manager": managers(tmp_path)["local"]},
            raise_on_error=False,
        )
        assert expected in why(run)


def test_in_memory(spark: SparkSession) -> None:
    for asset in (returns_a_result, has_no_value):
        with dg.DagsterInstance.ephemeral() as instance:
            assert said(asset, dg.mem_io_manager, instance) == UNRETURNED
