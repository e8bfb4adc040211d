"""Transforms that leave nodes out: those that nothing needs, that hand values on, that are there twice, that are constants."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.facade.names import resolve
from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.graph import errors
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.graph import Graph
from jitgraph.protobuf import messages
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid
from jitgraph.tools.graph_transforms.patterns import (
    Match,
    constant,
    copy_of,
    op_def_of,
    renamed_inputs,
    replaced,
)

_SHAPES = ("Shape", "ShapeN", "Size", "Rank")
_NEVER = ("Const", "Placeholder", "PlaceholderWithDefault", "Enter", "Exit", "NextIteration", "Switch", "Merge", "LoopCond", "NoOp")
_LARGEST = 10 * 1024 * 1024         # bytes of a constant that is made


def _needed(graph_def: Any, outputs: Iterable[str], inputs: set[str], missing: str) -> set[str]:
    """The nodes that outputs need, as far as the inputs."""
    nodes = {node.name: node for node in graph_def.node}
    waiting = [node_name(text) for text in outputs]
    found = {*waiting, *inputs}
    while waiting:
        name = waiting.pop()
        if name in inputs:
            continue
        if name not in nodes:
            raise invalid(missing.format(name))
        for text in nodes[name].input:
            if node_name(text) not in found:
                found.add(node_name(text))
                waiting.append(node_name(text))
    return found


def strip_unused_nodes(graph_def: Any, given: Parameters) -> Any:
    """Leaves only what outputs need; inputs become placeholders.

    `type` and `shape` are those of the placeholders, float and [] if not given; `type_for_name` and `shape_for_name` those of the
    input of the `name` at the same place.
    """
    inputs = {node_name(text) for text in given.inputs}
    needed = _needed(graph_def, given.outputs, inputs, "Input node {} not found in graph")
    for values in ("type_for_name", "shape_for_name"):
        if len(given.values.get(values, ())) != len(given.values.get("name", ())):
            raise invalid(f"You must pass a '{values}' arg for every 'name', e.g. strip_unused_nodes(name=foo, {values}=...)")
    nodes = []
    for node in graph_def.node:
        if node.name in inputs and node.op != "Placeholder":
            node = _placeholder(node.name, given)
        nodes += [node] if node.name in needed else []
    return copied(graph_def, nodes)


def _placeholder(name: str, given: Parameters) -> Any:
    kind, shape = given.one("type", "float"), given.one("shape", "")
    names = given.values.get("name", [])
    if name in names:
        kind, shape = (given.values[values][names.index(name)] for values in ("type_for_name", "shape_for_name"))
    made = messages.NodeDef(name=name, op="Placeholder")
    try:
        made.attr["dtype"].type = as_dtype({"float": "float32", "double": "float64"}.get(kind, kind)).as_datatype_enum
    except TypeError:
        raise invalid(f"Couldn't understand type argument '{kind}'") from None
    made.attr["shape"].shape.SetInParent()
    for size in shape.split(",") if shape else ():
        made.attr["shape"].shape.dim.add(size=int(size))
    return made


def remove_nodes(graph_def: Any, given: Parameters) -> Any:
    """Takes out nodes of the types `op` that have up to `max_inputs` inputs: what used them uses their first input."""
    if not given.values.get("op"):
        raise invalid("remove_nodes expects at least one 'op'argument, e.g. remove_nodes(op=Identity)")
    kept = {node_name(text) for text in (*given.inputs, *given.outputs)}
    for op in given.values["op"]:
        for count in range(1, given.one("max_inputs", 1) + 1):
            instead: dict[str, str] = {"": ""}
            while instead:
                instead = {}

                def make(match: Match, used: set[str], instead: dict[str, str] = instead) -> Iterable[Any]:
                    if match.node.name in kept:
                        return match.nodes()
                    first = next(text for text in match.node.input if not text.startswith("^"))
                    instead[match.node.name] = first
                    return [match.inputs[0].node]

                graph_def = replaced(graph_def, (op, (("*", ()),) * count), make, consistent=False)
                graph_def = renamed_inputs(graph_def, instead)
    return graph_def


def merge_duplicate_nodes(graph_def: Any, given: Parameters) -> Any:
    """Lets nodes that are alike but for their names, and keep no state, be one."""
    kept = {*given.inputs, *given.outputs}
    while True:
        first: dict[bytes, str] = {}
        instead: dict[str, str] = {}
        nodes = []
        for node in graph_def.node:
            nameless = copy_of(node)
            nameless.name = node.name if node.name in kept else ""
            key = nameless.SerializeToString(deterministic=True)
            if key in first and not op_def_of(node.op).is_stateful:
                instead[f"{node.name}:*"] = f"{first[key]}:*"
            else:
                first.setdefault(key, node.name)
                nodes.append(node)
        graph_def = renamed_inputs(copied(graph_def, nodes), instead)
        if not instead:
            return graph_def


def fold_constants(graph_def: Any, given: Parameters) -> Any:
    """Puts constants in the place of what constants and known shapes give, and leaves only what outputs need.

    Nodes of types `exclude_op`, or named in `exclude_node`, stay, and what would be larger than `max_constant_size_in_bytes`;
    `clear_output_shapes` forgets the shapes that nodes are said to give.  Raises NotFoundError for inputs and outputs that are not
    there, InvalidArgumentError for inputs that are no placeholders.
    """
    cleaned = copied(graph_def, [copy_of(node) for node in graph_def.node])
    if given.one("clear_output_shapes", True):
        for node in cleaned.node:
            if "_output_shapes" in node.attr:
                del node.attr["_output_shapes"]
    inputs = {node_name(text) for text in given.inputs}
    for what, texts in (("FeedInputs", given.inputs), ("FetchOutputs", given.outputs)):
        for text in texts:
            if all(node.name != node_name(text) for node in cleaned.node):
                raise errors.NotFoundError(None, None, f"{what}: node {text}: not found")
    folded = _folded(cleaned, inputs, given)
    needed = _needed(folded, given.outputs, inputs, "Bad graph structure, no node named '{}' found for input lookup")
    result = copied(graph_def, [node for node in folded.node if node.name in needed])
    for node in result.node:
        if node.name in inputs and node.op == "PlaceholderWithDefault":
            node.op = "Placeholder"
            del node.input[:]
        elif node.name in inputs and node.op != "Placeholder":
            raise invalid(f"Input '{node.name}' was expected to be a Placeholder or PlaceholderWithDefault op, but was {node.op}")
    return result


def _folded(graph_def: Any, inputs: set[str], given: Parameters) -> Any:
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    excluded = {*given.values.get("exclude_node", ()), *inputs}
    known = {node.name for node in graph_def.node if node.op == "Const" and node.name not in excluded}
    foldable: set[str] = set()
    for op in graph.get_operations():           # each behind its inputs, but those of loops
        from_shapes = op.type in _SHAPES and all(t.shape.is_fully_defined() for t in op.inputs)
        from_values = len(op.inputs) > 0 and all(t.op.name in known for t in op.inputs)
        if ((from_shapes or from_values) and op.type not in (*_NEVER, *given.values.get("exclude_op", ()))
                and op.name not in excluded and not op.control_inputs and not op_def_of(op.type).is_stateful):
            known.add(op.name)
            foldable.add(op.name)
    wanted = sorted({text.removesuffix(":0") for node in graph_def.node if node.name not in foldable
                     for text in node.input if not text.startswith("^") and node_name(text) in foldable})
    made: list[Any] = []
    instead: dict[str, str] = {}
    feeds = {t: _zeros(t) for name in foldable for t in graph.get_operation_by_name(name).inputs
             if graph.get_operation_by_name(name).type in _SHAPES and t.op.name not in known}
    with resolve("Session")(graph=graph) as session:
        for text in wanted:
            value = session.run(text if ":" in text else f"{text}:0", feeds)
            if value.nbytes <= given.one("max_constant_size_in_bytes", _LARGEST):
                name = f"{node_name(text)}/_{len(made)}__cf__{len(made)}"
                made.append(constant(name, value, graph.get_tensor_by_name(text if ":" in text else f"{text}:0").dtype))
                instead[text] = name
    nodes = []
    for node in graph_def.node:
        changed = copy_of(node)
        if node.name not in foldable:
            changed.input[:] = [f"{text}:0" if text in inputs else instead.get(text.removesuffix(":0"), text)
                                for text in node.input]
        nodes.append(changed)
    return copied(graph_def, [*nodes, *made])


def _zeros(tensor: Any) -> Any:
    return np.zeros(tensor.shape.as_list(), tensor.dtype.as_numpy_dtype)
