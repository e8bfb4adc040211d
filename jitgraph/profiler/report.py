"""What a graph holds, as a tree by name scopes, and how reports of ``tf.profiler.profile`` show it, whatever their order."""
from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.shapes import TensorShape
from jitgraph.profiler.flops import Unknown, flops_of
from jitgraph.profiler.options import TRAINABLE_VARIABLES
from jitgraph.protobuf import messages

ROOT = "_TFProfRoot"
PPROF = "pprof:outfile="
SELECTED = {"params": "parameters", "float_ops": "float_ops", "micros": "exec_micros",
            "accelerator_micros": "accelerator_exec_micros", "cpu_micros": "cpu_exec_micros"}
TITLES = {"params": "# parameters", "float_ops": "# float_ops", "micros": "total execution time",
          "accelerator_micros": "accelerator execution time", "cpu_micros": "cpu execution time", "op_types": "op types",
          "occurrence": "op count (run|defined)", "input_shapes": "input shapes"}
RUNS = "run_count"
SCOPE = "_kTFScopeParent"       # the type of what is no operation
BY_NAME = "scope: The nodes in the model graph are organized by their names, which is hierarchical like filesystem."
LEAST = {"parameters": "min_params", "float_ops": "min_float_ops", "exec_micros": "min_micros",
         "accelerator_exec_micros": "min_accelerator_micros", "cpu_exec_micros": "min_cpu_micros"}
_TOTAL = "total execution time: Sum of accelerator execution time and cpu execution time."
_CPU = ("cpu execution time: The time from the start to the end of the operation. It's the sum of actual cpu run time plus the "
        "time that it spends waiting if part of computation is launched asynchronously.")
_ACCELERATOR = ("accelerator execution time: Time spent executing on the accelerator. This is normally measured by the actual "
                "hardware library.")
DOC = {"params": ["param: Number of parameters (in the Variable)."],
       "float_ops": ["flops: Number of float operations. Note: Please read the implementation for the math behind it."],
       "micros": [_TOTAL, _CPU, _ACCELERATOR], "accelerator_micros": [_ACCELERATOR], "cpu_micros": [_CPU],
       "op_types": ["op_types: The attributes of the operation, includes the Kernel name device placed on and user-defined "
                    "strings."],
       "occurrence": ["occurrence: The number of times it occurs"], "input_shapes": ["input shape: The shape of input tensors"]}


class Node:
    """A name scope or an operation."""

    def __init__(self, name: str):
        self.name = name
        self.children: dict[str, Node] = {}
        self.types: set[str] = set()    # of an operation, where it ran, and what a log says of it
        self.shape: list[int] | None = None
        self.inputs: list[list[int] | None] = []
        self.own = dict.fromkeys([*SELECTED.values(), RUNS], 0)
        self.total = dict(self.own)
        self.accounted = False
        self.kept: list[Node] = []
        self.shown: list[Node] = []
        self.count = 0

    def alone(self) -> Node:
        """A node that holds the same itself, but nothing below it."""
        made = Node(self.name)
        made.types, made.shape, made.inputs, made.own = self.types, self.shape, self.inputs, dict(self.own)
        return made

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


def _scope(name: str) -> Node:
    made = Node(name)
    made.types = {SCOPE}
    return made


