"""One run of the example shop for all tests of it."""

from __future__ import annotations

import io
from collections.abc import Iterator

import dagster as dg
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from examples.shop import demo
from tests.examples.shop_run import ShopRun, definitions, io_manager, resources


@pytest.fixture(scope="package")
def shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShopRun]:
    folder = tmp_path_factory.mktemp("shop")
    output = io.StringIO()
    console = Console(file=output, width=120)
    with dg.DagsterInstance.ephemeral() as instance:
        result = demo.run(instance, console, resources=resources(folder))
        replayed = demo.replay(result, instance, console, definitions=definitions(folder))
        by_day = demo.run_days(instance, console, resources=io_manager(folder))
        yield ShopRun(result, replayed, by_day, instance, folder, output.getvalue())
