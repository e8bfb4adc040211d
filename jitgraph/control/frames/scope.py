"""The graphs that functional form is built in, and what stands in each of them for tensors of the original graph."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.control.frame_ops import absent
from jitgraph.control.frames.guards import Guards, Missing, Source, Unit
from jitgraph.control.frames.stacks import Stacks
from jitgraph.control.frames.structure import Frames, sorted_by
from jitgraph.graph import build, dtypes, shapes
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph, first_argument, notes
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.tensor import Tensor


class Original:
    """What is known of operations whose functional form is to be built.

    `feeds` are tensors that are given, `fetches` those whose value is wanted.  ``fetched``: the sources of the latter
    (None for what is never there); ``complete``: whether all results of Merges are to be there, not only those that are
    used.  Raises
    InvalidArgumentError for what cannot be executed, see ``structure`` and ``guards``, and for fetches inside a loop.
    """

    def __init__(self, ops: Iterable[Operation], feeds: Sequence[Tensor], fetches: Sequence[Tensor], complete: bool):
        self.frames = Frames(ops, set(feeds))
        for tensor in fetches:
            if tensor not in self.frames.feeds and self.frames.home[tensor.op] is not self.frames.root:
                raise InvalidArgumentError(None, tensor.op, f"Operation '{tensor.op.name}' has been marked as not "
                                           f"fetchable: {tensor.name} lies inside the loop "
                                           f"'{self.frames.home[tensor.op].name}' and has a value in each iteration")
        self.guards = Guards(self.frames)
        self.fetched = [self.guards.see(t) for t in fetches]
        self.complete = complete
        self.stacks = Stacks(self.frames.ops, self.guards)


class Scope:
    """One graph that is being built, and what stands in it for sources of the original graph."""

    def __init__(self, original: Original, graph: Graph, around: Scope | None):
        self.original, self.graph, self.around = original, graph, around
        self.values: dict[Source, Tensor] = {}
        self.nodes: dict[Unit, Operation] = {}      # what has been built of a unit

    def inner(self, name: str) -> Scope:
        """The scope of a function that is called from here."""
        graph = FunctionGraph(name, self.graph)
        graph._names.scope = ""
        return Scope(self.original, graph, self)

    def value(self, source: Source) -> Tensor:
        """What stands here for a source, which something around this scope has made."""
        if isinstance(source, int):
            with self.graph.as_default():
                return lookup("Const").builder(value=np.array(source, np.int32), dtype=dtypes.int32)
        if isinstance(source, Missing):
            tensor = source.tensor
            with self.graph.as_default():
                return absent(dtype=tensor.dtype.base_dtype, shape=tensor._shape, message=no_value(tensor))
        scope: Scope | None = self
        while scope is not None:
            found = scope.values.get(source)
            if found is not None:
                return found if found.op.graph is self.graph else self.graph.capture(found)
            scope = scope.around
        raise KeyError(source)

    def tensor(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor of the original graph."""
        return self.value(self.original.guards.sources[tensor])

    def add_feed(self, tensor: Tensor) -> Tensor:
        """What is fed in place of a tensor."""
        op = tensor.op
        if not op.inputs and (op.type == "Placeholder" or tensor.dtype._is_ref_dtype):
            made = self._add(op, [], dict(op.attrs), [t._shape for t in op.outputs], []).outputs[tensor.value_index]
        else:
            dtype = tensor.dtype.base_dtype
            attrs = {"dtype": dtype, "shape": tensor._shape}
            made = self.graph.add_op(lookup("Placeholder"), "Placeholder", self._unique(op.name), [], attrs, [dtype],
                                     [tensor._shape], []).outputs[0]
        self.values[tensor] = made
        return made

    # -- copies of operations

    def copy(self, op: Operation, waits: list[Operation]) -> None:
        """Adds a copy of `op`, which waits for operations of this graph."""
        inputs = [self.tensor(t) for t in op.inputs]
        known = self._stacked(op, inputs)
        if known is not None:
            self.values[op.outputs[0]] = known
            return
        attrs = dict(op.attrs)
        if op.opdef is not None and op.opdef.calls:
            offset = first_argument(op)
            for name in op.opdef.calls:
                value = attrs[name]
                made = [FunctionCopy(self, f, inputs[offset:]).graph if isinstance(f, FunctionGraph) else f
                        for f in (value if isinstance(value, list) else [value])]
                attrs[name] = made if isinstance(value, list) else made[0]
        made_op = self._add(op, inputs, attrs, self._shapes(op, inputs, attrs), waits)
        if op.opdef is not None and op.opdef.calls:
            notes(made_op).back_prop = notes(op).back_prop
        for theirs, mine in zip(op.outputs, made_op.outputs):
            self.values.setdefault(theirs, mine)
        self.nodes[op] = made_op

    def _stacked(self, op: Operation, inputs: list[Tensor]) -> Tensor | None:
        """What stands for a push or pop of a value that is known before the run."""
        stack = self.original.stacks.of(op)
        if stack is None:
            return None
        if op.opdef.element == "push":
            return inputs[1] if stack.push(op, inputs[1]) else None
        if stack.value is None:
            return None
        with self.graph.as_default():
            return lookup("Const").builder(value=stack.value, dtype=op.outputs[0].dtype, name=op.name)

    def _shapes(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any]) -> list:
        """The static shapes of a copy: what was known, and what more is known of the inputs here."""
        known = [t._shape for t in op.outputs]
        stack = self.original.stacks.of(op)
        if stack is not None:
            return [stack.shape]
        if op.opdef is None or all(s is not None and None not in s for s in known):
            return known
        try:
            found = build.infer_shapes(op.opdef, op.name, inputs, attrs, len(known))
        except ValueError:
            return known            # the run will tell, with the values
        return [shapes.merge(a, b) if shapes.compatible(a, b) else a for a, b in zip(known, found)]

    def _add(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any], output_shapes: list,
             waits: list[Operation]) -> Operation:
        made = self.graph.add_op(op.opdef, op.type, self._unique(op.name), inputs, attrs, [t.dtype for t in op.outputs],
                                 output_shapes, waits)
        made._frames, made._device, made.annotations = op._frames, op._device, op.annotations
        made._gradient_function = op._gradient_function
        made.replays = op.replays
        made.origin = op.origin or op
        return made

    def _unique(self, name: str) -> str:
        if name not in self.graph._nodes_by_name:
            self.graph._names.reserve(name)
            return name
        return self.graph.unique_name(name)


