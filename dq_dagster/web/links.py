"""Where things are: addresses of served pages, or places in a report of one file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Protocol
from urllib.parse import quote, unquote, urlencode, urlsplit

from dq_dagster.integration.event_log.logged import key_of_name


class Links(Protocol):
    """Each gives an address, or None where there is nothing to lead to."""

    def overview(self) -> str | None: ...
    def project(self, name: str, **choices: str | None) -> str | None: ...
    def dataset(self, asset: str, **choices: str | None) -> str | None: ...
    def rule(self, asset: str, rule: str, **choices: str | None) -> str | None: ...
    def flow(self, asset: str | None = None) -> str | None: ...
    def run(self, run_id: str | None) -> str | None: ...
    def asset(self, asset: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class DagsterLinks:
    """Pages of Dagster itself, if its address is known."""

    base: str | None = None

    def run(self, run_id: str | None) -> str | None:
        if self.base is None or not run_id:
            return None
        return f"{self.base.rstrip('/')}/runs/{quote(run_id, safe='')}"

    def asset(self, asset: str) -> str | None:
        if self.base is None:
            return None
        path = "/".join(quote(part, safe="") for part in key_of_name(asset).path)
        return f"{self.base.rstrip('/')}/assets/{path}?view=checks"


@dataclass(frozen=True, slots=True)
class ServedLinks:
    """Addresses below ``root``, which is not empty behind a proxy that adds a path."""

    dagster: DagsterLinks = field(default_factory=DagsterLinks)
    root: str = ""

    def overview(self) -> str:
        return f"{self.root}/"

    def project(self, name: str, **choices: str | None) -> str:
        return self._to("project", [("name", name), *_given(choices)])

    def dataset(self, asset: str, **choices: str | None) -> str:
        return self._to("dataset", [("asset", asset), *_given(choices)])

    def rule(self, asset: str, rule: str, **choices: str | None) -> str:
        return self._to("rule", [("asset", asset), ("rule", rule), *_given(choices)])

    def flow(self, asset: str | None = None) -> str:
        return self._to("flow", _given({"asset": asset}))

    def run(self, run_id: str | None) -> str | None:
        return self.dagster.run(run_id)

    def asset(self, asset: str) -> str | None:
        return self.dagster.asset(asset)

    def static(self, name: str) -> str:
        """Changes with the file, so a browser may keep it."""
        return f"{self.root}/static/{name}?v={digest(name)}"

    def _to(self, page: str, query: Sequence[tuple[str, str]]) -> str:
        # In the query and not in the path: a name may be "..", or hold slashes.
        return f"{self.root}/{page}" + (f"?{urlencode(query)}" if query else "")


@dataclass(frozen=True, slots=True)
class ReportLinks:
    """Places in a report; rules and days have none of their own unless they are in it."""

    datasets: Mapping[str, str]
    rules: Mapping[tuple[str, str], str] = field(default_factory=dict)
    dagster: DagsterLinks = field(default_factory=DagsterLinks)

    def overview(self) -> str:
        return "#overview"

    def project(self, name: str, **choices: str | None) -> None:
        return None

    def dataset(self, asset: str, **choices: str | None) -> str | None:
        return _place(self.datasets.get(asset))

    def rule(self, asset: str, rule: str, **choices: str | None) -> str | None:
        return _place(self.rules.get((asset, rule)))

    def flow(self, asset: str | None = None) -> str | None:
        return "#flow" if asset is None else self.dataset(asset)

    def run(self, run_id: str | None) -> str | None:
        return self.dagster.run(run_id)

    def asset(self, asset: str) -> str | None:
        return self.dagster.asset(asset)


WHOLE, _OF_PARTITION = "whole", "partition:"
# What browsers change in the values of forms, and the sign by which it is written otherwise.
_CHANGED = re.compile(r"[\x00-\x1f\x7f%]")


def choice_of(partition: str | None) -> str:
    """A slice as an address has it: a partition may be called anything, also "whole"."""
    if partition is None:
        return WHOLE
    return _OF_PARTITION + _CHANGED.sub(lambda found: f"%{ord(found[0]):02X}", partition)


def chosen_partition(choice: str) -> str | None:
    """The partition of such a choice; None if it is the whole dataset, or none at all."""
    if not choice.startswith(_OF_PARTITION):
        return None
    return unquote(choice.removeprefix(_OF_PARTITION))


def is_web_address(text: str) -> bool:
    """Whether a link may lead there: never a script."""
    parts = urlsplit(text)
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


@cache
def content_of(name: str) -> bytes:
    return files("dq_dagster.web").joinpath("static", name).read_bytes()


@cache
def digest(name: str) -> str:
    return sha256(content_of(name)).hexdigest()[:12]


def _place(name: str | None) -> str | None:
    return None if name is None else f"#{name}"


def _given(choices: Mapping[str, str | None]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in choices.items() if value is not None]
