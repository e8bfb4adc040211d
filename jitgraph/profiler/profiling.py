"""``tf.profiler.profile``: a tree of name scopes with what each holds, printed and as a GraphNodeProto."""
from __future__ import annotations

import math
import re
import sys
from typing import Any, TypeVar

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.shapes import TensorShape
from jitgraph.profiler.flops import Unknown, flops_of
from jitgraph.profiler.options import TRAINABLE_VARIABLES, ProfileOptionBuilder
from jitgraph.protobuf import messages

ROOT = "_TFProfRoot"
SELECTED = {"params": "parameters", "float_ops": "float_ops", "micros": "exec_micros", "cpu_micros": "cpu_exec_micros"}
TITLES = {"params": "# parameters", "float_ops": "# float_ops", "micros": "total execution time",
           "cpu_micros": "cpu execution time"}
LEAST = {"parameters": "min_params", "float_ops": "min_float_ops", "exec_micros": "min_micros",
          "cpu_exec_micros": "min_cpu_micros"}
DOC = {"params": "param: Number of parameters (in the Variable).",
        "float_ops": "flops: Number of float operations. Note: Please read the implementation for the math behind it.",
        "micros": "total execution time: Sum of accelerator execution time and cpu execution time.",
        "cpu_micros": "cpu execution time: The time from the start to the end of the operation. It's the sum of actual cpu run "
                      "time plus the time that it spends waiting if part of computation is launched asynchronously."}


class Node:
    """A name scope or an operation."""

    def __init__(self, name: str):
        self.name = name
        self.children: dict[str, Node] = {}
        self.types: set[str] = set()
        self.shape: list[int] | None = None
        self.inputs: list[list[int] | None] = []
        self.own = dict.fromkeys(SELECTED.values(), 0)
        self.total = dict(self.own)
        self.accounted = False
        self.kept: list[Node] = []
        self.shown: list[Node] = []
        self.count = 0

    def reset(self) -> None:
        """Begins the total anew."""
        self.count, self.total = 0, dict.fromkeys(self.total, 0)

    def add_own(self) -> None:
        """Adds what it holds itself to the total."""
        self.count += 1
        if self.accounted:
            for key, value in self.own.items():
                self.total[key] += value

    def add_total(self, other: Node) -> None:
        """Adds the total of another node to its own."""
        self.count += other.count
        for key, value in other.total.items():
            self.total[key] += value


AnyNode = TypeVar("AnyNode", bound=Node)


