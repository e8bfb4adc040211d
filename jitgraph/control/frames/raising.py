"""The functional form of operations with Switch, Merge and frames: for a run, and for gradients."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from jitgraph.control.frame_ops import absent
from jitgraph.control.frames.blocks import Block, sinks
from jitgraph.control.frames.scope import Original, Present, Scope, no_value
from jitgraph.control.frames.structure import EXITS, FRAME_OPS, MERGES, sources_of, stands_for
from jitgraph.graph.function_graph import FunctionGraph, note_change
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor


class Raised(Original):
    """`ops` of a graph in functional form, in a graph of their own.

    ``graph``; ``feeds``, ``fetches``: what stands there for those given, in their order; ``targets``: what has to run.
    Raises InvalidArgumentError for what cannot be executed, see ``jitgraph.control.frames.structure`` and ``.guards``, and for
    fetched tensors inside a loop.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Sequence[Tensor], fetches: Sequence[Tensor]):
        super().__init__(ops, feeds, fetches, False)
        scope = self._target(feeds)
        Block(self, scope, self.guards.units[self.frames.root], self.fetched).build()
        self.fetches = self._results(scope, fetches)
        self.targets = sinks(self.graph, self.fetches)

    def _target(self, feeds: Sequence[Tensor]) -> Scope:
        """The graph in which the functional form is built."""
        self.graph = Graph()
        scope = Scope(self, self.graph, None)
        self.feeds = [scope.add_feed(tensor) for tensor in feeds]
        return scope

    def _results(self, scope: Scope, fetches: Sequence[Tensor]) -> list[Tensor]:
        """What is fetched, each a tensor of its own."""
        found: list[Tensor] = []
        taken = set(self.feeds)
        for tensor, source in zip(fetches, self.fetched):
            with self.graph.as_default():
                if source is None:
                    result = absent(dtype=tensor.dtype.base_dtype, shape=None, message=no_value(tensor))
                else:
                    result = scope.value(source)
                if result in taken:
                    result = lookup("Identity").builder(result, name=tensor.op.name)
            taken.add(result)
            found.append(result)
        return found


def raised_function(function: FunctionGraph, operations: Sequence[Operation]) -> FunctionGraph:
    """A function in functional form, `operations` being those that it needs; itself if it has that already.

    What it captured is captured anew.  Raises as ``Raised``.
    """
    given = {tensor.op for tensor in function.inputs}
    ops = [op for op in operations if op not in given]
    if not any(op.type in FRAME_OPS for op in ops):
        return function
    return _RaisedFunction(ops, function).graph


class _RaisedFunction(Raised):
    """A function in functional form, which is another one."""

    graph: FunctionGraph    # type: ignore[assignment]

    def __init__(self, ops: Sequence[Operation], function: FunctionGraph):
        self._function = function
        super().__init__(ops, function.inputs, function.outputs)
        self.graph.outputs, self.graph.control_outputs = self.fetches, self.targets

    def _target(self, feeds: Sequence[Tensor]) -> Scope:
        self.graph = FunctionGraph(self._function.name, self._function.outer_graph)
        self.graph.keep_apart()
        self.graph._names.scope = ""
        scope = Scope(self, self.graph, None)
        captured = {inner: outer for outer, inner in self._function.captures.items()}
        self.feeds = [self.graph.capture(captured[tensor]) if tensor in captured
                      else self.graph.add_input(tensor.dtype, tensor._shape, tensor.op.name) for tensor in feeds]
        scope.values.update(zip(feeds, self.feeds))
        return scope


def raise_for_gradient(ys: Sequence[Tensor]) -> None:
    """Adds, to the graph of `ys`, the functional form of the control flow they depend on, for gradients to flow through.

    The Merges and Exits are noted in ``graph.sources``: they stand for its results from now on, in runs too.
    """
    ops: dict[Operation, None] = {}
    stack = [t.op for t in ys]
    while stack:
        op = stack.pop()
        if op not in ops:
            ops[op] = None
            stack.extend([*(t.op for t in sources_of(op)), *op.control_inputs])
    if not any(op.type in FRAME_OPS and stands_for(op) is None for op in ops):
        return
    if not any(op.type in MERGES or op.type in EXITS for op in ops):
        return          # what is dead in part of the runs: gradients flow through it as through anything else
    graph = next(iter(ops)).graph
    original = Original(sorted(ops, key=lambda op: op._id), (), ys, True)
    root = original.frames.root
    scope = Present(original, graph, None)
    with graph.name_scope(None), graph.control_dependencies(None), graph.device(None):  # the scopes are the gradient's
        Block(original, scope, original.guards.units[root], original.fetched).build()
    merges = [op for op in root.ops if op.type in MERGES]
    for op in [*merges, *(op for frame in root.children for op in frame.exits)]:
        for tensor in op.outputs:
            made = scope.values.get(original.guards.sources.get(tensor))
            if made is not None and made is not tensor:
                graph.sources[tensor] = made
    note_change(graph)
