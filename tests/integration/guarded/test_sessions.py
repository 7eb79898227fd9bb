"""Guarded assets on sessions of another kind: without ANSI, and of Spark Connect."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

import dq_dagster as dq
from tests.integration.guarded.connected import OwnSession, built
from tests.integration.guarded.gate import Gate, judged, positive, rule, said


def test_a_session_without_ansi(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    # Under ANSI the value itself would raise, and the sum of it.
    value = session.sql(
        "SELECT id, CAST(10 / id AS INT) AS amount, CAST('x' AS INT) AS none, "
        "9223372036854775807L AS large FROM VALUES (0), (1), (-2) AS t(id)"
    )
    rules = [
        positive(),
        rule("row_dq", name="raises", expectation="10 / id > 1"),
        rule("column_empty", name="none", columns="none"),
        rule("agg_dq", name="sum", expectation="sum(large) > 0"),
    ]
    manager = dq.SparkIOManager(pyspark=OwnSession(session), path=str(tmp_path))
    gate = Gate(tmp_path, value, rules, io_manager=manager)
    run = gate.build()
    assert run.success
    assert gate.published() == [Row(id=1, amount=10, none=None, large=2**63 - 1)]
    assert gate.quarantined() == {
        -2: ("left_out", ["positive"]),
        0: ("left_out", ["positive"]),
    }
    assert judged(run) == {"positive": "Error", "raises": "Error", "none": "Ok", "sum": "Error"}
    assert "DIVIDE_BY_ZERO" in said(run)["raises"]
    assert session.conf.get("spark.sql.ansi.enabled") == "false"


@pytest.mark.deep
def test_connect_and_classic_agree(spark: SparkSession, tmp_path: Path) -> None:
    worker = [sys.executable, "-m", "tests.integration.guarded.connected", str(tmp_path / "there")]
    done = subprocess.run(worker, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    here = json.loads(json.dumps(built(spark, str(tmp_path / "here"))))
    assert json.loads(done.stdout.splitlines()[-1]) == here
    plain, parts, stopped = here
    assert [plain[0], parts[0], stopped[0]] == [True, True, False]
    assert plain[2] == [[2, 1], [4, 4], [6, 6]]
    assert plain[3] == [
        [1, 1, "unique"],
        [3, -1, "good"],
        [4, 4, "small"],
        [5, None, "good"],
        [6, 6, "small"],
    ]
    assert (parts[2], parts[3]) == (plain[2], plain[3])
    assert stopped[2] == ["nothing"]
