"""The whole oracle both ways: with its tables as small data, and as data that is shuffled.

Tables made of lists are of a size that Spark does not know; here it is told one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dq_dagster.spark.session.sizes import SMALL
from tests.depth import deep_after

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAYS = ("small", "shuffled")
# Those that ask for everything; of the others the second way is deep.
BOTH_EVERY_TIME = {"test_generated", "test_numbers"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "way" in metafunc.fixturenames:
        name = metafunc.module.__name__.rpartition(".")[2]
        quick = len(WAYS) if name in BOTH_EVERY_TIME else 1
        metafunc.parametrize("way", deep_after(quick, WAYS), indirect=True, scope="module")


@pytest.fixture(scope="module")
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def spark(spark: SparkSession, way: str) -> Iterator[SparkSession]:
    if way == "shuffled":
        spark.conf.set(SMALL, "0")
    yield spark
    spark.conf.unset(SMALL)
