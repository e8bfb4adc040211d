"""Convolutions by Winograd's minimal filtering, see `compiler.winograd`: a few tiles after the other are transformed into
scratch arrays, multiplied in register tiles and transformed back, all in the cache.

Items depend on sizes alone, so results are the same for any number of threads.  Where a result is infinite or NaN, the
item is done once more, term by term, since only then do infinities and NaN stay where they belong.  The text depends on
the filter's rows and columns but hardly on anything else, so that most layers of a network share a kernel.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import sizes, winograd
from ..ir import Node, Value
from ..kernel import WIDTH, Kernel
from .convolve import TileText
from .winograd_code import Transformation
from .words import Scratch

SIZE, PRODUCTS = winograd.SIZE, winograd.SIZE ** 2
# The scratch arrays of an item stay in the second-level cache, and on the stack.
TILES, PIXEL_BYTES = 14, 1 << 19        # tiles that are transformed before they are multiplied, and bytes they may take
FEW_ITEMS = 8
BLOCK_BYTES = 256       # of output channels that are multiplied before they are transformed back
IN = 32                 # input channels of a block of a filter's gradient
TERMS = 28              # tiles over which it is summed before the products are touched again


def _widest(channels: int, most: int) -> int:
    """The largest divisor up to `most` of a number of channels that fills vectors."""
    return max(width for width in range(winograd.CHANNELS, most + 1, winograd.CHANNELS) if channels % width == 0)


def _even(total: int, most: int) -> int:
    """Tiles of an item, at most `most`: where there are few items, an even number of them, all of about the same size."""
    if total > FEW_ITEMS * most:
        return most
    items = 2 * -(-total // (2 * most))
    return max(-(-total // items), 1) if items else most


def panel(out: int, code: str) -> int:
    """How many output channels a register tile has: of a transformed filter, those lie by themselves."""
    block = _widest(out, BLOCK_BYTES // WIDTH[code])
    return min(block & -block, 32)


class _Text(TileText):
    """The text of a kernel over tiles that are numbered image by image and row by row.

    `down`, `across`: rows and columns of results in a tile."""

    def __init__(self, node: Node, name: str, x: Value, y: Value, shape: Sequence[Any]):
        super().__init__(node, name, 1)
        self.kh, self.kw, channels, out = shape
        self.down, self.across = (SIZE + 1 - taps for taps in (self.kh, self.kw))
        batch, high, wide, _ = y.shape
        self.per_image = high // self.down * (wide // self.across)
        self.tiles_in_all = batch * self.per_image
        self.most_out = BLOCK_BYTES // WIDTH[self.code]
        self.block = _widest(out, self.most_out)
        self.unit = panel(out, self.code)
        for name, value in (("total", self.tiles_in_all), ("each", self.per_image), ("columns", wide // self.across),
                            ("high", x.shape[1]), ("channels", channels), ("out", out),
                            ("block", self.block), ("x_row", x.shape[2] * channels), ("y_row", wide * out)):
            self.given(name, value)

    def position(self, indent: int, number: str) -> None:
        """Lines that find a tile by its number: x_at and y_at, where its images and its results begin."""
        self.lines_at(indent, self.position_lines(number))

    def position_lines(self, number: str) -> list[str]:
        return [f"n = quotient({number}, each)", f"rest = {number} - n * each", "i = quotient(rest, columns)",
                "j = rest - i * columns", f"x_at = (n * high + i * {self.down}) * x_row + j * {self.across} * channels",
                f"y_at = (n * quotient(each, columns) + i) * {self.down} * y_row + j * {self.across} * out"]

    def transform(self, indent: int, kind: str, down: int, across: int, source: str, target: str, channels: int | str) -> None:
        """A tile's transformation, which may find something `wrong`: infinite or not a number."""
        found = "wrong += " if kind == "result" else ""
        form = self.named(Transformation(kind, self.code, down, across))
        self.line(indent, f"{found}{form}({source}, {target}, {channels})")

    def multiply(self, indent: int, rows: int, columns: str, write: Callable[[str, str, str], str], add: bool = False) -> None:
        """All products, by register tiles; write(tile, first row, first column) is the call for product p."""
        self.line(indent, f"for p in range({PRODUCTS}):")
        self.line(indent + 1, f"for u in range(0, {columns}, {self.unit}):")
        self.tiles(indent + 2, rows, self.unit, write, add)


