"""The layout of the flow: dependencies lead to the right, and nothing lies upon anything else."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from dq_dagster.web.flow_layout import NODE_HEIGHT, NODE_WIDTH, layout, reachable

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25)


@settings(deadline=None, max_examples=100)
@given(EDGES)
def test_no_two_assets_overlap_and_all_are_inside(edges: list[tuple[int, int]]) -> None:
    made = layout(range(12), edges)
    places = list(made.places.values())
    assert len(places) == 12
    for n, (x, y) in enumerate(places):
        assert 0 <= x <= made.width - NODE_WIDTH
        assert 0 <= y <= made.height - NODE_HEIGHT
        for other_x, other_y in places[n + 1 :]:
            assert abs(x - other_x) >= NODE_WIDTH or abs(y - other_y) >= NODE_HEIGHT
    assert set(made.curves) == {(one, other) for one, other in edges if one != other}


@settings(deadline=None, max_examples=100)
@given(EDGES)
def test_without_circles_every_dependency_leads_to_the_right(edges: list[tuple[int, int]]) -> None:
    ahead = [(one, other) for one, other in edges if one < other]
    made = layout(range(12), ahead)
    assert all(made.places[one][0] < made.places[other][0] for one, other in ahead)


def test_a_chain_is_a_straight_line() -> None:
    made = layout("abc", [("a", "b"), ("b", "c")])
    assert {y for _, y in made.places.values()} == {12}
    assert [made.places[name][0] for name in "abc"] == [12, 278, 544]
    assert made.curves["a", "b"] == "M228 39C253 39 253 39 278 39"


def test_unknown_assets_and_circles_do_no_harm() -> None:
    made = layout("ab", [("a", "b"), ("b", "a"), ("a", "a"), ("a", "z")])
    assert set(made.curves) == {("a", "b"), ("b", "a")}
    assert layout("", []).places == {}


def test_long_chains_need_no_deep_stack() -> None:
    names = range(3_000)
    made = layout(names, pairwise(names))
    assert made.places[2_999][0] > made.places[0][0]


def test_downstream_is_listed_from_near_to_far() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "d"), ("c", "a"), ("x", "a")]
    assert reachable("a", edges) == ["b", "d", "c"]
