"""The kernels of a program for devices, before its sizes are known, and what the launches of them need of the sizes.

A launch for several kernels reads a table (see `emit.cuda`): the place of its entry for every block, then the entries.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from jitgraph.compiler.emit import cuda
from jitgraph.compiler.kernel import LibraryProduct
from jitgraph.compiler.place import DeviceStep
from jitgraph.runtime.arguments import SizeArguments

from . import convolutions, products

if TYPE_CHECKING:
    from jitgraph.compiler.emit.bind import Numbers
    from jitgraph.compiler.program import Program

    from .device import Device
    from .machine import Machine


class Bound(NamedTuple):
    """A launch for certain sizes: the words that the kernel gets, and its grid."""

    words: list[int]
    blocks: int
    threads: int
    addresses: tuple[int, ...] = ()     # of a table: which words are to be those of the buffers
    asked: products.Product | convolutions.Convolution | None = None    # the same of a library


class Launch:
    """A kernel with its object code."""

    def __init__(self, step: DeviceStep, numbers: Numbers, code: bytes) -> None:
        work = step.target.work(step.kernel)
        self.code, self.words = code, SizeArguments(numbers)
        self.words.add(step.kernel.sizes)
        self.blocks, self.width, self.most = numbers.add(work.blocks), numbers.add(work.width), cuda.launch_bounds(step.kernel)[0]
        self.may_fail = any(node.kind.may_fail(node) for node in step.kernel.nodes)

    def bound(self, numbers: Sequence[int]) -> Bound:
        return Bound([*self.words.words(numbers), 0], *cuda.geometry(numbers[self.blocks], numbers[self.width], self.most))


class LibraryLaunch(Launch):
    """What a library does; where it takes the sizes of a run, the kernel is never compiled."""

    def __init__(self, step: DeviceStep, numbers: Numbers, device: Device) -> None:
        self._kernel, self._device, self._code = step.kernel, device, b""
        super().__init__(step, numbers, b"")
        assert step.kernel.library is not None
        self.library, self.given = step.kernel.library, SizeArguments(numbers)
        self.given.add(self.library.sizes)

    @property
    def code(self) -> bytes:
        if not self._code:
            self._code = self._device.object_code(self._kernel)
        return self._code

    @code.setter
    def code(self, given: bytes) -> None:
        """There is none until somebody asks."""

    def bound(self, numbers: Sequence[int]) -> Bound:
        call, words = self.library, self.given.words(numbers)
        asked = products.of_call(call, words) if isinstance(call, LibraryProduct) else convolutions.of_call(call, words)
        return super().bound(numbers)._replace(asked=asked)


class BatchLaunch(Launch):
    """A kernel that does the work of several."""

    def __init__(self, step: DeviceStep, numbers: Numbers, code: bytes) -> None:
        self.code, self.may_fail, self.most = code, False, cuda.launch_bounds(step.kernel)[0]
        self.members = []
        for kernel in step.kernel.batch:
            words = SizeArguments(numbers)
            words.add(kernel.sizes)
            work = step.target.work(kernel)
            self.members.append((words, len(kernel.params), numbers.add(work.blocks), numbers.add(work.width)))

    def bound(self, numbers: Sequence[int]) -> Bound:
        grids = [cuda.geometry(numbers[blocks], numbers[width], self.most) for *_, blocks, width in self.members]
        total = sum(blocks for blocks, _ in grids)
        places: list[int] = []
        entries: list[int] = []
        addresses: list[int] = []
        begin = 0
        for (words, params, *_), (blocks, _) in zip(self.members, grids):
            at = total + len(entries)
            places += [at] * blocks
            addresses += range(at + cuda.ENTRY, at + cuda.ENTRY + params)
            entries += [begin, blocks, *[0] * params, *words.words(numbers), 0]
            begin += blocks
        return Bound(places + entries, total, max(threads for _, threads in grids), tuple(addresses))


def launches(program: Program, numbers: Numbers, machine: Machine) -> dict[DeviceStep, Launch]:
    """The kernels of a program, compiled."""
    steps = [step for step in program.layout.steps if isinstance(step, DeviceStep)]
    codes: dict[DeviceStep, bytes] = {}
    for d in {step.device for step in steps}:
        mine = [step for step in steps if step.device == d and step.kernel.library is None]
        codes.update(zip(mine, machine.devices[program.target.ordinals[d]].object_codes([step.kernel for step in mine])))
    found: dict[DeviceStep, Launch] = {}
    for step in steps:
        if step.kernel.library is not None:
            found[step] = LibraryLaunch(step, numbers, machine.devices[program.target.ordinals[step.device]])
            continue
        found[step] = (BatchLaunch if step.kernel.batch else Launch)(step, numbers, codes[step])
    return found