class Present(Scope):
    """The original graph itself, in which loops and decisions are built beside what is there."""

    def copy(self, op: Operation, waits: list[Operation]) -> None:
        self.values.update((t, t) for t in op.outputs)
        self.nodes[op] = op


class FunctionCopy(Scope):
    """A function that an operation calls, for the copy of that operation in the graph of `around`."""

    def __init__(self, around: Scope, function: FunctionGraph, inputs: list[Tensor]):
        copy = FunctionGraph(function.name, around.graph)
        copy._names.scope = ""
        super().__init__(around.original, copy, around)
        self.values.update(copy.take_inputs(function, inputs).items())
        given = {t.op for t in function.inputs}
        for op in sorted_by(function._nodes_by_id, lambda op: [*(t.op for t in op.inputs), *op.control_inputs],
                            lambda op: op._id):
            if op not in given:
                self.copy(op, [self.nodes[c] for c in op.control_inputs if c in self.nodes])
        copy.outputs = [self.values[t] for t in function.outputs]
        copy.control_outputs = [self.nodes[op] for op in function.control_outputs]

    def tensor(self, tensor: Tensor) -> Tensor:
        return self.values[tensor]

    def _stacked(self, op: Operation, inputs: list[Tensor]) -> Tensor | None:
        return None

    def _shapes(self, op: Operation, inputs: list[Tensor], attrs: dict[str, Any]) -> list:
        return [t._shape for t in op.outputs]


def no_value(tensor: Tensor) -> str:
    """What is wrong if a tensor is fetched from a branch that was not taken."""
    return f"Retval does not have value: {tensor.name} lies in a branch that was not taken"
