"""Nodes of a GraphDef that match a pattern of op types, replaced by others."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

import numpy as np

from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.graph import errors
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.protos.op_def import op_def_proto
from jitgraph.graph.protos.tensor_proto import make_ndarray, make_tensor_proto
from jitgraph.graph.registry import lookup
from jitgraph.protobuf import messages
from jitgraph.tools.graph_transforms.parameters import invalid

Pattern = tuple[str, tuple]
"""(op types with | between, or *; the patterns of the inputs, none if any will do)"""


class Match(NamedTuple):
    """A node that matches a pattern, and those of its inputs."""

    node: Any
    inputs: list[Match]

    def nodes(self) -> list[Any]:
        """The nodes, the innermost inputs first, each once."""
        found: dict[str, Any] = {}
        for one in self.inputs:
            found.update({node.name: node for node in one.nodes()})
        found.setdefault(self.node.name, self.node)
        return list(found.values())


def op_def_of(op: str) -> Any:
    """The declaration of an op type.  Raises InvalidArgumentError for an unknown one."""
    try:
        return op_def_proto(lookup(op))
    except (KeyError, ValueError, errors.OpError):
        raise invalid(f"Op type not registered '{op}'") from None


def copy_of(node: Any) -> Any:
    """A NodeDef of its own."""
    made = messages.NodeDef()
    made.CopyFrom(node)
    return made


def constant(name: str, value: Any, dtype: Any = None) -> Any:
    """A NodeDef of a constant."""
    made = messages.NodeDef(name=name, op="Const")
    tensor = make_tensor_proto(value, dtype)
    made.attr["dtype"].type = tensor.dtype
    made.attr["value"].tensor.CopyFrom(tensor)
    return made


def node_of(op: str, name: str, inputs: Iterable[str], **attrs: Any) -> Any:
    """A NodeDef with these inputs and attributes: DTypes and lists of them, bool, int, bytes, or AttrValues."""
    made = messages.NodeDef(name=name, op=op, input=list(inputs))
    for key, value in attrs.items():
        attr = made.attr[key]
        if isinstance(value, messages.AttrValue):
            attr.CopyFrom(value)
        elif isinstance(value, list):
            attr.list.type.extend(dtype.as_datatype_enum for dtype in value)
        elif isinstance(value, DType):
            attr.type = value.as_datatype_enum
        elif isinstance(value, bool):
            attr.b = value
        elif isinstance(value, int):
            attr.i = value
        else:
            attr.s = value
    return made


def attributes_of(node: Any, *keys: str) -> dict[str, Any]:
    """Those of the attributes that a node has."""
    return {key: node.attr[key] for key in keys if key in node.attr}


def value_of(node: Any) -> np.ndarray:
    """The value of a node of a constant.  Raises InvalidArgumentError for any other."""
    if "value" not in node.attr:
        raise invalid(f"Node '{node.name}' is a {node.op}, but the transform needs a constant there")
    return make_ndarray(node.attr["value"].tensor)


def types_of(node: Any) -> tuple[list[DType], list[DType]]:
    """The dtypes of the inputs and of the outputs of a node.  Raises InvalidArgumentError if it lacks an attribute for it."""
    declared = op_def_of(node.op)
    return _types(node, declared.input_arg), _types(node, declared.output_arg)


def _types(node: Any, arguments: Iterable[Any]) -> list[DType]:
    found: list[DType] = []
    for one in arguments:
        for key in (one.type_list_attr, one.number_attr, one.type_attr):
            if key and key not in node.attr:
                raise invalid(f"AttrValue missing attr '{key}' in node '{node.name}'")
        if one.type_list_attr:
            found += [as_dtype(number) for number in node.attr[one.type_list_attr].list.type]
            continue
        dtype = as_dtype(node.attr[one.type_attr].type if one.type_attr else one.type)
        found += [dtype] * (node.attr[one.number_attr].i if one.number_attr else 1)
    return found


def data_inputs(node: Any) -> list[str]:
    """The names of the nodes whose values a node takes."""
    return [node_name(text) for text in node.input if not text.startswith("^")]


def in_execution_order(graph_def: Any) -> list[Any]:
    """The nodes, each behind its inputs.  Raises InvalidArgumentError for inputs that are not there and for cycles."""
    nodes = list(graph_def.node)
    place = {node.name: k for k, node in enumerate(nodes)}
    pending, users = [], [[] for _ in nodes]        # type: tuple[list, list[list[int]]]
    for k, node in enumerate(nodes):
        controls = sum(text.startswith("^") for text in node.input)
        pending.append(controls + 1 if node.op in ("Merge", "RefMerge") else len(node.input))
        for text in node.input:
            if node_name(text) not in place:
                raise invalid(f"Node '{node.name}': Unknown input node '{text}'")
            users[place[node_name(text)]].append(k)
    ready = [k for k, node in enumerate(nodes) if not node.input]
    found = []
    while ready:
        k = ready.pop()
        found.append(nodes[k])
        for user in users[k]:
            pending[user] -= 1
            if pending[user] == 0:
                ready.append(user)
    if len(found) < len(nodes):
        raise invalid(f"{len(nodes) - len(found)} nodes in a cycle")
    return found


def _match(node: Any, pattern: Pattern, nodes: dict[str, Any], taken: set[str]) -> Match | None:
    op, inputs = pattern
    if node.name in taken or (op != "*" and node.op not in op.split("|")):
        return None
    names = data_inputs(node)
    if not inputs:
        return Match(node, [])
    if len(names) != len(inputs):
        return None
    found = []
    for name, inner in zip(names, inputs):
        one = _match(nodes[name], inner, nodes, taken)
        if one is None:
            return None
        found.append(one)
    return Match(node, found)


def matches(graph_def: Any, pattern: Pattern) -> list[Match]:
    """All matches, in the order of execution; no node is part of two."""
    nodes = {node.name: node for node in graph_def.node}
    taken: set[str] = set()
    found = []
    for node in in_execution_order(graph_def):
        match = _match(node, pattern, nodes, taken)
        if match is not None:
            taken.update(one.name for one in match.nodes())
            found.append(match)
    return found


def replaced(graph_def: Any, pattern: Pattern, make: Callable[[Match, set[str]], Iterable[Any]],
             consistent: bool = True) -> Any:
    """The GraphDef with what `make` gives in the place of each match.

    `make` is told the names of those nodes of the match that others use.  A match stays as it is if one of them would be missed and
    the graph is to be `consistent`.
    """
    heads = {match.node.name: match for match in matches(graph_def, pattern)}
    inside = {node.name for match in heads.values() for node in match.nodes()}
    users: dict[str, list[str]] = {}
    for node in graph_def.node:
        for text in node.input:
            users.setdefault(node_name(text), []).append(node.name)
    nodes: list[Any] = []
    for node in graph_def.node:
        match = heads.get(node.name)
        if match is None:
            nodes += [] if node.name in inside else [node]
            continue
        own = {one.name for one in match.nodes()}
        used = {name for name in own if set(users.get(name, ())) - own}
        made = list(make(match, used))
        nodes += made if not consistent or used <= {one.name for one in made} else match.nodes()
    return copied(graph_def, nodes)


def renamed_inputs(graph_def: Any, instead: dict[str, str], but_of: Container[str] = ()) -> Any:
    """The GraphDef whose nodes, but those named in `but_of`, read other tensors.

    `instead` has names of nodes, and what is written for their first output and for control inputs; names with the number of an
    output, which stand for that one alone; or with ``:*``, which stand for all outputs and control inputs.
    """
    nodes = []
    for node in graph_def.node:
        made = copy_of(node)
        if node.name not in but_of:
            made.input[:] = [_renamed(text, instead) for text in node.input]
        nodes.append(made)
    return copied(graph_def, nodes)


def _renamed(text: str, instead: dict[str, str]) -> str:
    seen = set()
    while True:
        name = node_name(text)
        if name in seen:
            raise invalid(f"RenameNodeInputs argument contains a cycle for {name}")
        seen.add(name)
        everything = instead.get(f"{name}:*")
        if everything is not None:
            text = text.replace(name, everything.removesuffix(":*"), 1)
        elif text.startswith("^") and name in instead:
            text = f"^{node_name(instead[name])}"
        elif text.removesuffix(":0") == name and name in instead:
            text = instead[name]
        elif f"{name}:{text.removeprefix(name)[1:] or 0}" in instead and not text.startswith("^"):
            text = instead[f"{name}:{text.removeprefix(name)[1:] or 0}"]
        else:
            return text
