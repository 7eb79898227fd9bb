"""The graph of assets with their statuses: what is broken upstream, what may be tainted below."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from graphlib import TopologicalSorter

import dagster as dg

from dq_dagster.integration.partitions.mapped import downstream_keys
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.declared import DeclaredAsset
from dq_dagster.monitoring.views.dataset import ErrorOnSlice, dataset_view, errors_of
from dq_dagster.monitoring.views.flow_shapes import (
    BrokenCheck,
    Flow,
    FlowNode,
    Lineage,
    Tainted,
)
from dq_dagster.monitoring.views.lists import dataset_row
from dq_dagster.monitoring.views.reader import IndexReader
from dq_dagster.monitoring.views.shapes import DatasetView


def flow(reader: IndexReader) -> Flow:
    """All declared assets, upstream before downstream."""
    rows = {name: dataset_row(reader, one, 1) for name, one in reader.datasets.items()}
    upstream = _upstream(reader.assets)
    below = _downstream(upstream)
    broken = {name for name, row in rows.items() if row.status is Status.ERROR}
    return Flow(
        tuple(
            FlowNode(
                name,
                reader.project_of(reader.assets[name]),
                Status.NOT_COMPUTED if row is None else row.status,
                row is not None and row.monitored,
                0 if row is None else row.rules,
                upstream[name],
                below[name],
                tuple(_nearest(name, upstream, broken)),
                row is not None and row.outdated,
            )
            for name in TopologicalSorter(upstream).static_order()
            for row in [rows.get(name)]
        )
    )


def lineage(instance: dg.DagsterInstance, reader: IndexReader, asset: str) -> Lineage:
    """What is broken upstream of an asset, and if it is broken itself, what lies downstream."""
    upstream = _upstream(reader.assets)
    broken_above: list[BrokenCheck] = []
    for name, distance in _walk(asset, upstream):
        if name in reader.datasets:
            above = reader.datasets[name]
            view = dataset_view(instance, reader, above, days=1)
            broken_above += _broken(view, errors_of(reader, above), distance)
    broken_above.sort(key=lambda one: (one.distance, one.asset, one.info.check))
    own = None
    if asset in reader.datasets:
        own = dataset_view(instance, reader, reader.datasets[asset], days=1)
    tainted: list[Tainted] = []
    if own is not None and own.row.status is Status.ERROR:
        errors = errors_of(reader, reader.datasets[asset])
        tainted = list(_tainted(instance, reader, asset, errors, _downstream(upstream)))
    status = Status.NOT_COMPUTED if own is None else own.row.status
    return Lineage(asset, status, tuple(broken_above), tuple(tainted))


def _broken(
    view: DatasetView, errors: Iterable[ErrorOnSlice], distance: int
) -> Iterator[BrokenCheck]:
    partitions: dict[str, list[str]] = {}
    for one in errors:
        if one.partition is not None:
            partitions.setdefault(one.check, []).append(one.partition)
    for rule in view.rules:
        if rule.status is Status.ERROR:
            # The worst come first.
            first = rule.slices[0]
            some = tuple(sorted(partitions.get(rule.info.check, ())))
            yield BrokenCheck(view.row.asset, rule.info, some, first.at, first.message, distance)


def _tainted(
    instance: dg.DagsterInstance,
    reader: IndexReader,
    asset: str,
    errors: Sequence[ErrorOnSlice],
    below: Mapping[str, tuple[str, ...]],
) -> Iterator[Tainted]:
    """Everything downstream, the nearest first, with the partitions that depend on broken ones."""
    keys = {one.partition for one in errors}
    since = min(one.at for one in errors)
    bad: dict[str, tuple[str, ...] | None] = {
        asset: None if None in keys else tuple(sorted(one for one in keys if one))
    }
    rows = {name: dataset_row(reader, one, 1) for name, one in reader.datasets.items()}
    built = _built(reader)
    for name, distance in _walk(asset, below):
        bad[name] = _partitions(instance, reader.assets, name, bad)
        row = rows.get(name)
        yield Tainted(
            name,
            Status.NOT_COMPUTED if row is None else row.status,
            distance,
            bad[name],
            name in built and built[name] > since,
        )


def _partitions(
    instance: dg.DagsterInstance,
    assets: Mapping[str, DeclaredAsset],
    name: str,
    bad: Mapping[str, tuple[str, ...] | None],
) -> tuple[str, ...] | None:
    """The partitions that depend on any bad one above; None if that may be all of them."""
    asset = assets[name]
    found: set[str] = set()
    for above in asset.upstream:
        if above not in bad:
            continue
        keys = bad[above]
        mapped = None
        if keys is not None and asset.partitions_def is not None:
            mapped = downstream_keys(
                instance,
                keys,
                above=assets[above].partitions_def,
                below=asset.partitions_def,
                mapping=asset.mappings.get(above),
            )
        if mapped is None:
            return None
        found |= mapped
    return tuple(sorted(found))


def _built(reader: IndexReader) -> dict[str, datetime]:
    rows = reader.connection.execute(
        "SELECT name, built_at FROM asset WHERE built_at IS NOT NULL"
    ).fetchall()
    return {name: datetime.fromtimestamp(at, reader.now.tzinfo) for name, at in rows}


def _upstream(assets: Mapping[str, DeclaredAsset]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(above for above in one.upstream if above in assets)
        for name, one in assets.items()
    }


def _downstream(upstream: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    below: dict[str, list[str]] = {name: [] for name in upstream}
    for name, above in upstream.items():
        for one in above:
            below[one].append(name)
    return {name: tuple(sorted(some)) for name, some in below.items()}


def _walk(start: str, edges: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, int]]:
    """Everything that can be reached, the nearest first, with the number of steps."""
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        name, distance = queue.popleft()
        for following in edges.get(name, ()):
            if following not in seen:
                seen.add(following)
                queue.append((following, distance + 1))
                yield following, distance + 1


def _nearest(start: str, edges: Mapping[str, Iterable[str]], wanted: set[str]) -> Iterator[str]:
    """Those that are wanted and have no other wanted one in between."""
    seen, queue = {start}, deque([start])
    while queue:
        for following in edges.get(queue.popleft(), ()):
            if following in seen:
                continue
            seen.add(following)
            if following in wanted:
                yield following
            else:
                queue.append(following)
