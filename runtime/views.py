"""What the host is given of the arrays behind a plan's slots: these as they are, or parts of them by strides."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .binding import Binding

View = tuple[int, tuple[int, ...], tuple[tuple[int, ...], int] | None]      # see `Views.bound`


class Views:
    """The views of one frame."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.known: dict[View, tuple[np.ndarray, np.ndarray]] = {}      # {view: (array, the part of it)}

    def bound(self, slot: int, shape: Sequence[int], strides: Sequence[int], offset: int, is_whole: bool) -> View:
        """(slot, shape, None if it is all of the slot's array in the order in which it lies, else strides and offset)."""
        if is_whole:
            return slot, self.binding.shapes[slot], None
        numbers = self.binding.numbers
        shape = tuple([numbers[d] for d in shape])
        in_order = numbers[offset] == 0 and math.prod(shape) == math.prod(self.binding.shapes[slot]) \
            and _is_plain(strides, shape, numbers)
        return slot, shape, None if in_order else (tuple([numbers[d] for d in strides]), numbers[offset])

    def part(self, array: np.ndarray, view: View) -> np.ndarray:
        """What a view shows of the array behind its slot; of constants and temporaries, which lie where they lay in most runs, it
        is kept."""
        slot, shape, layout = view
        known = self.known.get(view)
        if known is not None and known[0] is array:
            return known[1]
        if layout is None and array.size == math.prod(shape):
            part = array.reshape(shape)
            part.flags.writeable = False
        else:
            strides, offset = layout or (_plain_strides(shape), 0)
            part = _strided(array, shape, strides, offset)
        if self.binding.layout.slots[slot].kind in ("const", "temp"):
            self.known[view] = array, part
        return part

    def forget(self) -> None:
        """Forgets parts of the arena before, which they would keep."""
        self.known.clear()


def _is_plain(strides: Sequence[int], shape: Sequence[int], numbers: Sequence[int]) -> bool:
    want = 1
    for d, s in zip(reversed(shape), reversed(strides)):
        if d != 1 and numbers[s] != want:
            return False
        want *= d
    return True


def _plain_strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[d + 1:]) for d in range(len(shape))]


def _strided(array: np.ndarray, shape: Sequence[int], strides: Sequence[int], offset: int) -> np.ndarray:
    if array.dtype.kind in "biufc" and array.size and array.flags.c_contiguous:         # the short way
        size = array.itemsize
        view: np.ndarray = np.ndarray(shape, array.dtype, array, offset * size, [s * size for s in strides])
        view.flags.writeable = False
        return view
    flat = array.reshape(-1)[offset:] if array.size else array.reshape(-1)
    return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides], writeable=False)
