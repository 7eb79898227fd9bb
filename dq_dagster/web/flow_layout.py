"""Where the assets of a graph are drawn: columns from left to right, in layers as Sugiyama's.

Pure: names and edges in, places out. Assets without neighbours fill a grid below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

# In pixels.
NODE_WIDTH, NODE_HEIGHT = 216, 54
_COLUMN, _ROW, _MARGIN = NODE_WIDTH + 50, NODE_HEIGHT + 18, 12
# How often the order of all layers is improved, and their heights.
_SWEEPS = 8
# Assets without neighbours lie in at least so many columns.
_GRID_COLUMNS = 4

_Node = TypeVar("_Node", bound=Hashable)
_Edge = tuple[_Node, _Node]
# A place in a layer: an asset, or a point that a long edge passes.
_Spot = tuple[_Node, _Node | None, int]


@dataclass(frozen=True, slots=True)
class Layout(Generic[_Node]):
    """The upper left corner of each node, the curve of each edge, and the size of it all."""

    places: Mapping[_Node, tuple[int, int]]
    curves: Mapping[tuple[_Node, _Node], str]
    width: int
    height: int


def layout(nodes: Sequence[_Node], edges: Iterable[tuple[_Node, _Node]]) -> Layout[_Node]:
    """Edges of unknown nodes and those that close a circle do not move anything."""
    known = set(nodes)
    wanted = [
        (one, other)
        for one, other in dict.fromkeys(edges)
        if {one, other} <= known and one != other
    ]
    ahead = _without_circles(nodes, wanted)
    places: dict[_Node, tuple[int, int]] = {}
    bends: dict[tuple[_Node, _Node], list[tuple[int, int]]] = {}
    parts, alone = _components(nodes, ahead)
    top = _MARGIN
    for part in parts:
        top = _place_part(part, [e for e in ahead if e[0] in part], top, places, bends)
    top = _place_grid(alone, places, top)
    width = max((x for x, _ in places.values()), default=0) + NODE_WIDTH + _MARGIN
    curves = {
        edge: _curve(places[edge[0]], bends.get(edge, []), places[edge[1]]) for edge in wanted
    }
    return Layout(places, curves, width, max(top - _ROW + NODE_HEIGHT, NODE_HEIGHT) + _MARGIN)


def reachable(start: _Node, edges: Iterable[tuple[_Node, _Node]]) -> list[_Node]:
    """What lies downstream of a node, the nearest first."""
    following = defaultdict(list)
    for one, other in edges:
        following[one].append(other)
    found = {start: None}
    queue = [start]
    for node in queue:
        for other in following[node]:
            if other not in found:
                found[other] = None
                queue.append(other)
    return queue[1:]


def _without_circles(nodes: Sequence[_Node], edges: Sequence[_Edge[_Node]]) -> list[_Edge[_Node]]:
    following = defaultdict(list)
    for one, other in edges:
        following[one].append(other)
    done: set[_Node] = set()
    kept: list[_Edge[_Node]] = []
    for start in nodes:
        # By hand: a long chain of assets is deeper than Python's stack.
        above: dict[_Node, None] = {}
        stack: list[tuple[_Node, bool]] = [(start, False)]
        while stack:
            node, left = stack.pop()
            if left:
                above.pop(node)
                continue
            if node in done:
                continue
            done.add(node)
            above[node] = None
            stack.append((node, True))
            stack += [(other, False) for other in following[node] if other not in done]
            kept += [(node, other) for other in following[node] if other not in above]
    return kept


def _components(
    nodes: Sequence[_Node], edges: Sequence[_Edge[_Node]]
) -> tuple[list[dict[_Node, None]], list[_Node]]:
    """Those that hang together, the largest first, and those that stand alone."""
    both = [*edges, *((other, one) for one, other in edges)]
    linked = {node for edge in edges for node in edge}
    seen: set[_Node] = set()
    parts = []
    for node in nodes:
        if node in linked and node not in seen:
            part = dict.fromkeys([node, *reachable(node, both)])
            seen |= part.keys()
            parts.append({one: None for one in nodes if one in part})
    return sorted(parts, key=len, reverse=True), [one for one in nodes if one not in linked]


def _layers_of(part: Iterable[_Node], edges: Sequence[_Edge[_Node]]) -> dict[_Node, int]:
    """Each as far to the left as its upstream lets it; sources stand beside what needs them."""
    missing = dict.fromkeys(part, 0)
    following = defaultdict(list)
    for one, other in edges:
        missing[other] += 1
        following[one].append(other)
    layers = dict.fromkeys(missing, 0)
    queue = [node for node, count in missing.items() if not count]
    sources = list(queue)
    for node in queue:
        for other in following[node]:
            layers[other] = max(layers[other], layers[node] + 1)
            missing[other] -= 1
            if not missing[other]:
                queue.append(other)
    for node in sources:
        layers[node] = min(layers[other] for other in following[node]) - 1
    return layers


def _place_part(
    part: Mapping[_Node, None],
    edges: Sequence[_Edge[_Node]],
    top: int,
    places: dict[_Node, tuple[int, int]],
    bends: dict[_Edge[_Node], list[tuple[int, int]]],
) -> int:
    """Places one component below ``top``; returns where the next one starts."""
    layers = _layers_of(part, edges)
    columns: list[list[_Spot[_Node]]] = [[] for _ in range(max(layers.values()) + 1)]
    for node in part:
        columns[layers[node]].append((node, None, 0))
    links: dict[_Spot[_Node], list[_Spot[_Node]]] = defaultdict(list)
    for one, other in edges:
        chain: list[_Spot[_Node]] = [(one, None, 0)]
        for layer in range(layers[one] + 1, layers[other]):
            chain.append((one, other, layer))
            columns[layer].append(chain[-1])
        chain.append((other, None, 0))
        for left, right in pairwise(chain):
            links[left].append(right)
            links[right].append(left)
    rows = _rows_of(columns, links)
    first = min(rows.values())
    for layer, column in enumerate(columns):
        for spot in column:
            node, other_end, _ = spot
            place = (_MARGIN + layer * _COLUMN, top + round((rows[spot] - first) * _ROW))
            if other_end is None:
                places[node] = place
            else:
                bends.setdefault((node, other_end), []).append(place)
    return top + round((max(rows.values()) - first + 1) * _ROW)


def _rows_of(
    columns: Sequence[list[_Spot[_Node]]], links: Mapping[_Spot[_Node], Sequence[_Spot[_Node]]]
) -> dict[_Spot[_Node], float]:
    """A height for each spot: near its neighbours, without two in one place."""
    rows = {spot: float(n) for column in columns for n, spot in enumerate(column)}
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = {
                spot: sum(rows[other] for other in links[spot]) / len(links[spot])
                for spot in column
            }
            column.sort(key=wanted.__getitem__)
            rows.update(_apart([wanted[spot] for spot in column], column))
    return rows


def _apart(wanted: Sequence[float], column: Sequence[_Spot[_Node]]) -> dict[_Spot[_Node], float]:
    """The wanted heights, moved as little as keeps a distance of one (pooling neighbours)."""
    blocks: list[tuple[float, int]] = []  # the first's height, and how many follow closely
    for height in wanted:
        blocks.append((height, 1))
        while len(blocks) > 1 and blocks[-2][0] + blocks[-2][1] > blocks[-1][0]:
            (above, many), (below, more) = blocks[-2:]
            middle = (above * many + (below - many) * more) / (many + more)
            blocks[-2:] = [(middle, many + more)]
    heights = [start + n for start, count in blocks for n in range(count)]
    return dict(zip(column, heights, strict=True))


def _place_grid(nodes: Sequence[_Node], places: dict[_Node, tuple[int, int]], top: int) -> int:
    used = 1 + max((x for x, _ in places.values()), default=0) // _COLUMN
    columns = max(_GRID_COLUMNS, used)
    for n, node in enumerate(nodes):
        places[node] = (_MARGIN + n % columns * _COLUMN, top + n // columns * _ROW)
    return top + -(-len(nodes) // columns) * _ROW


def _curve(start: tuple[int, int], bends: Sequence[tuple[int, int]], end: tuple[int, int]) -> str:
    """From the right side of one node to the left side of another, through the bends."""
    middle = NODE_HEIGHT // 2
    x, y = start[0] + NODE_WIDTH, start[1] + middle
    path = [f"M{x} {y}"]
    for left, upper in [*bends, end]:
        height, half = upper + middle, (x + left) // 2
        path.append(f"C{half} {y} {half} {height} {left} {height}")
        x, y = left, height
        if (left, upper) != end:
            x += NODE_WIDTH
            path.append(f"H{x}")
    return "".join(path)
