"""The pages behind uvicorn."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from dq_dagster.charts.themed import warm_up
from dq_dagster.web.app import create_app

if TYPE_CHECKING:
    from dq_dagster.monitoring.monitor import Monitor
    from dq_dagster.web.pages import Pages


def listening(host: str, port: int) -> socket.socket:
    """The address taken, before a long log is read; raises OSError if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host.strip("[]"), port), family=family)


def serve(
    monitor: Monitor,
    taken: socket.socket,
    *,
    host: str,
    dagster_url: str | None = None,
    allow_hosts: Collection[str] = (),
    ready: Callable[[int], None] | None = None,
) -> None:
    """Serves until it is interrupted; ``ready`` is called with the port once it answers.

    ``host`` is the name by which the address was ``taken``.
    """
    app = create_app(monitor, dagster_url=dagster_url, host=host, allow_hosts=allow_hosts)
    settings = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        lifespan="off",
        ws="none",
    )
    Thread(target=_warm_up, args=(app.state.pages,), daemon=True).start()
    _Server(settings, ready).run(sockets=[taken])


def _warm_up(pages: Pages) -> None:
    """The first reader does not wait for the first overview, nor for the drawing library."""
    pages.overview({})
    warm_up()


class _Server(uvicorn.Server):
    """Says when it listens, and where: port 0 lets the system choose."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list | None = None) -> None:  # type: ignore[type-arg]
        await super().startup(sockets)
        if self.started and self._ready is not None:
            [listening, *_] = [one for server in self.servers for one in server.sockets]
            self._ready(listening.getsockname()[1])
