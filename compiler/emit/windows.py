"""Kernels that go over windows of images [batch, height, width, channels]: pooling and its gradients.

The taps of a window are written out one after the other and the channels are the innermost loop, which LLVM vectorises.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from . import pool_gradients
from .window_text import Windows, is_large, least, near, work

FEW_TAPS = 4            # of a window whose gradient is made and goes to the image in one loop


def emit_pool(node: Node) -> Kernel:
    """The maximum or mean of each window."""
    (x,) = node.inputs
    op = node.attrs["op"]
    text = Windows(node, f"{op}_pool", [x], x.shape[1:], node.out.shape[1:3])
    if is_large(node):
        return _emit_large_pool(node, text)
    text.each_row()
    text.line(2, f"for j in range({text.pixels}):")
    at = 3
    taps = text.window(at)
    if op == "mean":
        text.count(at, taps)
    text.line(at, f"out = (q * {text.pixels} + j) * {text.channels}")
    text.line(at, f"for c in range({text.channels}):")
    text.line(at + 1, f"v = max_step({least(node, text.code)}, x0[{taps[0][1]} + c])" if op == "max" else
              f"v = {text.guarded(f'x0[{taps[0][1]} + c]', taps[0][2])}")
    for _, address, condition in taps[1:]:
        value = f"x0[{address} + c]"
        text.line(at + 1, f"v = max_step(v, {value})" if op == "max" else f"v = v + {text.guarded(value, condition)}")
    text.line(at + 1, "y0[out + c] = v" if op == "max" else "y0[out + c] = v / count")
    n, oh, ow, channels = node.out.shape
    return text.kernel(text.inputs, n * oh, (0.1, work(node, ow * channels)))


def _emit_large_pool(node: Node, text: Windows) -> Kernel:
    """The same with loops over the taps."""
    is_max = node.attrs["op"] == "max"
    text.each_row()
    text.line(2, f"for j in range({text.pixels}):")
    text.line(3, f"out, count = (q * {text.pixels} + j) * {text.channels}, 0")
    each = f"for c in range({text.channels}):"
    text.lines_at(3, [each, f"y0[out + c] = {least(node, text.code) if is_max else f'{text.code}(0)'}"])
    at = text.each_tap(3)
    text.line(at, "count += 1")
    text.lines_at(at, [each, "y0[out + c] = " + ("max_step(y0[out + c], x0[at + c])" if is_max else "y0[out + c] + x0[at + c]")])
    if not is_max:
        text.lines_at(3, [each, f"y0[out + c] = y0[out + c] / {text.code}(count)"])
    n, oh, ow, channels = node.out.shape
    return text.kernel(text.inputs, n * oh, (0.1, work(node, ow * channels)))


def emit_pool_gradient(node: Node) -> Kernel:
    """max: inputs x, y, dy; each gradient goes to the first element of its window that is the maximum, or to the first of all if
    that is NaN; near_max: to all that are near it.
    mean: input dy; each gradient is shared among the elements of its window."""
    op, dy = node.attrs["op"], node.inputs[-1]
    text = Windows(node, f"{op}_pool_gradient", node.inputs, node.out.shape[1:], dy.shape[1:3])
    image = f"{text.height} * {text.width} * {text.channels}"
    apart, covered = _apart(node, text)
    if op != "near_max" and not apart and text.taps[0] * text.taps[1] > FEW_TAPS or is_large(node):
        return pool_gradients.emit(node, text)
    at = text.each_image(["n = q"], None if covered else (image, image)) + 1
    text.line(at - 1, f"for j in range({text.pixels}):")
    taps = text.window(at)
    becomes = "=" if apart else "+="
    text.line(at, f"out = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels}")
    if op == "mean":
        text.count(at, taps)
    text.line(at, f"for c in range({text.channels}):")
    if op == "mean":
        text.line(at + 1, "g = x0[out + c] / count")
        for _, address, condition in taps:
            text.line(at + 1, f"y0[{address} + c] {becomes} {text.guarded('g', condition)}")
    else:
        text.line(at + 1, "top, g = x1[out + c], x2[out + c]")
        text.line(at + 1, "left = top == top")
        for k, (_, address, condition) in enumerate(taps):
            value = f"x0[{address} + c]"
            hit = f"(max_step({least(node, text.code)}, {value}) == top)" if op == "max" else near(value, "top", text.code)
            text.line(at + 1, f"hit = left & {hit}" + (f" & {condition}" if condition else ""))
            if op == "max" and not k and node.out.dtype.is_floating:    # where that is outside, it reads the first pixel inside
                text.line(at + 1, f"hit = hit | ({value} != {value})")
            text.line(at + 1, f"y0[{address} + c] {becomes} select(hit, g, {text.code}(0))")
            if op == "max":
                text.line(at + 1, "left = left & not_(hit)")
    return text.kernel(text.inputs, node.out.shape[0], (0.3, work(node, sizes.product(dy.shape[1:]))))


def _apart(node: Node, text: Windows) -> tuple[bool, bool]:
    """Whether no element of the image lies in two windows, all of which lie inside, and whether each lies in one."""
    apart = not any(text.over) and all(t <= s for t, s in zip(text.taps, text.strides))
    windows, image = node.inputs[-1].shape[1:3], node.out.shape[1:3]
    covered = apart and text.taps == text.strides and all(
        sizes.same(count * step, size) for count, step, size in zip(windows, text.strides, image))
    return apart, covered
