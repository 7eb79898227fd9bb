"""What a monitor gives of the graph of assets, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.views.shapes import RuleInfo


@dataclass(frozen=True, slots=True)
class FlowNode:
    """An asset of the graph; Status.NOT_COMPUTED also where it has no rules."""

    asset: str
    project: str
    status: Status
    monitored: bool
    rules: int
    upstream: tuple[str, ...]
    downstream: tuple[str, ...]
    # The nearest assets before it whose status is Error.
    broken_upstream: tuple[str, ...] = ()
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """All assets of the known code locations, upstream before downstream."""

    nodes: tuple[FlowNode, ...]


@dataclass(frozen=True, slots=True)
class BrokenCheck:
    """An Error upstream: of which rule, on which partitions (empty: the whole dataset)."""

    asset: str
    info: RuleInfo
    partitions: tuple[str, ...]
    at: datetime
    message: str
    # How many steps upstream.
    distance: int


@dataclass(frozen=True, slots=True)
class Tainted:
    """An asset downstream of an Error, and what of it may be made of bad data.

    ``partitions``: those that depend on the broken ones; None if all of it, or nobody can tell.
    ``built_since``: whether it was built from the bad data, or has not been built since.
    """

    asset: str
    status: Status
    distance: int
    partitions: tuple[str, ...] | None
    built_since: bool


@dataclass(frozen=True, slots=True)
class Lineage:
    """What is broken upstream of an asset, and what lies downstream if it is broken itself."""

    asset: str
    status: Status
    broken_upstream: tuple[BrokenCheck, ...]
    tainted: tuple[Tainted, ...]
