"""The HTML page of `jitgraph inspect`: one self-contained file, the graph drawn, kernels beside their ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitgraph.cli.description import Node, Signature, kernel_of_node, listed, quantity
from jitgraph.cli.page import layered

LARGEST_DRAWN = 3000
"""Graphs with more ops than this are listed, not drawn: a browser would crawl."""

_CHARACTER = 7.0  # width of a letter of the labels in pixels


@dataclass
class DrawnNode:
    """A box of the drawing."""

    node: Node
    x: float
    y: float
    width: float
    label: str
    kernel: int | None
    role: str
    """feed, fetch or empty."""


@dataclass
class Picture:
    """A drawing ready for the template: boxes, curves as SVG paths, and its size."""

    nodes: list[DrawnNode]
    curves: list[tuple[str, str, str, bool]]
    """(from, to, path, whether it is a control edge)"""
    width: float
    height: float


def render(signatures: list[Signature], title: str) -> str:
    """Return the page for what the compiler told about each run signature of a program."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("jitgraph.cli.page", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"quantity": quantity, "listed": listed, "coloured": _coloured}
    environment.globals["node_height"] = layered.HEIGHT
    pictures = [picture(signature) for signature in signatures]
    template = environment.get_template("inspect.html.j2")
    return template.render(title=title, sections=list(zip(signatures, pictures)), hue=lambda index: index * 137.5 % 360)


def picture(signature: Signature) -> Picture | None:
    """Lay out the pruned graph of a signature; None where it has no ops or more than LARGEST_DRAWN."""
    nodes = {node["name"]: node for node in signature["nodes"]}
    if not nodes or len(nodes) > LARGEST_DRAWN:
        return None
    for name in signature["feeds"]:  # pruning ends at what is fed
        nodes.setdefault(_op_name(name), _fed(_op_name(name)))
    labels = {name: name.rsplit("/", 1)[-1] for name in nodes}
    widths = {n: _CHARACTER * max(len(labels[n]), len(nodes[n]["type"]), 5) + 16 for n in nodes}
    inputs = [(_op_name(source), name, source) for name, node in nodes.items() for source in node["inputs"]]
    # A pair joined by data is drawn as data, also where a control edge runs beside it.
    by_control = {(a, b) for a, b, source in inputs if source.startswith("^")}
    by_control -= {(a, b) for a, b, source in inputs if not source.startswith("^")}
    drawing = layered.draw(widths, [(a, b) for a, b, _ in inputs])
    kernels = kernel_of_node(signature)
    fed = {_op_name(name) for name in signature["feeds"]}
    fetched = {_op_name(name) for name in signature["fetches"]}
    boxes = []
    for name, node in nodes.items():
        x, y = drawing.centres[name]
        role = "feed" if name in fed else "fetch" if name in fetched else ""
        boxes.append(DrawnNode(node, x, y, widths[name], labels[name], kernels.get(name), role))
    curves = [(a, b, _curve(points), (a, b) in by_control) for a, b, points in drawing.edges]
    return Picture(boxes, curves, drawing.width, drawing.height)


def _fed(name: str) -> Node:
    return {"name": name, "type": "fed", "inputs": [], "shape": "", "dtype": "", "site": ""}


def _op_name(tensor: str) -> str:
    """The op of "scope/a:1" or "^scope/a"."""
    return tensor.lstrip("^").split(":")[0]


def _curve(points: list[tuple[float, float]]) -> str:
    """An SVG path from the lower rim of the first box to the upper rim of the last, upright at every point."""
    down = 1 if points[-1][1] > points[0][1] else -1
    rim = down * layered.HEIGHT / 2
    path = [(points[0][0], points[0][1] + rim), *points[1:-1], (points[-1][0], points[-1][1] - rim)]
    parts = [f"M{path[0][0]:.0f} {path[0][1]:.0f}"]
    for (x0, y0), (x1, y1) in zip(path, path[1:]):
        middle = (y0 + y1) / 2
        parts.append(f"C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}")
    return "".join(parts)


def _coloured(rows: list[tuple[str, str]]) -> list[tuple[Any, str]]:
    """Return (code as HTML with coloured words, note) per line of a kernel's source."""
    from markupsafe import Markup
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    code = "\n".join(line for line, _ in rows)
    html = highlight(code, PythonLexer(stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True, classprefix="c-"))
    return [(Markup(line), note) for line, (_, note) in zip(html.split("\n"), rows)]
