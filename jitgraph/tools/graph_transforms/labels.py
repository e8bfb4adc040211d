"""Transforms of attributes, devices, names and order, which leave what the graph computes as it is."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid
from jitgraph.tools.graph_transforms.patterns import copy_of, in_execution_order, op_def_of

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _each(graph_def: Any, change: Callable[[Any], None]) -> Any:
    nodes = [copy_of(node) for node in graph_def.node]
    for node in nodes:
        change(node)
    return copied(graph_def, nodes)


def remove_attribute(graph_def: Any, given: Parameters) -> Any:
    """Takes the attribute `attribute_name` from nodes of the op type `op_name`, of all for *."""
    name, = given.wanted("remove_attribute", "attribute_name")
    op = given.one("op_name", "*")

    def change(node: Any) -> None:
        if op in ("*", node.op) and name in node.attr:
            del node.attr[name]

    return _each(graph_def, change)


def rename_attribute(graph_def: Any, given: Parameters) -> Any:
    """Gives the attribute `old_attribute_name` of nodes of the op type `op_name`, or all, the name `new_attribute_name`."""
    old, new = given.wanted("rename_attribute", "old_attribute_name", "new_attribute_name")
    op = given.one("op_name", "*")

    def change(node: Any) -> None:
        if op in ("*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]

    return _each(graph_def, change)


def rename_op(graph_def: Any, given: Parameters) -> Any:
    """Makes nodes of the op type `old_op_name` those of `new_op_name`."""
    old, new = given.wanted("rename_op", "old_op_name", "new_op_name")

    def change(node: Any) -> None:
        node.op = new if node.op == old else node.op

    return _each(graph_def, change)


def add_default_attributes(graph_def: Any, given: Parameters) -> Any:
    """Writes the defaults of attributes that nodes do not state.  Raises InvalidArgumentError for unknown op types."""
    functions = {one.signature.name for one in graph_def.library.function}

    def change(node: Any) -> None:
        if node.op in functions:
            return
        for attr in op_def_of(node.op).attr:
            if attr.HasField("default_value") and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(attr.default_value)

    return _each(graph_def, change)


def remove_device(graph_def: Any, given: Parameters) -> Any:
    """Takes the devices from nodes."""

    def change(node: Any) -> None:
        node.device = ""

    return _each(graph_def, change)


def set_device(graph_def: Any, given: Parameters) -> Any:
    """Puts all nodes on `device`; with `if_default` those that have none."""
    device, only = given.one("device", ""), given.one("if_default", False)

    def change(node: Any) -> None:
        if not only or not node.device:
            node.device = device

    return _each(graph_def, change)


def remove_control_dependencies(graph_def: Any, given: Parameters) -> Any:
    """Takes the control inputs from nodes."""

    def change(node: Any) -> None:
        node.input[:] = [text for text in node.input if not text.startswith("^")]

    return _each(graph_def, change)


def obfuscate_names(graph_def: Any, given: Parameters) -> Any:
    """Gives all nodes but inputs and outputs short names."""
    kept = {*given.inputs, *given.outputs}
    names: dict[str, str] = {}
    number = 0
    for node in graph_def.node:
        names[node.name] = node.name
        while node.name not in kept:
            names[node.name] = _short(number)
            number += 1
            if names[node.name] not in kept:
                break

    def change(node: Any) -> None:
        for text in node.input:
            if node_name(text) not in names:
                raise invalid(f"No node named {node_name(text)} for input to {node.name}")
        node.input[:] = [text.replace(node_name(text), names[node_name(text)], 1) for text in node.input]
        node.name = names[node.name]

    return _each(graph_def, change)


def _short(number: int) -> str:
    text = ""
    while True:
        number, digit = divmod(number, len(_LETTERS))
        text = _LETTERS[digit] + text
        if number == 0:
            return text


def sort_by_execution_order(graph_def: Any, given: Parameters) -> Any:
    """Puts each node behind its inputs."""
    return copied(graph_def, in_execution_order(graph_def))
