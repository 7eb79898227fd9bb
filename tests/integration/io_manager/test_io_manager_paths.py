"""The metadata ``path`` names a folder that holds exactly the rows, also for those who read raw."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import SparkSession

from tests.integration.io_manager.warehouse import amounts, build, days, orders_of, rows
from tests.integration.shelf import asset_of


def _same(value: Any, _: Sequence[str]) -> Any:
    return value


def paths(run: dg.ExecuteInProcessResult) -> dict[str | None, str]:
    """What each materialization of a run says."""
    return {
        event.partition: str(event.step_materialization_data.materialization.metadata["path"].value)
        for event in run.get_asset_materialization_events()
    }


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_of_several_partitions(spark: SparkSession, tmp_path: Path, scheme: str) -> None:
    place = f"{scheme}{tmp_path}"
    first = orders_of(lambda keys: rows(spark, {key: [1, 2] for key in keys}))
    build(place, first, *days(1, 4))
    # The second day has no rows this time, and the third other columns.
    again = orders_of(
        lambda keys: {
            key: rows(spark, {key: [] if key == "2024-03-02" else [7]}).selectExpr(
                "*", *(["1 AS more"] if key == "2024-03-03" else [])
            )
            for key in keys
        }
    )
    split = orders_of(lambda _: rows(spark, {"2024-03-01": [8, 9]}))
    for asset, expected in (
        (again, {"2024-03-01": [7], "2024-03-02": [], "2024-03-03": [7]}),
        (split, {"2024-03-01": [8, 9], "2024-03-02": [], "2024-03-03": []}),
    ):
        found = paths(build(place, asset, *days(1, 3)))
        assert set(found) == set(days(1, 3))
        for key, path in found.items():
            raw = spark.read.parquet(path)
            assert "dq_partition" not in raw.columns
            assert amounts(raw).get(str(key), []) == expected[str(key)]
            assert raw.count() == len(expected[str(key)])
        together = spark.read.parquet(*found.values())
        assert together.count() == sum(map(len, expected.values()))


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_of_one_partition_and_of_assets_without(
    spark: SparkSession, tmp_path: Path, scheme: str
) -> None:
    place = f"{scheme}{tmp_path}"
    for values in ([1, 2], [3]):
        given = rows(spark, {"2024-03-05": values})
        daily = orders_of(partial(_same, given))
        [(key, path)] = paths(build(place, daily, "2024-03-05")).items()
        assert key == "2024-03-05"
        assert amounts(spark.read.parquet(path)) == {"2024-03-05": values}
        plain = asset_of(given, "plain")
        [path] = paths(build(place, plain)).values()
        assert amounts(spark.read.parquet(path)) == {"2024-03-05": values}
