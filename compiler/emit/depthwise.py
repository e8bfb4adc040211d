"""Kernels of depthwise convolutions of images [batch, height, width, channels], whose channels are not mixed, and of their
gradients.

The taps of a window are written out one after the other and the channels are the innermost loop, which LLVM vectorises.  Of
filters with more taps than that suits, a row is written out, and the rows are gone through by a loop.
"""
from __future__ import annotations

from jitgraph.ops.nn.window_geometry import FEW_TAPS

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from ..tuning import CPU
from .window_text import TOGETHER, Windows, is_large, work
from .words import Scratch

BLOCK = 256             # channels of these that are added up in scratch memory, where the rows of a filter are gone through
LONG_ROW = 25           # taps of a row of a filter that are written out; of a longer one, each is gone to by a loop


def _is_small(node: Node) -> bool:
    """Whether a filter has so few taps that they are written out for several windows at a time."""
    return node.attrs["taps"][0] * node.attrs["taps"][1] <= FEW_TAPS


def _shares(node: Node) -> bool:
    """Whether windows next to each other share pixels and weights, which are read once for several of them.

    Windows that lie further apart share few, and wait for memory."""
    return int(node.attrs["multiplier"]) == 1 and node.attrs["strides"][1] == 1


def emit_depthwise(node: Node) -> Kernel:
    """y[n, i, j, c * m + k] = sum over taps of x[..., c] * w[tap, c, k]."""
    x, w = node.inputs
    text = Windows(node, "depthwise", [x, w], x.shape[1:], node.out.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    text.each_row()
    if is_large(node) or _shares(node) and not _is_small(node):
        _sums_by_rows(node, text, multiplier)
        return _of_rows_of_windows(node, text)
    vertical = text.axis(2, "i", 0, text.height)
    if _shares(node):
        at = text.inner(2, "j", text.pixels, text.inside(), vertical)
        together = text.tap_rows(at, vertical)
        text.line(at, f"out = (q * {text.pixels} + j) * {text.channels}")
        text.ask_for_next_row(at, f"{together[-1][0]} + {text.strides[0]} * {text.width} * {text.channels}")
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
    return _of_rows_of_windows(node, text)


def _of_rows_of_windows(node: Node, text: Windows) -> Kernel:
    """The kernel whose items are rows of windows."""
    n, oh, ow, channels = node.out.shape
    kernel = text.kernel(text.inputs, n * oh, (0.15, work(node, ow * channels)))
    kernel.region = text.region(f"first = item * {text.pixels}", f"count = {text.pixels}")
    return kernel


def _sums_by_rows(node: Node, text: Windows, multiplier: int) -> None:
    """Lines that make row q of the windows, to which one row of the filter after the other adds its part."""
    at = 2
    if _shares(node):
        inner = text.inner(at, "j", text.pixels, text.inside(), [])
        _together_by_rows(text, inner)
        at = text.outer(at, "j", text.pixels)
    else:
        text.line(at, f"for j in range({text.pixels}):")
        at += 1
    text.line(at, f"out = (q * {text.pixels} + j) * {text.channels} * {multiplier}")
    text.line(at, f"for k in range({text.channels} * {multiplier}):")
    text.line(at + 1, f"y0[out + k] = {text.code}(0)")
    taps = TapsOfRow(text, at)
    at = taps.indent
    found = taps.anywhere(at)
    text.line(at, f"for k in range({multiplier}):")
    text.line(at + 1, f"for c in range({text.channels}):")
    text.line(at + 2, f"v = y0[out + c * {multiplier} + k]")
    for number, address, condition in found:
        value = text.guarded(f"x0[{address} + c]", condition)
        text.line(at + 2, f"v = v + {value} * x1[((tap + {number}) * {text.channels} + c) * {multiplier} + k]")
    text.line(at + 2, f"y0[out + c * {multiplier} + k] = v")


def _together_by_rows(text: Windows, at: int) -> None:
    """Lines that make windows j and the following TOGETHER, a block of channels at a time."""
    text.lines_at(at, [f"sums = {text.named(Scratch(text.code, TOGETHER * BLOCK))}()",
                       f"out = (q * {text.pixels} + j) * {text.channels}",
                       f"for c0 in range(0, {text.channels}, {BLOCK}):"])
    text.lines_at(at + 1, [f"block = smaller({text.channels} - c0, {BLOCK})", "for c in range(block):"])
    for p in range(TOGETHER):
        text.line(at + 2, f"sums[{p * BLOCK} + c] = {text.code}(0)")
    taps = TapsOfRow(text, at + 1)
    inside = taps.indent
    found = taps.inside(inside, "c0")
    text.lines_at(inside, [f"weight = tap * {text.channels} + c0", "for c in range(block):"])
    text.read_together(inside + 1, found, text.strides[1])
    for _, _, k in found:
        text.line(inside + 1, f"w{k} = x1[weight + {k} * {text.channels} + c]")
    for p in range(TOGETHER):
        text.line(inside + 1, f"v{p} = sums[{p * BLOCK} + c]")
        for row, behind, k in found:
            text.line(inside + 1, f"v{p} = v{p} + u{row}_{behind + p * text.strides[1]} * w{k}")
        text.line(inside + 1, f"sums[{p * BLOCK} + c] = v{p}")
    text.line(at + 1, "for c in range(block):")
    for p in range(TOGETHER):
        text.line(at + 2, f"y0[out + {p} * {text.channels} + c0 + c] = sums[{p * BLOCK} + c]")


class AllTaps:
    """All taps of the windows of row i of image n, written out; `first`: what the numbers of taps are added to."""

    first = ""

    def __init__(self, text: Windows, indent: int):
        self.text, self.indent = text, indent
        self.vertical = text.axis(indent, "i", 0, text.height)

    def inside(self, indent: int) -> list[tuple[str, int, int]]:
        """Lines that find those of window j, which lies inside; see `Windows.tap_rows`."""
        return self.text.tap_rows(indent, self.vertical)

    def anywhere(self, indent: int) -> list[tuple[int, str, str]]:
        """Lines that find those of any window j; see `Windows.window`."""
        return self.text.window(indent, self.vertical)


class TapsOfRow:
    """The same of one row of the filter after the other, of those that lie inside: `row` of the image, and `tap`, the number of
    the first.  A long row is not written out: a further loop goes from one of its taps to the next."""

    first = "tap + "
    vertical: list[tuple[str, str]] = []        # all of a row lie inside across it

    def __init__(self, text: Windows, indent: int):
        self.text, self.indent = text, indent + 3
        self.count = text.taps[1] if text.taps[1] <= LONG_ROW else 1
        text.line(indent, f"for a in range({text.taps[0]}):")
        text.line(indent + 1, f"row = {text.start('i', 0)} + a * {text.dilations[0]}")
        text.line(indent + 1, f"if outside(row, {text.height}) == 0:")
        text.line(indent + 2, f"for b in range(0, {text.taps[1]}, {self.count}):")
        text.line(indent + 3, f"tap = a * {text.taps[1]} + b")

    def _start(self) -> str:
        return f"{self.text.start('j', 1)} + b * {self.text.dilations[1]}"

    def inside(self, indent: int, channel: str = "0") -> list[tuple[str, int, int]]:
        """As of `AllTaps`, from `channel` on."""
        text = self.text
        text.line(indent, f"row0 = ((n * {text.height} + row) * {text.width} + {self._start()}) * {text.channels} + {channel}")
        return [("row0", k * text.dilations[1], k) for k in range(self.count)]

    def anywhere(self, indent: int) -> list[tuple[int, str, str]]:
        """As of `AllTaps`."""
        text, found = self.text, []
        for k, (column, condition) in enumerate(text.some_taps(indent, "j", 1, text.width, self._start(), self.count)):
            text.line(indent, f"at{k} = ((n * {text.height} + row) * {text.width} + {column}) * {text.channels}")
            found.append((k, f"at{k}", condition))
        return found


def emit_depthwise_input(node: Node) -> Kernel:
    """The gradient of a depthwise convolution for its input; inputs dy, w.

    x[n, p, q, c] = sum of dy[n, i, j, c * m + k] * w[a, b, c, k] over the taps with i * stride + a = p + before, and k.
    Which those are depends on the phase of p and of q, the remainders by the strides."""
    dy, w = node.inputs
    text = Windows(node, "depthwise_input", [dy, w], node.out.shape[1:], dy.shape[1:3])
    multiplier, (down, across) = int(node.attrs["multiplier"]), text.strides
    if is_large(node) or text.extents != [*text.taps]:
        return _sent_back(node, text, multiplier)
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
            if _shares(node) and _is_small(node) and vertical and most:
                inner = text.inner(at, "t", "those", (f"larger({most - 1} - seen, 0)", f"{text.pixels} - seen"),
                                   [(row, condition) for _, row, condition in vertical])
                for a, row, _ in vertical:
                    text.line(inner, f"row{a} = ((n * {text.rows} + {row}) * {text.pixels} + seen + t - {most - 1}) * "
                                     f"{text.channels}")
                text.line(inner, f"out = (q * {text.width} + first + t * {across}) * {text.channels}")
                text.ask_for_next_row(inner, f"row{vertical[0][0]} + {text.pixels} * {text.channels}")
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
    return _of_rows_of_pixels(node, text)


def _of_rows_of_pixels(node: Node, text: Windows) -> Kernel:
    """The kernel whose items are rows of the image."""
    n, height, width, channels = node.out.shape
    multiplier, (down, across) = int(node.attrs["multiplier"]), text.strides
    steps = work(node, width * channels) * multiplier // (down * across) + width * channels
    kernel = text.kernel(text.inputs, n * height, (0.15, steps))
    kernel.region = text.region(f"first = item * {text.width}", f"count = {text.width}")
    return kernel


def _sent_back(node: Node, text: Windows, multiplier: int) -> Kernel:
    """The same with loops over the taps, each of which sends what it sees in a row of windows to the pixels under it."""
    down, across = text.strides
    left, dilation = text.slot("before1", text.before[1]), text.dilations
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [f"n = quotient(q, {text.height})", f"p = q - n * {text.height} + {text.slot('before0', text.before[0])}",
                      f"for k in range({text.width} * {text.channels}):"])
    text.line(3, f"y0[q * {text.width} * {text.channels} + k] = {text.code}(0)")
    text.line(2, f"for a in range({text.taps[0]}):")
    text.lines_at(3, [f"rest = p - a * {dilation[0]}", f"i = quotient(larger(rest, 0), {down})",
                      f"if (i * {down} == rest) & (i < {text.rows}):"])
    text.line(4, f"for b in range({text.taps[1]}):")
    text.lines_at(5, [f"shift = b * {dilation[1]} - {left}", f"low = quotient(larger({across - 1} - shift, 0), {across})",
                      f"high = quotient(larger({text.width} + {across - 1} - shift, 0), {across})",
                      f"weight = (a * {text.taps[1]} + b) * {text.channels} * {multiplier}",
                      f"for j in range(low, smaller(high, {text.pixels})):"])
    text.lines_at(6, [f"out = (q * {text.width} + j * {across} + shift) * {text.channels}",
                      f"there = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels} * {multiplier}",
                      f"for k in range({multiplier}):"])
    text.line(7, f"for c in range({text.channels}):")
    text.line(8, f"y0[out + c] += x0[there + c * {multiplier} + k] * x1[weight + c * {multiplier} + k]")
    return _of_rows_of_pixels(node, text)


