"""What goes over windows of images [batch, height, width, channels], for CUDA: pooling, depthwise convolution, gradients.

A thread makes an element of the result, its neighbours those of the next channels; it goes through the taps of its window.
A gradient is not sent back, which threads would have to wait for one another to do: each pixel looks at the windows that
see it, in the order in which the CPU goes through them, so that sums are the same bits.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import Kernel
from .cuda_text import THREADS, GridText, is_short, plus
from .windows import least, near

LANES = 32              # channels of a block that adds up the gradient of a depthwise filter
AHEAD = 4               # windows on their way to a thread of it


class WindowText(GridText):
    """The text of a kernel over windows.  `image`, `outputs`: rows and columns of images and of windows."""

    def __init__(self, node: Node, name: str, image: sizes.Shape, outputs: sizes.Shape):
        super().__init__(node, name)
        self.taps, self.strides, self.before = (node.attrs[key] for key in ("taps", "strides", "before"))
        self.dilations = node.attrs.get("dilations", (1, 1))
        names = ("height", "width", "rows", "columns", "above", "beside")
        self.height, self.width, self.rows, self.columns, self.above, self.beside = (
            self.slot(n, d) for n, d in zip(names, (*image, *outputs, *self.before)))

    def element(self, indent: int, channels: str, rows: str, columns: str, names: str = "n i j c") -> None:
        """Lines that find image, row, column and channel of element q."""
        n, i, j, c = names.split()
        self.lines_at(indent, [
            f"{j} = quotient32(q, {channels})", f"{c} = q - {j} * {channels}", f"{i} = quotient32({j}, {columns})",
            f"{j} -= {i} * {columns}", f"{n} = quotient32({i}, {rows})", f"{i} -= {n} * {rows}"])

    def each_tap(self, indent: int) -> int:
        """Loops over the taps (a, b) of window (i, j), and the pixel (p, r) that each sees; where that is `seen`, returns the
        indent inside."""
        self.loop(indent, "a", self.taps[0])
        self.loop(indent + 1, "b", self.taps[1])
        self.lines_at(indent + 2, [
            f"p = {self.tap(0)}", f"r = {self.tap(1)}",
            f"seen = (p >= 0) & (p < {self.height}) & (r >= 0) & (r < {self.width})"])
        return indent + 2

    def start(self, axis: int) -> str:
        """The row (column) of the first pixel of window (i, j), which may lie before the images."""
        return f"{'ij'[axis]} * {self.strides[axis]}" + plus((self.above, self.beside)[axis], "-")

    def tap(self, axis: int) -> str:
        """The row (column) of the pixel under tap (a, b) of window (i, j)."""
        gap = self.dilations[axis]
        return f"{self.start(axis)} + {'ab'[axis]}" + (f" * {gap}" if gap > 1 else "")

    def loop(self, indent: int, index: str, count: int) -> None:
        """A loop that LLVM unrolls where its count is small; its body stands one indent further."""
        self.line(indent, f"for {index} in range({count}):")

    def each_window(self, indent: int, falling: bool = False) -> int:
        """Loops over the windows (i, j) that see pixel (p, r), and the tap (a, b) by which they do: rising, or `falling`."""
        for window, tap, pixel, k, count, limit in (("i", "a", "p", 0, self.rows, self.above), ("j", "b", "r", 1, self.columns,
                                                                                               self.beside)):
            taps, stride, gap = self.taps[k], self.strides[k], self.dilations[k]
            if gap > 1:             # falling, since taps rise
                self.loop(indent, tap, taps)
                self.lines_at(indent + 1, [
                    f"{window}_rest = {pixel}{plus(limit)} - {tap} * {gap}",
                    f"{window} = quotient32(larger({window}_rest, 0), {stride})",
                    f"if ({window} * {stride} == {window}_rest) & ({window} < {count}):"])
                indent += 2
                continue
            # pixel + before = window * stride + tap: the last window has the least tap
            most = -(-taps // stride)
            self.line(indent, f"{window}_last = quotient32({pixel}{plus(limit)}, {stride})")
            step = window + "_step"
            self.loop(indent, step, most)
            self.lines_at(indent + 1, [
                f"{window} = {window}_last" + (f" - {step}" if falling else f"{plus(most - 1, '-')} + {step}"),
                f"{tap} = {pixel}{plus(limit)} - {window} * {stride}",
                f"if (0 <= {window}) & ({window} < {count}) & ({tap} < {taps}):"])
            indent += 2
        return indent

    def pixel(self, channels: str, row: str = "p", column: str = "r") -> str:
        return f"((n * {self.height} + {row}) * {self.width} + {column}) * {channels}"

    def window(self, channels: str) -> str:
        return f"((n * {self.rows} + i) * {self.columns} + j) * {channels}"

    def count(self, indent: int) -> None:
        """A line that finds how many pixels window (i, j) sees."""
        found = []
        for k, limit in enumerate((self.height, self.width)):
            found.append(f"(smaller({self.start(k)} + {self.taps[k]}, {limit}) - larger({self.start(k)}, 0))")
        self.line(indent, f"count = {self.number}({' * '.join(found)})")


def emit_pool(node: Node) -> Kernel | None:
    """The maximum or mean of each window."""
    (x,), op = node.inputs, node.attrs["op"]
    total = sizes.product(node.out.shape)
    if not is_short(total):
        return None
    text = WindowText(node, f"{op}_pool", x.shape[1:3], node.out.shape[1:3])
    channels = text.slot("channels", node.out.shape[3])
    with text.each_element(total) as blocks:
        text.element(2, channels, text.rows, text.columns)
        text.line(2, f"v = {least(node, text.code)}" if op == "max" else f"v = {text.number}(0)")
        at = text.each_tap(2)
        text.line(at, "if seen:")
        value = text.value(f"x0[{text.pixel(channels)} + c]")
        text.line(at + 1, f"v = max_step(v, {value})" if op == "max" else f"v = v + {value}")
        if op == "mean":
            text.count(2)
        text.line(2, f"y0[q] = {text.written('v' if op == 'max' else 'v / count')}")
    return text.grid([x], blocks)


def emit_pool_gradient(node: Node) -> Kernel | None:
    """max: inputs x, y, dy; each gradient goes to the first element of its window that is the maximum, or to the first of all if
    that is NaN; near_max: to all that are near it.
    mean: input dy; each gradient is shared among the elements of its window."""
    op, dy = node.attrs["op"], node.inputs[-1]
    total = sizes.product(node.out.shape)
    if not is_short(total):
        return None
    text = WindowText(node, f"{op}_pool_gradient", node.out.shape[1:3], dy.shape[1:3])
    channels = text.slot("channels", node.out.shape[3])
    with text.each_element(total) as blocks:
        text.element(2, channels, text.height, text.width, "n p r c")
        text.line(2, f"v = {text.number}(0)")
        at = text.each_window(2)
        text.line(at, f"there = {text.window(channels)} + c")
        if op == "mean":
            text.count(at)
            text.line(at, f"v = v + {text.value('x0[there]')} / count")
        else:
            mine = text.value("x0[q]")
            text.line(at, f"top = {text.value('x1[there]')}")
            text.line(at, f"gradient = {text.value('x2[there]')}")         # on its way while the window is looked at
            if op == "max":
                low = f"{least(node, text.code)}, "
                text.line(at, f"left = max_step({low}{mine}) == top")
                _look_before(text, at, channels, low)
                if node.out.dtype.is_floating:
                    _look_at_first(text, at, channels)
            else:
                text.line(at, f"left = {near(mine, 'top', text.number)}")
            text.line(at, f"v = v + select(left, gradient, {text.number}(0))")
        text.line(2, f"y0[q] = {text.written('v')}")
    return text.grid(list(node.inputs), blocks)


def _look_before(text: WindowText, indent: int, channels: str, low: str) -> None:
    """Lines after which pixel (p, r) is `left` only if no pixel before it in the window is the maximum, too; `low`: what that is
    at least."""
    text.line(indent, "if left:")
    text.line(indent + 1, f"for tap in range(a * {text.taps[1]} + b):")
    text.lines_at(indent + 2, [
        f"down = quotient32(tap, {text.taps[1]})", f"across = {text.start(1)} + tap - down * {text.taps[1]}",
        f"down = {text.start(0)} + down",
        f"if (down >= 0) & (across >= 0) & (across < {text.width}):"])
    other = text.value(f"x0[{text.pixel(channels, 'down', 'across')} + c]")
    text.line(indent + 3, f"left = left & (max_step({low}{other}) != top)")


def _look_at_first(text: WindowText, indent: int, channels: str) -> None:
    """Lines after which, where the first pixel of the window is NaN, that one alone is `left`."""
    first = text.value(f"x0[{text.pixel(channels, 'top_row', 'left_column')} + c]")
    text.lines_at(indent, [f"top_row = larger({text.start(0)}, 0)", f"left_column = larger({text.start(1)}, 0)",
                           f"first = {first}", "left = select(first == first, left, (p == top_row) & (r == left_column))"])


def emit_depthwise(node: Node) -> Kernel | None:
    """y[n, i, j, c * m + k] = sum over taps of x[..., c] * w[tap, c, k]; inputs x, w."""
    x, w = node.inputs
    multiplier, total = int(node.attrs["multiplier"]), sizes.product(node.out.shape)
    if not is_short(total):
        return None
    text = WindowText(node, "depthwise", x.shape[1:3], node.out.shape[1:3])
    channels, results = text.slot("channels", x.shape[3]), text.slot("results", node.out.shape[3])
    with text.each_element(total) as blocks:
        text.element(2, results, text.rows, text.columns)
        source = "c" if multiplier == 1 else f"quotient32(c, {multiplier})"
        text.lines_at(2, [f"v = {text.number}(0)", f"from_c = {source}"])
        at = text.each_tap(2)
        text.line(at, "if seen:")
        pixel, weight = f"x0[{text.pixel(channels)} + from_c]", f"x1[(a * {text.taps[1]} + b) * {results} + c]"
        text.line(at + 1, f"v = v + {text.value(pixel)} * {text.value(weight)}")
        text.line(2, f"y0[q] = {text.written('v')}")
    return text.grid([x, w], blocks)


def emit_depthwise_input(node: Node) -> Kernel | None:
    """The gradient of a depthwise convolution for its input; inputs dy, w."""
    dy, w = node.inputs
    multiplier, total = int(node.attrs["multiplier"]), sizes.product(node.out.shape)
    if not is_short(total):
        return None
    text = WindowText(node, "depthwise_input", node.out.shape[1:3], dy.shape[1:3])
    channels, results = text.slot("channels", node.out.shape[3]), text.slot("results", dy.shape[3])
    with text.each_element(total) as blocks:
        text.element(2, channels, text.height, text.width, "n p r c")
        text.line(2, f"v = {text.number}(0)")
        at = text.each_window(2, falling=True)
        text.lines_at(at, [f"there = {text.window(results)} + c * {multiplier}",
                           f"weight = (a * {text.taps[1]} + b) * {results} + c * {multiplier}"])
        text.loop(at, "k", multiplier)
        text.line(at + 1, f"v = v + {text.value('x0[there + k]')} * {text.value('x1[weight + k]')}")
        text.line(2, f"y0[q] = {text.written('v')}")
    return text.grid([dy, w], blocks)


def emit_depthwise_filter(node: Node) -> Kernel | None:
    """Partial gradients, for parts of all windows, of a depthwise convolution for its filter; inputs x, dy.

    A block has one part, a tap and 32 results of channels: a lane each; its warps share out the windows, several of which are on
    their way at once."""
    x, dy = node.inputs
    multiplier = int(node.attrs["multiplier"])
    chunks, taps = node.out.shape[0], node.attrs["taps"][0] * node.attrs["taps"][1]
    text = WindowText(node, "depthwise_filter", x.shape[1:3], dy.shape[1:3])
    blocks, warps = chunks * taps * ((dy.shape[3] + LANES - 1) // LANES), THREADS // LANES
    if not is_short(sizes.product(dy.shape), blocks):
        return None
    windows, channels, results = (text.slot(name, d) for name, d in (
        ("windows", sizes.product(dy.shape[:3])), ("channels", x.shape[3]), ("results", dy.shape[3])))
    groups = text.slot("groups", (dy.shape[3] + LANES - 1) // LANES)
    text.lines_at(1, ["thread = thread_index()", f"lane = thread & {LANES - 1}", f"warp = thread >> {LANES.bit_length() - 1}",
                      f"parts = shared_{text.code}({THREADS})", f"seen_x = local_{text.code}({AHEAD})",
                      f"seen_dy = local_{text.code}({AHEAD})"])
    with text.each_item(blocks):
        text.lines_at(2, [
            f"part = quotient32(q, {groups})", f"c = (q - part * {groups}) * {LANES} + lane", f"chunk = quotient32(part, {taps})",
            f"tap = part - chunk * {taps}", f"a = quotient32(tap, {text.taps[1]})", f"b = tap - a * {text.taps[1]}",
            f"from_c = quotient32(c, {multiplier})", f"v = {text.code}(0)",
            f"first = quotient(chunk * {windows}, {chunks}) + warp", f"last = quotient((chunk + 1) * {windows}, {chunks})",
            f"while (first < last) & (c < {results}):"])
        text.loop(3, "k", AHEAD)
        text.lines_at(4, [
            f"w = first + k * {warps}",
            f"n = quotient32(w, {text.rows} * {text.columns})", f"i = quotient32(w, {text.columns}) - n * {text.rows}",
            f"j = w - (n * {text.rows} + i) * {text.columns}", f"p = {text.tap(0)}", f"r = {text.tap(1)}",
            f"seen = (w < last) & (p >= 0) & (p < {text.height}) & (r >= 0) & (r < {text.width})",
            f"seen_x[k] = taken(x0, {text.pixel(channels)} + from_c, seen)",
            f"seen_dy[k] = taken(x1, w * {results} + c, seen)"])
        text.loop(3, "k", AHEAD)
        text.line(4, "v = v + seen_x[k] * seen_dy[k]")
        text.line(3, f"first = unforeseen(first + {AHEAD * warps})")
        text.lines_at(2, ["barrier()", "parts[thread] = v", "barrier()", f"if (warp == 0) & (c < {results}):"])
        text.line(3, f"for other in range(1, {warps}):")
        text.line(4, f"v = v + parts[other * {LANES} + lane]")
        text.line(3, f"y0[part * {results} + c] = v")
    return text.grid([x, dy], blocks)
