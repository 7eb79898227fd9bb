"""The pages as a Starlette application: read-only, without anything from other servers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from mimetypes import guess_type

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dq_dagster.errors import NotOnRecord
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.web.links import DagsterLinks, ServedLinks, content_of, digest
from dq_dagster.web.pages import Pages, Query
from dq_dagster.web.recent import RecentOverview
from dq_dagster.web.security import ReadOnlyGuard, allowed_hosts

_LOG = logging.getLogger("dq_dagster.web")
_STATIC = ("app.css", "app.js", "mark.svg")
_KEPT = "public, max-age=31536000, immutable"


def create_app(
    monitor: Monitor,
    *,
    dagster_url: str | None = None,
    host: str = "127.0.0.1",
    allow_hosts: Collection[str] = (),
    title: str = "All datasets",
) -> Starlette:
    """An application for any ASGI server; ``host`` is what that is bound to.

    Requests for other host names are refused, unless ``allow_hosts`` has them ("*": all).
    """
    links = ServedLinks(DagsterLinks(dagster_url))
    pages = Pages(monitor, links, RecentOverview(monitor), title)
    answer = _Answer(pages)
    routes = [
        Route("/", answer.by(pages.overview)),
        Route("/project", answer.by(pages.project)),
        Route("/dataset", answer.by(pages.dataset)),
        Route("/rule", answer.by(pages.rule)),
        Route("/flow", answer.by(pages.flow)),
        Route("/static/{name}", _static),
    ]

    def not_found(request: Request, error: Exception) -> Response:
        return answer.problem("There is no such page", "The address leads nowhere.", 404)

    app = Starlette(
        routes=routes,
        middleware=[Middleware(ReadOnlyGuard, hosts=allowed_hosts(host, allow_hosts))],
        exception_handlers={404: not_found},
    )
    app.state.pages = pages
    return app


class _Answer:
    """Pages as responses; whatever goes wrong has a page of its own."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def by(self, page: Callable[[Query], str]) -> Callable[[Request], Response]:
        # A plain function: Starlette runs it in a thread, since reading an index takes its time.
        def endpoint(request: Request) -> Response:
            try:
                self._pages.recent.refresh()
                return HTMLResponse(page(request.query_params))
            except NotOnRecord as error:
                return self.problem("Nothing is known of that", str(error), 404)
            except Exception:  # noqa: BLE001 - the boundary: a page for whatever broke.
                # What went wrong may hold anything, so it is for the log and not for the page.
                _LOG.exception("%s could not be made.", request.url.path)
                return self.problem(
                    "This page could not be made", "The server's log says why.", 500
                )

        return endpoint

    def problem(self, title: str, message: str, status: int) -> Response:
        return HTMLResponse(self._pages.problem(title, message), status_code=status)


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return Response("There is no such file.\n", status_code=404, media_type="text/plain")
    # Only the address with the right version may be kept: another one may be of another release.
    kept = {"cache-control": _KEPT} if request.query_params.get("v") == digest(name) else {}
    return Response(content_of(name), media_type=guess_type(name)[0], headers=kept)
