"""The text of kernels that go over windows of images [batch, height, width, channels].

Where windows reach over the border, a tap outside is moved to the nearest pixel inside (the maximum of a window does not
mind a value twice) and, where that would count, a truth value says that it is not there.
"""
from __future__ import annotations

from jitgraph.ops.nn.window_geometry import NEAR, WRITTEN_OUT

from .. import sizes
from ..ir import Node, Value
from ..kernel import is_half
from . import scalars
from .kernel_text import KernelText
from .words import Fetch

TOGETHER = 4            # windows next to each other of a depthwise layer that are made at a time
LINE = 64               # bytes that memory gives at a time
FEW_CHANNELS = 64       # up to which a text says how many there are: a loop so short gains from that; others share a text


class Windows(KernelText):
    """The text of a kernel over the windows of one image after the other.

    `height`, `width`: of the images; `rows`, `pixels`: how many windows there are; all of them text.
    """

    def __init__(self, node: Node, name: str, inputs: list[Value], image: sizes.Shape, outputs: sizes.Shape):
        super().__init__(node, name)
        self.inputs = inputs
        self.taps, self.strides, self.before = (node.attrs[k] for k in ("taps", "strides", "before"))
        self.dilations = node.attrs.get("dilations", (1, 1))
        self.extents = [(t - 1) * d + 1 for t, d in zip(self.taps, self.dilations)]
        height, width, channels = image
        self.height, self.width = self.given("height", height), self.given("width", width)
        short = not isinstance(channels, sizes.Size) and channels <= FEW_CHANNELS
        self.channels = str(channels) if short else self.given("channels", channels)
        self.rows, self.pixels = self.given("rows", outputs[0]), self.given("pixels", outputs[1])
        # whether the last window along each axis may end outside
        self.over = [not (sizes.same(b, 0) and sizes.same((o - 1) * s + e, d)
                          or _fits(d, o, s, e, b)) for d, o, s, e, b in
                     zip(image, outputs, self.strides, self.extents, self.before)]

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

    def start(self, index: str, axis: int) -> str:
        """The coordinate of the first tap of window `index` along one axis."""
        before = self.slot(f"before{axis}", self.before[axis])
        return f"{index} * {self.strides[axis]}" + (f" - {before}" if before != "0" else "")

    def axis(self, indent: int, index: str, axis: int, limit: str) -> list[tuple[str, str]]:
        """(coordinate, condition) for every tap along one axis."""
        return self.some_taps(indent, index, axis, limit, self.start(index, axis), self.taps[axis])

    def some_taps(self, indent: int, index: str, axis: int, limit: str, start: str, count: int) -> list[tuple[str, str]]:
        """The same for `count` taps, the first of which is at `start`."""
        steps = [k * self.dilations[axis] for k in range(count)]
        if not self.over[axis]:
            return [(f"({start} + {step})", "") for step in steps]
        found = []
        for k, step in enumerate(steps):
            name = f"{index}{k}"
            self.line(indent, f"{name} = {start} + {step}")
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
                f"quotient(larger({self.width} - {self.extents[1]} + {before} + {stride}, 0), {stride})")

    def tap_rows(self, indent: int, vertical: list[tuple[str, str]]) -> list[tuple[str, int, int]]:
        """Lines that find the first tap of window j in each row; returns (row, pixels behind it, number) for every tap."""
        start = self.start("j", 1)
        for a, (row, _) in enumerate(vertical):
            self.line(indent, f"row{a} = ((n * {self.height} + {row}) * {self.width} + {start}) * {self.channels}")
        return [(f"row{a}", b * self.dilations[1], a * self.taps[1] + b) for a in range(len(vertical)) for b in range(self.taps[1])]

    def ask_for_next_row(self, indent: int, start: str) -> None:
        """Lines that ask memory for the pixels from `start` on, as many as TOGETHER windows have: the row of windows after this one
        is the first to read them.  A processor sees too many streams in the taps of windows to guess which of them goes on."""
        line = LINE // self.node.inputs[0].dtype.size
        self.line(indent, f"for ahead in range(0, {TOGETHER} * {self.channels}, {line}):")
        self.line(indent + 1, f"{self.named(Fetch(self.code))}(x0, {start} + ahead)")

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


def _fits(size: sizes.Dim, output: sizes.Dim, stride: int, extent: int, before: sizes.Dim) -> bool:
    """Whether every window surely lies inside."""
    numbers = (size, output, before)
    return not any(isinstance(d, sizes.Size) for d in numbers) and before == 0 and (output - 1) * stride + extent <= size


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
