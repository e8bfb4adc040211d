"""``SubGraphView``: some operations of a graph, with the tensors that go in and come out in an order of their own."""
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.graph_editor.lists import make_list_of_op, make_list_of_t
from jitgraph.contrib.graph_editor.selecting import (
    compute_boundary_ts,
    get_name_scope_ops,
    get_walks_union_ops,
    select_ops_and_ts,
)
from jitgraph.graph.graph import Graph
from jitgraph.graph.tensor import Tensor


def _places(given: Any, tensors: list, repeated: bool) -> list[int]:
    """Which of `tensors` numbers or tensors name.  Raises ValueError for what is not there, or named twice."""
    found = [one if isinstance(one, int) else tensors.index(one) for one in given]
    for place in found:
        if not 0 <= place < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {place}")
    if not repeated and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


class SubGraphView:
    """The operations `inside_ops`, and `passthrough_ts`, tensors that go in and come out without any operation.

    ``inputs`` and ``outputs`` are at first what comes from outside and what is used there; ``remap`` chooses others among
    them.  The graph stays as it is.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        self._ops, through = make_list_of_op(inside_ops), make_list_of_t(passthrough_ts)
        self._graph = get_unique_graph([*self._ops, *through]) if self._ops or through else None
        inputs, outputs, inside = compute_boundary_ts(self._ops)
        known = {*inputs, *outputs, *inside}
        self._passthrough_ts = [t for t in through if t not in known]
        self._input_ts, self._output_ts = [*inputs, *self._passthrough_ts], [*outputs, *self._passthrough_ts]

    def __copy__(self) -> SubGraphView:
        made = type(self).__new__(type(self))
        made._assign_from(self)
        return made

    def _assign_from(self, other: Any) -> None:
        """Becomes as another view.  Raises TypeError for anything else."""
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph = other._graph
        self._ops, self._passthrough_ts = list(other._ops), list(other._passthrough_ts)
        self._input_ts, self._output_ts = list(other._input_ts), list(other._output_ts)

    def copy(self) -> SubGraphView:
        """Another view of the same."""
        return copy.copy(self)

    def remap_default(self, remove_input_map: bool = True, remove_output_map: bool = True) -> SubGraphView:
        """A view with the inputs, and outputs, that are there without any choice."""
        made = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            made._input_ts = [*inputs, *self._passthrough_ts]
        if remove_output_map:
            made._output_ts = [*outputs, *self._passthrough_ts]
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """A view whose inputs and outputs are those with these numbers (or these tensors), in this order.

        Raises ValueError for what is not there, and for an input that is named twice.
        """
        made = self.copy()
        if new_input_indices is not None:
            made._input_ts = [self._input_ts[place] for place in _places(new_input_indices, self._input_ts, False)]
        if new_output_indices is not None:
            made._output_ts = [self._output_ts[place] for place in _places(new_output_indices, self._output_ts, True)]
        return made

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """``remap`` of the inputs alone."""
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """``remap`` of the outputs alone."""
        return self.remap(None, new_output_indices)

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view with each output once."""
        made = self.copy()
        made._output_ts = list(dict.fromkeys(self._output_ts))
        return made

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output once for each operation that uses it."""
        made = self.copy()
        made._output_ts = [t for t in dict.fromkeys(self._output_ts) for _ in t.consumers()]
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without the operations that are connected with no input and no output."""
        made = self.copy()
        used = set(get_walks_union_ops(self.connected_inputs, self.connected_outputs, within_ops=self._ops,
                                       control_inputs=control_inputs))
        made._ops = [op for op in self._ops if op in used]
        return made

    def find_op_by_name(self, op_name: str) -> Any:
        """The operation of that name.  Raises ValueError if there is none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    @property
    def graph(self) -> Any:
        """The graph, None of an empty view."""
        return self._graph

    @property
    def ops(self) -> list:
        """The operations."""
        return self._ops

    @property
    def inputs(self) -> list:
        """The tensors that go in."""
        return list(self._input_ts)

    @property
    def outputs(self) -> list:
        """The tensors that come out."""
        return list(self._output_ts)

    @property
    def passthroughs(self) -> list:
        """The tensors that go in and come out without any operation."""
        return list(self._passthrough_ts)

    @property
    def connected_inputs(self) -> list:
        """The inputs that operations use."""
        return [t for t in self._input_ts if t not in self._passthrough_ts]

    @property
    def connected_outputs(self) -> list:
        """The outputs that operations make."""
        return [t for t in self._output_ts if t not in self._passthrough_ts]

    def op(self, op_id: int) -> Any:
        """The operation with a number."""
        return self._ops[op_id]

    def is_passthrough(self, t: Any) -> bool:
        """Whether a tensor goes in and comes out without any operation."""
        return t in self._passthrough_ts

    def input_index(self, t: Any) -> int:
        """The number of an input.  Raises ValueError if it is none."""
        return self._input_ts.index(t)

    def output_index(self, t: Any) -> int:
        """The number of an output.  Raises ValueError if it is none."""
        return self._output_ts.index(t)

    def consumers(self) -> list:
        """The operations outside that use an output, each once."""
        inside = set(self._ops)
        return list(dict.fromkeys(op for t in self._output_ts for op in t.consumers() if op not in inside))

    def __bool__(self) -> bool:
        return self._graph is not None

    __nonzero__ = __bool__

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"

        def block(name: str, members: list, named: Callable) -> str:
            if not members:
                return f"** {name}: empty\n"
            return "\n".join([f"** {name}[{len(members)}]:", *(f"  {named(one)}" for one in members)]) + "\n"

        def tensor(t: Any) -> str:
            return f"{t.name} *" if t in self._passthrough_ts else t.name

        return (f"SubGraphView (graphid={id(self.graph)}):\n" + block("ops", self._ops, lambda op: op.name)
                + block("inputs", self._input_ts, tensor) + block("outputs", self._output_ts, tensor))


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """The graph of operations and tensors.

    Raises ValueError for several graphs, and for none unless `none_if_empty`; TypeError for what is not of `check_types`.
    """
    if isinstance(tops, Graph):
        return tops
    members = list(tops) if hasattr(tops, "__iter__") and not isinstance(tops, Tensor) else [tops]
    for one in members:
        if check_types is not None and not isinstance(one, check_types):
            raise TypeError(f"Expected a type in ({check_types}), got: {type(one)}")
    graphs = list(dict.fromkeys(one.graph for one in members))
    if len(graphs) > 1:
        raise ValueError(f"Operation {members[0]} does not belong to given graph")
    if not graphs and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graphs[0] if graphs else None


def check_graphs(*args: Any) -> None:
    """Raises ValueError if things that have a graph have several."""
    graphs = [one.graph for one in args if one.graph is not None]
    for place, graph in enumerate(graphs):
        if graph is not graphs[0]:
            raise ValueError(f"Argument[{place}]: Wrong graph!")


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of what ``select_ops_and_ts`` selects; a view stays as it is.  Raises ValueError if its graph is not `graph`."""
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select_ops_and_ts(*args, **kwargs))
    if graph is not None and view.graph is not None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


def make_view_from_scope(scope: str, graph: Any) -> SubGraphView:
    """A view of the operations in a name scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))
