"""Kernels that go over windows of images [batch, height, width, channels]: pooling, depthwise convolution, gradients.

The taps of a window are written out one after the other and the channels are the innermost loop, which LLVM vectorises.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from ..tuning import CPU
from . import pool_gradients
from .window_text import TOGETHER, Windows, is_large, least, near, work

MOST_TAPS = 9           # of windows of a depthwise layer that are made several at a time
FEW_TAPS = 4            # of a window whose gradient is made and goes to the image in one loop


def _goes_together(node: Node) -> bool:
    """Whether several windows of a depthwise layer are made at a time: weights and pixels that they share are read once.

    Windows that lie further apart share few, and wait for memory."""
    taps = node.attrs["taps"]
    return int(node.attrs["multiplier"]) == 1 and node.attrs["strides"][1] == 1 and taps[0] * taps[1] <= MOST_TAPS


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


def emit_depthwise(node: Node) -> Kernel:
    """y[n, i, j, c * m + k] = sum over taps of x[..., c] * w[tap, c, k]."""
    x, w = node.inputs
    text = Windows(node, "depthwise", [x, w], x.shape[1:], node.out.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    text.each_row()
    vertical = text.axis(2, "i", 0, text.height)
    if _goes_together(node):
        at = text.inner(2, "j", text.pixels, text.inside(), vertical)
        together = text.tap_rows(at, vertical)
        text.line(at, f"out = (q * {text.pixels} + j) * {text.channels}")
        text.sums_together(at, together, text.strides[1], 1)
        at = text.outer(2, "j", text.pixels)
    else:
        text.line(2, f"for j in range({text.pixels}):")
        at = 3
    taps = text.window(at, vertical)
    text.line(at, f"out = (q * {text.pixels} + j) * {text.channels} * {multiplier}")
    text.line(at, f"for k in range({multiplier}):")
    text.line(at + 1, f"for c in range({text.channels}):")
    for number, address, condition in taps:
        value = text.guarded(f"x0[{address} + c]", condition)
        product = f"{value} * x1[({number} * {text.channels} + c) * {multiplier} + k]"
        text.line(at + 2, f"v = {product}" if not number else f"v = v + {product}")
    text.line(at + 2, f"y0[out + c * {multiplier} + k] = v")
    n, oh, ow, channels = node.out.shape
    kernel = text.kernel(text.inputs, n * oh, (0.15, work(node, ow * channels)))
    kernel.region = text.region(f"first = item * {text.pixels}", f"count = {text.pixels}")
    return kernel


def emit_depthwise_input(node: Node) -> Kernel:
    """The gradient of a depthwise convolution for its input; inputs dy, w.

    x[n, p, q, c] = sum of dy[n, i, j, c * m + k] * w[a, b, c, k] over the taps with i * stride + a = p + before, and k.
    Which those are depends on the phase of p and of q, the remainders by the strides."""
    dy, w = node.inputs
    text = Windows(node, "depthwise_input", [dy, w], node.out.shape[1:], dy.shape[1:3])
    multiplier, (down, across) = int(node.attrs["multiplier"]), text.strides
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [f"n = quotient(q, {text.height})", f"p = q - n * {text.height}",
                      f"rest = p + {text.slot('before0', text.before[0])}", f"i = quotient(rest, {down})", f"rest -= i * {down}"])
    left = text.slot("before1", text.before[1])
    for phase in range(down):
        at = 2
        if down > 1:
            text.line(2, f"if rest == {phase}:")
            at = 3
        vertical = text.phase(at, "i", phase, 0, text.rows)
        for other in range(across):
            text.lines_at(at, [f"first = ({other} - {left}) % {across}", f"seen = quotient(first + {left}, {across})",
                               f"those = quotient({text.width} - first + {across - 1}, {across})"])
            most = len(range(other, text.taps[1], across))          # taps that a pixel of this phase has
            if _goes_together(node) and vertical and most:
                inner = text.inner(at, "t", "those", (f"larger({most - 1} - seen, 0)", f"{text.pixels} - seen"),
                                   [(row, condition) for _, row, condition in vertical])
                for a, row, _ in vertical:
                    text.line(inner, f"row{a} = ((n * {text.rows} + {row}) * {text.pixels} + seen + t - {most - 1}) * "
                                     f"{text.channels}")
                text.line(inner, f"out = (q * {text.width} + first + t * {across}) * {text.channels}")
                text.sums_together(inner, [(f"row{a}", most - 1 - k, a * text.taps[1] + b) for a, _, _ in vertical
                                           for k, b in enumerate(range(other, text.taps[1], across))], 1, across)
                text.outer(at, "t", "those")
            else:
                text.line(at, "for t in range(those):")
            text.lines_at(at + 1, [f"q1 = first + t * {across}", "j = seen + t"])
            horizontal = text.phase(at + 1, "j", other, 1, text.pixels)
            terms = []
            for a, row, row_inside in vertical:
                for b, column, column_inside in horizontal:
                    number = a * text.taps[1] + b
                    text.line(at + 1, f"at{number} = ((n * {text.rows} + {row}) * {text.pixels} + {column}) * "
                                      f"{text.channels} * {multiplier}")
                    text.line(at + 1, f"in{number} = {row_inside} & {column_inside}")
                    terms += [text.guarded(f"x0[at{number} + c * {multiplier} + {k}]", f"in{number}")
                              + f" * x1[({number} * {text.channels} + c) * {multiplier} + {k}]" for k in range(multiplier)]
            text.line(at + 1, f"out = (q * {text.width} + q1) * {text.channels}")
            text.line(at + 1, f"for c in range({text.channels}):")
            for k, term in enumerate(terms or [f"{text.code}(0)"]):
                text.line(at + 2, f"v = v + {term}" if k else f"v = {term}")
            text.line(at + 2, "y0[out + c] = v")
    n, height, width, channels = node.out.shape
    steps = work(node, width * channels) * multiplier // (down * across) + width * channels
    kernel = text.kernel(text.inputs, n * height, (0.15, steps))
    kernel.region = text.region(f"first = item * {text.width}", f"count = {text.width}")
    return kernel


def emit_depthwise_filter(node: Node) -> Kernel:
    """Partial gradients, for parts of the batch, of a depthwise convolution for its filter; inputs x, dy."""
    x, dy = node.inputs
    text = Windows(node, "depthwise_filter", [x, dy], x.shape[1:], dy.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    images = text.slot("images", x.shape[0])
    size = f"{text.taps[0] * text.taps[1]} * {text.channels} * {multiplier}"
    at = text.each_image(
        [f"for n in range(quotient(q * {images}, {CPU.chunks}), quotient((q + 1) * {images}, {CPU.chunks})):"], (size, size))
    vertical = text.axis(at, "i", 0, text.height)
    if _goes_together(node):
        inner = text.inner(at, "j", text.pixels, text.inside(), vertical)
        together = text.tap_rows(inner, vertical)
        text.line(inner, f"out = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels}")
        text.line(inner, f"for c in range({text.channels}):")
        text.read_together(inner + 1, together, text.strides[1])
        for p in range(TOGETHER):
            text.line(inner + 1, f"g{p} = x1[out + {p} * {text.channels} + c]")
        for row, behind, number in together:
            text.line(inner + 1, f"v = y0[q * {size} + {number} * {text.channels} + c]")
            for p in range(TOGETHER):
                text.line(inner + 1, f"v = v + u{row}_{behind + p * text.strides[1]} * g{p}")
            text.line(inner + 1, f"y0[q * {size} + {number} * {text.channels} + c] = v")
        at = text.outer(at, "j", text.pixels)
    else:
        text.line(at, f"for j in range({text.pixels}):")
        at += 1
    taps = text.window(at, vertical)
    text.line(at, f"out = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels} * {multiplier}")
    text.line(at, f"for k in range({multiplier}):")
    text.line(at + 1, f"for c in range({text.channels}):")
    text.line(at + 2, f"g = x1[out + c * {multiplier} + k]")
    for number, address, condition in taps:
        product = text.guarded(f"x0[{address} + c] * g", condition)
        text.line(at + 2, f"y0[q * {size} + ({number} * {text.channels} + c) * {multiplier} + k] += {product}")
    per_chunk = (x.shape[0] + CPU.chunks - 1) // CPU.chunks
    return text.kernel(text.inputs, CPU.chunks, (0.3, per_chunk * work(node, sizes.product(dy.shape[1:]))))
