"""One Spark session for the whole test process, a counter of Spark jobs, and the deep tests.

Tests marked ``deep`` are the large ones. They are left out unless ``--deep`` or ``--deep-only`` is
given, or a test is named by its node id; how many were left out is said at the end.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from dq_dagster.spark.session.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT_OUT = pytest.StashKey[int]()

# Tests have few rows and many queries, each with code of its own: Java's second compiler and its
# concurrent collector cost more than they bring. Every Java that a test starts gets this, in
# processes of their own too.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JAVA)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK_JAVA)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("deep tests")
    group.addoption("--deep", action="store_true", help="run the tests marked deep as well")
    group.addoption("--deep-only", action="store_true", help="run only the tests marked deep")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    deep = [item for item in items if item.get_closest_marker("deep")]
    others = [item for item in items if not item.get_closest_marker("deep")]
    if config.getoption("--deep-only"):
        items[:], left_out = deep, others
    elif config.getoption("--deep") or any("::" in argument for argument in config.args):
        left_out = []
    else:
        items[:], left_out = others, deep
        config.stash[LEFT_OUT] = len(deep)
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Processes of pytest-xdist report to the one that prints; all of them collect the same tests.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_sep("-", "deep tests")
        terminalreporter.write_line(f"{left_out} left out; ./dev test --deep runs them too.")


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
        # What Spark takes tables made of lists for: small ones, as they are.
        .config("spark.sql.defaultSizeInBytes", "1000")
        # Neither UTC nor the machine's zone: a time that slips between zones shows.
        .config("spark.sql.session.timeZone", "America/New_York")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def large(spark: SparkSession) -> Iterator[None]:
    """No data counts as small: for what is done to large data only."""
    from dq_dagster.spark.session.sizes import SMALL

    spark.conf.set(SMALL, "0")
    yield
    spark.conf.unset(SMALL)


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
