"""A real `dagster dev`: a run launched over GraphQL, and what the UI is told afterwards."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

LAUNCH = """
mutation($job: String!) {
  launchRun(executionParams: {
    selector: {
      repositoryLocationName: "tests.integration.processes",
      repositoryName: "__repository__",
      jobName: $job
    },
    runConfigData: "{}"
  }) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""
STATUS = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
CHECKS = """
{ assetNodeOrError(assetKey: {path: ["numbers"]}) { ... on AssetNode {
  assetChecksOrError { ... on AssetChecks { checks {
    name description blocking
    executionForLatestMaterialization { status evaluation { severity description } }
  } } }
} } }
"""


class DagsterDev:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/graphql"

    def ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]

    def wait_until_up(self, seconds: int) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                self.ask("{ version }")
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if time.monotonic() > end:
                    raise
                time.sleep(1)
            else:
                return


@pytest.fixture
def dagster_dev(tmp_path: Path) -> Iterator[DagsterDev]:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "dagster", "dev", "-m", "tests.integration.processes",
               "-h", "127.0.0.1", "-p", str(port)]  # fmt: skip
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, "DAGSTER_HOME": str(tmp_path)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        server = DagsterDev(port)
        server.wait_until_up(seconds=180)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=30)


def test_a_run_in_dagster_dev_shows_each_check(dagster_dev: DagsterDev) -> None:
    launched = dagster_dev.ask(LAUNCH, job="numbers_job")["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    end = time.monotonic() + 240
    status = "STARTING"
    while status not in {"SUCCESS", "FAILURE", "CANCELED"} and time.monotonic() < end:
        time.sleep(1)
        status = dagster_dev.ask(STATUS, id=run_id)["runOrError"]["status"]
    # The sum is a blocking Error, so the run fails.
    assert status == "FAILURE"
    answer = dagster_dev.ask(CHECKS)["assetNodeOrError"]["assetChecksOrError"]["checks"]
    assert {check.pop("name"): check for check in answer} == {
        "column_sum_in_range_n": {
            "description": "The sum of 'n' is at most 5.",
            "blocking": True,
            "executionForLatestMaterialization": {
                "status": "FAILED",
                "evaluation": {
                    "severity": "ERROR",
                    "description": "The sum of 'n' is 6, above the maximum of 5.",
                },
            },
        },
        "record_count_in_range": {
            "description": "The number of rows is at least 1.",
            "blocking": True,
            "executionForLatestMaterialization": {
                "status": "SUCCEEDED",
                "evaluation": {
                    "severity": "ERROR",
                    "description": "The number of rows is 3, as expected (at least 1).",
                },
            },
        },
    }
