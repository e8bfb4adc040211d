"""What stands in a branch of ``tf.cond`` and is used outside of it.

TensorFlow 1 makes the nodes of a branch in the graph around it, so programs use them there: they collect the updates of
moving averages that a layer made in a branch, and wait for them all.  Here a branch is a function, and what is used outside
becomes one more result of the choice.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.calls import bodies
from jitgraph.graph.control import BRANCHING
from jitgraph.graph.counting import uncounted
from jitgraph.graph.function_graph import FunctionGraph, add_output
from jitgraph.graph.lookup import as_graph_element
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor


def handed_out(item: Any, graph: Any) -> Any:
    """What stands in `graph` for a tensor or an operation of a branch in it; the item itself if it is not of a branch, or of
    one that is not complete.

    A tensor is an error, InvalidArgumentError, to who uses it while another branch is taken; a branch or a loop that
    captures it raises that only as it is run.  What waits for an operation is then dead as in TensorFlow: it does not run,
    nor does what reads it or waits for it, up to a Merge, and fetching it is an InvalidArgumentError.
    """
    around = [graph]
    while isinstance(around[-1], FunctionGraph):
        around.append(around[-1].outer_graph)
    if isinstance(item, Tensor) and isinstance(graph, FunctionGraph):
        return _handed_in(item, graph, around)
    if isinstance(item, Operation):
        return _waited_for(item, around)
    while isinstance(item, Tensor) and (inside := _branch(item, around)):
        item = _result(inside, item)
    return item


def _result(inside: FunctionGraph, item: Any) -> Tensor:
    with uncounted([inside]):
        found = inside.handed_out.get(item)
        if found is None:
            found = inside.handed_out[item] = _one_more_result(inside, item)
    return found


def _waited_for(item: Operation, around: list[Any]) -> Operation:
    """What one waits for who waits for an operation of a branch: it is dead where the branch is not taken."""
    inside = _branch(item, around)
    if inside is None:
        return item
    ran = _result(inside, item)
    while further := _branch(ran, around):
        inside = further
        with uncounted([inside]):
            ran = _value_or_zeros(inside, ran)
    found = inside.handed_out.get((ran, "dead or done"))
    if found is None:
        graph = ran.op.graph
        with uncounted([inside]), graph.as_default(), graph.name_scope(item.name + "/"), graph.control_dependencies(None):
            _, done = lookup("Switch").builder(ran, ran)
            found = inside.handed_out[ran, "dead or done"] = lookup("Identity").builder(done, name="done")
    return found.op


def _handed_in(item: Tensor, graph: FunctionGraph, around: list[Any]) -> Tensor:
    """What stands in a function for a tensor of a branch around it: its value, once a second tensor says that it has one."""
    if item in graph.handed_in:
        return graph.handed_in[item]
    value, there = item, None
    while inside := _branch(value, around):
        with uncounted([inside]):
            if there is None:
                with inside.as_default(), inside.control_dependencies(None):
                    there = lookup("Const").builder(value=np.array(True), dtype=dtypes.bool_)
            value, there = (_value_or_zeros(inside, one) for one in (value, there))
    if there is not None:
        with uncounted([graph]), graph.as_default(), graph.name_scope(item.op.name + "/"), graph.control_dependencies(None):
            checked = lookup("Assert").builder(there, [_not_taken(item)])
            value = lookup("Identity").builder(value)
            value.op._add_control_inputs([checked])
        graph.handed_in[item] = value
    return value


def _value_or_zeros(inside: FunctionGraph, item: Tensor) -> Tensor:
    found = inside.handed_out.get((item, "or zeros"))
    if found is None:
        found = inside.handed_out[item, "or zeros"] = _one_more_result(inside, item, message="")
    return found


def _branch(item: Any, around: list[Any]) -> FunctionGraph | None:
    """The complete branch that holds `item`, unless it is one of the graphs `around`."""
    inside = item.graph
    if any(inside is one for one in around) or not isinstance(inside, FunctionGraph) or choice_between(inside) is None:
        return None
    return inside


def _not_taken(item: Tensor) -> str:
    return f"Retval does not have value: {item.name} lies in a branch that was not taken"


def element_in_branch(graph: Any, name: str) -> Any:
    """The tensor or operation called `name` in a branch in `graph`, where TensorFlow 1 has it in the graph itself.

    Raises KeyError if there is none.
    """
    for op in graph._nodes_by_id:
        for branch in bodies(op) if op.type in BRANCHING else ():
            try:
                return as_graph_element(branch, name)
            except KeyError:
                pass
            try:
                return element_in_branch(branch, name)
            except KeyError:
                pass
    raise KeyError(name)


def choice_between(branch: FunctionGraph) -> Operation | None:
    """The operation that chooses between `branch` and others; None if it is no branch, or not complete."""
    if branch.choice is None:
        found = (op for op in branch.outer_graph._nodes_by_id if op.type in BRANCHING and any(b is branch for b in bodies(op)))
        branch.choice = next(found, None)
    return branch.choice


def _one_more_result(inside: FunctionGraph, item: Any, message: str | None = None) -> Tensor:
    """The value of a tensor of a branch; of an operation, whether the branch is taken, once the operation has run."""
    choice = inside.choice
    assert choice is not None
    op = item if isinstance(item, Operation) else item.op
    scope = op.name + "/"                 # names that a program asks for stay free
    for branch in bodies(choice):
        with branch.as_default(), branch.name_scope(scope):
            if isinstance(item, Operation):
                result = lookup("Const").builder(value=np.array(branch is inside), dtype=dtypes.bool_)
                if branch is inside:
                    result = lookup("Identity").builder(result)
                    result.op._add_control_inputs([item])
            elif branch is inside:
                result = lookup("Identity").builder(item)
            else:
                result = lookup("Absent").builder(
                    dtype=item.dtype.base_dtype, shape=item._shape,
                    message=_not_taken(item) if message is None else message)
        branch.outputs.append(result)
    return add_output(choice, bodies(choice)[0].outputs[-1].dtype.base_dtype, () if item is op else item._shape)
