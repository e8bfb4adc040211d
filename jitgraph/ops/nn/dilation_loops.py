"""Grayscale dilation and its gradients by loops that are compiled: window by window, all channels of one at once.

As in TensorFlow, a window begins with the lowest finite number, which NaN does not exceed; taps beyond the image do not count.
"""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous

_SIZES = ("h", "w", "depth", "oh", "ow", "th", "tw", "sh", "sw", "rh", "rw", "ph", "pw")

# An item is a row of windows.  Each of its windows has its elements at `out`; BEGIN is done for it, TAP for each tap in the image
# (image element `at`, tap element `tap`, of the tap `number`), then END.
_WALK = f"""def NAME(PARAMS, sizes, begin, end):
    {", ".join(_SIZES)} = {", ".join(f"sizes[{k}]" for k in range(len(_SIZES)))}
    for q in range(begin, end):
        image = quotient(q, oh)
        top = (q - image * oh) * sh - ph
        for j in range(ow):
            left, out = j * sw - pw, (q * ow + j) * depth
            BEGIN
            for a in range(th):
                row = top + a * rh
                if outside(row, h) == 0:
                    for b in range(tw):
                        column = left + b * rw
                        if outside(column, w) == 0:
                            number = a * tw + b
                            at, tap = ((image * h + row) * w + column) * depth, number * depth
                            for c in range(depth):
                                value = CODE(x0[at + c] + x1[tap + c])
                                TAP
            END
    return 0
"""


def _code(name: str, params: str, codes: tuple[str, ...], begin: str, tap: str, end: str = "pass") -> HostCode:
    parts = {"NAME": name, "PARAMS": params, "BEGIN": begin, "TAP": tap, "END": end, "CODE": codes[0]}
    text = _WALK
    for word, part in parts.items():
        text = "\n".join(_filled(line, word, part) for line in text.split("\n"))
    return HostCode(name, codes, text)


def _filled(line: str, word: str, part: str) -> str:
    """A line in which a word that stands alone becomes lines of its indentation."""
    if line.strip() != word:
        return line.replace(word, part) if word in ("NAME", "PARAMS", "CODE") else line
    indent = line[:len(line) - len(line.lstrip())]
    return "\n".join(indent + one for one in part.split("\n"))


# what gave a window's maximum so far: -1 before anything did
_FOUND = """for c in range(depth):
    y1[c], y2[c] = x3[0], -1"""
_BETTER = """y2[c] = select(value > y1[c], i32(number), y2[c])
y1[c] = select(value > y1[c], value, y1[c])"""
_TO_INPUT = """for c in range(depth):
    number = i64(y2[c])
    a = quotient(larger(number, 0), tw)
    row, column = top + a * rh, left + (number - a * tw) * rw
    if number < 0:
        row, column = larger(top, 0), larger(left, 0)
    at = ((image * h + row) * w + column) * depth + c
    y0[at] = CODE(y0[at] + x2[out + c])"""
_TO_FILTER = """for c in range(depth):
    tap = larger(i64(y2[c]), 0) * depth + c
    y0[tap] = y0[tap] + SUM(x2[out + c])"""
_TYPES = {np.dtype(kind): kind[0] + str(int(kind[1:]) * 8) for kind in ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")}


@functools.cache
def _loop(which: str, code: str) -> HostCode:
    if which == "dilation":
        return _code("dilation", "x0, x1, x3, y0", (code, code, code, code), "for c in range(depth):\n    y0[out + c] = x3[0]",
                     "y0[out + c] = select(value > y0[out + c], value, y0[out + c])")
    total = code if which == "input" else summed(code)
    end = _TO_INPUT if which == "input" else _TO_FILTER
    return _code(f"dilation_{which}", "x0, x1, x2, x3, y0, y1, y2", (code, code, code, code, total, code, "i32"), _FOUND, _BETTER,
                 end.replace("SUM", total).replace("CODE", code))


def summed(code: str) -> str:
    """What the gradient of a filter's element is added up in."""
    return "f64" if code[0] == "f" else "i64"


def run(which: str, given: list[np.ndarray], out: np.ndarray, wins: Any, lowest: Any) -> bool:
    """Makes `out`, of zeros, the "dilation", or its gradient for "input" or "filter"; False where that is not compiled.

    `given`: data [n, h, w, c], filter [th, tw, c], and for gradients that of the result."""
    x, filters = given[:2]
    code = _TYPES.get(x.dtype)
    if code is None or 0 in out.shape or 0 in x.shape or 0 in filters.shape:
        return False
    depth = x.shape[3]
    sizes = (*x.shape[1:], *(w.output for w in wins), *filters.shape[:2], *(w.stride for w in wins), *(w.dilation for w in wins),
             *(w.before for w in wins))
    more = [] if which == "dilation" else [np.empty(depth, x.dtype), np.empty(depth, np.int32)]
    found = _loop(which, code)(*map(contiguous, given), np.array([lowest], x.dtype), out, *more, sizes=sizes,
                               end=x.shape[0] * wins[0].output)
    return found is not None
