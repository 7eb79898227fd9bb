"""A small code location in a file, its assets built, for commands about one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from dq_dagster.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CODE = """
import dagster as dg
import pandas as pd
from dagster_pyspark import LazyPySparkResource

import dq_dagster as dq

PYSPARK = LazyPySparkResource(spark_config={})
DAYS = dg.StaticPartitionsDefinition(["mon", "tue", "wed", "thu"])
VISITS = {"mon": [1, 1], "tue": [2, None], "wed": [7, 8]}
PRICES = dg.TableSchema([dg.TableColumn("sku", "string"), dg.TableColumn("price", "double")])


@dg.asset
def customers():
    return pd.DataFrame({"id": [1, 2, 3], "mail": ["a@x", "?", None], "town": ["a", "b", "c"]})


@dg.asset(partitions_def=DAYS)
def visits(context):
    return pd.DataFrame({"id": pd.array(VISITS[context.partition_key], dtype="Int64")})


@dg.asset(metadata={"dagster/column_schema": PRICES})
def prices():
    return pd.DataFrame({"sku": ["a"], "price": [1.0]})


@dg.asset_check(asset=prices)
def any_price():
    return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.WARN, description="No.")


@dq.guarded_asset(
    rules=[dq.ColumnValuesInRange(name="small", columns="n", max=5, action_if_failed="drop")]
)
def payments():
    return pd.DataFrame({"n": [1, 9], "note": ["x", "y"]})


ASSETS = [customers, visits, prices, payments]
RULES = [
    dq.RuleSet(
        asset=customers,
        rules=[
            dq.ColumnValuesMatch(name="mail ok", columns="mail", pattern=".+@.+", blocking=True),
            dq.RecordCountInRange(name="rows", min=1),
            dq.ColumnNotEmpty(name="old", columns="town", enabled=False),
        ],
    ),
    dq.RuleSet(
        asset=visits,
        rules=[
            dq.ColumnUnique(name="within", columns="id"),
            dq.RecordCountInRange(name="many", min=5, scope="whole_dataset"),
            dq.ColumnNotEmpty(name="given", columns="id", scope="both", blocking=False),
        ],
    ),
]
defs = dg.Definitions(
    assets=ASSETS,
    asset_checks=[*dq.build_asset_checks(RULES, assets=ASSETS), any_price],
    resources={
        "pyspark": PYSPARK,
        "io_manager": dq.SparkIOManager(pyspark=PYSPARK, path="FOLDER"),
    },
)
"""


@pytest.fixture(scope="package")
def location(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("location")
    home = folder / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    file = folder / "small_location.py"
    file.write_text(CODE.replace("FOLDER", str(folder / "data")), encoding="utf-8")
    built: dict[str, Any] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), built)
    defs = built["defs"]
    with dg.DagsterInstance.from_config(str(home)) as instance:
        for names, key in (
            (["customers", "payments", "payments_quarantine"], None),
            (["visits"], "mon"),
            (["visits"], "tue"),
            (["visits"], "wed"),
        ):
            dg.materialize(
                list(defs.assets),
                selection=dg.AssetSelection.assets(*names),
                instance=instance,
                resources=defs.resources,
                partition_key=key,
            )
    return file


@pytest.fixture
def command(location: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Calls a command for the code location."""
    monkeypatch.setenv("DAGSTER_HOME", str(location.parent / "home"))
    return lambda *arguments: CliRunner().invoke(main, [*arguments, "-f", str(location)])
