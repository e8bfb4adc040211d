"""The meaning of the names of a kernel's text for arrays of lanes, see `lanes`; `simt` has that for one thread."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.graph import dtypes

from ..kernel import HALVES
from . import simt_names
from .lane_memory import Pointer, Registers, Table
from .simt_memory import TYPES
from .simt_names import functions

if TYPE_CHECKING:
    from .lanes import Lanes

Memory = Pointer | Registers

# what moves elements ----------------------------------------------------------------------------------------------------
def _taken(lanes: Lanes, x: Pointer, at: Any, condition: Any) -> np.ndarray:
    return x.read(lanes, np.broadcast_to(at, lanes.number), lanes.both(condition))


def _move(lanes: Lanes, to: Memory, i: Any, x: Memory, at: Any, condition: Any = True, count: int = 4) -> None:
    """Some elements, by instructions that move 16 bytes, if they are as many; zeros where the condition does not hold."""
    here = lanes.both(condition)
    for memory, start in ((to, i), (x, at)):
        _check_together(lanes, memory, start, count, here)
    _write(lanes, to, i, _read(lanes, x, at, count, here), lanes.mask)


def _check_together(lanes: Lanes, memory: Memory, start: Any, count: int, mask: np.ndarray | None) -> None:
    size = memory.array.itemsize
    nbytes = min(16, count * size)
    wrong = start * size % nbytes != 0
    if wrong is False:
        return
    wrong = np.broadcast_to(wrong, lanes.number)
    wrong = wrong if mask is None else wrong & mask
    if wrong.any():
        k = int(wrong.argmax())
        place = np.broadcast_to(start, lanes.number)[k]
        raise lanes.wrong(k, f"moves elements together: place {place} is no multiple of {nbytes} bytes")


def _read(lanes: Lanes, memory: Memory, start: Any, count: int, mask: np.ndarray | None) -> np.ndarray:
    """`count` elements from a place on, [count, lanes]; zeros for lanes that are not meant."""
    if isinstance(memory, Registers):
        found = memory.part(start, count)
        return found if mask is None else np.where(mask, found, found.dtype.type(0))
    return memory.read(lanes, _places(lanes, start, count), mask)


def _write(lanes: Lanes, memory: Memory, start: Any, values: np.ndarray, mask: np.ndarray | None) -> None:
    if isinstance(memory, Registers):
        memory.fill(start, values, mask)
    else:
        memory.write(lanes, _places(lanes, start, len(values)), values, mask)


def _places(lanes: Lanes, start: Any, count: int) -> np.ndarray:
    offsets = np.arange(count)[:, None]
    return start + offsets if np.ndim(start) else np.repeat(start + offsets, lanes.number, 1)


def _copy_some(lanes: Lanes, to: Memory, i: Any, x: Memory, at: Any, count: Any) -> None:
    for k in range(4):
        here = lanes.both(np.asarray(count) > k)
        if here is None or here.any():
            _write(lanes, to, i + k, _read(lanes, x, at + k, 1, here), here)


def _add_products(lanes: Lanes, sums: Registers, a: Registers, n: int, b: Registers, m: int) -> None:
    """Products of float32 are exact in float64, so that each sum is rounded to float32 once, but for a rare rounding in between."""
    products = a.part(0, n)[:, None].astype(np.float64) * b.part(0, m)
    new = products.reshape(n * m, -1) + sums.part(0, n * m)
    sums.fill(0, new.astype(sums.array.dtype), lanes.mask)


@functools.cache
def of_lanes() -> dict[str, Callable[..., Any]]:
    """The names that are to know which lanes are here, their first argument."""
    return {"taken": _taken, "take4": _move, "copy4": _move, "copy_some": _copy_some, "add_products": _add_products,
            **dict.fromkeys(("load8", "take8", "store8"), functools.partial(_move, count=8)), "quotient32": _quotient32,
            **{f"{code}_bits": functools.partial(_cut, dtype=half) for code, half in _halves().items()}}


def _halves() -> dict[str, np.dtype]:
    return {code: np.dtype(dtypes.as_dtype(name).as_numpy_dtype) for name, code in HALVES.items()}


def _refuse(lanes: Lanes, wrong: Any, what: str) -> None:
    """Raises SimulationError if one of the lanes that are here is wrong."""
    wrong = np.broadcast_to(wrong, lanes.number)
    wrong = wrong if lanes.mask is None else wrong & lanes.mask
    if wrong.any():
        raise lanes.wrong(int(wrong.argmax()), what)


# arithmetic ----------------------------------------------------------------------------------------------------------------
def _select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)[()]


def _cut(lanes: Lanes, x: Any, dtype: np.dtype) -> Any:
    """The bits of floats of 16 bits."""
    found = np.asarray(x).astype(dtype)
    _refuse(lanes, (found.astype(np.float32) != x) & (x == x), f"stores as {dtype} what was not rounded")
    return found.view(np.uint16)[()]


def _quotient32(lanes: Lanes, a: Any, b: Any) -> Any:
    x, y = np.asarray(a), np.asarray(b)
    _refuse(lanes, (x < 0) | (x >= 1 << 32) | (y <= 0) | (y >= 1 << 32), "divides by quotient32 what is not in [0, 2**32)")
    return a // b


def _computed(function: Callable[..., Any], *arguments: Any) -> Any:
    """An elementary function, with the roundings of the GPU."""
    from ..machine import NumPyMachine

    arrays = np.broadcast_arrays(*arguments)
    return function(NumPyMachine(), *(np.array(a).reshape(-1) for a in arrays)).reshape(arrays[0].shape)[()]


@functools.cache
def namespace() -> dict[str, Callable[..., Any]]:
    """The names whose meaning is the same for whichever threads ask: those of one thread, and what is other for arrays."""
    names: dict[str, Callable[..., Any]] = {
        **simt_names.namespace(), "select": _select, "onwards": Table.onwards, "smaller": np.minimum, "larger": np.maximum,
        "outside": lambda index, limit: ((np.asarray(index) < 0) | (np.asarray(index) >= limit)).astype(np.int64)[()],
        "inside": lambda index, limit: np.where((np.asarray(index) >= 0) & (np.asarray(index) < limit), index, 0)[()]}
    for name, function in functions().items():
        names[name] = functools.partial(_computed, function)
    for code, half in _halves().items():
        names[f"scalar_{code}"] = lambda words, slot, half=half: words.scalar(slot, half).astype(np.float32)
    for code, dtype in TYPES.items():
        names[f"scalar_{code}"] = functools.partial(Table.scalar, dtype=dtype)
    return names
