"""Guarded runs that are killed, and several of them at once: no row is lost, doubled or wrong."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration.guarded.worker import PARTS, build, versions


def start(task: str, folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.guarded.worker", task, str(folder)]
        + [str(one) for one in arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.deep
def test_a_run_killed_at_random_points_and_tried_again(tmp_path: Path) -> None:
    worker = start("kill", tmp_path, 7, 30)
    answer, complaint = worker.communicate(timeout=1200)
    assert worker.returncode == 0, complaint[-3000:]
    found = json.loads(answer.splitlines()[-1])
    assert found["killed"] > 20
    assert found["states"] > 1


@pytest.mark.deep
def test_a_run_killed_with_its_spark_and_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(3)
    build(str(tmp_path), 1, PARTS)
    version = 1
    for _ in range(4):
        worker = start("build", tmp_path, version + 1, ",".join(PARTS))
        # It begins to write when it has started Spark.
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("orders/.staging/*/judged-*")) and worker.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(chance.random() * 3)
        worker.kill()
        worker.communicate()
        for good, bad in versions(str(tmp_path)).values():
            assert {good, bad} <= {version, version + 1}
            assert good <= bad
        version += 2
        assert build(str(tmp_path), version, PARTS).success
        assert set(versions(str(tmp_path)).values()) == {(version, version)}


@pytest.mark.deep
def test_four_runs_at_once_on_four_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """Each builds a partition of its own, and all of them the first one as well."""
    workers = [
        start("build", tmp_path, number + 1, f"{part};p0;{part}")
        for number, part in enumerate(PARTS)
    ]
    for worker in workers:
        _, complaint = worker.communicate(timeout=600)
        assert worker.returncode == 0, complaint[-3000:]
    there = versions(str(tmp_path))
    assert {part: there[part] for part in PARTS[1:]} == {"p1": (2, 2), "p2": (3, 3), "p3": (4, 4)}
    good, bad = there["p0"]
    assert good == bad
    # One record for each build: none is lost, none is there twice.
    records = spark.read.parquet(str(tmp_path / "stats")).collect()
    assert len(records) == len({row["run_id"] for row in records}) == 12
    assert sorted(row["partition"] for row in records) == sorted([*PARTS * 2, *["p0"] * 4])
    assert {(row["rows_in"], row["rows_published"]) for row in records} == {(6, 5)}