def _read(graph: Any, run_meta: Any, op_log: Any = None) -> Node:
    """The tree of a graph."""
    root = Node(ROOT)
    missing = 0
    trainable = {v.op.name for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    for op in graph.get_operations():
        node = root
        parts = op.name.split("/")
        for end in range(1, len(parts) + 1):
            node = node.children.setdefault(parts[end - 1], Node("/".join(parts[:end])))
        node.types.add(op.type)
        if op.name in trainable:
            node.types.add(TRAINABLE_VARIABLES)
        node.inputs = [tensor.shape.as_list() if tensor.shape.is_fully_defined() else None for tensor in op.inputs]
        if "shape" in op.node_def.attr:
            shape = TensorShape(op.get_attr("shape"))
            if shape.is_fully_defined():
                node.shape = shape.as_list()
                node.own["parameters"] = math.prod(node.shape)
        try:
            node.own["float_ops"] = flops_of(op)
        except Unknown:
            missing += 1
    if missing and not run_meta:
        sys.stderr.write(f"{missing} ops no flops stats due to incomplete shapes.\n")
    for entry in getattr(op_log, "log_entries", ()):
        found = find(root, entry.name)
        if found is not None:
            found.types.update(entry.types)
            found.own["float_ops"] = found.own["float_ops"] or entry.float_ops
    if run_meta:
        _add_times(root, run_meta)
    return root


def find(root: Node, name: str) -> Node | None:
    node: Node | None = root
    for part in name.split("/"):
        node = node.children.get(part) if node else None
    return node


def _times(run_meta: Any) -> list[tuple[str, int]]:
    """(name of an operation, microseconds) of what a run did."""
    return [(stats.node_name.partition(":")[0], stats.op_end_rel_micros)
            for device in run_meta.step_stats.dev_stats for stats in device.node_stats]


def times_of(graph: Any, run_meta: Any) -> dict[str, int]:
    """{operation of the graph: microseconds that it took in a run}"""
    known = {op.name for op in graph.get_operations()}
    found: dict[str, int] = {}
    for name, micros in _times(run_meta):
        if name in known:
            found[name] = found.get(name, 0) + micros
    return found


def _add_times(root: Node, run_meta: Any) -> None:
    for name, micros in _times(run_meta):
        node = find(root, name)
        if node is not None:
            node.own["exec_micros"] += micros
            node.own["cpu_exec_micros"] += micros


def matches(name: str, expressions: Any) -> bool:
    return any(re.fullmatch(one, name) for one in expressions)


def is_accounted(node: Node, options: dict) -> bool:
    """Whether what a node holds itself counts: whether one of its types is asked for."""
    regexes = options.get("account_type_regexes", [])
    return list(regexes) == [".*"] and node.name != ROOT or any(matches(one, regexes) for one in node.types)


def _account(nodes: Any, options: dict) -> list[Node]:
    """The nodes of which one counts, or something below it."""
    found = []
    for node in nodes:
        node.reset()
        node.kept = _account(node.children.values(), options)
        node.accounted = is_accounted(node, options)
        if node.accounted or node.kept:
            if node.name != ROOT:
                node.add_own()
            for child in node.kept:
                node.add_total(child)
            found.append(node)
    return found


def ordered(nodes: list[AnyNode], order_by: str) -> list[AnyNode]:
    """The nodes in the order that a report has them.  Raises InvalidArgumentError for another order than there is."""
    if order_by in ("name", "depth"):
        return sorted(nodes, key=lambda node: node.name)
    if order_by not in SELECTED:
        raise InvalidArgumentError(None, None, f"tf.profiler orders by name, {', '.join(SELECTED)}; not by {order_by}")
    return sorted(nodes, key=lambda node: (-node.total[SELECTED[order_by]], node.name))


def _show(nodes: list[Node], options: dict, depth: int, indent: int, lines: list[str]) -> list[Node]:
    """The nodes that are shown, after their lines; what is below a hidden one takes its place."""
    found = []
    for node in ordered(nodes, options.get("order_by", "name")):
        shows = _is_shown(node, options, depth)
        if shows:
            place = len(lines)
            lines.append("")
        if matches(node.name, options.get("trim_name_regexes", [])):
            below: list[Node] = []
        else:
            below = _show(node.kept, options, depth + 1, indent + (2 if shows else 0), lines)
        if not shows:
            found += below
            continue
        if options.get("account_displayed_op_only"):
            node.reset()
            node.add_own()
            for child in below:
                node.add_total(child)
        node.shown = below
        lines[place] = " " * indent + _line(node, options)
        found.append(node)
    return found


def is_named(node: Node, options: dict) -> bool:
    """Whether a node is among those that are to be shown by their names."""
    return matches(node.name, options.get("show_name_regexes", [])) and not matches(node.name, options.get("hide_name_regexes", []))


def _is_shown(node: Node, options: dict, depth: int) -> bool:
    if node.name == ROOT:
        return True
    if depth > options.get("max_depth", 10) or any(node.own[key] < options.get(name, 0) for key, name in LEAST.items()):
        return False
    return is_named(node, options)


def number_text(value: int) -> str:
    for size, unit in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return str(value)


def time_text(value: int) -> str:
    """Microseconds as a report writes them."""
    for size, unit in ((10**6, "sec"), (10**3, "ms")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return f"{value}us"


def _line(node: Node, options: dict) -> str:
    parts = []
    for name in options.get("select", []):
        key = SELECTED.get(name)
        if key is None:
            continue
        text, unit = (time_text, "") if name.endswith("micros") else (number_text, " params" if name == "params" else " flops")
        own = text(node.own[key]) if node.accounted else "--"
        parts.append(f"{own}/{text(node.total[key])}{unit}")
        if name == "params" and node.accounted and node.shape is not None:
            parts.insert(-1, "x".join(map(str, node.shape or [1])))
    return f"{node.name} ({', '.join(parts)})"


def proto_of(node: Node) -> Any:
    message = messages.GraphNodeProto(name=node.name)
    for key, value in node.own.items():
        setattr(message, key, value if node.accounted else 0)
    for key, value in node.total.items():
        setattr(message, f"total_{key}", value)
    if node.accounted:
        for place, shape in enumerate(node.inputs):
            if shape is not None:
                message.input_shapes[place].CopyFrom(TensorShape(shape or [1]).as_proto())
    message.children.extend(proto_of(child) for child in node.shown)
    message.total_definition_count = node.count
    return message


def _options_text(options: dict) -> str:
    names = ("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros",
             "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence")
    rows: dict[str, Any] = {name: options.get(name, 10 if name == "max_depth" else 0) for name in names}
    rows |= {"step": options.get("step", -1), "order_by": options.get("order_by", "name")}
    rows |= {name: ",".join(options.get(name, [])) for name in (
        "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes")}
    rows |= {"account_displayed_op_only": str(bool(options.get("account_displayed_op_only", False))).lower(),
             "select": ",".join(sorted(options.get("select", []))), "output": options.get("output", "stdout") + ":"}
    return "".join(f"-{name:<27}{value}\n" for name, value in rows.items())


def heading(options: dict, about: str) -> str:
    """What stands above the lines of a report, of which `about` tells what they are."""
    selected = [name for name in TITLES if name in options.get("select", [])]
    header = " | ".join(["node name", *(TITLES[name] for name in selected)])
    docs = "\n".join([about, *sorted(DOC[name] for name in selected)])
    return f"\nDoc:\n{docs}\n\nProfile:\n{header}\n"


def write(text: str, options: dict) -> None:
    output = options.get("output", "stdout")
    if output == "stdout":
        sys.stdout.write("\n=========================Options=============================\n" + _options_text(options)
                         + "\n==================Model Analysis Report======================\n" + text
                         + "\n======================End of Report==========================\n")
    elif output.startswith("file:outfile="):
        with open(output.partition("=")[2], "w") as file:
            file.write(text)
    elif output != "none":
        raise InvalidArgumentError(None, None, f"tf.profiler writes to stdout or a file, not as {output!r}: see "
                                               "tf.RunOptions.FULL_TRACE and jitgraph inspect for times")


def _starts(nodes: Any, expressions: Any) -> list[Node]:
    """The uppermost nodes whose names match."""
    return [found for node in nodes
            for found in ([node] if matches(node.name, expressions) else _starts(node.children.values(), expressions))]


def _by_scope(root: Node, options: dict) -> Any:
    lines: list[str] = []
    starts = options.get("start_name_regexes", [".*"])
    if list(starts) != [".*"]:
        root.children = {node.name: node for node in _starts(root.children.values(), starts)}
    _account([root], options)
    shown = _show([root], options, 1, 0, lines)
    about = ("scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem.")
    write(heading(options, about) + "\n".join(lines) + "\n", options)
    return proto_of(shown[0])


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope", options: Any = 0) -> Any:
    """The parameters, the arithmetic and the times of a graph (the default one if None).

    `cmd`: "scope", by name scopes, which gives a GraphNodeProto, or "op", by types of operations, a MultiGraphNodeProto.

    `options`: see ``ProfileOptionBuilder``; parameters of trainable variables if not given.  Times are those of `run_meta`, the
    RunMetadata of a run with FULL_TRACE.  Raises InvalidArgumentError for another `cmd`: the views of code and of the
    graph are not here.
    """
    if cmd not in ("scope", "op", "code", "graph"):
        raise InvalidArgumentError(None, None, f"unknown cmd: {cmd}\n")
    graph = graph or get_default_graph()
    options = ProfileOptionBuilder.trainable_variables_parameter() if options == 0 else options
    if cmd not in ("scope", "op"):
        raise InvalidArgumentError(None, None, f"tf.profiler.profile shows cmd='scope' and cmd='op', not {cmd!r}")
    root = _read(graph, run_meta, op_log)
    if cmd == "scope":
        return _by_scope(root, options)
    from jitgraph.profiler.by_type import by_type

    return by_type(root, graph, options)


class Profiler:
    """``profile`` of a graph for several runs: ``add_step`` takes their RunMetadata."""

    def __init__(self, graph: Any = None, op_log: Any = None):
        self._graph, self._op_log = graph or get_default_graph(), op_log
        self._steps: dict[int, Any] = {}

    def add_step(self, step: int, run_meta: Any) -> None:
        """Takes the RunMetadata of a run, under a number."""
        self._steps[step] = run_meta

    def profile_name_scope(self, options: dict) -> Any:
        """``profile`` with cmd="scope", of the step that `options` names, by default the last one."""
        return self._profile("scope", options)

    def _profile(self, cmd: str, options: dict) -> Any:
        step = options.get("step", -1)
        run_meta = self._steps.get(step if step >= 0 else max(self._steps, default=-1))
        return profile(self._graph, run_meta, self._op_log, cmd, options)

    def profile_graph(self, options: dict) -> Any:
        """Raises InvalidArgumentError: see ``profile``."""
        return self._profile("graph", options)

    def profile_operations(self, options: dict) -> Any:
        """``profile`` with cmd="op", of the step that `options` names, by default the last one."""
        return self._profile("op", options)

    def profile_python(self, options: dict) -> Any:
        """Raises InvalidArgumentError: see ``profile``."""
        return self._profile("code", options)

    def advise(self, options: Any) -> Any:
        """The AdviceProto of the last step: see ``tf.profiler.advise``."""
        from jitgraph.profiler.advice import advise

        return advise(self._graph, self._steps.get(max(self._steps, default=-1)), options)

    def serialize_to_string(self) -> bytes:
        """Raises InvalidArgumentError: a ProfileProto is not here."""
        raise InvalidArgumentError(None, None, "tf.profiler makes no ProfileProto here: keep the RunMetadata of the steps")
