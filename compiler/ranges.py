"""Where integers lie: intervals of values through primitives.

`(low, high)` are inclusive; None stands for every value of the type.
"""
from __future__ import annotations

import numpy as np

from .kernel import DTYPE_NAMES

Range = tuple[int, int] | None


def full(code: str) -> Range:
    """All values of a dtype code; None for types that are no integers."""
    if code[0] not in "iu":
        return None
    info = np.iinfo(DTYPE_NAMES[code])
    return int(info.min), int(info.max)


def of_primitive(prim: str, ranges: list[Range], codes: list[str], code: str) -> Range:
    """The range of a primitive's integer result of type `code`, from the ranges and types of its arguments."""
    whole = full(code)
    if whole is None:
        return None
    if prim == "select":
        ranges, codes = ranges[1:], codes[1:]
    known = [r if r is not None else full(c) for r, c in zip(ranges, codes)]
    if any(r is None for r in known):
        return None
    found = _exact(prim, [r for r in known if r is not None])
    if found is None or found[0] < whole[0] or found[1] > whole[1]:     # it may wrap around
        return None
    return found


def _exact(prim: str, ranges: list[tuple[int, int]]) -> Range:
    """The range in unbounded integers."""
    (a, b), (c, d) = ranges[0], ranges[-1]
    if prim == "cast":
        return a, b
    if prim == "neg":
        return -b, -a
    if prim == "add":
        return a + c, b + d
    if prim == "sub":
        return a - d, b - c
    if prim == "mul":
        products = [a * c, a * d, b * c, b * d]
        return min(products), max(products)
    if prim == "select":
        return min(a, c), max(b, d)
    if prim == "min":
        return min(a, c), min(b, d)
    if prim == "max":
        return max(a, c), max(b, d)
    if prim == "floor_mod" and c > 0:
        return (a, b) if a >= 0 and b < c else (0, d - 1)
    if prim == "trunc_mod" and c > 0:
        return (a, b) if -c < a and b < c else (max(a, 1 - d) if a < 0 else 0, min(b, d - 1) if b > 0 else 0)
    if prim in ("floor_div", "trunc_div") and c > 0 and a >= 0:
        return a // d, b // c
    if prim == "bit_and" and (a >= 0 or c >= 0):
        return 0, min(limit for low, limit in ((a, b), (c, d)) if low >= 0)
    return None


def remainder(prim: str, x: Range, divisor: int) -> str | None:
    """The remainder of `{x}` by a positive divisor `{d}` without a division, as text, where `x` lies close enough to 0."""
    if x is None or divisor <= 0:
        return None
    low, high = x
    if -divisor < low and high < divisor and (low >= 0 or prim == "trunc_mod"):
        return "{x}"
    if low >= 0 and high < 2 * divisor:
        return "select({x} < {d}, {x}, {code}({x} - {d}))"
    if prim == "floor_mod" and -divisor <= low and high < divisor:
        return "select({x} < 0, {code}({x} + {d}), {x})"
    return None
