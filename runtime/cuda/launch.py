"""The kernels of a program for devices, before its sizes are known, and what the launches of them need of the sizes."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jitgraph.compiler.emit import cuda
from jitgraph.compiler.place import DeviceStep
from jitgraph.runtime.arguments import SizeArguments

if TYPE_CHECKING:
    from jitgraph.compiler.emit.bind import Numbers
    from jitgraph.compiler.program import Program

    from .machine import Machine


class Bound(NamedTuple):
    """A launch for certain sizes: the words that the kernel gets, and its grid."""

    words: list[int]
    blocks: int
    threads: int


class Launch:
    """A kernel with its object code."""

    def __init__(self, step: DeviceStep, numbers: Numbers, code: bytes) -> None:
        work = step.target.work(step.kernel)
        self.code, self.words = code, SizeArguments(numbers)
        self.words.add(step.kernel.sizes)
        self.blocks, self.width = numbers.add(work.blocks), numbers.add(work.width)
        self.may_fail = any(node.kind.may_fail(node) for node in step.kernel.nodes)

    def bound(self, numbers: Sequence[int]) -> Bound:
        return Bound([*self.words.words(numbers), 0], *cuda.geometry(numbers[self.blocks], numbers[self.width]))


def launches(program: Program, numbers: Numbers, machine: Machine) -> dict[DeviceStep, Launch]:
    """The kernels of a program, compiled."""
    found = {}
    for step in program.layout.steps:
        if isinstance(step, DeviceStep):
            device = machine.devices[program.target.ordinals[step.device]]
            found[step] = Launch(step, numbers, device.object_code(step.kernel))
    return found
