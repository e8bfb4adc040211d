"""Functions that nodes call, as FunctionDefs of a GraphDef's library.

In a FunctionDef an input is an argument, ``x``, or an output of a node by the name that the op's declaration gives it,
``split:output:1``.  What stands for a variable in a function's graph is an argument like any other; when the function is
read again, it stands for the variable that the caller passes.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jitgraph.graph.calls import functions_of
from jitgraph.graph.protos.function_names import reference, written_as
from jitgraph.graph.protos.node_proto import node_to_proto
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.protobuf import messages

if TYPE_CHECKING:
    from jitgraph.graph.function_graph import FunctionGraph
    from jitgraph.graph.operation import Operation
    from jitgraph.graph.tensor import Tensor

_SHAPES = "_output_shapes"
_DECLARED = "_input_shapes"         # of all arguments, as functions that Python made state them


# -- writing -------------------------------------------------------------------------------------------------------

def add_functions(library: Any, operations: list[Operation]) -> None:
    """Adds to a FunctionDefLibrary all functions that operations call, and those that these call."""
    known = {definition.signature.name for definition in library.function}
    waiting = [function for op in operations for function in functions_of(op)]
    while waiting:
        function = waiting.pop(0)
        name = reference(function).name
        if name in known:
            continue
        known.add(name)
        written = written_as(function)
        library.function.append(definition_of(written, name))
        if function.stated_gradient is not None:
            library.gradient.add(function_name=name, gradient_func=reference(function.stated_gradient).name)
            waiting.append(function.stated_gradient)
        waiting.extend(inner for op in written._nodes_by_id for inner in functions_of(op))


def definition_of(function: FunctionGraph, name: str) -> Any:
    """The FunctionDef of a function's graph."""
    definition = messages.FunctionDef()
    signature = definition.signature
    signature.name = name
    places = _arguments(function)
    for number, (tensor, argument) in enumerate(zip(function.inputs, places.values())):
        signature.input_arg.add(name=argument, type=tensor.dtype.base_dtype.as_datatype_enum)
        definition.arg_attr[number].attr[_SHAPES].list.shape.append(shape_to_proto(tensor._shape))
    arguments = {tensor.op for tensor in function.inputs}
    inside = [op for op in function._nodes_by_id if op not in arguments]
    signature.is_stateful = any(op.opdef is None or op.opdef.stateful for op in inside)
    names = {op.name for op in inside}
    definition.node_def.extend(_node(op, places, names) for op in inside)
    used: set[str] = set()
    for tensor in function.outputs:
        result = _unused(_identifier(tensor.op.name), used)
        signature.output_arg.add(name=result, type=tensor.dtype.base_dtype.as_datatype_enum)
        definition.ret[result] = places[tensor] if tensor in places else _output_name(tensor)
    for op in function.control_outputs:
        signature.control_output.append(op.name)
        definition.control_ret[op.name] = op.name
    return definition


def _identifier(name: str) -> str:
    text = re.sub(r"\W", "_", name).lower()
    return text if text[:1].isalpha() else "arg" + text


def _unused(name: str, used: set[str]) -> str:
    candidate, number = name, 1
    while candidate in used:
        candidate, number = f"{name}_{number}", number + 1
    used.add(candidate)
    return candidate


def _arguments(function: FunctionGraph) -> dict[Tensor, str]:
    """The name of the argument for each input; none is the name of a node."""
    inputs = {tensor.op for tensor in function.inputs}
    used = {op.name for op in function._nodes_by_id if op not in inputs}
    return {tensor: _unused(_identifier(tensor.op.name), used) for tensor in function.inputs}


def _node(op: Operation, places: dict[Tensor, str], names: set[str]) -> Any:
    """The NodeDef of an operation as it stands in a FunctionDef."""
    node = node_to_proto(op)
    node.input[:] = [places[tensor] if tensor in places else _output_name(tensor) for tensor in op.inputs]
    node.input.extend(sorted("^" + other.name for other in op.control_inputs if other.name in names))
    keep_colocation(node, names)
    return node


