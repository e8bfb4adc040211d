"""Convolutions over images [batch, height, width, channels] and their gradients, as loops around register tiles.

A row of output pixels is a product: for every tap of the filter, input pixels that lie a constant step apart times the
filter's matrix of that tap.  So nothing is copied into columns; the filter stays in the second-level cache and the sums
in registers.  A filter comes in blocks of its columns, [blocks, kh, kw, in, columns]; one that is too large for the cache
meets the pixels one block after the other.  Items (rows of pixels and blocks, chunks of the batch) depend on sizes alone, so
results are the same for any number of threads.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import sizes
from ..ir import Node, Value
from ..kernel import CODES, Kernel, Region
from .kernel_text import KernelText
from .tile import Tile, cut
from .vectors import lane_count

if TYPE_CHECKING:
    from jitgraph.graph.dtypes import DType

Cuts = list[tuple[int, int, int]]       # see `tile.cut`
RESIDENT_BYTES = 1 << 18        # filters up to this size stay in the cache while rows go by
BAND_BYTES = 1 << 18            # of images and gradients that are added to a filter's gradient before the next: they stay, too
ITEMS = 16                      # fewer than this: the gradient of a row of taps is cut
LONG_BYTES = 512                # rows of a larger filter from which its columns should lie in blocks


class TileText(KernelText):
    """The text of a kernel around tiles that are `depth` loops deep, and `rare` if they are hardly ever computed."""

    def __init__(self, node: Node, name: str, depth: int):
        super().__init__(node, name)
        self.depth, self.rare = depth, False

    def items(self, rows: str, blocks: int) -> None:
        """The head of the loop over items: row i of image n, and which of so many blocks of columns."""
        self.line(1, "for q in range(begin, end):")
        self.lines_at(2, [f"n = quotient(q, {rows})", f"i = q - n * {rows}"])
        if blocks > 1:
            self.lines_at(2, ["block = n", f"n = quotient(n, {blocks})", f"block -= n * {blocks}"])

    def tiles(self, indent: int, rows: int | str, columns: int, write: Callable[[str, str, str], str], add: bool = False,
              cuts: Cuts | None = None) -> None:
        """Loops over all tiles of `rows` x `columns` results; write(the tile's name, first row, first column) is the call.

        Rows that are known are cut evenly; others end in tiles of one row.  `cuts`: how columns are cut into the blocks of
        which an item has one; without it, all of them are run through.
        """
        one = cuts is not None and _block_count(cuts) > 1
        at, before, blocks = 0, 0, cuts or self.cut(rows, columns)
        for r, v, count in blocks:
            rest = columns % lane_count(self.code) if at + count * v * lane_count(self.code) > columns else 0
            step = v * lane_count(self.code)
            column = str(at)
            inside = indent
            if one and len(blocks) > 1:
                self.line(indent, "else:" if before else f"if block < {count}:")
                inside += 1
            if one and count > 1:
                self.line(inside, f"c = {at} + (block - {before}) * {step}")
                column = "c"
            elif count > 1:
                self.line(inside, f"for c in range({at}, {at + count * step}, {step}):")
                column, inside = "c", inside + 1
            for first, limit, tall in _row_runs(rows, r):
                tile = Tile(self.code, lane_count(self.code), tall, v, self.depth, add, rest, self.rare)
                self.line(inside, f"for r in range({first}, {limit}, {tall}):")
                self.line(inside + 1, write(self.named(tile), "r", column))
            at, before = at + count * step, before + count

    def cut(self, rows: int | str, columns: int) -> Cuts:
        """How results are cut into tiles, see `tile.cut`."""
        return cut(self.code, None if isinstance(rows, str) else rows, columns)


def _block_count(cuts: Cuts) -> int:
    return sum(count for _, _, count in cuts)


def _row_runs(rows: int | str, tall: int) -> list[tuple[str, str, int]]:
    """(first, limit, tile rows) for runs of tiles that cover `rows`, a number or the name of one."""
    if isinstance(rows, str):
        return [("0", f"{rows} - {tall - 1}", tall), (f"quotient({rows}, {tall}) * {tall}", rows, 1)]
    whole = rows // tall * tall
    runs = [("0", str(whole), tall)] if whole else []
    return runs + ([(str(whole), str(rows), rows - whole)] if rows > whole else [])


def emit_forward(node: Node) -> Kernel:
    """y[n, i, j, :] = sum of x[n, i * stride + a * gap, ...] @ w[a, b]; x is padded already."""
    x, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    _, kh, kw, channels, columns = w.shape
    _, oh, ow, out = node.out.shape
    text = TileText(node, "convolve", 2 if dw == 1 else 3)
    height, width = text.slot("height", x.shape[1]), text.slot("width", x.shape[2])
    rows, pixels = text.slot("rows", oh), text.slot("pixels", ow)
    loops = f"{kh}, {dh} * {width} * {channels}, {kw * channels * columns}"
    loops += f", {kw * channels}, 1, {columns}" if dw == 1 else \
        f", {kw}, {dw * channels}, {channels * columns}, {channels}, 1, {columns}"
    count = pixels if isinstance(ow, sizes.Size) else ow
    blocks = _Blocks(text, w, count)

    def call(tile: str, row: str, column: str) -> str:
        in_filter, in_pixel = blocks.places(column)
        return (f"{tile}(x0, x_row + {row} * {sw * channels}, {sw * channels}, x1, {in_filter}, "
                f"y0, y_row + {row} * {out} + {in_pixel}, {out}, {loops})")

    text.items(rows, blocks.count)
    text.lines_at(2, [f"x_row = (n * {height} + i * {sh}) * {width} * {channels}", f"y_row = (n * {rows} + i) * {pixels} * {out}"])
    text.tiles(2, count, columns, call, cuts=blocks.cuts)
    work = ow * -(-out // blocks.count) * (kh * kw * channels)
    kernel = text.kernel([x, w], node.out.shape[0] * blocks.count * oh, (0.02, work))
    kernel.region = _region(text, blocks, rows, pixels)
    return kernel


def _region(text: TileText, blocks: _Blocks, rows: str, pixels: str) -> Region:
    """Which part of the result an item makes: a row of pixels, of some of its columns if there are several blocks."""
    lines = [f"n = quotient(item, {rows})", f"i = item - n * {rows}"]
    if blocks.count > 1:
        lines += ["block = n", f"n = quotient(n, {blocks.count})", f"block -= n * {blocks.count}", *blocks.region()]
    lines += [f"first = (n * {rows} + i) * {pixels}", f"count = {pixels}"]
    return text.region(*lines, whole=blocks.count == 1)


def filter_columns(dtype: DType, pixels: sizes.Dim, shape: Sequence[int]) -> int:
    """How many columns of a filter of `shape` should lie by themselves for rows of so many pixels, all of them if none: where
    the rows of a large filter are long, a tile would read a little of each, and every other from another page."""
    out, code = shape[-1], CODES[dtype.name]
    lanes = lane_count(code)
    if out * dtype.size < LONG_BYTES or _stays(shape, dtype):
        return out
    vectors = cut(code, None if isinstance(pixels, sizes.Size) else pixels, out, even=True)[0][1]
    return vectors * lanes if out % (vectors * lanes) == 0 else out


def _stays(shape: Sequence[int], dtype: DType) -> bool:
    """Whether a filter stays in the cache while rows of pixels go by."""
    return sizes.product(shape) * dtype.size <= RESIDENT_BYTES


class _Blocks:
    """The blocks of a filter's columns, of which an item has one: those in which it comes, or those of the tiles.

    A filter that stays in the cache meets row after row of pixels as a whole."""

    def __init__(self, text: TileText, w: Value, pixels: int | str):
        self.given, *rest, self.columns = w.shape
        self.size = sizes.product(rest) * self.columns
        self.cuts = None if self.given > 1 or _stays(w.shape, w.dtype) else text.cut(pixels, self.columns)
        self.count = self.given if self.cuts is None else _block_count(self.cuts)
        self.lanes = lane_count(text.code)

    def region(self) -> list[str]:
        """Lines that say which columns the item with `block` makes: from `left` to before `right`."""
        if self.given > 1:
            return [f"left = block * {self.columns}", f"right = left + {self.columns}"]
        lines, at, before = [], 0, 0
        for _, vectors, count in self.cuts or ():
            step = vectors * self.lanes
            found = [f"left = {at} + (block - {before}) * {step}", f"right = smaller(left + {step}, {self.columns})"]
            lines += [f"if block >= {before}:", *("    " + line for line in found)] if before else found
            at, before = at + count * step, before + count
        return lines

    def places(self, column: str) -> tuple[str, str]:
        """Where a column lies in the filter's first row, and in a pixel of the result."""
        if self.given == 1:
            return column, column
        return f"block * {self.size} + {column}", f"block * {self.columns} + {column}"


def emit_input_gradient(node: Node) -> Kernel:
    """The gradient for the input: x[n, p, ...] = sum over taps a with p + before = i * stride + a * gap of
    dy[n, i, ...] @ w[a, b].T; dy is padded, w has its last two axes exchanged: [blocks, kh, kw, out, columns]."""
    dy, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    before, (above, beside) = node.attrs["before"], node.attrs["margin"]
    _, kh, kw, out, columns = w.shape
    _, h, wide, channels = node.out.shape
    text = TileText(node, "convolve_input", 3)
    height, width = text.slot("height", dy.shape[1]), text.slot("width", dy.shape[2])
    rows, pixels = text.slot("rows", h), text.slot("pixels", wide)
    top, left = text.slot("top", before[0]), text.slot("left", before[1])
    blocks = _Blocks(text, w, pixels if isinstance(wide, sizes.Size) else -(-wide // sw))
    text.items(rows, blocks.count)
    taps = kh if sh == 1 else f"quotient({kh + sh - 1} - a, {sh})"
    place = [f"p = quotient(i + {top}, {sh})", f"a = i + {top} - p * {sh}", f"taps = {taps}"]
    for phase in range(sw):
        count_w = -(-(kw - phase) // sw) if kw > phase else 0
        # pixels j of this phase: (j + left) % sw == phase, beginning with `first`
        if not isinstance(before[1], sizes.Size) and not isinstance(wide, sizes.Size):
            first = (phase - int(before[1])) % sw
            count: Any = max(-(-(int(wide) - first) // sw), 0)
            column = (first + int(before[1])) // sw
        else:
            text.line(2, f"first = ({phase} - {left}) % {sw}")
            text.line(2, f"count = quotient({pixels} - first + {sw - 1}, {sw})")
            text.line(2, f"column = quotient(first + {left}, {sw})")
            first, count, column = "first", "count", "column"
        if count == 0:
            continue
        row = [*place, f"y_row = ((n * {rows} + i) * {pixels} + {first}) * {channels}",
               f"x_row = ((n * {height} + p + {above}) * {width} + {column} + {beside}) * {out}"]
        text.lines_at(2, row)
        if not count_w:
            _zero_pixels(text, 2, count, sw, channels, blocks)
            continue
        loops = (f"taps, -{dh} * {width} * {out}, {sh * kw * out * columns}, {count_w}, {-dw * out}, "
                 f"{sw * out * columns}, {out}, 1, {columns}")

        def call(tile: str, row: str, column: str, phase: int = phase, loops: str = loops) -> str:
            in_filter, in_pixel = blocks.places(column)
            return (f"{tile}(x0, x_row + {row} * {out}, {out}, x1, (a * {kw} + {phase}) * {out * columns} + {in_filter}, "
                    f"y0, y_row + {row} * {sw * channels} + {in_pixel}, {sw * channels}, {loops})")

        if sh > kh:         # rows that no tap reaches
            text.line(2, "if taps < 1:")
            _zero_pixels(text, 3, count, sw, channels, blocks)
            text.line(2, "else:")
        text.tiles(2 + (sh > kh), count, columns, call, cuts=blocks.cuts)
    work = wide * -(-channels // blocks.count) * (-(-kh // sh) * -(-kw // sw) * out)
    kernel = text.kernel([dy, w], node.out.shape[0] * blocks.count * h, (0.02, work))
    if sh <= kh and sw <= kw or blocks.count == 1:      # else the first block's item makes zeros in all columns
        kernel.region = _region(text, blocks, rows, pixels)
    return kernel


def _zero_pixels(text: TileText, indent: int, count: int | str, step: int, channels: int, blocks: _Blocks) -> None:
    """Pixels that nothing is added up for: zeros in all channels, from the item with the first block."""
    if blocks.count > 1:
        text.line(indent, "if block < 1:")
        indent += 1
    text.line(indent, f"for r in range({count}):")
    text.line(indent + 1, f"for c in range({channels}):")
    text.line(indent + 2, f"y0[y_row + r * {step * channels} + c] = {text.code}(0)")


def emit_filter_gradient(node: Node) -> Kernel:
    """Partial gradients for the filter: part[chunk, a, b, :, :] = sum over the chunk's images and pixels of
    x[n, i * stride + a * gap, ..., :].T @ dy[n, i, j, :]; x is padded already."""
    x, dy = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    chunks, kh, kw, channels, out = node.out.shape
    batch, oh, ow, _ = dy.shape
    text = TileText(node, "convolve_filter", 2)
    height, width = text.slot("height", x.shape[1]), text.slot("width", x.shape[2])
    rows, pixels = text.slot("rows", oh), text.slot("pixels", ow)
    images = text.slot("images", batch)
    runs, length = (1, kw * channels) if dw == 1 else (kw, channels)       # what lies together in x and in the filter
    items = chunks * kh
    splits = max(d for d in range(1, max(ITEMS // items, 1) + 1) if length % d == 0)
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [f"part = quotient(q, {splits})", f"chunk = quotient(part, {kh})", f"a = part - chunk * {kh}",
                      f"at = (q - part * {splits}) * {length // splits}", f"part = (part * {kw * channels} + at) * {out}"])
    for run in range(runs):
        text.line(2, f"for k in range({length // splits * out}):")
        text.line(3, f"y0[part + {run * channels * out} + k] = {text.code}(0)")
    text.line(2, f"band = quotient({BAND_BYTES // node.out.dtype.size}, {width} * {channels * sh} + {pixels} * {out}) + 1")
    text.line(2, f"for n in range(quotient(chunk * {images}, {chunks}), quotient((chunk + 1) * {images}, {chunks})):")
    text.line(3, f"for i in range(0, {rows}, band):")
    text.lines_at(4, [f"count = smaller(band, {rows} - i)", f"w_at = (n * {rows} + i) * {pixels} * {out}",
                      f"x_at = (n * {height} + a * {dh} + i * {sh}) * {width} * {channels} + at"])
    loops = f"count, {sh} * {width} * {channels}, {pixels} * {out}, {pixels}, {sw * channels}, {out}"
    for run in range(runs):
        def call(tile: str, row: str, column: str, run: int = run) -> str:
            return (f"{tile}(x0, x_at + {run * dw * channels} + {row}, 1, x1, w_at + {column}, "
                    f"y0, part + ({run * channels} + {row}) * {out} + {column}, {out}, {loops})")

        text.tiles(4, length // splits, out, call, add=True)
    per_chunk = (batch + chunks - 1) // chunks
    return text.kernel([x, dy], items * splits, (0.02, per_chunk * oh * ow * (runs * length // splits * out)))
