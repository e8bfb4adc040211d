"""Rows in falling order for CUDA: bitonic sorting (Batcher, 1968) by a block of threads for each row.

NaN counts as less than all numbers; of equal ones the first comes first.  Every exchange puts the one that comes first into the
lower place, so that rows may have any length: what lies behind their end would never move.

    top_k   a row comes into shared memory, a stretch after the other, each sorted together with the largest so far
    sort    all of a row, which is longer: in the results' own memory
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel
from .cuda_text import GridText, is_short

STRETCH = 2048          # elements that a block sorts at once: with their places, at most 24 KiB
MOST = STRETCH // 2     # results for which at least as many new elements come with every stretch
THREADS = 512


def emit_top_k(node: Node) -> Kernel | None:
    """The k largest of each row, falling, and their places; None for many but not all of a long row."""
    (x,) = node.inputs
    n, k = x.shape[-1], node.attrs["k"]
    if not is_short(sizes.product(x.shape)):
        return None
    if sizes.hint_of(n) <= STRETCH or k <= MOST:
        return _top_k(node, n, k)
    return _sort(node, n) if n == k else None


def _top_k(node: Node, n: sizes.Dim, k: int) -> Kernel:
    (x,) = node.inputs
    stretch = STRETCH if isinstance(n, sizes.Size) or n > STRETCH else max(1 << (n - 1).bit_length(), 2)
    code = CODES[x.dtype.name]
    text = GridText(node, f"top_k_{stretch}", max(min(THREADS, stretch // 2), 32), code)
    rows = sizes.product(x.shape[:-1])
    text.given("n", n)
    text.given("k", k)
    none = f"inf({code}(0)) - inf({code}(0))" if code[0] == "f" else f"lowest_{code}()"
    text.lines_at(1, ["thread = thread_index()", f"none = {none}", f"values = shared_{code}({stretch})",
                      f"places = shared_i32({stretch})"])
    with text.each_item(rows):
        text.lines_at(2, ["kept, seen = 0, 0", "while seen < n:"])
        text.lines_at(3, ["barrier()", "at = kept + thread", f"while at < {stretch}:"])
        text.lines_at(4, ["place = seen + at - kept", "v = taken(x0, q * n + place, place < n)",
                          "values[at] = select(place < n, v, none)", "places[at] = i32(place)", f"at += {text.threads}"])
        text.lines_at(3, [f"seen += {stretch} - kept", "kept = k"])
        _sorted(text, 3, "values", "places", "", stretch, stretch)
        text.lines_at(2, ["barrier()", "at = thread", "while at < k:"])
        text.lines_at(3, ["y0[q * k + at] = values[at]", "y1[q * k + at] = places[at]", f"at += {text.threads}"])
        text.line(2, "barrier()")
    return text.grid([x], rows, list(node.outputs))


def _sort(node: Node, size: sizes.Dim) -> Kernel:
    (x,) = node.inputs
    text = GridText(node, "sort", THREADS, CODES[x.dtype.name])
    rows, n = sizes.product(x.shape[:-1]), text.slot("n", size)
    text.line(1, "thread = thread_index()")
    whole: int | str = "whole"
    if isinstance(size, sizes.Size):
        text.line(1, "whole = 2")
        text.lines_at(1, ["while whole < n:", "whole = whole * 2"])
    else:
        whole = 1 << (size - 1).bit_length()
    with text.each_item(rows):
        text.lines_at(2, [f"row = q * {n}", "at = thread", f"while at < {n}:"])
        text.lines_at(3, ["y0[row + at] = x0[row + at]", "y1[row + at] = i32(at)", f"at += {THREADS}"])
        _sorted(text, 2, "y0", "y1", "row + ", n, whole)
    return text.grid([x], rows, list(node.outputs))


def _sorted(text: GridText, indent: int, values: str, places: str, row: str, count: int | str, whole: int | str) -> None:
    """Lines that sort `count` values with their places: halves that are sorted become wholes of two, four, ... `whole` elements.
    Both are numbers, or names.

    Two halves first exchange what lies opposite, the first with the last; then what lies half of a half apart, and so on."""
    half = f"({whole} >> 1)" if isinstance(whole, str) else whole // 2
    text.lines_at(indent, ["size = 2", f"while size <= {whole}:"])
    text.lines_at(indent + 1, ["step = size >> 1", "while step > 0:"])
    text.lines_at(indent + 2, ["barrier()", "pair = thread", f"while pair < {half}:"])
    at = indent + 3
    text.lines_at(at, [
        "low = pair & (step - 1)", "a = (pair - low) * 2 + low",
        "b = select(step + step == size, a + size - 1 - low - low, a + step)"])
    if str(count) != str(whole):
        text.line(at, f"if b < {count}:")
        at += 1
    text.lines_at(at, [f"v, w = {values}[{row}a], {values}[{row}b]", f"i, j = {places}[{row}a], {places}[{row}b]"])
    if text.code[0] == "f":
        text.lines_at(at, ["later = (w > v) | ((v != v) & (w == w))", "same = (w == v) | ((v != v) & (w != w))"])
    else:
        text.lines_at(at, ["later = w > v", "same = w == v"])
    text.line(at, "if later | (same & (j < i)):")
    text.lines_at(at + 1, [f"{values}[{row}a] = w", f"{values}[{row}b] = v",
                           f"{places}[{row}a] = j", f"{places}[{row}b] = i"])
    text.line(indent + 3, f"pair += {text.threads}")
    text.line(indent + 2, "step = step >> 1")
    text.line(indent + 1, "size = size * 2")
