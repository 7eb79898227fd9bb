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
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.deep

LAUNCH = """
mutation($job: String!, $tags: [ExecutionTag!]) {
  launchRun(executionParams: {
    selector: {
      repositoryLocationName: "tests.integration.processes",
      repositoryName: "__repository__",
      jobName: $job
    },
    runConfigData: "{}",
    executionMetadata: {tags: $tags}
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


BACKFILL = """
mutation($asset: String!, $keys: [String!]) {
  launchPartitionBackfill(backfillParams: {
    assetSelection: [{path: [$asset]}], partitionNames: $keys
  }) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
BACKFILL_STATUS = """
query($id: String!) {
  partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status numPartitions } }
}
"""
OF_PARTITIONS = """
query($asset: String!) { assetNodeOrError(assetKey: {path: [$asset]}) { ... on AssetNode {
  assetChecksOrError { ... on AssetChecks { checks {
    name
    executionForLatestMaterialization { status evaluation { description } }
    partitionStatuses { ... on AssetCheckTimePartitionStatuses {
      ranges { startKey endKey status }
    } }
  } } }
} } }
"""


TICKS = """
query($sensor: String!) { sensorOrError(sensorSelector: {
  repositoryLocationName: "tests.integration.processes",
  repositoryName: "__repository__",
  sensorName: $sensor
}) { ... on Sensor { sensorState { ticks(statuses: [SUCCESS, SKIPPED], limit: 1) { status } } } } }
"""
RUNS = "query { runsOrError { ... on Runs { results { status assetCheckSelection { name } } } } }"


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


@pytest.fixture(scope="module")
def dagster_dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterDev]:
    tmp_path = tmp_path_factory.mktemp("dagster_dev")
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


def finished(ask: Callable[[], str], seconds: int = 600) -> str:
    """Waits until something has come to an end, and says which."""
    end = time.monotonic() + seconds
    status = "STARTING"
    while status not in _ENDS and time.monotonic() < end:
        time.sleep(1)
        status = ask()
    return status


_ENDS = {"SUCCESS", "FAILURE", "CANCELED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED"}


def launch(dagster_dev: DagsterDev, job: str, **tags: str) -> str:
    """Launches a job, and says how its run ended."""
    listed = [{"key": key, "value": value} for key, value in tags.items()]
    launched = dagster_dev.ask(LAUNCH, job=job, tags=listed)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    return finished(lambda: dagster_dev.ask(STATUS, id=run_id)["runOrError"]["status"])


def backfill(dagster_dev: DagsterDev, asset: str, keys: list[str]) -> None:
    started = dagster_dev.ask(BACKFILL, asset=asset, keys=keys)["launchPartitionBackfill"]
    assert started["__typename"] == "LaunchBackfillSuccess", started

    def status() -> str:
        asked = dagster_dev.ask(BACKFILL_STATUS, id=started["backfillId"])
        return str(asked["partitionBackfillOrError"]["status"])

    assert finished(status) == "COMPLETED_SUCCESS"


def checks_of(dagster_dev: DagsterDev, asset: str) -> dict[str, Any]:
    answer = dagster_dev.ask(OF_PARTITIONS, asset=asset)["assetNodeOrError"]
    return {check["name"]: check for check in answer["assetChecksOrError"]["checks"]}


def ranges(check: Any) -> list[tuple[str, str, str]]:
    return [
        (one["startKey"], one["endKey"], one["status"])
        for one in check["partitionStatuses"]["ranges"]
    ]


def until(holds: Callable[[], bool], what: str, seconds: int = 600) -> None:
    """Waits until the daemon has done something."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds} seconds"
        time.sleep(2)


def has_ticked(dagster_dev: DagsterDev, sensor: str) -> bool:
    found = dagster_dev.ask(TICKS, sensor=sensor)["sensorOrError"]
    return bool(found["sensorState"]["ticks"])


def weak_of(dagster_dev: DagsterDev) -> tuple[list[tuple[str, str, str]], str | None]:
    """The statuses of the check after the build by partition, and what is said of all rows."""
    found = checks_of(dagster_dev, "visits")
    whole = found["weak__dataset"]["executionForLatestMaterialization"]
    evaluation = None if whole is None else whole["evaluation"]
    said = None if evaluation is None else evaluation["description"]
    return ranges(found["weak"]), said


def test_the_daemon_starts_checks_after_a_build_and_a_backfill(dagster_dev: DagsterDev) -> None:
    # What was built before its first tick is not caught up with.
    until(lambda: has_ticked(dagster_dev, "dq_after_build"), "the first tick of the sensor")
    backfill(dagster_dev, "visits", ["2024-03-04"])
    after_build = [("2024-03-04", "2024-03-04", "FAILED")]
    until(lambda: weak_of(dagster_dev)[0] == after_build, "the check after a build")
    assert "4" in str(weak_of(dagster_dev)[1])

    # Back-dated: both days are before the latest one.
    backfill(dagster_dev, "visits", ["2024-03-02", "2024-03-03"])
    after_backfill = [
        ("2024-03-02", "2024-03-02", "SUCCEEDED"),
        ("2024-03-03", "2024-03-04", "FAILED"),
    ]
    until(lambda: weak_of(dagster_dev)[0] == after_backfill, "the checks after a backfill")
    until(lambda: "9" in str(weak_of(dagster_dev)[1]), "the check of all rows")
    found = checks_of(dagster_dev, "visits")
    assert ranges(found["strong"]) == [("2024-03-02", "2024-03-04", "SUCCEEDED")]
    # Dagster's word for checks that were part of a build and gave way in it.
    assert ranges(found["asked"]) == [("2024-03-02", "2024-03-04", "SKIPPED")]
    # Runs of their own, which hold nothing but the checks for after the build.
    runs = dagster_dev.ask(RUNS)["runsOrError"]["results"]
    chosen = [{one["name"] for one in run["assetCheckSelection"] or ()} for run in runs]
    assert {"weak"} <= set.union(*chosen)
    assert all(names <= {"weak", "weak__dataset"} for names in chosen if "weak" in names)


def test_partitions_a_range_and_a_backfill(dagster_dev: DagsterDev) -> None:
    assert launch(dagster_dev, "days_job", **{"dagster/partition": "2024-03-01"}) == "SUCCESS"
    keys = ["2024-03-02", "2024-03-03", "2024-03-04"]
    backfill(dagster_dev, "days", keys)
    found = checks_of(dagster_dev, "days")
    # Each partition counts as checked in its current state, none as missing or under way.
    assert ranges(found["rows"]) == [
        ("2024-03-01", "2024-03-01", "FAILED"),
        ("2024-03-02", "2024-03-03", "SUCCEEDED"),
        ("2024-03-04", "2024-03-04", "FAILED"),
    ]
    whole = found["rows__dataset"]["executionForLatestMaterialization"]
    assert whole["status"] == "SUCCEEDED"
    assert whole["evaluation"]["description"] == (
        "The number of rows is 7, as expected (at least 2). "
        "3 of 4 partitions were read, 1 is as recorded."
    )


def test_a_run_in_dagster_dev_shows_each_check(dagster_dev: DagsterDev) -> None:
    status = launch(dagster_dev, "numbers_job")
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
