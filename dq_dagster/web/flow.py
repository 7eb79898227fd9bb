"""The asset graph as it is drawn: what stands where, and what a chosen asset lets stand out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import plural
from dq_dagster.monitoring.views.flow_shapes import Flow, FlowNode, Lineage
from dq_dagster.web.drawings import WORDS
from dq_dagster.web.flow_layout import NODE_HEIGHT, NODE_WIDTH, layout, reachable

# As many characters as fit into a node.
_LONGEST_NAME = 20


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """An asset at its place."""

    node: FlowNode
    x: int
    y: int
    chosen: bool = False
    tainted: bool = False
    dimmed: bool = False

    @property
    def name(self) -> str:
        """Its end, if it is long: the last part of a key says most."""
        name = self.node.asset
        return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"

    @property
    def words(self) -> str:
        """What stands below the name."""
        status = WORDS[self.node.status] if self.node.rules else "no rules"
        if self.node.broken_upstream:
            known = self.node.status is not Status.NOT_COMPUTED
            return f"{status} · Error upstream" if known else "Error upstream"
        return f"{status} · {plural(self.node.rules, 'rule')}" if self.node.rules else status


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A dependency as a curve."""

    path: str
    tainted: bool = False
    dimmed: bool = False


@dataclass(frozen=True, slots=True)
class DrawnFlow:
    """All of it, with its size."""

    nodes: Sequence[DrawnNode]
    links: Sequence[DrawnLink]
    width: int
    height: int
    node_width: int = NODE_WIDTH
    node_height: int = NODE_HEIGHT


def drawn(flow: Flow, lineage: Lineage | None = None) -> DrawnFlow:
    """Of a chosen asset, all that is neither upstream nor downstream of it steps back."""
    nodes = {node.asset: node for node in flow.nodes}
    edges = [(node.asset, other) for node in flow.nodes for other in node.downstream]
    edges += [(other, node.asset) for node in flow.nodes for other in node.upstream]
    made = layout(list(nodes), edges)
    chosen = None if lineage is None else lineage.asset
    tainted = set() if lineage is None else {one.asset for one in lineage.tainted}
    near = set(nodes)
    if chosen is not None:
        back = [(other, one) for one, other in edges]
        near = {chosen, *reachable(chosen, edges), *reachable(chosen, back)}
    return DrawnFlow(
        [
            DrawnNode(
                node,
                *made.places[name],
                chosen=name == chosen,
                tainted=name in tainted,
                dimmed=name not in near,
            )
            for name, node in nodes.items()
        ],
        [
            DrawnLink(
                path,
                tainted=other in tainted and (one in tainted or one == chosen),
                dimmed=not {one, other} <= near,
            )
            for (one, other), path in made.curves.items()
        ],
        made.width,
        made.height,
    )