def emit_depthwise_filter(node: Node) -> Kernel:
    """Partial gradients, for parts of the rows of windows, of a depthwise convolution for its filter; inputs x, dy."""
    x, dy = node.inputs
    text = Windows(node, "depthwise_filter", [x, dy], x.shape[1:], dy.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    rows = f"{text.slot('images', x.shape[0])} * {text.rows}"
    size = f"{text.taps[0] * text.taps[1]} * {text.channels} * {multiplier}"
    text.line(1, "for q in range(begin, end):")
    text.line(2, f"for k in range({size}):")
    text.line(3, f"y0[q * {size} + k] = {text.code}(0)")
    text.line(2, f"for row_of_all in range(quotient(q * {rows}, {CPU.chunks}), quotient((q + 1) * {rows}, {CPU.chunks})):")
    text.lines_at(3, [f"n = quotient(row_of_all, {text.rows})", f"i = row_of_all - n * {text.rows}"])
    taps = AllTaps(text, 3) if _is_small(node) else TapsOfRow(text, 3)
    at = taps.indent
    if _shares(node):
        inner = text.inner(at, "j", text.pixels, text.inside(), taps.vertical)
        inside = taps.inside(inner)
        text.line(inner, f"out = (row_of_all * {text.pixels} + j) * {text.channels}")
        text.line(inner, f"for c in range({text.channels}):")
        text.read_together(inner + 1, inside, text.strides[1])
        for p in range(TOGETHER):
            text.line(inner + 1, f"g{p} = x1[out + {p} * {text.channels} + c]")
        for row, behind, number in inside:
            there = f"y0[q * {size} + ({taps.first}{number}) * {text.channels} + c]"
            text.line(inner + 1, f"v = {there}")
            for p in range(TOGETHER):
                text.line(inner + 1, f"v = v + u{row}_{behind + p * text.strides[1]} * g{p}")
            text.line(inner + 1, f"{there} = v")
        at = text.outer(at, "j", text.pixels)
    else:
        text.line(at, f"for j in range({text.pixels}):")
        at += 1
    anywhere = taps.anywhere(at)
    text.line(at, f"out = (row_of_all * {text.pixels} + j) * {text.channels} * {multiplier}")
    text.line(at, f"for k in range({multiplier}):")
    text.line(at + 1, f"for c in range({text.channels}):")
    text.line(at + 2, f"g = x1[out + c * {multiplier} + k]")
    for number, address, condition in anywhere:
        product = text.guarded(f"x0[{address} + c] * g", condition)
        text.line(at + 2, f"y0[q * {size} + (({taps.first}{number}) * {text.channels} + c) * {multiplier} + k] += {product}")
    per_chunk = (sizes.product(dy.shape[:2]) + CPU.chunks - 1) // CPU.chunks
    return text.kernel(text.inputs, CPU.chunks, (0.3, per_chunk * work(node, sizes.product(dy.shape[2:]))))
