"""Spark Connect runs TopNotch plans as classic Spark does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.session.connect_plan import report_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]


@pytest.mark.deep
def test_connect_and_classic_agree_on_plans(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that the working directory is put back.
    monkeypatch.chdir(tmp_path)
    here = report_of(spark, tmp_path / "classic")
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_plan", str(tmp_path / "connect")],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == here
    _, of_view, of_diff = here["report"]
    [one] = of_view["assertionReports"]
    assert (one["numInvalid"], one["userSummaryStatistics"]) == (3, {"largest": 9.0})
    assert len(one["sampleWindows"]) == 3
    assert of_diff["assertionReports"][0]["numInvalid"] == 3
