"""What every answer of the pages carries, and which requests are not answered at all.

The pages only read, and they show texts that others wrote: names, messages, keys of partitions.
So there is no way to change anything, no script but our own, and a page that some other site
makes the browser ask for under another name (DNS rebinding) is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_READING = ("GET", "HEAD")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
ANY_HOST = "*"


def allowed_hosts(host: str, more: Collection[str] = ()) -> frozenset[str]:
    """The names that a browser may ask for pages of a server bound to ``host``."""
    return frozenset({*_LOOPBACK, host.strip("[]").lower(), *(name.lower() for name in more)})


class ReadOnlyGuard:
    """Lets reading requests for known hosts through, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            # Nothing here speaks anything else; the server's start and end are let through.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refused = self._refusal(scope)
        await (refused or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        name = host_name(Headers(scope=scope).get("host", ""))
        if ANY_HOST not in self._hosts and name not in self._hosts:
            return PlainTextResponse(
                "These pages are not served under this host name. If it is yours, start them with "
                "--allow-host and the name.\n",
                status_code=400,
            )
        if scope["method"] not in _READING:
            return PlainTextResponse(
                "These pages can only be read.\n",
                status_code=405,
                headers={"allow": ", ".join(_READING)},
            )
        return None


def host_name(header: str) -> str:
    """The host of a Host header, without its port: "[::1]:3001" is "::1"."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that is bound to the host."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
