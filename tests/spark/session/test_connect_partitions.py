"""Spark Connect stores and loads partitions as classic Spark does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.session.connect_partitions import KEYS, stored


@pytest.mark.deep
def test_connect_and_classic_agree_on_partitions(spark: SparkSession, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_partitions", str(tmp_path / "connect")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    here = stored(spark, str(tmp_path / "classic"))
    assert json.loads(done.stdout.splitlines()[-1]) == here
    expected = [[key, n, None, None] for n, key in enumerate(KEYS)]
    expected += [["less", None, "y", None], ["k0", 0, None, "k0"], ["k1", 1, None, "k1"]]
    for place in (here[:4], here[4:]):
        assert place[0] == sorted(expected, key=str)
        assert sorted(map(sorted, place[1])) == [sorted(KEYS), ["k0", "k1", "k2"], ["less"]]
        assert place[2] == ["whole"]
        assert place[3].startswith("Partition 'none' of asset 'orders' is not stored at '")
