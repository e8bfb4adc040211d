"""The operations that wait for a later segment: which of them could run now, and what they take from this one.

Each segment of a plan asks this of all that is left.  What is the same for all of them is found out once, for the plan, and a
segment looks only at operations next to what it computes: planning takes time linear in the number of segments.
"""
from __future__ import annotations

import enum
import heapq
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from .order import is_transparent, touched_variables, variable_of


def _inputs(op: Operation) -> Sequence[Tensor]:
    return op.inputs


class Found(enum.Enum):
    """What is found of an operation: that some input is not known; that its results are not known, though all inputs are; that
    it ends a segment, for only its run tells how large they are; that all is known."""

    NOT_KNOWN, UNSETTLED, END, KNOWN = range(4)


@dataclass
class Looked:
    """What a segment has found of the rest.  `free`: operations that may run, of whose results all is known, which stays so in
    later segments; `again`: those at which these are to look once more, though no further input of theirs may come to be known;
    `known`: the tensors that were known; `ends`: operations that may run and end a segment."""

    free: set[Operation]
    again: list[Operation]
    known: set[Tensor]
    ends: set[Operation] = field(default_factory=set)


@dataclass
class Waiting:
    """The operations of a plan, in their order.  `uses`: {tensor: (operation, its number among what that takes)};
    `constants`: those that may run whenever others need them; `starters`: those that need nothing but these and variables;
    `writers`: {variable: operations that write it}; `changers`: {tensor that stands for a thing of the host: operations that may
    change it, and do so at a time of their own}."""

    ops: list[Operation] = field(default_factory=list)
    place: dict[Operation, int] = field(default_factory=dict)
    uses: dict[Tensor, list[tuple[Operation, int]]] = field(default_factory=dict)
    constants: set[Operation] = field(default_factory=set)
    starters: list[Operation] = field(default_factory=list)
    touched: dict[Operation, dict[Operation, bool]] = field(default_factory=dict)
    writers: dict[Operation, list[Operation]] = field(default_factory=dict)
    changers: dict[Tensor, list[Operation]] = field(default_factory=dict)

    @staticmethod
    def of(ops: Iterable[Operation], taken: Callable[[Operation], Sequence[Tensor]] = _inputs) -> Waiting:
        """That of these operations, which take what `taken` says."""
        found = Waiting()
        for op in ops:
            found._add(op, taken(op))
        return found

    def _add(self, op: Operation, taken: Sequence[Tensor]) -> None:
        self.place[op] = len(self.ops)
        self.ops.append(op)
        for number, tensor in enumerate(taken):
            self.uses.setdefault(tensor, []).append((op, number))
        if op.type == "Const" and not op.control_inputs:
            self.constants.add(op)
        elif all(t.op in self.constants or variable_of(t) is not None for t in taken):
            self.starters.append(op)
        self.touched[op] = dict(touched_variables(op))
        for variable, writes in self.touched[op].items():
            if writes:
                self.writers.setdefault(variable, []).append(op)
        if op.opdef is None or not op.opdef.at_any_time:
            for tensor in op.inputs:
                if tensor.dtype._is_ref_dtype or tensor.dtype.name == "resource":
                    self.changers.setdefault(tensor, []).append(op)

    def free(self, rest: Container[Operation], known: Iterable[Tensor], visit: Callable[[Operation], Found],
             before: Looked | None = None) -> Looked:
        """Which of the `rest` may run now, as far as the order of effects goes, and have inputs of which all is known that a
        segment must know.  `visit` is told each of those that the segment `before` has not seen to be so, in their order, and
        says what it finds; it may look at the others at any time.  `known`: the tensors that are known by now."""
        old = before or Looked(set(), self.starters, set())
        free = {op for op in old.free if op in rest}
        known = set(known)
        ends: set[Operation] = set()
        again: list[Operation] = []
        seen: set[Operation] = set()
        ahead: list[int] = []

        def consider(ops: Iterable[Operation]) -> None:
            for op in ops:
                if op not in seen and op in rest and op not in free:
                    seen.add(op)
                    heapq.heappush(ahead, self.place[op])

        consider(old.again)
        for tensor in known - old.known:
            consider(op for op, _ in self.uses.get(tensor, ()))
        while ahead:
            op = self.ops[heapq.heappop(ahead)]         # those before it have been considered, if they are to be
            found = Found.NOT_KNOWN
            if op.opdef is None or not op.opdef.at_any_time:
                continue
            if self._comes_after_a_write(op, rest) or any(c in rest and c not in free and c not in ends for c in op.control_inputs):
                again.append(op)
            else:
                for constant in self.constants.intersection([t.op for t in op.inputs]):
                    if constant in rest and constant not in free and visit(constant) is Found.KNOWN:
                        free.add(constant)
                found = visit(op)
            if found is Found.KNOWN:
                free.add(op)
            elif found is Found.END:
                ends.add(op)
            if found is Found.KNOWN or is_transparent(op):      # through which others see a variable in any case
                for tensor in op.outputs:
                    consider(other for other, _ in self.uses.get(tensor, ()))
            if found in (Found.END, Found.UNSETTLED):
                again.append(op)
        return Looked(free, again, known, ends)

    def _comes_after_a_write(self, op: Operation, rest: Container[Operation]) -> bool:
        """Whether an operation of the rest, itself or one before it, writes a variable that it touches, or may change a thing
        that it takes."""
        place = self.place[op]
        others = [self.writers.get(variable, ()) for variable in self.touched[op]]
        others += [self.changers.get(tensor, ()) for tensor in op.inputs]
        return any(self.place[other] <= place and other in rest for some in others for other in some)

    def first_use(self, tensor: Tensor, rest: Container[Operation],
                  needs: Callable[[Operation, int], bool]) -> tuple[float, int] | None:
        """(place of the operation, number of its input) of the first use of a tensor in the rest that `needs` it."""
        return next(((self.place[op], k) for op, k in self.uses.get(tensor, ()) if op in rest and needs(op, k)), None)
