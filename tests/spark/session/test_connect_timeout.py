"""Spark Connect cancels what is late, as classic Spark does, and nothing of anybody else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.deep
def test_what_is_late_is_cancelled_on_connect() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.session.connect_timeout"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert {name: (status, message) for name, status, _, message in found["outcomes"]} == {
        "slow": ("Error", "The timeout of 10 seconds was over before this rule was answered."),
        "rows": ("Ok", "The number of rows is 4, as expected (at least 1)."),
        "filled": ("Ok", "0 of 4 rows (0 %) have no 'id' (none allowed)."),
    }
    assert 10 <= found["took"] < 30
    assert found["other"]
    assert found["tags"] == []
