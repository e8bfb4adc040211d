"""Initial values that depend on other variables: an initializer that runs alone must not find those without a value."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.calls import bodies
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.counting import counted_as
from jitgraph.graph.function_graph import first_argument, is_variable
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


def guarded(value: Tensor, name: str) -> Tensor:
    """`value`, the initial value of variable `name`, as its initializer takes it: where it depends on reference variables
    of the collections of global and local variables, a copy that takes ``initialized_value()`` for each of them.

    A value that changes a variable, or that a loop of a graph file makes, stays as it is.
    """
    graph = value.graph
    if _asks(value.op):
        return value
    order = _dependent(value.op)
    if not order:
        return value
    known = {v.op: v for key in (GraphKeys.LOCAL_VARIABLES, GraphKeys.GLOBAL_VARIABLES) for v in graph.get_collection(key)
             if isinstance(getattr(v, "op", None), Operation)}
    copies: dict[Tensor, Tensor] = {}
    for op in order:
        if is_variable(op):
            if op in known:
                copies[op.outputs[0]] = known[op].initialized_value()
        elif any(t in copies for t in op.inputs):
            with counted_as(_nodes(op, copies)):
                made = _copy(op, [copies.get(t, t) for t in op.inputs], f"{op.name}_{name}")
            copies.update(zip(op.outputs, made.outputs))
    return copies.get(value, value)


def _asks(op: Operation) -> bool:
    """Whether an operation sees the variable itself: reads it, or asks whether it has a value."""
    return op.opdef is not None and op.opdef.state == "read" and (op.opdef.forwards or not op.opdef.needs_value)


def _dependent(goal: Operation) -> list[Operation]:
    """The operations behind `goal` that depend on reference variables, each after those that it depends on; none if one of
    them needs the variable itself, or they form a cycle."""
    order: list[Operation] = []
    state: dict[Operation, bool] = {}       # None: being visited; else whether it depends on a variable
    stack = [goal]
    while stack:
        op = stack[-1]
        if op in state:
            stack.pop()
            if state[op] is None:
                state[op] = is_variable(op) or any(state[t.op] for t in op.inputs if t.op in state)
                if state[op]:
                    order.append(op)
            continue
        state[op] = None  # type: ignore[assignment]
        if _asks(op) or op.opdef is None or op.opdef.variable == "resource":
            state[op] = False
            continue
        if not is_variable(op) and any(arg.is_ref for arg in op.opdef.inputs):
            return []
        for tensor in op.inputs:
            if tensor.op not in state:
                stack.append(tensor.op)
            elif state[tensor.op] is None:
                return []
    return order


def _nodes(op: Operation, copies: dict[Tensor, Tensor]) -> int:
    """How many nodes TensorFlow copies for an operation: of a conditional, those that depend on what is `copies` now."""
    if not bodies(op):
        return 1
    found: set[Operation] = set()
    for function in bodies(op):
        stack = [t.op for t, outer in zip(function.inputs, op.inputs[first_argument(op):]) if outer in copies]
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(consumer for t in node.outputs for consumer in t.consumers())
    return sum(not is_variable(node) or any(t.consumers() for t in node.outputs) for node in found)


def _copy(op: Operation, inputs: list[Tensor], name: str) -> Operation:
    """The operation once more, for other inputs."""
    from jitgraph.control.replay import cloned

    attrs: dict[str, Any] = dict(op.attrs)
    if bodies(op):
        offset = first_argument(op)
        for key in op.opdef.calls:
            functions = attrs[key] if isinstance(attrs[key], list) else [attrs[key]]
            copies = [cloned(f, op.graph, inputs[offset:]) for f in functions]
            attrs[key] = copies if isinstance(attrs[key], list) else copies[0]
    return op.graph.add_op(op.opdef, op.type, name, inputs, attrs, [t.dtype for t in op.outputs],
                           [t._shape for t in op.outputs], [])
