"""Spark Connect measures files, schemas and times as classic Spark does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.session.connect_dataset import DATA, judged


@pytest.mark.deep
def test_connect_and_classic_agree_on_files(spark: SparkSession, tmp_path: Path) -> None:
    few, many = tmp_path / "with space", tmp_path / "many"
    spark.sql(DATA).write.partitionBy("k").parquet(str(few))
    part = next(few.rglob("*.parquet")).read_bytes()
    many.mkdir()
    for number in range(40):
        (many / f"{number} %é.parquet").write_bytes(part)
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    paths = [str(few), str(many)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_dataset", zone, *paths],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    here = judged(spark, paths)
    assert json.loads(done.stdout.splitlines()[-1]) == here
    sizes = [line[2] for line in here if line[0] == "file_size_in_range"]
    on_disk = sum(file.stat().st_size for file in few.rglob("*.parquet"))
    assert sizes == [str(on_disk), str(40 * len(part)), "None"]
    assert {status for _, status, _, _ in here} == {"Ok", "Error"}
