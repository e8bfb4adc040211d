"""Devices: where kernels of a target with a memory of its own are launched.

Today there is one, the simulator of a CUDA grid (`compiler.emit.simt`), which runs the very text of the kernels over NumPy
arrays.  It is slow, and finds races and accesses out of bounds.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitgraph.compiler import sizes
from jitgraph.compiler.kernel import WIDTH, Kernel
from jitgraph.compiler.place import DeviceStep
from jitgraph.compiler.targets import CUDA

if TYPE_CHECKING:
    from jitgraph.compiler.emit.bind import Numbers


def as_word(number: Any, item: tuple) -> int:
    """A number that a kernel gets in its sizes argument: its bytes as an integer."""
    _, value, code = item
    array = np.asarray(number).reshape(()).astype(value.dtype.as_numpy_dtype)
    return int.from_bytes(array.tobytes()[:WIDTH[code]].ljust(8, b"\0"), "little", signed=True)


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

    def launch(self, kernel: Kernel, buffers: list, words: np.ndarray, blocks: int, width: int) -> int:
        """Runs a kernel on a grid that fits its work; the bits of checks that failed."""
        from jitgraph.compiler.emit import cuda, simt

        views = []
        for param, buffer in zip(kernel.params, buffers):
            view = buffer.view()
            view.flags.writeable = param.use != "in"
            views.append(view)
        return simt.simulate(kernel.source, kernel.name, views, words, *cuda.geometry(blocks, width))


class Launch(NamedTuple):
    """What a launch needs of the sizes of a run, as numbers of expressions (`emit.bind.Numbers`).

    `words`: for each word that the kernel gets its number, or a scalar whose bits are the word; `blocks`, `width`: its work.
    """

    words: list
    blocks: int
    width: int

    @staticmethod
    def of(step: DeviceStep, numbers: Numbers) -> Launch:
        """The launch of a kernel."""
        words: list = []
        for dim in step.kernel.sizes:
            if not isinstance(dim, tuple):
                words.append(numbers.add(dim))
                continue
            array = dim[1].node.attrs["array"]
            known = not isinstance(array.item(), sizes.Size) if array.dtype == object else True
            words.append((array, dim) if known else (numbers.add(array.item()), dim))
        work = CUDA.work(step.kernel)
        return Launch(words, numbers.add(work.blocks), numbers.add(work.width))

    def bound(self, numbers: Sequence[int]) -> tuple[np.ndarray, int, int]:
        """(words, blocks, width) for certain sizes."""
        def word(given: Any) -> int:
            if isinstance(given, int):
                return numbers[given]
            number, item = given
            return as_word(numbers[number] if isinstance(number, int) else number, item)

        return np.array([*map(word, self.words), 0], np.int64), numbers[self.blocks], numbers[self.width]
