"""Devices: where kernels of a target with a memory of its own are launched.

Today there is one, the simulator of a CUDA grid (`compiler.emit.simt`), which runs the very text of the kernels over NumPy
arrays.  It is slow, and finds races and accesses out of bounds.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.place import DeviceStep
from jitgraph.compiler.targets import CUDA

from .arguments import SizeArguments

if TYPE_CHECKING:
    from jitgraph.compiler.emit.bind import Numbers


class SimulatedDevice:
    """A grid on this machine.  Its memory is arrays that the host does not touch but by `take` and `give`."""

    def take(self, array: np.ndarray, into: np.ndarray | None) -> np.ndarray:
        """A copy of a host's array in the device's memory, `into` the one that was there if it fits."""
        if into is None or into.shape != array.shape:
            return np.array(array, order="C")
        into[...] = array
        return into

    def give(self, array: np.ndarray, into: np.ndarray) -> None:
        """Copies an array of the device to one of the host's."""
        into[...] = array

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Memory for a value that a kernel is to write: full of what nobody should read."""
        array = np.empty(shape, dtype)
        array.reshape(-1).view(np.uint8)[...] = 0xA5
        return array

    def launch(self, kernel: Kernel, buffers: list[np.ndarray], words: np.ndarray, blocks: int, width: int) -> int:
        """Runs a kernel on a grid that fits its work; the bits of checks that failed."""
        from jitgraph.compiler.emit import cuda, simt

        views = []
        for param, buffer in zip(kernel.params, buffers):
            view = buffer.view()
            view.flags.writeable = param.use != "in"
            views.append(view)
        return simt.simulate(kernel.source, kernel.name, views, words, *cuda.geometry(blocks, width))


class Launch:
    """What a launch of a kernel needs of the sizes of a run: the words that it gets, and its work."""

    def __init__(self, step: DeviceStep, numbers: Numbers) -> None:
        work = CUDA.work(step.kernel)
        self.words = SizeArguments(numbers)
        self.words.add(step.kernel.sizes)
        self.blocks, self.width = numbers.add(work.blocks), numbers.add(work.width)

    def bound(self, numbers: Sequence[int]) -> tuple[np.ndarray, int, int]:
        """(words, blocks, width) for certain sizes."""
        return np.array([*self.words.words(numbers), 0], np.int64), numbers[self.blocks], numbers[self.width]
