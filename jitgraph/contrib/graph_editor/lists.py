"""Lists of operations and tensors, who makes and who uses them, and placeholders in the place of tensors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.variable_filters import get_tensors
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder


def listed(given: Any) -> list:
    """`given` as a list: a sequence as it is, anything else as the only member."""
    if isinstance(given, (Tensor, Operation)) or not hasattr(given, "__iter__"):
        return [given]
    return list(given)


def is_iterable(obj: Any) -> bool:
    """Whether `obj` has members: tensors have not."""
    return not isinstance(obj, Tensor) and hasattr(obj, "__iter__")


def concatenate_unique(la: list, lb: Any) -> list:
    """The list `la`, extended by the members of `lb` that it does not have."""
    la.extend(one for one in dict.fromkeys(lb) if one not in la)
    return la


def _members(given: Any, kind: Any, check_graph: bool, allow_graph: bool, ignore_others: bool, all_of: Callable) -> list:
    if isinstance(given, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return all_of(given)
    found: list[Any] = listed(given)
    if check_graph:
        allowed = (Operation, Tensor) if ignore_others else (kind,)
        for one in found:
            if not isinstance(one, allowed):
                raise TypeError(f"Expected a type in ({', '.join(str(one) for one in allowed)}), got: {type(one)}")
            if one.graph is not found[0].graph:
                raise ValueError(f"Operation {one} does not belong to given graph")
    return [one for one in found if isinstance(one, kind)]


def make_list_of_op(ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False) -> list:
    """The operations of a graph, an operation, or a sequence of them, as a list.

    Raises TypeError for other things (tensors are left out with `ignore_ts`), ValueError for several graphs.
    """
    return _members(ops, Operation, check_graph, allow_graph, ignore_ts, Graph.get_operations)


def make_list_of_t(ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False) -> list:
    """The tensors of a graph, a tensor, or a sequence of them, as a list; errors are those of ``make_list_of_op``."""
    return _members(ts, Tensor, check_graph, allow_graph, ignore_ops, get_tensors)


def get_generating_ops(ts: Any) -> list:
    """The operation that makes each of the tensors."""
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list:
    """The operations that use the tensors, each once."""
    return list(dict.fromkeys(op for t in make_list_of_t(ts, allow_graph=False) for op in t.consumers()))


class ControlOutputs:
    """Which operations wait for which, in a graph.  Raises TypeError for what is no graph."""

    def __init__(self, graph: Graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._waiting: dict[Operation, list] = {}
        self.update()

    def update(self) -> ControlOutputs:
        """Looks at the graph again."""
        self._waiting = {}
        for op in self._graph.get_operations():
            for before in op.control_inputs:
                self._waiting.setdefault(before, []).append(op)
        return self

    def get_all(self) -> dict:
        """{operation: those that wait for it}"""
        return self._waiting

    def get(self, op: Operation) -> Any:
        """The operations that wait for `op`."""
        return self._waiting.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def scope_of(scope: str) -> str:
    """A scope with a slash at its end, or ""."""
    return scope if not scope or scope.endswith("/") else f"{scope}/"


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = "geph") -> str:
    """The name of a placeholder for the tensor `t`: ``SCOPE/geph__NAME_0``.  Raises TypeError for what is no tensor."""
    if t is None:
        return f"{scope_of(scope or '')}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tenfor, got: {type(t)}")
    folder, slash, name = t.op.name.rpartition("/")
    own = name if name.startswith(f"{prefix}__") else f"{prefix}__{name}_{t.value_index}"
    return (folder + slash if scope is None else scope_of(scope)) + own


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix: str = "geph") -> Any:
    """A placeholder of the dtype and shape of `t`, named after it."""
    return placeholder(dtype=t.dtype, shape=t.shape, name=placeholder_name(t, scope=scope, prefix=prefix))


def make_placeholder_from_dtype_and_shape(dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = "geph") -> Any:
    """A placeholder named ``SCOPE/geph``."""
    return placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))
