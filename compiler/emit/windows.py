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
from . import scalars
from .kernel_text import KernelText

FEW_CHANNELS = 64       # up to which a text says how many there are: a loop so short gains from that; others share a text


class _Windows(KernelText):
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

    def window(self, indent: int) -> list[tuple[int, str, str]]:
        """Lines that find window (n, i, j): `out`, the first element of its result, and one address per tap.

        Returns (number, address, condition) per tap; the condition is empty where a tap is always inside."""
        vertical = self._axis(indent, "i", 0, self.height)
        horizontal = self._axis(indent, "j", 1, self.width)
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

    def _axis(self, indent: int, index: str, axis: int, limit: str) -> list[tuple[str, str]]:
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

    def each_row(self) -> int:
        """The loops over rows of windows (the items) and the windows of a row; returns the indent inside."""
        self.line(1, "for q in range(begin, end):")
        self.line(2, f"n = quotient(q, {self.rows})")
        self.line(2, f"i = q - n * {self.rows}")
        self.line(2, f"for j in range({self.pixels}):")
        return 3

    def each_image(self, images: list[str], zeroed: tuple[str, str]) -> int:
        """The loops over items, with `zeroed` (first element, count) of the result set to 0, then over the images that
        the lines `images` open, and over all of their windows; returns the indent inside."""
        self.line(1, "for q in range(begin, end):")
        self.line(2, f"for k in range({zeroed[1]}):")
        self.line(3, f"y0[q * {zeroed[0]} + k] = {self.code}(0)")
        for line in images:
            self.line(2, line)
        inside = 3 if images[-1].endswith(":") else 2
        self.line(inside, f"for i in range({self.rows}):")
        self.line(inside + 1, f"for j in range({self.pixels}):")
        return inside + 2


    def each_channel(self, indent: int, multiplier: int, gradient: str) -> list[tuple[int, str, str]]:
        """The taps of window (n, i, j), and two loops over its output channels in which g is the gradient of each."""
        taps = self.window(indent)
        self.line(indent, f"out = ((n * {self.rows} + i) * {self.pixels} + j) * {self.channels} * {multiplier}")
        self.line(indent, f"for k in range({multiplier}):")
        self.line(indent + 1, f"for c in range({self.channels}):")
        self.line(indent + 2, f"g = {gradient}[out + c * {multiplier} + k]")
        return taps


def _fits(size: sizes.Dim, output: sizes.Dim, stride: int, taps: int, before: sizes.Dim) -> bool:
    """Whether every window surely lies inside."""
    numbers = (size, output, before)
    return not any(isinstance(d, sizes.Size) for d in numbers) and before == 0 and (output - 1) * stride + taps <= size


def _work(node: Node, pixels: sizes.Dim) -> sizes.Dim:
    return pixels * node.attrs["taps"][0] * node.attrs["taps"][1]


def least(node: Node, code: str) -> str:
    """What the maximum of a window begins with."""
    if is_half(code):
        return f"f32({float(node.out.dtype.min)!r})" if node.attrs.get("finite", True) else "lowest_f32()"
    return scalars.finite(code, "min") if node.attrs.get("finite", True) else f"lowest_{code}()"


def emit_pool(node: Node) -> Kernel:
    """The maximum or mean of each window."""
    (x,) = node.inputs
    op = node.attrs["op"]
    text = _Windows(node, f"{op}_pool", [x], x.shape[1:], node.out.shape[1:3])
    at = text.each_row()
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
    return text.kernel(text.inputs, n * oh, (0.1, _work(node, ow * channels)))


