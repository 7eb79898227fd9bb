"""The pages behind a real server, and a real browser in front of it."""

from __future__ import annotations

import http.client
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from dq_dagster.web.app import create_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from dq_dagster.monitoring.monitor import Monitor

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


class _Started(uvicorn.Server):
    """Tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def served(monitor: Monitor, **settings: Any) -> Iterator[int]:
    """The port of a server that shows the monitor's pages."""
    config = uvicorn.Config(
        create_app(monitor, **settings), port=0, log_level="error", lifespan="off", ws="none"
    )
    server = _Started(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert server.listens.wait(30)
        [listening] = [one for some in server.servers for one in some.sockets]
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)


def ask(
    port: int, path: str, *, method: str = "GET", host: str | None = None
) -> tuple[int, http.client.HTTPMessage, str]:
    """Status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {} if host is None else {"Host": host}
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium. Without one the test fails, and says what to do."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("DQ_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if named is None:
        pytest.fail(
            "No browser was found, so the pages were not tested. Install Chromium (as root: "
            "apt-get install chromium; otherwise: python -m playwright install chromium, and let "
            "DQ_CHROMIUM name the file).",
            pytrace=False,
        )
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=named, args=_ARGUMENTS)
        try:
            yield started
        finally:
            started.close()
