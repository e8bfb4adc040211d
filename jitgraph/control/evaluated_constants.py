"""What a tensor is worth before a run, if need be by computing it."""
from __future__ import annotations

from typing import Any

from jitgraph.facade import names
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor

_MOST_NODES = 500           # what takes longer is left to the run


def evaluated_constant(tensor: Tensor) -> Any:
    """The value of a tensor as an ndarray if it follows from constants and static shapes, else None."""
    value = constant_value(tensor)
    if value is not None or not _is_of_constants(tensor):
        return value
    with names.resolve("Session")(graph=tensor.graph) as session:
        return session.run(tensor)


def _is_of_constants(tensor: Tensor) -> bool:
    """Whether a tensor comes from constants alone, by operations that do the same in every run."""
    if isinstance(tensor.graph, FunctionGraph):
        return False
    pending, seen = [tensor.op], {tensor.op}
    while pending:
        op = pending.pop()
        definition = lookup(op.type)
        given = list(op.inputs)
        if definition.stateful or definition.stream or op.type.startswith("Placeholder") or not given and op.type != "Const":
            return False
        new = {one.op for one in given if constant_value(one) is None} - seen
        seen |= new
        pending += new
        if len(seen) > _MOST_NODES:
            return False
    return True
