"""epilogue: elementwise work on a matrix product or a convolution is done by the kernel that makes it.

A bias, an activation, the mask of a gradient or what is added to it cost no launch there, and the product is neither written to
memory nor read again: threads of a device hold it in registers, and an item of the host's has it in the cache.  What can be done
so stands in `emit.cuda_epilogue.suits` and `emit.epilogue.suits`; a product that anything else needs, too, is written, and its
users are left as they are.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .emit.epilogue import joined, suits
from .ir import Node, Value
from .kernel import Kernel
from .targets import CPU, HOST
from .views import resolve

if TYPE_CHECKING:
    from .program import Program


def epilogue(program: Program) -> None:
    """Kernels that are to be done with a product join it, where the target has a form of both in one."""
    if program.options.uses("epilogues"):
        _Joiner(program).run()


class _Joiner:
    def __init__(self, program: Program) -> None:
        self.program, self.target = program, program.target
        self.outputs = {resolve(v)[0] for v in program.outputs}
        self.users: dict[Value, list[int]] = {}         # the steps that take a value
        for number, step in enumerate(program.steps):
            for value in set(step.buffers if isinstance(step, Kernel) else [resolve(v)[0] for v in step.inputs]):
                self.users.setdefault(value, []).append(number)

    def run(self) -> None:
        steps: list[Any] = list(self.program.steps)
        for number in reversed(range(len(steps))):          # of two products that one kernel uses, the later one is joined
            node = steps[number]
            if isinstance(node, Node) and node.kind.kernels and len(node.outputs) == 1 and node.out not in self.outputs:
                users = self.users.get(node.out, [])
                found = self._joined(number, node, steps[users[0]], users[0]) if len(users) == 1 else None
                if found is not None:
                    steps[number], steps[users[0]] = None, found
        self.program.steps = [step for step in steps if step is not None]

    def _joined(self, number: int, node: Node, kernel: Any, user: int) -> Kernel | None:
        """One kernel for a product and the step that uses it, in the place of the latter; None if there is none, as where that is
        one with another product already."""
        place = self.target.place(node)
        if not isinstance(kernel, Kernel) or kernel.source or self.target.place(kernel.nodes[-1]) != place:
            return None
        if any(resolve(v)[0].node.kind.is_state for v in node.inputs) and self._changes_variables(number + 1, user):
            return None
        if place != HOST:
            return node.kind.joined(node, kernel, self.target, self.program.options)
        if not suits(node.out, kernel):
            return None
        before = node.kind.kernel(node, CPU.name, self.program.options)
        return None if before is None or before.region is None else joined(before, kernel, node.out, self.program.options)

    def _changes_variables(self, start: int, end: int) -> bool:
        """Whether a step between these may."""
        for step in self.program.steps[start:end]:
            if not isinstance(step, Kernel):
                if not step.kind.epilogues:
                    return True
            elif any(p.use != "in" and v.node.kind.is_state for p, v in zip(step.params, step.buffers)):
                return True
        return False