def keep_colocation(node: Any, names: set[str]) -> None:
    """Takes away the bonds to nodes that are not in the function."""
    if "_class" in node.attr:
        kept = [group for group in node.attr["_class"].list.s if group.removeprefix(b"loc:@").decode() in names]
        node.attr["_class"].list.s[:] = kept
        if not kept:
            del node.attr["_class"]


def _output_name(tensor: Tensor) -> str:
    op, position = tensor.op, 0
    for arg in op.opdef.outputs:
        length = _length(arg, op.attrs)
        if tensor.value_index < position + length:
            return f"{op.name}:{arg.name}:{tensor.value_index - position}"
        position += length
    raise ValueError(f"{tensor.name} is no output of its operation")


def _length(arg: Any, attrs: dict[str, Any]) -> int:
    """How many tensors an output of a declaration is."""
    if arg.list_attr is not None:
        return len(attrs[arg.list_attr])
    return 1 if arg.number_attr is None else attrs[arg.number_attr]


# -- reading -------------------------------------------------------------------------------------------------------

class Body:
    """A FunctionDef as a GraphDef's nodes: inputs by output number, attributes filled in.

    ``nodes``; ``arguments``: their names; ``results``: the input text that gives each output; ``shapes``: of the
    arguments as far as they are noted for one caller, raw; ``declared``: their shapes for all callers.
    """

    def __init__(self, definition: Any, attrs: Any, opdef_of: Any):
        from jitgraph.graph.protos.tensor_proto import shape_from_proto

        signature = definition.signature
        self.arguments = [arg.name for arg in signature.input_arg]
        self._opdef_of = opdef_of
        self.nodes = []
        for node in definition.node_def:
            kept = messages.NodeDef()
            kept.CopyFrom(node)
            for value in kept.attr.values():
                _fill_in(value, attrs)
            self.nodes.append(kept)
        self._by_name = {node.name: node for node in self.nodes}
        for node in self.nodes:
            node.input[:] = [text if text.startswith("^") else self._flat(text) for text in node.input]
            keep_colocation(node, set(self._by_name))
        self.results = [self._flat(definition.ret[arg.name]) for arg in signature.output_arg]
        self.controls = [definition.control_ret[name] for name in signature.control_output]
        self.shapes: list[Any] = [None] * len(self.arguments)
        for number, noted in definition.arg_attr.items():
            shapes = noted.attr[_SHAPES].list.shape if _SHAPES in noted.attr else ()
            if number < len(self.shapes) and len(shapes) == 1:
                self.shapes[number] = (shape_from_proto(shapes[0]),)
        declared = definition.attr[_DECLARED].list.shape if _DECLARED in definition.attr else ()
        self.declared: list[Any] = [shape_from_proto(shape) for shape in declared]
        self.declared += [None] * (len(self.arguments) - len(self.declared))

    def _flat(self, text: str) -> str:
        """``node:output:1`` as ``node:3``; arguments as they are."""
        name, *rest = text.split(":")
        node = self._by_name.get(name)
        if node is None or not rest:
            return text
        opdef = self._opdef_of(node)
        index = int(rest[1]) if len(rest) > 1 and rest[1].isdecimal() else 0
        position = 0
        for arg in opdef.outputs:
            if arg.name == rest[0]:
                return f"{name}:{position + index}"
            position += _stated_length(arg, node)
        raise ValueError(f"Node '{name}' (op: '{node.op}') has no output '{rest[0]}'")


def _stated_length(arg: Any, node: Any) -> int:
    if arg.list_attr is not None:
        return len(node.attr[arg.list_attr].list.type)
    if arg.number_attr is None:
        return 1
    if arg.number_attr not in node.attr:
        raise ValueError(f"NodeDef missing attr '{arg.number_attr}' of node '{node.name}'")
    return node.attr[arg.number_attr].i


def _fill_in(value: Any, attrs: Any) -> None:
    """Puts the caller's attributes in the place of those that a function leaves open."""
    if value.WhichOneof("value") == "placeholder":
        if value.placeholder not in attrs:
            raise ValueError(f"the function needs the attribute '{value.placeholder}' of its caller")
        value.CopyFrom(attrs[value.placeholder])
    for called in (value.func, *value.list.func) if value.WhichOneof("value") in ("func", "list") else ():
        for inner in called.attr.values():
            _fill_in(inner, attrs)
