"""The loops of dual coordinate ascent over examples and their features, compiled.

Where nothing is to be compiled, Python runs the same text.  It takes its elementary functions from C's library then, which may
differ in the last bit of float64; what is kept is float32.

The buffers: x0 the order of examples; x1, x2 where the sparse features of each column and example begin and end; x3 for each
of them the place of its weight, x4 its value; x5 their weights, x6 the changes of those; x7 the dense features [examples, width],
x8 their weights, x9 the changes of those, x10 where each dense column begins and the last ends; x11 labels; x12 weights of
examples; x13 their squared norms; x14 the states [examples, 4]; x15 l2, l1 / l2 and the partitions of the loss; x16 what each
example is worth; x17 18 running sums.
Sizes: examples, columns of sparse features, columns of dense ones, width.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from textwrap import indent

import numpy as np

from jitgraph.declare.host_code import HostCode
from jitgraph.ops.dual_ascent.losses import LOSSES

CODES = ("i64",) * 4 + ("f32",) * 6 + ("i64", "f32", "f32", "f64", "f32", "f64", "f32", "f32")
_BUFFERS = ", ".join(f"x{k}" for k in range(len(CODES)))

# The score of example e before and after the changes so far; sums of dense columns are float32, and are taken in TensorFlow's
# order: eight running sums, which are added in pairs, and one of the rest.
_SCORE = """
wx, prev_wx = zero, zero
for column in range(sizes[1]):
    for k in range(x1[column * sizes[0] + e], x2[column * sizes[0] + e]):
        place = x3[k]
        before = f64(x5[place])
        after = f64(x5[place] + x6[place] * f32(parts))
        value = f64(x4[k])
        size = fabs(before) - shrinkage
        if size > zero:
            if before < zero:
                size = -size
            prev_wx = prev_wx + value * size
        size = fabs(after) - shrinkage
        if size > zero:
            if after < zero:
                size = -size
            wx = wx + value * size
for column in range(sizes[2]):
    first, last = x10[column], x10[column + 1]
    whole = first + (last - first >> 3 << 3)
    for k in range(18):
        x17[k] = f32(0)
    for k in range(first, last):
        lane = (k - first) & 7
        if k >= whole:
            lane = 8
        now = x8[k]
        size32 = maximum(fabs(now) - f32(shrinkage), f32(0))
        if now < f32(0):
            size32 = -size32
        x17[lane] = x17[lane] + x7[e * sizes[3] + k] * size32
        now = x8[k] + x9[k] * f32(parts)
        size32 = maximum(fabs(now) - f32(shrinkage), f32(0))
        if now < f32(0):
            size32 = -size32
        x17[lane + 9] = x17[lane + 9] + x7[e * sizes[3] + k] * size32
    prev_wx = prev_wx + f64(x17[8] + (((x17[0] + x17[4]) + (x17[2] + x17[6])) + ((x17[1] + x17[5]) + (x17[3] + x17[7]))))
    wx = wx + f64(x17[17] + (((x17[9] + x17[13]) + (x17[11] + x17[15])) + ((x17[10] + x17[14]) + (x17[12] + x17[16]))))
"""

_HEAD = f"""def NAME({_BUFFERS}, sizes, begin, end):
    zero, half, one, minus_two = f64(0), f64(0.5), f64(1), f64(-2)
    l2, shrinkage, parts = x15[0], x15[1], x15[2]
    for i in range(begin, end):
        e = x0[i]
        y, weight, norm, dual = f64(x11[e]), f64(x12[e]), x13[e] / l2, f64(x14[e * 4])
"""

_CHANGE = """
change = (new_dual - dual) * weight / l2
for column in range(sizes[1]):
    for k in range(x1[column * sizes[0] + e], x2[column * sizes[0] + e]):
        x6[x3[k]] = f32(f64(x6[x3[k]]) + f64(x4[k]) * change)
for k in range(sizes[3]):
    x9[k] = x9[k] + x7[e * sizes[3] + k] * f32(change)
x14[e * 4] = f32(new_dual)
x14[e * 4 + 1] = f32(primal)
x14[e * 4 + 2] = f32(conjugate)
x14[e * 4 + 3] = f32(weight)
"""


def _joined(name: str, *parts: str) -> str:
    lines = [line for part in parts for line in part.strip().splitlines()]
    return _HEAD.replace("NAME", name) + indent("\n".join(lines), " " * 8) + "\n    return 0\n"


def _texts(name: str) -> dict[str, str]:
    loss = LOSSES[name]
    worth = f"x16[e] = f32(weight * sqrt(x13[e] + l2 * f64({loss.smoothness})) * fabs(dual + slope))"
    return {"step": _joined(f"dual_ascent_{name}", _SCORE, loss.dual, loss.primal, loss.conjugate, _CHANGE),
            "worth": _joined(f"worth_of_examples_{name}", _SCORE, loss.slope, worth)}


@cache
def _code(name: str, what: str) -> HostCode:
    text = _texts(name)[what]
    return HostCode(text[4:text.index("(")], CODES, text, at_once=True)


def run(name: str, what: str, buffers: Sequence[np.ndarray], sizes: Sequence[int], count: int) -> None:
    """Takes the "step" of `count` examples in their order, or finds what each is "worth" to be taken."""
    _code(name, what).run(*buffers, sizes=sizes, end=count)