def emit_pool_gradient(node: Node) -> Kernel:
    """max: inputs x, y, dy; each gradient goes to the first element of its window that is the maximum; all_max: to all.
    mean: input dy; each gradient is shared among the elements of its window."""
    op, dy = node.attrs["op"], node.inputs[-1]
    text = _Windows(node, f"{op}_pool_gradient", node.inputs, node.out.shape[1:], dy.shape[1:3])
    image = f"{text.height} * {text.width} * {text.channels}"
    at = text.each_image(["n = q"], (image, image))
    taps = text.window(at)
    text.line(at, f"out = ((n * {text.rows} + i) * {text.pixels} + j) * {text.channels}")
    if op == "mean":
        text.count(at, taps)
    text.line(at, f"for c in range({text.channels}):")
    if op == "mean":
        text.line(at + 1, "g = x0[out + c] / count")
        for _, address, condition in taps:
            text.line(at + 1, f"y0[{address} + c] += {text.guarded('g', condition)}")
    else:
        text.line(at + 1, "top, g = x1[out + c], x2[out + c]")
        text.line(at + 1, "left = top == top")
        for _, address, condition in taps:
            value = f"max_step({least(node, text.code)}, x0[{address} + c])" if op == "max" else f"x0[{address} + c]"
            text.line(at + 1, f"hit = left & ({value} == top)" + (f" & {condition}" if condition else ""))
            text.line(at + 1, f"y0[{address} + c] += select(hit, g, {text.code}(0))")
            if op == "max":
                text.line(at + 1, "left = left & not_(hit)")
    return text.kernel(text.inputs, node.out.shape[0], (0.3, _work(node, sizes.product(dy.shape[1:]))))


def emit_depthwise(node: Node) -> Kernel:
    """y[n, i, j, c * m + k] = sum over taps of x[..., c] * w[tap, c, k]."""
    x, w = node.inputs
    text = _Windows(node, "depthwise", [x, w], x.shape[1:], node.out.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    at = text.each_row()
    taps = text.window(at)
    text.line(at, f"out = (q * {text.pixels} + j) * {text.channels} * {multiplier}")
    text.line(at, f"for k in range({multiplier}):")
    text.line(at + 1, f"for c in range({text.channels}):")
    for number, address, condition in taps:
        value = text.guarded(f"x0[{address} + c]", condition)
        product = f"{value} * x1[({number} * {text.channels} + c) * {multiplier} + k]"
        text.line(at + 2, f"v = {product}" if not number else f"v = v + {product}")
    text.line(at + 2, f"y0[out + c * {multiplier} + k] = v")
    n, oh, ow, channels = node.out.shape
    kernel = text.kernel(text.inputs, n * oh, (0.15, _work(node, ow * channels)))
    kernel.region = text.region(f"first = item * {text.pixels}", f"count = {text.pixels}")
    return kernel


def emit_depthwise_input(node: Node) -> Kernel:
    """The gradient of a depthwise convolution for its input; inputs dy, w.

    x[n, p, q, c] = sum of dy[n, i, j, c * m + k] * w[a, b, c, k] over the taps with i * stride + a = p + before, and k.
    Which those are depends on the phase of p and of q, the remainders by the strides."""
    dy, w = node.inputs
    text = _Windows(node, "depthwise_input", [dy, w], node.out.shape[1:], dy.shape[1:3])
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
            text.line(at, f"for q1 in range(({other} - {left}) % {across}, {text.width}, {across}):")
            text.line(at + 1, f"j = quotient(q1 + {left}, {across})")
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
    work = _work(node, width * channels) * multiplier // (down * across) + width * channels
    kernel = text.kernel(text.inputs, n * height, (0.15, work))
    kernel.region = text.region(f"first = item * {text.width}", f"count = {text.width}")
    return kernel


def emit_depthwise_filter(node: Node) -> Kernel:
    """Partial gradients, for parts of the batch, of a depthwise convolution for its filter; inputs x, dy."""
    x, dy = node.inputs
    text = _Windows(node, "depthwise_filter", [x, dy], x.shape[1:], dy.shape[1:3])
    multiplier = int(node.attrs["multiplier"])
    images = text.slot("images", x.shape[0])
    size = f"{text.taps[0] * text.taps[1]} * {text.channels} * {multiplier}"
    at = text.each_image(
        [f"for n in range(quotient(q * {images}, {CPU.chunks}), quotient((q + 1) * {images}, {CPU.chunks})):"], (size, size))
    taps = text.each_channel(at, multiplier, "x1")
    for number, address, condition in taps:
        product = text.guarded(f"x0[{address} + c] * g", condition)
        text.line(at + 2, f"y0[q * {size} + ({number} * {text.channels} + c) * {multiplier} + k] += {product}")
    per_chunk = (x.shape[0] + CPU.chunks - 1) // CPU.chunks
    return text.kernel(text.inputs, CPU.chunks, (0.3, per_chunk * _work(node, sizes.product(dy.shape[1:]))))
