"""``tf.profiler.profile`` with ``cmd="op"``: operations of the same type together, printed and as a MultiGraphNodeProto."""
from __future__ import annotations

from typing import Any

from jitgraph.profiler.report import (
    LEAST,
    ROOT,
    SELECTED,
    Node,
    columns,
    find,
    heading,
    is_accounted,
    is_named,
    matches,
    number_text,
    ordered,
    proto_of_many,
    time_text,
    write,
)

_ABOUT = ("op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are aggregated "
          "together.")
_UNITS = {"micros": "", "accelerator_micros": "", "cpu_micros": "", "params": " params", "float_ops": " float_ops"}


class _Type(Node):
    """The operations of one type that count."""

    def __init__(self, name: str):
        super().__init__(name)
        self.operations: list[Node] = []

    def take(self, operation: Node) -> None:
        """Adds what an operation holds to what the type holds."""
        self.operations.append(operation)
        for key, value in operation.own.items():
            self.own[key] += value

    def add_up(self, following: _Type | None) -> None:
        """Makes the total that of this type and of all that follow it."""
        self.reset()
        self.add_own()
        if following is not None:
            self.add_total(following)


def by_type(root: Node, graph: Any, options: dict) -> Any:
    """The MultiGraphNodeProto of the types in `graph`, whose operations stand in the tree `root`, after its report.

    The types follow each other, each the only child of the one before; the total of one is its own and that of those after it.
    """
    types = sorted(_types(root, graph, options), key=lambda one: one.name)
    types = ordered(types, options.get("order_by", "name"))
    _add_up(types)
    whole = _Type(ROOT)
    whole.total = dict(types[0].total) if types else whole.total
    shown = _shown(types, options)
    if options.get("account_displayed_op_only"):
        _add_up(shown)
        whole.total = dict(shown[0].total) if shown else dict.fromkeys(whole.total, 0)
    write(_report(shown, whole, options), options)
    below: list[Any] = []
    for one in reversed([whole, *shown]):
        below = [proto_of_many(one, below)]
    return below[0]


def _types(root: Node, graph: Any, options: dict) -> list[_Type]:
    found: dict[str, _Type] = {}
    for op in sorted(graph.get_operations(), key=lambda op: op.name):
        operation = find(root, op.name)
        assert operation is not None
        if is_accounted(operation, options):
            found.setdefault(op.type, _Type(op.type)).take(operation)
    for one in found.values():
        one.accounted = True
        one.add_up(None)                    # what they are ordered by
    return list(found.values())


def _add_up(types: list[_Type]) -> None:
    following = None
    for one in reversed(types):
        one.add_up(following)
        following = one


def _shown(types: list[_Type], options: dict) -> list[_Type]:
    starts = options.get("start_name_regexes", [".*"])
    first = next((k for k, one in enumerate(types) if matches(one.name, starts)), len(types))
    found = []
    for depth, one in enumerate(types[first:]):
        if matches(one.name, options.get("trim_name_regexes", [])) or depth > options.get("max_depth", 10):
            break
        if all(one.total[key] >= options.get(name, 0) for key, name in LEAST.items()) and is_named(one, options):
            found.append(one)
    return found


def _report(shown: list[_Type], whole: _Type, options: dict) -> str:
    selected = [name for name in _UNITS if name in columns(options)]
    lines = "".join(f"{one.name:<25}{', '.join(_column(one, whole, name) for name in selected)}\n" for one in shown)
    return heading(options, _ABOUT, selected) + lines


def _column(one: _Type, whole: _Type, name: str) -> str:
    key = SELECTED[name]
    text = time_text if name.endswith("micros") else number_text
    of_all = whole.total[key]
    total, own = (100 * value / of_all if of_all else 0.0 for value in (one.total[key], one.own[key]))
    return f"{text(one.own[key])}{_UNITS[name]} ({total:.2f}%, {own:.2f}%)".rjust(30)
