"""postpone: a large gradient that only changes a variable is made when there is room for it.

    a fully connected layer of 25,088 x 4,096 weights: its gradient, 400 MB, is of two small tensors, and its variable is changed by
    nothing else; the layers before it keep hundreds of megabytes for their own gradients, until these have been made

The memory of a step is what it takes where it takes most, which in training is where the gradients begin.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import sizes
from .ir import Node, Value
from .keep import Step, buffers, uses
from .kernel import ELEMENTS, WIDTH, Kernel
from .order import variable_key
from .primitives.host import HOST
from .views import resolve

if TYPE_CHECKING:
    from .program import Program

SHARE = 1 / 8       # of the most memory that lies in use at a time: smaller values are made where they are
HELD = 1 / 8        # of a value's own bytes: what it is made of may keep so many for longer


def postpone(program: Program) -> None:
    """Moves such pairs of steps, one that makes a value and the one that changes variables by it, to later places."""
    if program.options.uses("late_gradients"):
        _Postponer(program).run()


class _Postponer:
    def __init__(self, program: Program) -> None:
        self.steps: list[Step] = program.steps
        self.outputs = {resolve(v)[0] for v in program.outputs}

    def run(self) -> None:
        if not any(_variables(step)[1] for step in self.steps):
            return
        self._look()
        least = SHARE * max(self.live, default=0)
        for step in self.steps[:]:
            results = buffers(step)[1]
            if len(results) == 1 and results[0] in self.span and _nbytes(results[0]) >= max(least, 1):
                self._move(step, results[0])

    def _look(self) -> None:
        """Finds out when each value in memory is first written and last used, and how many bytes are in use at each step."""
        self.span: dict[Value, tuple[int, int]] = {}
        for number, step in enumerate(self.steps):
            for value in self._values(step):
                self.span[value] = self.span.get(value, (number, number))[0], number
        change = [0.0] * (len(self.steps) + 1)
        for value, (first, last) in self.span.items():
            change[first] += _nbytes(value)
            change[len(self.steps) if value in self.outputs else last + 1] -= _nbytes(value)
        self.live, now = [], 0.0
        for more in change[:-1]:
            now += more
            self.live.append(now)

    def _values(self, step: Step) -> set[Value]:
        """The values in memory that a step uses, but for variables and what is there from the start."""
        inputs, results = uses(step)
        return {v for v in (*inputs, *results) if not (v.node.kind.is_state or v.node.kind.is_known)}

    def _move(self, step: Step, value: Value) -> None:
        """Moves a step, with the only one that uses its value, to where the least memory is in use, if that is less."""
        begin, end = self.steps.index(step), self.span[value][1]
        user = self.steps[end]
        users = sum(value in self._values(s) for s in self.steps[begin + 1:])
        if value in self.outputs or users != 1 or not isinstance(user, Kernel) or not _only_changes_variables(user):
            return
        held = sum(_nbytes(v) for s in (step, user) for v in self._values(s) - {value} if self.span[v][1] <= end)
        place = self._emptiest(begin, end)
        if held > HELD * _nbytes(value) or place is None or self.live[place] + _nbytes(value) + held >= self.live[begin]:
            return
        before, after = self.steps[:place + 1], self.steps[place + 1:]
        self.steps[:] = [*(s for s in before if s is not step and s is not user), step, user, *after]
        self._look()

    def _emptiest(self, begin: int, end: int) -> int | None:
        """The step behind which the steps `begin` and `end` may come and the least memory is in use; None if there is none."""
        reads, writes = (set().union(*sets) for sets in zip(*(_variables(self.steps[k]) for k in (begin, end))))
        best = None
        for number in range(begin + 1, len(self.steps)):
            step = self.steps[number]
            if number == end:
                continue
            read, written = _variables(step)
            if isinstance(step, Node) and step.kind is HOST or written & (reads | writes) or read & writes and number > end:
                break
            if number > end and (best is None or self.live[number] <= self.live[best]):
                best = number
        return best


def _variables(step: Step) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The variables that a step reads, and those that it writes."""
    return tuple({variable_key(v.node.variable) for v in used if v.node.variable is not None}    # type: ignore[return-value]
                 for used in buffers(step))


def _only_changes_variables(kernel: Kernel) -> bool:
    """Whether it writes variables and nothing else, and cannot fail."""
    written = [v for p, v in zip(kernel.params, kernel.buffers) if p.use != "in"]
    return all(v.node.kind.is_state for v in written) and not any(node.kind.may_fail(node) for node in kernel.nodes)


def _nbytes(value: Value) -> float:
    """The size of a value in memory, by what is expected of sizes that come with the run."""
    name = value.dtype.name
    return sizes.count(value.shape) * WIDTH[ELEMENTS[name]] if name in ELEMENTS else 0
