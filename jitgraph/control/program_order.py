"""The order of what reads and writes in the functions of ``tf.function``: that of the program."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation


def acts(op: Operation) -> bool:
    """Whether an operation runs for what it does, though nobody asks for its value."""
    return op.opdef is not None and op.opdef.acts


@contextlib.contextmanager
def branches_in_order(graph: Graph) -> Iterator[None]:
    """A block whose conditionals do what stands in their branches, in the order of the program, though nobody asks for it.  Its
    loops do only what their variables ask for, as those of graphs do."""
    before, graph.orders_branches = graph.orders_branches, True
    try:
        yield
    finally:
        graph.orders_branches = before


def put_in_order(operations: Iterable[Operation]) -> None:
    """Lets each operation that acts, or reads what others write, wait for those before it on the same thing."""
    last_write: dict[Any, Operation] = {}
    reads: dict[Any, list[Operation]] = {}
    for op in operations:
        if op.opdef is None or not (op.opdef.state or acts(op)) or op.type == "Placeholder":
            continue
        writes = acts(op)
        for key in _touched(op):
            before = ([last_write[key]] if key in last_write else []) + (reads.get(key, []) if writes else [])
            op._add_control_inputs([one for one in before if one is not op])
            if writes:
                last_write[key], reads[key] = op, []
            else:
                reads.setdefault(key, []).append(op)


def _touched(op: Operation) -> list[Any]:
    """What an operation reads or changes: the nodes of variables and other resources, or the world outside."""
    found = [tensor for tensor in op.inputs if tensor.dtype.name == "resource" or tensor.dtype._is_ref_dtype]
    return found or (["outside"] if acts(op) else [])


def finish(graph: FunctionGraph) -> None:
    """Puts what a function does in order, if that is asked for, and lets it be done."""
    if graph.ordered or graph.orders_branches:
        put_in_order(graph.get_operations())
        graph.control_outputs = [op for op in graph.get_operations() if acts(op)]
