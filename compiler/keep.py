"""keep: what is made of variables and constants alone stays in memory from run to run until one of the variables changes.

    a filter whose columns lie in blocks, or transformed by Winograd; a transposed matrix; rsqrt(variance + epsilon) * gain

Kernels that make such values come first in a run, and most runs of a network that is not being trained skip them.  A variable that
the program itself may write is as good as a feed, and so are all where a Python function of the user's may write any.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import sizes
from .ir import Node, Value
from .kernel import ELEMENTS, WIDTH, Kernel
from .order import touched_variables, variable_key
from .primitives.memory import READ
from .views import resolve

if TYPE_CHECKING:
    from .program import Program

Step = Kernel | Node


def keep(program: Program) -> None:
    """Puts such steps before all others; `program.kept` counts them."""
    if program.target.has_memory or not program.options.uses("kept_values"):
        return
    if any(op.opdef is not None and op.opdef.outward for op in program.ops):
        return
    kept = _Keeper(program).steps()
    if kept:
        chosen = set(map(id, kept))
        program.steps = [*kept, *(step for step in program.steps if id(step) not in chosen)]
        program.kept = len(kept)


class _Keeper:
    def __init__(self, program: Program) -> None:
        self.program, self.room = program, program.target.tuning.kept
        self.outputs = {resolve(v)[0] for v in program.outputs}
        self.changing = {variable_key(v) for op in program.ops for v, writes in touched_variables(op) if writes}
        self.made: set[Value] = set()       # by the steps found

    def steps(self) -> list[Step]:
        """The kernels to be kept, in order, as far as there is room for what they make."""
        found: list[Step] = []
        for step in self.program.steps:
            inputs, results = buffers(step)
            if results and all(map(self._stays, inputs)) and not self.outputs.intersection(results) and _is_pure(step):
                nbytes = sum(map(_nbytes, results))
                if nbytes <= self.room:
                    self.room -= int(nbytes)
                    self.made.update(results)
                    found.append(step)
        return found

    def _stays(self, value: Value) -> bool:
        """Whether a buffer has the same in every run, as long as no variable changes."""
        node = value.node
        if node.kind is READ:
            return variable_key(node.attrs["variable"]) not in self.changing
        return value in self.made or node.kind.is_known


def buffers(step: Step) -> tuple[list[Value], list[Value]]:
    """(what a kernel reads, what it writes); nothing for other steps."""
    if isinstance(step, Kernel):
        used = list(zip(step.params, step.buffers))
        return [v for p, v in used if p.use != "out"], [v for p, v in used if p.use != "in"]
    if not step.kind.kernels:
        return [], []
    return [resolve(v)[0] for v in step.inputs], list(step.outputs)


def uses(step: Step) -> tuple[list[Value], list[Value]]:
    """(what a step reads, what it writes), one of the host's too."""
    if isinstance(step, Kernel) or step.kind.kernels:
        return buffers(step)
    return [resolve(v)[0] for v in step.inputs], list(step.outputs)


def _is_pure(step: Step) -> bool:
    """Whether it gives the same for the same inputs and does nothing else."""
    nodes = step.nodes if isinstance(step, Kernel) else [step]
    return not any(node.kind.must_run(node) or node.kind.is_unique or node.kind.is_state for node in nodes)


def _nbytes(value: Value) -> float:
    """The size of a value in memory, infinite if that depends on a run's sizes, or another step may write it, too."""
    size = sizes.product(value.shape)
    if isinstance(size, sizes.Size) or value.node.variable is not None or value.dtype.name not in ELEMENTS:
        return math.inf
    return size * WIDTH[ELEMENTS[value.dtype.name]]

