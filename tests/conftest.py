"""One Spark session for the whole test process, and a counter of Spark jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.spark.session.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    ensure_java()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .appName("dq_dagster tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        # Neither UTC nor the machine's zone: a time that slips between zones shows.
        .config("spark.sql.session.timeZone", "America/New_York")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def count_jobs(spark: SparkSession) -> Callable[[Callable[[], object]], int]:
    """Runs something and says how many Spark jobs that took."""

    def count(action: Callable[[], object]) -> int:
        group = str(uuid.uuid4())
        spark.sparkContext.setJobGroup(group, "counted")
        try:
            action()
        finally:
            nothing: Any = None
            spark.sparkContext.setLocalProperty("spark.jobGroup.id", nothing)
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))

    return count
