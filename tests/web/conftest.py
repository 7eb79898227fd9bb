"""One filled instance for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from dq_dagster.monitoring.monitor import Monitor
from tests.web.served import served
from tests.web.town import filled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Town:
    """Its pages with its code location, and those of the log alone."""

    declared: Monitor
    logged: Monitor
    port: int
    logged_port: int


@pytest.fixture(scope="session")
def town(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    with (
        filled(spark, folder) as (instance, defs),
        Monitor(instance, locations=[defs]) as declared,
        Monitor(instance, index=folder / "logged.sqlite") as logged,
        served(declared, dagster_url="http://dagster.example:3000/") as port,
        served(logged) as logged_port,
    ):
        declared.refresh()
        logged.refresh()
        yield Town(declared, logged, port, logged_port)
