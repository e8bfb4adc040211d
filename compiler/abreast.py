"""abreast: loops that need nothing of each other come right behind one another, so that they can run at the same time.

    forward loop, its outputs stacked, input reversed, backward loop, ...      (a bidirectional network)
    input reversed, forward loop, backward loop, outputs stacked, ...

What stands between two loops and needs the first of them waits for the second; the rest goes before both.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .divide import LoopCall
from .ir import Node, Value
from .keep import Step, uses
from .kernel import Kernel
from .order import touched_variables, variable_key
from .primitives.host import HOST

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation

    from .program import Program


def abreast(program: Program) -> None:
    """Moves steps between loops out of their way."""
    loops = [step for step in program.steps if _is_quiet_loop(step, program)]
    if len(loops) < 2 or not program.options.uses("loops_side_by_side") or program.target.has_memory:
        return
    memory = _Memory()
    for first, second in zip(loops, loops[1:]):
        begin, end = program.steps.index(first), program.steps.index(second)
        while begin and _is_quiet_loop(program.steps[begin - 1], program):      # those that it already stands beside
            begin -= 1
        moved = _around(program.steps[begin:end + 1], program, memory)
        if moved is not None:
            program.steps[begin:end + 1] = moved


def _is_quiet_loop(step: Step, program: Program) -> bool:
    if not isinstance(step, Node) or step.kind is not HOST or step.attrs["call"] != "op" or step.op is None:
        return False
    call = program.calls.get(step.op)
    return isinstance(call, LoopCall) and call.is_quiet


def _around(steps: list[Step], program: Program, memory: _Memory) -> list[Step] | None:
    """Steps, of which the first ones and the last are loops, with these side by side; None where the last needs one of the
    others."""
    *before, last = steps
    count = next((k for k, step in enumerate(before) if not _is_quiet_loop(step, program)), len(before))
    loops, others = before[:count], before[count:]
    earlier: list[Step] = []
    after = _Waited(loops, memory)
    for step in others:
        if after.holds_up(step):
            after.add(step)
        else:
            earlier.append(step)
    return None if after.holds_up(last) else [*earlier, *loops, last, *after.steps[count:]]


class _Memory:
    """What steps look at and change in memory, found out once of each: of a loop it is a walk through its functions."""

    def __init__(self) -> None:
        self._known: dict[Step, tuple[set[object], set[object]]] = {}

    def of(self, step: Step) -> tuple[set[object], set[object]]:
        """(what a step looks at or changes, what it makes or changes): values in memory, and variables."""
        if step not in self._known:
            taken, made = uses(step)
            touched = _touched(step)
            writes = {*map(_key, made), *(variable_key(v) for v, writes in touched if writes)}
            self._known[step] = {*map(_key, taken), *writes, *(variable_key(v) for v, _ in touched)}, writes
        return self._known[step]


class _Waited:
    """Steps, and what others may wait for them for."""

    def __init__(self, steps: Iterable[Step], memory: _Memory) -> None:
        self.memory = memory
        self.steps: list[Step] = []
        self.reads: set[object] = set()
        self.writes: set[object] = set()
        self.noticed: set[Node] = set()
        for step in steps:
            self.add(step)

    def add(self, step: Step) -> None:
        self.steps.append(step)
        reads, writes = self.memory.of(step)
        self.reads |= reads
        self.writes |= writes
        self.noticed.update(_noticed(step))

    def holds_up(self, step: Step) -> bool:
        """Whether a step must come after one of these."""
        nodes, (reads, writes) = _noticed(step), self.memory.of(step)
        after = (before for node in nodes for before in node.after)
        return (bool(nodes) and bool(self.noticed) or not self.reads.isdisjoint(writes)
                or not self.writes.isdisjoint(reads) or not self.noticed.isdisjoint(after))


def _noticed(step: Step) -> list[Node]:
    """The nodes of a step for which it matters when they run: they have an effect, or are kernels that can fail.  What makes or
    takes elements of TensorArrays goes by these alone."""
    return [node for node in (step.nodes if isinstance(step, Kernel) else [step]) if _is_noticed(node)]


def _is_noticed(node: Node) -> bool:
    if node.kind is not HOST:
        return node.kind.must_run(node)
    opdef = node.op.opdef if node.op is not None else None
    return node.kind.has_effect(node) and not (opdef is not None and (opdef.element or opdef.calls))


def _touched(step: Step) -> list[tuple[Operation, bool]]:
    """(variable, whether it is written) of an operation that the host executes."""
    return list(touched_variables(step.op)) if isinstance(step, Node) and step.op is not None else []


def _key(value: Value) -> object:
    """Values that stand for one variable are one."""
    return value if value.node.variable is None else variable_key(value.node.variable)
