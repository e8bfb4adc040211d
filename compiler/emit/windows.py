"""Kernels that go over windows of images [batch, height, width, channels]: pooling, depthwise convolution, gradients.

The taps of a window are written out one after the other and the channels are the innermost loop, which LLVM vectorises.
Where windows reach over the border, a tap outside is moved to the nearest pixel inside (the maximum of a window does not
mind a value twice) and, where that would count, a truth value says that it is not there.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel, is_half
from ..tuning import CPU
from . import pool_gradients, scalars
from .kernel_text import KernelText

NEAR = 1e-5         # TensorFlow's kernel for volumes takes numbers that differ by less for the maximum

TOGETHER = 4            # windows next to each other of a depthwise layer that are made at a time ...
MOST_TAPS = 9           # ... if they have no more taps than this
FEW_TAPS = 4            # of a window whose gradient is made and goes to the image in one loop
WRITTEN_OUT = 25        # taps of a window that are written out one after the other; more are gone through by loops
FEW_CHANNELS = 64       # up to which a text says how many there are: a loop so short gains from that; others share a text


class Windows(KernelText):
    """The text of a kernel over the windows of one image after the other.

    `height`, `width`: of the images; `rows`, `pixels`: how many windows there are; all of them text.
    """

    def __init__(self, node: Node, name: str, inputs: list[Value], image: sizes.Shape, outputs: sizes.Shape):
        super().__init__(node, name)
        self.inputs = inputs
        self.taps, self.strides, self.before = (node.attrs[k] for k in ("taps", "strides", "before"))
        height, width, channels = image
        self.height, self.width = self.given("height", height), self.given("width", width)
        short = not isinstance(channels, sizes.Size) and channels <= FEW_CHANNELS
        self.channels = str(channels) if short else self.given("channels", channels)
        self.rows, self.pixels = self.given("rows", outputs[0]), self.given("pixels", outputs[1])
        # whether the last window along each axis may end outside
        self.over = [not (sizes.same(b, 0) and sizes.same((o - 1) * s + t, d)
                          or _fits(d, o, s, t, b)) for d, o, s, t, b in
                     zip(image, outputs, self.strides, self.taps, self.before)]

    def window(self, indent: int, vertical: list[tuple[str, str]] | None = None) -> list[tuple[int, str, str]]:
        """Lines that find window (n, i, j): one address per tap; `vertical`: what `axis` gave for its rows, where that is done.

        Returns (number, address, condition) per tap; the condition is empty where a tap is always inside."""
        vertical = self.axis(indent, "i", 0, self.height) if vertical is None else vertical
        horizontal = self.axis(indent, "j", 1, self.width)
        found = []
        for a, (row, row_inside) in enumerate(vertical):
            for b, (column, column_inside) in enumerate(horizontal):
                number = a * len(horizontal) + b
                self.line(indent, f"at{number} = ((n * {self.height} + {row}) * {self.width} + {column}) * {self.channels}")
                inside = " & ".join(c for c in (row_inside, column_inside) if c)
                if inside:
                    self.line(indent, f"in{number} = {inside}")
                found.append((number, f"at{number}", f"in{number}" if inside else ""))
        return found

    def axis(self, indent: int, index: str, axis: int, limit: str) -> list[tuple[str, str]]:
        """(coordinate, condition) for every tap along one axis."""
        before = self.slot(f"before{axis}", self.before[axis])
        start = f"{index} * {self.strides[axis]}" + (f" - {before}" if before != "0" else "")
        if not self.over[axis]:
            return [(f"({start} + {k})", "") for k in range(self.taps[axis])]
        found = []
        for k in range(self.taps[axis]):
            name = f"{index}{k}"
            self.line(indent, f"{name} = {start} + {k}")
            self.line(indent, f"{name}_in = ({name} >= 0) & ({name} < {limit})")
            self.line(indent, f"{name} = smaller(larger({name}, 0), {limit} - 1)")
            found.append((name, f"{name}_in"))
        return found

    def phase(self, indent: int, index: str, phase: int, axis: int, limit: str) -> list[tuple[int, str, str]]:
        """(tap, window, condition) along one axis for the taps that a pixel of this phase has; `index`: the window that sees
        it with the first of them."""
        found = []
        for k, tap in enumerate(range(phase, self.taps[axis], self.strides[axis])):
            name = f"{index}{tap}"
            self.line(indent, f"{name} = {index} - {k}")
            self.line(indent, f"{name}_in = ({name} >= 0) & ({name} < {limit})")
            self.line(indent, f"{name} = smaller(larger({name}, 0), {limit} - 1)")
            found.append((tap, name, f"{name}_in"))
        return found

    def each_tap(self, indent: int) -> int:
        """Loops over the taps of window (n, i, j) that lie inside: element `at` of the tap `number`; returns the indent inside."""
        for k, (index, limit, name, tap) in enumerate((("i", self.height, "row", "a"), ("j", self.width, "column", "b"))):
            depth = 2 * k
            start = f"{index} * {self.strides[k]} - {self.slot(f'before{k}', self.before[k])}"
            self.line(indent + depth, f"for {tap} in range({self.taps[k]}):")
            self.line(indent + depth + 1, f"{name} = {start} + {tap}")
            self.line(indent + depth + 1, f"if outside({name}, {limit}) == 0:")
        self.line(indent + 4, f"number = a * {self.taps[1]} + b")
        self.line(indent + 4, f"at = ((n * {self.height} + row) * {self.width} + column) * {self.channels}")
        return indent + 4

    def count(self, indent: int, taps: list[tuple[int, str, str]]) -> None:
        """Lines that set `count` to the number of taps inside."""
        conditions = [condition for _, _, condition in taps]
        if not any(conditions):
            self.line(indent, f"count = {self.code}({len(taps)})")
        else:
            self.line(indent, f"count = {self.code}(" + " + ".join(f"i64({c})" if c else "1" for c in conditions) + ")")

    def guarded(self, value: str, condition: str) -> str:
        """The value of a tap, 0 where it is outside."""
        return f"select({condition}, {value}, {self.code}(0))" if condition else value

    def each_row(self) -> None:
        """The loop over rows of windows, which are the items: row i of image n."""
        self.line(1, "for q in range(begin, end):")
        self.lines_at(2, [f"n = quotient(q, {self.rows})", f"i = q - n * {self.rows}"])

    def each_image(self, images: list[str], zeroed: tuple[str, str] | None) -> int:
        """The loops over items, with `zeroed` (first element, count) of the result set to 0, then over the images that
        the lines `images` open, and over the rows of their windows; returns the indent inside."""
        self.line(1, "for q in range(begin, end):")
        if zeroed is not None:
            self.line(2, f"for k in range({zeroed[1]}):")
            self.line(3, f"y0[q * {zeroed[0]} + k] = {self.code}(0)")
        for line in images:
            self.line(2, line)
        inside = 3 if images[-1].endswith(":") else 2
        self.line(inside, f"for i in range({self.rows}):")
        return inside + 1

    def inner(self, indent: int, index: str, count: str, inside: tuple[str, str], vertical: list[tuple[str, str]]) -> int:
        """Lines that set `low` and `middle`: of the `count` windows of a row, `middle` from `low` on are taken TOGETHER at a time,
        those whose taps lie inside along the row, from `inside[0]` to `inside[1]`, if they do across it, by `vertical`.

        Returns the indent inside of the loop over these, by `index`."""
        low, high = inside
        whole = " & ".join(condition for _, condition in vertical if condition)
        self.line(indent, f"low = {low}")
        self.line(indent, f"middle = quotient(larger(smaller({high}, {count}) - low, 0), {TOGETHER}) * {TOGETHER}"
                  + (f" * i64({whole})" if whole else ""))
        self.line(indent, f"for {index} in range(low, low + middle, {TOGETHER}):")
        return indent + 1

    def outer(self, indent: int, index: str, count: str) -> int:
        """The loop over the other windows of a row; returns the indent inside."""
        self.line(indent, f"for r in range({count} - middle):")
        self.line(indent + 1, f"{index} = r + middle * i64(r >= low)")
        return indent + 1

    def inside(self) -> tuple[str, str]:
        """The first window of a row whose taps lie inside along it, and the first behind these."""
        before, stride = self.slot("before1", self.before[1]), self.strides[1]
        return (f"quotient({before} + {stride - 1}, {stride})",
                f"quotient(larger({self.width} - {self.taps[1]} + {before} + {stride}, 0), {stride})")

    def tap_rows(self, indent: int, vertical: list[tuple[str, str]]) -> list[tuple[str, int, int]]:
        """Lines that find the first tap of window j in each row; returns (row, pixels behind it, number) for every tap."""
        start = f"j * {self.strides[1]} - {self.slot('before1', self.before[1])}"
        for a, (row, _) in enumerate(vertical):
            self.line(indent, f"row{a} = ((n * {self.height} + {row}) * {self.width} + {start}) * {self.channels}")
        return [(f"row{a}", b, a * self.taps[1] + b) for a in range(len(vertical)) for b in range(self.taps[1])]

    def read_together(self, indent: int, taps: list[tuple[str, int, int]], stride: int) -> None:
        """Lines that read what the taps of TOGETHER windows, each `stride` pixels behind the other, need: u{row}_{pixel}."""
        for row, pixel in dict.fromkeys((row, behind + p * stride) for p in range(TOGETHER) for row, behind, _ in taps):
            self.line(indent, f"u{row}_{pixel} = x0[{row} + {pixel} * {self.channels} + c]")

    def sums_together(self, indent: int, taps: list[tuple[str, int, int]], stride: int, apart: int) -> None:
        """Lines that make the sums of weighted taps of TOGETHER windows, which go `apart` pixels from each other."""
        self.line(indent, f"for c in range({self.channels}):")
        self.read_together(indent + 1, taps, stride)
        for _, _, number in taps:
            self.line(indent + 1, f"w{number} = x1[{number} * {self.channels} + c]")
        for p in range(TOGETHER):
            for k, (row, behind, number) in enumerate(taps):
                product = f"u{row}_{behind + p * stride} * w{number}"
                self.line(indent + 1, f"v{p} = v{p} + {product}" if k else f"v{p} = {product}")
            self.line(indent + 1, f"y0[out + {p * apart} * {self.channels} + c] = v{p}")


def _goes_together(node: Node) -> bool:
    """Whether several windows of a depthwise layer are made at a time: weights and pixels that they share are read once.

    Windows that lie further apart share few, and wait for memory."""
    taps = node.attrs["taps"]
    return int(node.attrs["multiplier"]) == 1 and node.attrs["strides"][1] == 1 and taps[0] * taps[1] <= MOST_TAPS


def _fits(size: sizes.Dim, output: sizes.Dim, stride: int, taps: int, before: sizes.Dim) -> bool:
    """Whether every window surely lies inside."""
    numbers = (size, output, before)
    return not any(isinstance(d, sizes.Size) for d in numbers) and before == 0 and (output - 1) * stride + taps <= size


def is_large(node: Node) -> bool:
    """Whether the taps of its windows are too many to be written out."""
    taps = node.attrs["taps"]
    return taps[0] * taps[1] > WRITTEN_OUT


def work(node: Node, pixels: sizes.Dim) -> sizes.Dim:
    """How many taps there are for so many pixels."""
    return pixels * node.attrs["taps"][0] * node.attrs["taps"][1]


def least(node: Node, code: str) -> str:
    """What the maximum of a window begins with."""
    if is_half(code):
        return f"f32({float(node.out.dtype.min)!r})" if node.attrs.get("finite", True) else "lowest_f32()"
    return scalars.finite(code, "min") if node.attrs.get("finite", True) else f"lowest_{code}()"


def near(value: str, other: str, code: str) -> str:
    """Whether two numbers differ by less than `NEAR`; infinities never do."""
    least_apart = f"{'f32' if is_half(code) else code}({NEAR})"
    return f"({value} - {other} < {least_apart}) & ({other} - {value} < {least_apart})"


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
