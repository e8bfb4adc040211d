"""Copies of a function's graph: every call has one of its own, since gradients add to the function that they are taken of."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.build import infer_shapes
from jitgraph.graph.calls import bodies
from jitgraph.graph.function_graph import FunctionGraph, notes
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.protos.function_names import note_copy
from jitgraph.graph.tensor import Tensor


def source_of(tensor: Tensor) -> Tensor:
    """What a tensor stands for that a function has taken from around it: the tensor of the outermost function or graph."""
    found: Tensor | None = tensor
    while found is not None:
        tensor, found = found, tensor.op.graph.sources.get(found)
    return tensor


def reaches(graph: Graph, function: FunctionGraph) -> bool:
    """Whether what `function` takes from around it can be seen from `graph`."""
    around = {id(graph)}
    while isinstance(graph, FunctionGraph):
        graph = graph.outer_graph
        around.add(id(graph))
    waited = [getattr(item, "op", item).graph for item in function.outer_control]
    return all(id(one) in around for one in [*(source_of(tensor).op.graph for tensor in function.captures), *waited])


def duplicate(function: FunctionGraph, outer: Graph, arguments: list[Tensor]) -> FunctionGraph:
    """A copy of a function for a call from `outer` with `arguments`, whose shapes it knows; ``reaches`` must hold."""
    taken = {inner: source_of(theirs) for theirs, inner in function.captures.items()}
    if isinstance(outer, FunctionGraph):
        taken = {inner: outer.capture(tensor) for inner, tensor in taken.items()}
    shapes = {inner: _joined(inner._shape, given._shape) for inner, given in zip(function.inputs, arguments)}
    return _copied(function, outer, taken, {}, shapes)


def _copied(function: FunctionGraph, outer: Graph, taken: dict[Tensor, Tensor], waited: dict[Any, Any],
            shapes: dict[Tensor, Any]) -> FunctionGraph:
    """A copy that takes from `outer` what `taken` says, {input: tensor of `outer`}, and waits there for what `waited` says.

    `shapes`: those of inputs that may be known better than in the function.
    """
    copy = FunctionGraph(function.name, outer)
    copy.ordered, copy.counts_gates = function.ordered, function.counts_gates
    copy._names.take_over(function._names)
    if function.is_inline:
        copy.count_inline()
    counted = copy._ids.last
    tensors: dict[Tensor, Tensor] = {}
    operations: dict[Operation, Operation] = {}
    for op in _inputs_first(function):
        operations[op] = made = _node(op, copy, tensors, operations, shapes)
        tensors.update(zip(op.outputs, made.outputs))
    copy._ids.last = counted
    copy.inputs = [tensors[inner] for inner in function.inputs]
    copy.captures = {tensor: tensors[inner] for inner, tensor in taken.items()}
    copy.sources = {tensors[inner]: tensor for inner, tensor in taken.items()}
    copy.outputs = [tensors[tensor] for tensor in function.outputs]
    copy.control_outputs = [operations[op] for op in function.control_outputs]
    copy.outer_control = {waited.get(item, item): None for item in function.outer_control}
    if not function.is_inline:
        note_copy(copy, function)
    return copy


def _inputs_first(function: FunctionGraph) -> list[Operation]:
    """The operations in the order in which they were made, but for those that a gradient has made for an earlier one to take."""
    order: dict[Operation, None] = {}
    begun: set[Operation] = set()           # whose inputs are on their way; a loop of a graph file comes back to one
    for last in function.get_operations():
        waiting = [last]
        while waiting:
            op = waiting[-1]
            if op in begun or op in order:
                order[waiting.pop()] = None
                continue
            begun.add(op)
            before = (*(tensor.op for tensor in op.inputs), *op.control_inputs)
            waiting += [one for one in before if one not in order and one not in begun and one.graph is function]
    return list(order)


def _node(op: Operation, copy: FunctionGraph, tensors: dict[Tensor, Tensor], operations: dict[Operation, Operation],
          shapes: dict[Tensor, Any]) -> Operation:
    attrs, inputs = dict(op.attrs), [tensors[tensor] for tensor in op.inputs]
    for name in op.opdef.functions if op.opdef is not None else ():
        called = attrs[name] if isinstance(attrs[name], list) else [attrs[name]]
        made = [_inner(one, op.graph, copy, tensors, operations) for one in called]
        attrs[name] = made if isinstance(attrs[name], list) else made[0]
    known = [shapes.get(tensor, tensor._shape) for tensor in op.outputs]
    if any(mine._shape != theirs._shape for mine, theirs in zip(inputs, op.inputs)):
        known = _inferred(op, inputs, attrs, known)
    node = copy.add_op(op.opdef, op.type, op.name, inputs, attrs, [tensor.dtype for tensor in op.outputs], known,
                       [operations[one] for one in op.control_inputs])
    node._frames, node._device, node.annotations = op._frames, op._device, op.annotations
    node._gradient_function = op._gradient_function
    if bodies(op):
        notes(node).back_prop = notes(op).back_prop
    return node


def _inferred(op: Operation, inputs: list[Tensor], attrs: dict[str, Any], known: list) -> list:
    """The shapes of the outputs, where those of the inputs are known better than they were."""
    try:
        found = infer_shapes(op.opdef, op.name, inputs, attrs, len(known))
    except ValueError:      # a branch that these arguments do not come to
        return known
    return [_joined(*both) for both in zip(known, found)]


def _joined(one: Any, other: Any) -> Any:
    """What is known of a shape by either."""
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple(b if a is None else a for a, b in zip(one, other))


def _inner(function: Any, around: Graph, copy: FunctionGraph, tensors: dict, operations: dict) -> Any:
    """A copy of a branch, a part of a loop or a function that a node calls; what names a function of a file stays."""
    if not isinstance(function, FunctionGraph) or function.outer_graph is not around:
        return function
    taken = {inner: tensors[theirs] for theirs, inner in function.captures.items()}
    return _copied(function, copy, taken, {**operations, **tensors}, {inner: tensor._shape for inner, tensor in taken.items()})
