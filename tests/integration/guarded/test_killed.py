"""Guarded runs that are killed, and several of them at once: no row is lost, doubled or wrong."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration.guarded.worker import PARTS, build, expected, found


def start(
    folder: Path, version: int, keys: str, change: int = 0, seconds: float = 0
) -> subprocess.Popen[bytes]:
    arguments = [folder, version, keys, change, seconds]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.integration.guarded.worker", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def versions(spark: SparkSession, folder: Path) -> dict[str, tuple[int, int]]:
    """By partition, the version of what is published, and of its quarantine.

    Fails if one is not exactly what was written of one version.
    """
    there = {}
    for part, (good, bad) in found(spark, str(folder)).items():
        of_good, of_bad = good[0] // 1_000, bad[0] // 1_000
        assert (good, bad) == (expected(of_good, part)[0], expected(of_bad, part)[1]), part
        there[part] = (of_good, of_bad)
    return there


@pytest.mark.deep
def test_a_run_killed_at_random_points_and_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(7)
    build(str(tmp_path), 0, PARTS)
    keys, seen = ",".join(PARTS), set()
    killed = 0
    version = 0
    for point in range(30):
        version += 1
        # Python renames files at the end; before that Spark writes.
        by_time = point % 3 == 2
        change = 0 if by_time else chance.randint(1, 130)
        worker = start(tmp_path, version, keys, change, chance.uniform(0.5, 9) if by_time else 0)
        code = worker.wait(timeout=300)
        assert code in {0, -signal.SIGKILL}
        killed += code != 0
        there = versions(spark, tmp_path)
        for good, bad in there.values():
            # The old or the new; and what is new has its quarantine.
            assert {good, bad} <= {version - 1, version}
            assert good <= bad
        seen.add(tuple(there.values()))
        if code == 0:
            assert set(there.values()) == {(version, version)}
        version += 1
        assert build(str(tmp_path), version, PARTS).success
        assert set(versions(spark, tmp_path).values()) == {(version, version)}
        assert not list(tmp_path.glob("*/.publishing/*.json"))
    assert killed > 15


@pytest.mark.deep
def test_four_runs_at_once_on_four_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """Each builds a partition of its own, and all of them the first one as well."""
    workers = [
        start(tmp_path, number + 1, f"{part};p0;{part}") for number, part in enumerate(PARTS)
    ]
    for worker in workers:
        assert worker.wait(timeout=600) == 0
    there = versions(spark, tmp_path)
    assert {part: there[part] for part in PARTS[1:]} == {"p1": (2, 2), "p2": (3, 3), "p3": (4, 4)}
    good, bad = there["p0"]
    assert good == bad
    # One record for each build: none is lost, none is there twice.
    records = spark.read.parquet(str(tmp_path / "stats")).collect()
    assert len(records) == len({row["run_id"] for row in records}) == 12
    assert sorted(row["partition"] for row in records) == sorted([*PARTS * 2, *["p0"] * 4])
    assert {(row["rows_in"], row["rows_published"]) for row in records} == {(6, 5)}
