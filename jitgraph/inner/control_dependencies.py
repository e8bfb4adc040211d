"""``tensorflow.python.framework.auto_control_deps``: what is built in a block acts in the order in which it was written."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitgraph.control.program_order import acts, branches_in_order, put_in_order
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import IndexedSlices, SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor


def op_is_stateful(op: Any) -> bool:
    """Whether an operation reads or changes something that runs keep."""
    declared = getattr(op, "opdef", None)
    return declared is not None and bool(declared.stateful)


class AutomaticControlDependencies:
    """A block: of its operations, those on the same variable or resource happen in order, and what ``mark_as_return`` gave after
    all that act.

    ``ops_which_must_run`` are the operations that act, after the block.
    """

    def __init__(self) -> None:
        self._returned_tensors: list[Tensor] = []
        self.ops_which_must_run: set[Operation] = set()

    def mark_as_return(self, tensor: Any) -> Any:
        """A copy of a tensor, or of IndexedSlices or a SparseTensor, that is there only once the block has acted."""
        if isinstance(tensor, IndexedSlices):
            return IndexedSlices(*(None if part is None else self.mark_as_return(part) for part in (
                tensor.values, tensor.indices, tensor.dense_shape)))
        if isinstance(tensor, SparseTensor):
            return SparseTensor(*map(self.mark_as_return, (tensor.indices, tensor.values, tensor.dense_shape)))
        copied = lookup("Identity").builder(tensor)
        self._returned_tensors.append(copied)
        return copied

    def __enter__(self) -> AutomaticControlDependencies:
        self._graph = get_default_graph()
        self._known = set(self._graph.get_operations())
        self._branches = branches_in_order(self._graph)
        self._branches.__enter__()
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        self._branches.__exit__(None, None, None)
        if kind is not None:
            return
        if self._graph is not get_default_graph():
            raise RuntimeError("Graph changed while trying to add control dependencies.")
        inside = [op for op in self._graph.get_operations() if op not in self._known]
        returned = {tensor.op for tensor in self._returned_tensors}
        put_in_order(op for op in inside if op not in returned)
        acting = [op for op in inside if acts(op)]
        self.ops_which_must_run = set(acting)
        for op in returned:
            op._add_control_inputs([before for before in acting if before is not op])


def automatic_control_dependencies(f: Callable) -> Callable:
    """`f` in such a block: its results are there once it has acted."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as block:
            result = f(*args, **kwargs)
            return nest.map_structure(lambda one: block.mark_as_return(_as_tensor(one)), result)

    return wrapper


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, (Tensor, IndexedSlices, SparseTensor)) else convert_to_tensor(value)
