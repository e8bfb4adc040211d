"""prune: keep the operations that fetches and targets need; a fed tensor hides what computes it."""
from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from jitgraph.control.frames.structure import FRAME_OPS, sources_of
from jitgraph.graph.calls import bodies
from jitgraph.graph.function_graph import BRANCHING, LOOPS, FunctionGraph, first_argument
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

if TYPE_CHECKING:
    from .program import Program


def prune(program: Program) -> None:
    """Keeps what fetches and targets need, cut at feeds, with control inputs; of conditionals and loops, the outputs
    that are asked for."""
    reached = Reached(program.feeds)
    reached.want(program.fetches, program.targets)
    if any(op.type in FRAME_OPS for op in reached.ops):     # pruned again once they are conditionals and loops, too
        reached = Reached(program.feeds, whole=True)
        reached.want(program.fetches, program.targets)
    program.ops = sorted(reached.ops, key=lambda op: op._id)
    program.wanted = dict(reached.wanted)


class Reached:
    """What some tensors and operations need, short of the tensors `given`.

    ``ops`` and ``tensors``; ``wanted``: for each conditional and loop among the operations, the numbers of the outputs
    that are needed, None for all: those of one that is itself to run, as a target or for a control edge.  What serves
    other outputs of it is left out, as in TensorFlow, where each of them has nodes of its own.  With `whole`, nothing is
    left out.
    """

    def __init__(self, given: Container[Tensor] = (), whole: bool = False) -> None:
        self.whole = whole
        self.given = given
        self.ops: set[Operation] = set()
        self.tensors: set[Tensor] = set()
        self.wanted: dict[Operation, frozenset[int] | None] = {}
        self._stack: list[Operation] = []
        self._grown: dict[Operation, bool] = {}          # conditionals and loops of which more is wanted than was looked at

    def want(self, tensors: Iterable[Tensor], ops: Iterable[Operation] = ()) -> None:
        """Adds what these need."""
        for tensor in tensors:
            self._tensor(tensor)
        for op in ops:
            self._op(op)
        while self._stack or self._grown:
            while self._stack:
                op = self._stack.pop()
                for tensor in sources_of(op):
                    self._tensor(tensor)
                for before in op.control_inputs:
                    self._op(before)
            if self._grown:
                op, _ = self._grown.popitem()
                needed = needed_inputs(op, self.wanted[op])
                for k, tensor in enumerate(op.inputs):
                    if needed is None or k in needed:
                        self._tensor(tensor)

    def _tensor(self, tensor: Tensor) -> None:
        if tensor in self.tensors:
            return
        self.tensors.add(tensor)
        if tensor in self.given:
            return
        op = tensor.op
        if self.whole or not chooses(op):
            self._op(op)
        elif self.wanted.get(op, ()) is not None:
            self.wanted[op] = (self.wanted.get(op) or frozenset()) | {tensor.value_index}
            self._grow(op)

    def _op(self, op: Operation) -> None:
        if chooses(op) and not self.whole:
            if self.wanted.get(op, ()) is not None:
                self.wanted[op] = None
                self._grow(op)
        elif op not in self.ops:
            self.ops.add(op)
            self._stack.append(op)

    def _grow(self, op: Operation) -> None:
        self._grown[op] = True
        if op not in self.ops:
            self.ops.add(op)
            for before in op.control_inputs:
                self._op(before)


def chooses(op: Operation) -> bool:
    """Whether some outputs of an operation can be had without the others."""
    return op.type in LOOPS or op.type in BRANCHING


def needed_inputs(op: Operation, outputs: Iterable[int] | None) -> set[int] | None:
    """The inputs that these outputs of a conditional or a loop depend on, by number; None for all, as for `outputs`."""
    if outputs is None:
        return None
    if op.type in LOOPS:
        cond, body = bodies(op)
        return needed_variables(cond, body, outputs)
    offset, needed = first_argument(op), set(range(first_argument(op)))
    for branch in bodies(op):
        reached = Reached()
        reached.want([branch.outputs[k] for k in outputs], branch.control_outputs)
        needed.update(k + offset for k, t in enumerate(branch.inputs) if t in reached.tensors)
    return needed


def needed_variables(cond: FunctionGraph, body: FunctionGraph, used: Iterable[int] | None) -> set[int]:
    """Numbers of the variables of a loop that its condition, its effects or the outputs `used` (None: all) depend on."""
    if used is None:
        return set(range(len(body.outputs)))
    decisive, reached = Reached(), Reached()
    decisive.want(cond.outputs, cond.control_outputs)
    more = set(used) | {k for k, t in enumerate(cond.inputs) if t in decisive.tensors}
    needed: set[int] = set()
    reached.want((), body.control_outputs)
    while more:
        needed |= more
        reached.want([body.outputs[k] for k in more])
        more = {k for k, t in enumerate(body.inputs) if t in reached.tensors} - needed
    return needed


def is_idle(op: Operation) -> bool:
    """Whether an operation does nothing but wait."""
    return op.opdef is not None and op.opdef.idle


def must_be_fed(op: Operation) -> bool:
    """Whether an operation has no value but the one that a feed gives it.  The input of a function is not fed: a call
    brings what is used of it, and what is only waited for is there."""
    if op.opdef is None or not op.opdef.placeholder or op.inputs:
        return False
    return not isinstance(op.graph, FunctionGraph) or all(op is not tensor.op for tensor in op.graph.inputs)


def changes_something(op: Operation) -> bool:
    """Whether a function that an operation calls does what lasts: writes state, prints, takes from a queue."""
    return any(changes_something(node) or node.opdef is not None and not is_idle(node)
               and (node.opdef.state == "write" or node.opdef.has_effect and not node.opdef.state and not node.opdef.stream)
               and not node.opdef.calls
               for function in bodies(op) for node in function.get_operations())


def has_effect(op: Operation) -> bool:
    """Whether a run notices that it does an operation, even if nobody uses its values.

    What only control edges ask for and has no effect is left out, as by TensorFlow's optimizer.  A placeholder stays,
    since it must be fed.
    """
    return op.opdef is None or op.opdef.has_effect or bool(op.opdef.calls) or must_be_fed(op)


def noticed(ops: list[Operation], program: Program) -> list[Operation]:
    """Of ordered operations those whose doing is noticed: what has an effect, is fetched or a target, or gives these its
    values.  What is left out cannot fail either, as in TensorFlow, whose optimizer leaves it out."""
    needed, found = {*program.targets, *(t.op for t in program.fetches)}, []
    for op in reversed(ops):
        if op in needed or has_effect(op):
            found.append(op)
            needed.update(t.op for t in sources_of(op))
    return found[::-1]
