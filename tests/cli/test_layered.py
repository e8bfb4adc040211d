"""The drawing of graphs: nothing overlaps, data flows down, and depth or cycles do no harm."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from jitgraph.cli.page.layered import HEIGHT, LAYER_GAP, NODE_GAP, draw


def layers(drawing):
    rows = {}
    for name, (x, y) in drawing.centres.items():
        rows.setdefault(y, []).append((x, name))
    return rows


@st.composite
def graphs(draw_value):
    count = draw_value(st.integers(1, 25))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = [(f"n{a}", f"n{b}") for a, b in draw_value(st.lists(pairs, max_size=50)) if a < b]
    widths = {f"n{i}": draw_value(st.floats(20, 200)) for i in range(count)}
    return widths, edges


@given(graphs())
def test_data_flows_down_and_nothing_overlaps(graph):
    widths, edges = graph
    drawing = draw(widths, edges)
    for a, b, points in drawing.edges:
        assert drawing.centres[a][1] < drawing.centres[b][1]
        assert points[0] == drawing.centres[a] and points[-1] == drawing.centres[b]
        assert all(p[1] < q[1] for p, q in zip(points, points[1:]))
    for row in layers(drawing).values():
        row = sorted((x, name) for x, name in row if name in widths)
        for (x0, left), (x1, right) in zip(row, row[1:]):
            assert x1 - x0 >= (widths[left] + widths[right]) / 2 + NODE_GAP - 1e-6
    assert min(x - widths[name] / 2 for name, (x, _) in drawing.centres.items() if name in widths) >= -1e-6


def test_a_chain_is_straight():
    drawing = draw(dict.fromkeys("abcd", 50.0), [("a", "b"), ("b", "c"), ("c", "d")])
    assert {x for x, _ in drawing.centres.values()} == {25.0}
    assert drawing.height == 4 * HEIGHT + 3 * LAYER_GAP and drawing.width == 50


def test_sources_stand_above_their_first_reader():
    drawing = draw(dict.fromkeys("abcw", 50.0), [("a", "b"), ("b", "c"), ("w", "c")])
    assert drawing.centres["w"][1] == drawing.centres["b"][1]


@pytest.mark.parametrize("widths, edges", [({}, []), ({"a": 10.0}, [("a", "a"), ("a", "absent")])])
def test_degenerate_graphs(widths, edges):
    assert draw(widths, edges).edges == []


def test_cycles_are_drawn():
    drawing = draw(dict.fromkeys("abc", 50.0), [("a", "b"), ("b", "c"), ("c", "a")])
    assert len(drawing.edges) == 3


def test_deep_graphs_do_not_recurse():
    count = 3000
    drawing = draw({str(i): 50.0 for i in range(count)}, [(str(i), str(i + 1)) for i in range(count - 1)])
    assert len(drawing.edges) == count - 1
