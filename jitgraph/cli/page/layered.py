"""A layered drawing of a directed acyclic graph (Sugiyama, Tagawa & Toda 1981): layers, order, positions.

Sizes are in pixels; x grows to the right and y downwards, along the flow of data.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

LAYER_GAP = 46.0
NODE_GAP = 18.0
HEIGHT = 34.0
_BEND_WIDTH = 6.0
_SWEEPS = 6

Point = tuple[float, float]


@dataclass
class Drawing:
    """Where everything goes: centres of the nodes, the points each edge passes, and the size of the whole."""

    centres: dict[str, Point] = field(default_factory=dict)
    edges: list[tuple[str, str, list[Point]]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def draw(widths: dict[str, float], edges: list[tuple[str, str]]) -> Drawing:
    """Lay out the nodes (name: width in pixels) and edges (from, to) of a graph.

    Edges that would close a cycle are drawn against the flow. Long edges get a bend in each layer they cross, so that
    they pass between nodes. Time grows with nodes plus bends; a graph of 2,000 nodes takes about a second.
    """
    edges = [(a, b) for a, b in dict.fromkeys(edges) if a != b and a in widths and b in widths]
    layer = _layers(widths, edges)
    chains, widths = _bends(widths, edges, layer)
    links = [pair for chain in chains for pair in zip(chain, chain[1:])]
    rows = _order(layer, links)
    x = _positions(rows, links, widths)
    drawing = Drawing()
    for name in layer:
        drawing.centres[name] = (x[name], HEIGHT / 2 + layer[name] * (HEIGHT + LAYER_GAP))
    for (a, b), chain in zip(edges, chains):
        drawing.edges.append((a, b, [drawing.centres[name] for name in chain]))
    drawing.width = max((x[name] + widths[name] / 2 for name in layer), default=0.0)
    drawing.height = len(rows) * (HEIGHT + LAYER_GAP) - LAYER_GAP if rows else 0.0
    return drawing


def _layers(widths: dict[str, float], edges: list[tuple[str, str]]) -> dict[str, int]:
    """Longest path from the sources; then what has no inputs (constants, variables) moves down to its first reader."""
    after, before = _neighbours(edges)
    order = _topological(widths, after)
    place = {name: index for index, name in enumerate(order)}
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[a] + 1 for a in before[name] if place[a] < place[name]), default=0)
    for name in reversed(order):
        readers = [layer[b] for b in after[name] if place[b] > place[name]]
        if readers and not before[name]:
            layer[name] = min(readers) - 1
    return layer


def _topological(widths: dict[str, float], after: dict[str, list[str]]) -> list[str]:
    """Nodes with each before its readers, except across the edges that close a cycle. No recursion: graphs are deep."""
    order: list[str] = []
    done: set[str] = set()
    for root in widths:
        stack = [(root, iter(after[root]))] if root not in done else []
        done.add(root)
        while stack:
            name, rest = stack[-1]
            following = next((b for b in rest if b not in done), None)
            if following is None:
                order.append(name)
                stack.pop()
            else:
                done.add(following)
                stack.append((following, iter(after[following])))
    return order[::-1]


def _neighbours(edges: list[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    after, before = defaultdict(list), defaultdict(list)
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    return after, before


def _bends(
    widths: dict[str, float], edges: list[tuple[str, str]], layer: dict[str, int]
) -> tuple[list[list[str]], dict[str, float]]:
    """Return each edge as the chain of nodes and bends it passes, and the widths with the bends added."""
    widths = dict(widths)
    chains = []
    shared: dict[tuple[str, int], str] = {}  # edges that leave one node together share their bends
    for a, b in edges:
        step = 1 if layer[b] > layer[a] else -1
        chain = [a]
        for level in range(layer[a] + step, layer[b], step):
            bend = shared.setdefault((a, level), f"{a}\0{level}")
            widths[bend] = _BEND_WIDTH
            layer[bend] = level
            chain.append(bend)
        chains.append([*chain, b])
    return chains, widths


def _order(layer: dict[str, int], links: list[tuple[str, str]]) -> list[list[str]]:
    """Order each layer by the mean place of the neighbours above, then below, some times over."""
    links = list(dict.fromkeys(links))
    after, before = _neighbours(links)
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for name, level in layer.items():
        rows[level].append(name)
    place = {name: index / max(len(row), 1) for row in rows for index, name in enumerate(row)}
    for sweep in range(_SWEEPS):
        neighbours, sequence = (before, rows) if sweep % 2 == 0 else (after, rows[::-1])
        for row in sequence:
            for name in row:
                near = neighbours[name]
                if near:
                    place[name] = sum(place[other] for other in near) / len(near)
            row.sort(key=place.__getitem__)
            for index, name in enumerate(row):
                place[name] = (index + 0.5) / len(row)
    return rows


def _positions(rows: list[list[str]], links: list[tuple[str, str]], widths: dict[str, float]) -> dict[str, float]:
    """Pull each node towards the middle of its neighbours while keeping order and gaps within its layer."""
    after, before = _neighbours(list(dict.fromkeys(links)))
    x: dict[str, float] = {}
    for row in rows:
        edge = 0.0
        for name in row:
            x[name] = edge + widths[name] / 2
            edge += widths[name] + NODE_GAP
    for sweep in range(2 * _SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else rows[::-1]:
            wanted = []
            for name in row:
                near = (before if downwards else after)[name] or (after if downwards else before)[name]
                wanted.append(sum(x[other] for other in near) / len(near) if near else x[name])
            x.update(zip(row, _apart(wanted, [widths[name] for name in row])))
    left = min((x[name] - widths[name] / 2 for name in x), default=0.0)
    return {name: value - left for name, value in x.items()}


def _apart(wanted: list[float], widths: list[float]) -> list[float]:
    """Return the positions nearest to those wanted (least squares) at which neighbours do not overlap.

    With the gaps subtracted this is isotonic regression: pool adjacent violators.
    """
    offsets = [0.0]
    for left, right in zip(widths, widths[1:]):
        offsets.append(offsets[-1] + (left + right) / 2 + NODE_GAP)
    blocks: list[list[float]] = []  # [mean, count]
    for value, offset in zip(wanted, offsets):
        blocks.append([value - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            total = blocks[-1][1] + count
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + mean * count) / total, total]
    flat = [mean for mean, count in blocks for _ in range(int(count))]
    return [value + offset for value, offset in zip(flat, offsets)]
