"""Open variables: those whose shape may be another one at the next run.

A plan takes the shape of every other variable for fixed.  An open one is looked up when a segment of the plan starts,
and a write that may change its shape ends the segment.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jitgraph.graph.calls import bodies
from jitgraph.graph.errors import FailedPreconditionError, InternalError, NotFoundError, OpError
from jitgraph.graph.function_graph import note_change
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation

from .order import candidates, touched_variables, variable_key

if TYPE_CHECKING:
    from .program import Program


def is_closed(variable: Operation) -> bool:
    """Whether the variable's shape never changes: it is known, and no assignment of the graph may give it another."""
    return has_full_shape(variable) and variable_key(variable) not in _reshaped(variable.graph)


def is_open(variable: Operation, program: Program) -> bool:
    """Whether `program` has to do without the variable's shape, or with that which it has right now."""
    return variable in program.variable_shapes or not has_full_shape(variable)


def has_full_shape(variable: Operation) -> bool:
    """Whether the variable was made with a shape that is known in full."""
    shape = variable.attrs["shape"]
    return shape is not None and all(d is not None and d >= 0 for d in shape)


def may_reshape(op: Operation) -> bool:
    """Whether an assignment may give its variable a shape that the variable was not made with."""
    return bool(reshaped_by(op))


def reshaped_by(op: Operation) -> list[Operation]:
    """The variables to which an assignment may give such a shape: one, or some of those of which the run chooses one."""
    if op.opdef is None or not op.opdef.assigns or op.attrs.get("validate_shape", True):
        return []
    stated = op.inputs[1]._shape
    return [one for one in candidates(op.inputs[0]) if stated is None or tuple(stated) != one.attrs["shape"]]


def shapes_hold(graph: Graph) -> bool:
    """Whether values have the shapes that the graph states: a variable that is reshaped makes those after it wrong."""
    return not _reshaped(graph)


def used_after(variable: Operation | None, ops: Iterable[Operation]) -> bool:
    """Whether one of these operations touches the variable."""
    return any(touched is variable for op in ops for touched, _ in touched_variables(op))


def uninitialized(variable: Operation, op: Operation | None = None) -> OpError:
    """TensorFlow's error for an operation on a variable that nobody has initialised, with what to do about it.

    FailedPreconditionError for a reference variable, and for reading a resource variable; whatever else looks for the
    latter does not find it: NotFoundError, or InternalError if it is the step of an optimizer.
    """
    advice = f"Run the initializer of {variable.name} first, for example tf.global_variables_initializer()."
    if variable.opdef.variable != "resource":
        return FailedPreconditionError(None, variable, f"Attempting to use uninitialized value {variable.name}. {advice}")
    container, name = variable_key(variable)
    container = container or "localhost"
    if op is None or not op.opdef.state or op.opdef.forwards:
        return FailedPreconditionError(None, variable, f"Error while reading resource variable {name} from Container: "
                                                       f"{container}. This could mean that the variable was "
                                                       f"uninitialized. {advice}")
    if op.type.startswith(("ResourceApply", "ResourceSparseApply")):
        return InternalError(None, op, f"Invalid variable reference: {name} is uninitialized. {advice}")
    return NotFoundError(None, op, f"Resource {container}/{name} does not exist: the variable is uninitialized. {advice}")


def _reshaped(graph: Graph) -> set[tuple[str, str]]:
    """The keys of the variables that assignments of the graph, or of functions in it, may reshape."""
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    seen, found = graph.per_graph("reshaped variables", lambda: ({}, set()))
    before = len(found)
    _look(graph, seen, found)
    if len(found) > before:
        note_change(graph)          # plans made before took these shapes for fixed
    return found


def _look(graph: Graph, seen: dict[int, int], found: set[tuple[str, str]]) -> None:
    """Looks at the operations that came since the last time, which `seen` tells by the id of each graph: a branch equals the graph
    around it."""
    start = seen.get(id(graph), 0)
    if start == graph.version:
        return
    seen[id(graph)] = graph.version
    for op in graph._nodes_by_id[start:]:
        found.update(map(variable_key, reshaped_by(op)))
        for function in bodies(op):
            _look(function, seen, found)
