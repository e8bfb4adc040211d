"""Memory that ends where nobody may read or write, for every buffer of a kernel: what goes beyond its buffer ends the test
run with a segmentation fault, whose traceback names the test, and not as a wrong number or not at all.

Buffers end at the forbidden pages, so an index that is too large by one is seen; one that is too small finds NaN first.
"""
import ctypes
import mmap
from contextlib import contextmanager
from unittest import mock

import numpy as np

from jitgraph.runtime import frame, memory, state

APART = 1 << 18         # bytes that nobody may touch, on either side
POISON = 0xFF           # NaN as a float, -1 as an integer
_protect = ctypes.CDLL(None, use_errno=True).mprotect
_protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded_empty(nbytes: int, dtype=np.uint8) -> np.ndarray:
    """An array of `nbytes` bytes, right before forbidden memory; in place of `memory.aligned_empty`."""
    room = -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    block = mmap.mmap(-1, APART + room + APART, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    every = np.frombuffer(block, np.uint8)
    start = memory.address_of(every)
    every[APART:APART + room] = POISON
    for address in (start, start + APART + room):
        assert _protect(address, APART, 0) == 0
    return every[APART + room - nbytes:APART + room].view(dtype)


def guarded(array: np.ndarray) -> np.ndarray:
    """A copy in guarded memory."""
    if array.dtype == object:
        return array
    copy = guarded_empty(array.nbytes, array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class _Frame(frame.Frame):
    """A frame in which every slot has memory of its own."""

    def __init__(self, binding):
        super().__init__(binding)
        for k, slot in enumerate(binding.layout.slots):
            if slot.kind in ("const", "size", "feed", "output") and self.arrays[k] is not None:
                self._guard(k, self.arrays[k])
        self.small_feeds = [(number, self.arrays[k]) for number, k, *_ in binding.compiled.feeds if self.arrays[k] is not None]

    def _guard(self, k, array):
        if array.dtype != object:
            self.arrays[k] = array = guarded(array)
            self.slots[k] = memory.address_of(array)

    def _use(self, arena, base):
        super()._use(arena, base)
        self.apart = []         # what holds the memory of those that the host does not see
        for k in self.temps:
            slot = self.binding.layout.slots[k]
            array = guarded_empty(self.binding.numbers[self.binding.compiled.slot_bytes[k]])
            self.apart.append(array)
            self.slots[k] = memory.address_of(array)
            if k in self.binding.compiled.seen:
                self.arrays[k] = array.view(slot.dtype.as_numpy_dtype).reshape(self.binding.shapes[k])

    def _run(self, feeds):
        feeds = list(feeds)
        for number, _, native in self.big_feeds:
            if native:
                feeds[number] = guarded(feeds[number])
        return super()._run(feeds)

    def _host(self, step, *rest):
        super()._host(step, *rest)
        for number, k in enumerate(step.outputs):
            if number in step.used and self.binding.layout.slots[k].kind == "host":
                self._guard(k, self.arrays[k])


def _take(pool):
    array = guarded_empty(pool.nbytes, pool.dtype).reshape(pool.shape)
    return array, memory.address_of(array)


@contextmanager
def guard_pages():
    """Within, all buffers of kernels lie in guarded memory."""
    with mock.patch.multiple(frame, aligned_empty=guarded_empty), mock.patch.multiple(state, aligned_empty=guarded_empty), \
            mock.patch.object(memory.ResultPool, "take", _take), mock.patch("jitgraph.runtime.binding.Frame", _Frame):
        yield