def read(graph: Any, run_meta: Any, op_log: Any = None) -> Node:
    """The tree of a graph."""
    root = _scope(ROOT)
    missing = 0
    trainable = {v.op.name for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    for op in graph.get_operations():
        node = root
        parts = op.name.split("/")
        for end in range(1, len(parts) + 1):
            node = node.children.setdefault(parts[end - 1], _scope("/".join(parts[:end])))
        node.types = (node.types - {SCOPE}) | {op.type}
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


def _times(run_meta: Any) -> list[tuple[str, str, int]]:
    """(name of an operation, device, microseconds) of what a run did."""
    return [(stats.node_name.partition(":")[0], device.device.lower(), stats.op_end_rel_micros)
            for device in run_meta.step_stats.dev_stats for stats in device.node_stats]


def times_of(graph: Any, run_meta: Any) -> dict[str, int]:
    """{operation of the graph: microseconds that it took in a run}"""
    known = {op.name for op in graph.get_operations()}
    found: dict[str, int] = {}
    for name, _, micros in _times(run_meta):
        if name in known:
            found[name] = found.get(name, 0) + micros
    return found


def _add_times(root: Node, run_meta: Any) -> None:
    for name, device, micros in _times(run_meta):
        node = find(root, name)
        if node is not None:
            node.own["exec_micros"] += micros
            node.own["accelerator_exec_micros" if "gpu" in device else "cpu_exec_micros"] += micros
            node.own[RUNS] = 1
            node.types.add(device)


def matches(name: str, expressions: Any) -> bool:
    return any(re.fullmatch(one, name) for one in expressions)


def is_accounted(node: Node, options: dict) -> bool:
    """Whether what a node holds itself counts: whether one of its types is asked for."""
    regexes = options.get("account_type_regexes", [])
    return node.name != ROOT and (list(regexes) == [".*"] or any(matches(one, regexes) for one in node.types))


def account(nodes: Any, options: dict) -> list[Any]:
    """The nodes of a tree of which one counts, or something below it."""
    found = []
    for node in nodes:
        node.reset()
        node.kept = account(node.children.values(), options)
        node.accounted = is_accounted(node, options)
        if node.accounted or node.kept:
            if node.name != ROOT:
                node.add_own()
            for child in node.kept:
                node.add_total(child)
            found.append(node)
    return found


def ordered(nodes: list[AnyNode], order_by: str) -> list[AnyNode]:
    """The nodes in the order that a report has them: those of equal size stay as they are.

    Raises InvalidArgumentError for another order than there is.
    """
    if order_by in ("name", "depth"):
        return sorted(nodes, key=lambda node: node.name)
    if order_by not in SELECTED:
        raise InvalidArgumentError(None, None, f"tf.profiler orders by name, {', '.join(SELECTED)}; not by {order_by}")
    return sorted(nodes, key=lambda node: -node.total[SELECTED[order_by]])


def is_named(node: Node, options: dict) -> bool:
    """Whether a node is among those that are to be shown by their names."""
    return matches(node.name, options.get("show_name_regexes", [])) and not matches(node.name, options.get("hide_name_regexes", []))


def is_shown(node: Node, options: dict, depth: int) -> bool:
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


def columns(options: dict) -> list[str]:
    """What a report shows of each node, in its order: time in all brings that of each kind with it."""
    selected = {*options.get("select", [])}
    if "micros" in selected:
        selected |= {"accelerator_micros", "cpu_micros"}
    return [name for name in TITLES if name in selected]


def line_of(node: Node, options: dict, unknown: Any = ()) -> str:
    """The line of a node in a report; `unknown` are columns that the view knows nothing of."""
    parts = []
    for name in columns(options):
        if name in unknown:
            parts.append(f"{name} N/A in code view")
        elif name in SELECTED:
            if name == "params" and node.accounted and node.shape is not None:
                parts.append("x".join(map(str, node.shape or [1])))
            parts.append(_of_all(node, name))
        elif name == "op_types":
            parts.append("|".join(sorted(node.types)))
        elif name == "occurrence":
            own = [str(node.own[RUNS]), "1"] if node.accounted else ["--", "--"]
            parts.append(f"{own[0]}/{node.total[RUNS]}|{own[1]}/{node.count}")
        else:
            parts.append("|".join(f"{place}:{'x'.join(map(str, shape or [1]))}" for place, shape in enumerate(node.inputs)
                                  if shape is not None and node.accounted))
    return f"{node.name} ({', '.join(parts)})"


def _of_all(node: Node, name: str) -> str:
    """What a node holds itself, and with what is below it."""
    key = SELECTED[name]
    text, unit = (time_text, "") if name.endswith("micros") else (number_text, " params" if name == "params" else " flops")
    return f"{text(node.own[key]) if node.accounted else '--'}/{text(node.total[key])}{unit}"


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


def proto_of_many(one: Any, below: Iterable[Any]) -> Any:
    """The MultiGraphNodeProto of what stands for several operations, a type or a line, with those of what is `below` it."""
    message = messages.MultiGraphNodeProto(name=one.name)
    for key in SELECTED.values():
        setattr(message, key, one.own[key])
        setattr(message, f"total_{key}", one.total[key])
    for operation in one.operations:
        operation.reset()
        operation.accounted, operation.shown = True, []
        operation.add_own()
        message.graph_nodes.append(proto_of(operation))
    message.children.extend(below)
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


def heading(options: dict, about: str, titles: Any = ()) -> str:
    """What stands above the lines of a report, of which `about` tells what they are; `titles`: columns in another order."""
    header = " | ".join(["node name", *(TITLES[name] for name in titles or columns(options))])
    docs = "\n".join([about, *(doc for name in sorted({*options.get("select", [])} & {*DOC}) for doc in DOC[name])])
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
    elif output != "none" and not output.startswith(PPROF):       # of which only lines of the program are written
        raise InvalidArgumentError(None, None, f"tf.profiler writes to stdout or a file, not as {output!r}: see "
                                               "tf.RunOptions.FULL_TRACE and jitgraph inspect for times")
