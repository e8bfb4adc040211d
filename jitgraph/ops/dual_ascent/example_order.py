"""In which order a step of dual coordinate ascent takes its examples.

TensorFlow asks the machine for random numbers here, which no seed sets; here the sequence belongs to the node, and is the same
in each session.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode
from jitgraph.ops.random.philox import Bits, unit_float64

_SEEDS = 1, 1

# Draws by Walker's alias method; an example that was drawn k times already is kept with probability 0.1 ** k.
_TEXT = """def drawn_examples(x0, x1, y0, y1, y2, y3, y4, y5, sizes, begin, end):
    count, lows, highs = sizes[0], 0, 0
    total, one = f64(0), f64(1)
    for i in range(count):
        total = total + f64(x0[i])
    for i in range(count):
        share = f64(x0[i] * f32(count)) / total
        y2[i] = share
        y3[i] = i
        if share < one:
            y4[lows] = i
            lows += 1
        else:
            y5[highs] = i
            highs += 1
    while lows * highs > 0:
        low, high = y4[lows - 1], y5[highs - 1]
        y3[low] = high
        rest = y2[high] - (one - y2[low])
        y2[high] = rest
        if rest < one:
            y4[lows - 1] = high
            highs -= 1
        else:
            lows -= 1
    for i in range(lows):
        y2[y4[i]] = one
        y3[y4[i]] = y4[i]
    for i in range(highs):
        y2[y5[i]] = one
        y3[y5[i]] = y5[i]
    taken, refused, at = 0, 0, 0
    while (taken < count) & (refused < count):
        picked = i64(x1[at + 1] * f64(count))
        if f32(x1[at]) >= f32(y2[picked]):
            picked = y3[picked]
        kept = one
        for k in range(y1[picked]):
            kept = kept * f64(0.1)
        if x1[at + 2] > kept:
            refused += 1
        else:
            y1[picked] = y1[picked] + 1
            y0[taken] = picked
            taken += 1
        at += 3
    return 0
"""
_DRAWN = HostCode("drawn_examples", ("f32", "f64", "i64", "i64", "f64", "i64", "i64", "i64"), _TEXT, at_once=True)
_PLAIN: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "i64": int}
exec(_TEXT, _PLAIN)


def shuffled(count: int, stream: Any) -> np.ndarray:
    """All examples in random order: int64 [count]."""
    bits = Bits.reserve(stream, *_SEEDS, -(-count // 2))
    return np.argsort(bits.words(2 * count).view(np.uint64), kind="stable")


def drawn(worth: np.ndarray, stream: Any) -> np.ndarray:
    """Examples drawn by their worth (float32 [count]), seldom twice: int64 [count].

    If too many were refused for being drawn again, the rest are example 0, as in TensorFlow 1.
    """
    count = len(worth)
    bits = Bits.reserve(stream, *_SEEDS, 3 * count)
    units = unit_float64(bits.words(12 * count))
    order, times, *work = (np.zeros(count, kind) for kind in ("i8", "i8", "f8", "i8", "i8", "i8"))
    buffers = worth, units, order, times, *work
    if _DRAWN(*buffers, sizes=(count,)) is None:
        with np.errstate(all="ignore"):
            _PLAIN["drawn_examples"](*buffers, (count,), 0, 0)
    return order