def emit_forward(node: Node) -> Kernel:
    """Inputs: framed images, the transformed filter [36, panels, in, out of a panel], the filter; see `winograd.convolve`."""
    x, _, w = node.inputs
    text = _Text(node, "winograd", x, node.out, w.shape)
    kh, kw, channels, out = w.shape
    most = PIXEL_BYTES // (PRODUCTS * WIDTH[text.code])
    tiles = _even(sizes.hint_of(text.tiles_in_all), min(TILES, most // channels))
    _give_taps(text, node, w.shape)
    text.line(1, f"pixels = {text.named(Scratch(text.code, PRODUCTS * most))}()")
    text.line(1, f"products = {text.named(Scratch(text.code, PRODUCTS * TILES * text.most_out))}()")
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [f"first = q * {tiles}", f"count = smaller({tiles}, total - first)", "wrong = 0"])
    text.line(2, "for t in range(count):")
    text.position(3, "(first + t)")
    text.transform(3, "pixels", SIZE, SIZE, "x0, x_at, x_row, channels",
                   f"pixels, t * channels, {SIZE * tiles} * channels, {tiles} * channels", "channels")
    text.line(2, "for b in range(0, out, block):")
    text.multiply(3, tiles, "block", lambda tile, row, column: (
        f"{tile}(pixels, (p * {tiles} + {row}) * channels, channels, x1, (p * out + b + u) * channels + {column}, "
        f"products, (p * {tiles} + {row}) * block + u + {column}, block, channels, 1, {text.unit})"))
    text.line(3, "for t in range(count):")
    text.position(4, "(first + t)")
    text.transform(4, "result", text.down, text.across, f"products, t * block, {SIZE * tiles} * block, {tiles} * block",
                   "y0, y_at + b, y_row, out", "block")
    text.line(2, "if wrong > 0:")
    text.line(3, "for t in range(count):")
    text.position(4, "(first + t)")
    text.line(4, f"for i in range({text.down}):")
    text.line(5, f"for u in range(0, out, {text.unit}):")
    text.depth, text.rare = 3, True
    text.tiles(6, text.across, text.unit, lambda tile, row, column: (
        f"{tile}(x0, x_at + i * x_row + {row} * channels, channels, x2, first_tap + u + {column}, "
        f"y0, y_at + i * y_row + {row} * out + u + {column}, out, {kh}, x_row, {kw} * tap, {kw}, channels, tap, "
        f"channels, 1, out)"))
    items = (text.tiles_in_all + tiles - 1) // tiles
    kernel = text.kernel(list(node.inputs), items, (0.02, tiles * PRODUCTS * channels * out))
    kernel.region = text.region(
        f"start = item * {tiles}", f"for t in range(smaller({tiles}, total - start)):",
        *((1, line) for line in text.position_lines("(start + t)")), (1, f"for a in range({text.down}):"),
        (2, "first = quotient(y_at + a * y_row, out)"), (2, f"count = {text.across}"), depth=2)
    return kernel


def emit_weights(node: Node) -> Kernel:
    """Input: a filter; an item is some input channels of a panel, whose products lie one after the other."""
    (w,) = node.inputs
    kh, kw, channels, out = w.shape
    unit = node.out.shape[-1]
    text = TileText(node, "winograd_weights", 1)
    _give_taps(text, node, w.shape)
    for name, value in (("out", out), ("channels", channels), ("parts", channels // winograd.CHANNELS)):
        text.given(name, value)
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, ["u = quotient(q, parts)", f"first = (q - u * parts) * {winograd.CHANNELS}", f"u = u * {unit}"])
    text.line(2, f"for c in range(first, first + {winograd.CHANNELS}):")
    text.line(3, f"{text.named(Transformation('weights', text.code, kh, kw))}(x0, first_tap + c * out + u, {kw} * tap, tap, "
                 f"y0, u * channels + c * {unit}, {SIZE} * channels * out, channels * out, {unit})")
    return text.kernel([w], channels // winograd.CHANNELS * (out // unit), (0.5, PRODUCTS * winograd.CHANNELS * unit))


def _give_taps(text: TileText, node: Node, shape: Sequence[Any]) -> None:
    """The sizes first_tap, where the filter's first tap begins, and tap, the step to the next; flipped, from its last back."""
    kh, kw, channels, out = shape
    flipped = node.attrs["flipped"]
    text.given("first_tap", (kh * kw - 1) * channels * out if flipped else 0)
    text.given("tap", -channels * out if flipped else channels * out)


def emit_filter_gradient(node: Node) -> Kernel:
    """Inputs: framed images and gradients of results; see `winograd.convolve_filter`."""
    x, dy = node.inputs
    chunks, *shape = node.out.shape
    text = _Text(node, "winograd_filter", x, dy, shape)
    kh, kw, channels, out = shape
    inner = _widest(channels, IN)
    blocks = channels // inner * (out // text.block)
    for name, value in (("chunks", chunks), ("blocks", blocks), ("across", out // text.block), ("tap", channels * out)):
        text.given(name, value)
    for name, count in (("pixels", TERMS * inner), ("weights", TERMS * text.most_out), ("products", inner * text.most_out)):
        text.line(1, f"{name} = {text.named(Scratch(text.code, PRODUCTS * count))}()")
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [
        "chunk = quotient(q, blocks)", "down = quotient(q - chunk * blocks, across)", f"first_in = down * {inner}",
        "first_out = (q - chunk * blocks - down * across) * block", "first = quotient(chunk * total, chunks)",
        "last = quotient((chunk + 1) * total, chunks)", f"part = chunk * {kh * kw} * tap + first_in * out + first_out",
        "wrong = 0"])
    text.line(2, f"for k in range({PRODUCTS * inner} * block):")
    text.line(3, f"products[k] = {text.code}(0)")
    text.line(2, f"for s in range(first, last, {TERMS}):")
    text.line(3, f"count = smaller({TERMS}, last - s)")
    text.line(3, "for t in range(count):")
    text.position(4, "(s + t)")
    text.transform(4, "pixels", SIZE, SIZE, "x0, x_at + first_in, x_row, channels",
                   f"pixels, t * {inner}, {SIZE * TERMS * inner}, {TERMS * inner}", inner)
    text.transform(4, "weights", text.down, text.across, "x1, y_at + first_out, y_row, out",
                   f"weights, t * block, {SIZE * TERMS} * block, {TERMS} * block", "block")
    text.multiply(3, inner, "block", lambda tile, row, column: (
        f"{tile}(pixels, p * {TERMS * inner} + {row}, 1, weights, p * {TERMS} * block + u + {column}, "
        f"products, (p * {inner} + {row}) * block + u + {column}, block, count, {inner}, block)"), add=True)
    text.line(2, f"for k in range({inner}):")
    text.transform(3, "result", kh, kw, f"products, k * block, {SIZE * inner} * block, {inner} * block",
                   f"y0, part + k * out, {kw} * tap, tap", "block")
    text.line(2, "if wrong > 0:")
    text.line(3, f"for a in range({kh * kw}):")
    text.line(4, f"for k in range({inner}):")
    text.line(5, "for m in range(block):")
    text.line(6, f"y0[part + a * tap + k * out + m] = {text.code}(0)")
    text.line(4, "for t in range(first, last):")
    text.position(5, "t")
    text.line(5, f"x_at += quotient(a, {kw}) * x_row + (a - quotient(a, {kw}) * {kw}) * channels + first_in")
    text.line(5, f"for u in range(0, block, {text.unit}):")
    text.depth, text.rare = 2, True
    text.tiles(6, inner, text.unit, lambda tile, row, column: (
        f"{tile}(x0, x_at + {row}, 1, x1, y_at + first_out + u + {column}, y0, part + a * tap + {row} * out + u + {column}, "
        f"out, {text.down}, x_row, y_row, {text.across}, channels, out)"), add=True)
    per_chunk = (text.tiles_in_all + chunks - 1) // chunks
    return text.kernel([x, dy], chunks * blocks, (0.02, per_chunk * (PRODUCTS * inner * text.block)))
