"""Convolutions over images [batch, height, width, channels] and their gradients, as loops around register tiles.

A row of output pixels is a product: for every tap of the filter, input pixels that lie a constant step apart times the
filter's matrix of that tap.  So nothing is copied into columns; the filter stays in the second-level cache and the sums
in registers.  A filter comes in blocks of its columns, [blocks, kh, kw, in, columns]; one that is too large for the cache
meets the pixels one block after the other.  Items (rows of pixels and blocks, chunks of the batch) depend on sizes alone, so
results are the same for any number of threads.

Sizes are arguments even where they are known: only which tiles there are, strides of columns and whether taps lie together make
a kernel another, so that layers of a network share them.
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

    def size(self, hint: str, value: sizes.Dim) -> str:
        """The name of a size argument of its own, which no buffer has."""
        return self.given(f"{hint}_{len(self.sizes)}", value)

    def items(self, rows: str, blocks: str) -> None:
        """The head of the loop over items: row i of image n, and which of so many blocks of columns, if there are several."""
        self.line(1, "for q in range(begin, end):")
        self.lines_at(2, self.place("q", rows, blocks))

    def place(self, item: str, rows: str, blocks: str) -> list[str]:
        """Lines that find the image `n`, its row `i` and the `block` of columns of an item."""
        lines = [f"n = quotient({item}, {rows})", f"i = {item} - n * {rows}"]
        if blocks:
            lines += ["block = n", f"n = quotient(n, {blocks})", f"block -= n * {blocks}"]
        return lines

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
            column = self.size("at", at) if at else "0"
            inside = indent
            if one and len(blocks) > 1:
                self.line(indent, "else:" if before else f"if block < {self.size('blocks', count)}:")
                inside += 1
            if one and count > 1:
                self.line(inside, f"c = {self.size('at', at - before * step)} + block * {step}")
                column = "c"
            elif count > 1:
                self.line(inside, f"for c in range({column}, {self.size('to', at + count * step)}, {step}):")
                column, inside = "c", inside + 1
            for first, limit, tall in self._row_runs(rows, r):
                tile = Tile(self.code, lane_count(self.code), tall, v, self.depth, add, rest, self.rare)
                self.line(inside, f"for r in range({first}, {limit}, {tall}):")
                self.line(inside + 1, write(self.named(tile), "r", column))
            at, before = at + count * step, before + count

    def _row_runs(self, rows: int | str, tall: int) -> list[tuple[str, str, int]]:
        """(first, limit, tile rows) for runs of tiles that cover `rows`, a number or the name of one."""
        if isinstance(rows, str):
            return [("0", f"{rows} - {tall - 1}", tall), (f"quotient({rows}, {tall}) * {tall}", rows, 1)]
        whole = rows // tall * tall
        runs, between = [], "0"
        if whole:
            between = self.size("whole", whole)
            runs.append(("0", between, tall))
        return runs + ([(between, self.size("all", rows), rows - whole)] if rows > whole else [])

    def cut(self, rows: int | str, columns: int) -> Cuts:
        """How results are cut into tiles, see `tile.cut`."""
        return cut(self.code, None if isinstance(rows, str) else rows, columns)


def _block_count(cuts: Cuts) -> int:
    return sum(count for _, _, count in cuts)


def emit_forward(node: Node) -> Kernel:
    """y[n, i, j, :] = sum of x[n, i * stride + a * gap, ...] @ w[a, b]; x is padded already."""
    x, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    _, kh, kw, channels, columns = w.shape
    _, oh, ow, out = node.out.shape
    text = TileText(node, "convolve", 2 if dw == 1 else 3)
    size = text.size
    rows, pixels, channel = text.given("rows", oh), text.given("pixels", ow), size("out", out)
    line = x.shape[2] * channels
    loops = f"{size('taps', kh)}, {size('x', dh * line)}, {size('w', kw * channels * columns)}"
    if dw > 1:
        loops += f", {size('taps', kw)}, {size('x', dw * channels)}, {size('w', channels * columns)}"
    loops += f", {size('terms', channels if dw > 1 else kw * channels)}, 1, {size('columns', columns)}"
    step = size("step", sw * channels)
    count = pixels if isinstance(ow, sizes.Size) else ow
    blocks = _Blocks(text, w, count)

    def call(tile: str, row: str, column: str) -> str:
        in_filter, in_pixel = blocks.places(column)
        return (f"{tile}(x0, x_row + {row} * {step}, {step}, x1, {in_filter}, "
                f"y0, y_row + {row} * {channel} + {in_pixel}, {channel}, {loops})")

    text.items(rows, blocks.number)
    text.lines_at(2, [f"x_row = n * {size('image', x.shape[1] * line)} + i * {size('line', sh * line)}",
                      f"y_row = (n * {rows} + i) * {pixels} * {channel}"])
    text.tiles(2, count, columns, call, cuts=blocks.cuts)
    work = ow * -(-out // blocks.count) * (kh * kw * channels)
    kernel = text.kernel([x, w], node.out.shape[0] * blocks.count * oh, (0.02, work))
    kernel.region = _region(text, blocks, rows, pixels)
    return kernel


def _region(text: TileText, blocks: _Blocks, rows: str, pixels: str) -> Region:
    """Which part of the result an item makes: a row of pixels, of some of its columns if there are several blocks."""
    lines = text.place("item", rows, blocks.number)
    if blocks.count > 1:
        lines += blocks.region()
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
        self.in_filter, self.in_pixel = (
            text.size("block", step) for step in (sizes.product(rest) * self.columns, self.columns)) if self.given > 1 else ("", "")
        self.cuts = None if self.given > 1 or _stays(w.shape, w.dtype) else text.cut(pixels, self.columns)
        self.count = self.given if self.cuts is None else _block_count(self.cuts)
        self.number = text.size("blocks", self.count) if self.count > 1 else ""
        self.text, self.lanes = text, lane_count(text.code)

    def region(self) -> list[str]:
        """Lines that say which columns the item with `block` makes: from `left` to before `right`."""
        if self.given > 1:
            return [f"left = block * {self.in_pixel}", f"right = left + {self.in_pixel}"]
        lines, at, before, columns = [], 0, 0, self.text.size("columns", self.columns)
        for _, vectors, count in self.cuts or ():
            step = vectors * self.lanes
            left = self.text.size("at", at - before * step)
            found = [f"left = {left} + block * {step}", f"right = smaller(left + {step}, {columns})"]
            lines += [f"if block >= {self.text.size('blocks', before)}:", *("    " + line for line in found)] if before else found
            at, before = at + count * step, before + count
        return lines

    def places(self, column: str) -> tuple[str, str]:
        """Where a column lies in the filter's first row, and in a pixel of the result."""
        if self.given == 1:
            return column, column
        return f"block * {self.in_filter} + {column}", f"block * {self.in_pixel} + {column}"


def emit_input_gradient(node: Node) -> Kernel:
    """The gradient for the input: x[n, p, ...] = sum over taps a with p + before = i * stride + a * gap of
    dy[n, i, ...] @ w[a, b].T; dy is padded, w has its last two axes exchanged: [blocks, kh, kw, out, columns]."""
    dy, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    before, (above, beside) = node.attrs["before"], node.attrs["margin"]
    _, kh, kw, out, columns = w.shape
    _, h, wide, channels = node.out.shape
    text = TileText(node, "convolve_input", 3)
    size = text.size
    rows, pixels, channel = text.given("rows", h), text.given("pixels", wide), size("channels", channels)
    top, left = text.given("top", before[0]), text.given("left", before[1])
    step, row_step, terms, line = size("step", sw * channels), size("down", sh), size("terms", out), dy.shape[2] * out
    image, line_step, back, after = (size(*given) for given in (
        ("image", dy.shape[1] * line), ("line", line), ("x", -dh * line), ("w", sh * kw * out * columns)))
    tap_step, margin, tap = size("w", sw * out * columns), size("margin", above * line), size("tap", kw * out * columns)
    across, in_column = size("x", -dw * out), size("columns", columns)
    blocks = _Blocks(text, w, pixels if isinstance(wide, sizes.Size) else -(-wide // sw))
    text.items(rows, blocks.number)
    place = [f"p = quotient(i + {top}, {row_step})", f"a = i + {top} - p * {row_step}",
             f"taps = quotient({size('taps', kh + sh - 1)} - a, {row_step})"]
    for phase in range(sw):
        count_w = -(-(kw - phase) // sw) if kw > phase else 0
        # pixels j of this phase: (j + left) % sw == phase, beginning with `first`
        if not isinstance(before[1], sizes.Size) and not isinstance(wide, sizes.Size):
            begin = (phase - int(before[1])) % sw
            count: Any = max(-(-(int(wide) - begin) // sw), 0)
            if count == 0:
                continue
            first, column = size("first", begin), size("column", (begin + int(before[1])) // sw + beside)
        else:
            first, count, column = "first", "count", "column"
            text.line(2, f"first = ({phase} - {left}) % {sw}")
            text.line(2, f"count = quotient({pixels} - first + {sw - 1}, {sw})")
            text.line(2, f"column = quotient(first + {left}, {sw}) + {size('beside', beside)}")
        row = [*place, f"y_row = ((n * {rows} + i) * {pixels} + {first}) * {channel}",
               f"x_row = n * {image} + p * {line_step} + {margin} + {column} * {terms}"]
        text.lines_at(2, row)
        if not count_w:
            _zero_pixels(text, 2, count, step, channel, blocks)
            continue
        loops = f"taps, {back}, {after}, {size('taps', count_w)}, {across}, {tap_step}, {terms}, 1, {in_column}"
        tap_at = size("tap", phase * out * columns)

        def call(tile: str, row: str, column: str, tap_at: str = tap_at, loops: str = loops) -> str:
            in_filter, in_pixel = blocks.places(column)
            return (f"{tile}(x0, x_row + {row} * {terms}, {terms}, x1, a * {tap} + {tap_at} + {in_filter}, "
                    f"y0, y_row + {row} * {step} + {in_pixel}, {step}, {loops})")

        if sh > kh:         # rows that no tap reaches
            text.line(2, "if taps < 1:")
            _zero_pixels(text, 3, count, step, channel, blocks)
            text.line(2, "else:")
        text.tiles(2 + (sh > kh), count, columns, call, cuts=blocks.cuts)
    work = wide * -(-channels // blocks.count) * (-(-kh // sh) * -(-kw // sw) * out)
    kernel = text.kernel([dy, w], node.out.shape[0] * blocks.count * h, (0.02, work))
    if sh <= kh and sw <= kw or blocks.count == 1:      # else the first block's item makes zeros in all columns
        kernel.region = _region(text, blocks, rows, pixels)
    return kernel


def _zero_pixels(text: TileText, indent: int, count: int | str, step: str, channels: str, blocks: _Blocks) -> None:
    """Pixels that nothing is added up for: zeros in all channels, from the item with the first block."""
    if blocks.count > 1:
        text.line(indent, "if block < 1:")
        indent += 1
    text.line(indent, f"for r in range({count if isinstance(count, str) else text.size('all', count)}):")
    text.line(indent + 1, f"for c in range({channels}):")
    text.line(indent + 2, f"y0[y_row + r * {step} + c] = {text.code}(0)")


def emit_filter_gradient(node: Node) -> Kernel:
    """Partial gradients for the filter: part[chunk, a, b, :, :] = sum over the chunk's images and pixels of
    x[n, i * stride + a * gap, ..., :].T @ dy[n, i, j, :]; x is padded already."""
    x, dy = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    chunks, kh, kw, channels, out = node.out.shape
    batch, oh, ow, _ = dy.shape
    text = TileText(node, "convolve_filter", 2)
    size, line = text.size, x.shape[2] * channels
    runs, length = (1, kw * channels) if dw == 1 else (kw, channels)       # what lies together in x and in the filter
    items = chunks * kh
    splits = max(d for d in range(1, max(ITEMS // items, 1) + 1) if length % d == 0)
    rows, images, columns, dy_row = text.given("rows", oh), text.given("images", batch), size("out", out), size("w", ow * out)
    parts, chunk, taps, image = (size(*given) for given in (
        ("parts", splits), ("chunks", chunks), ("taps", kh), ("image", x.shape[1] * line)))
    filled = size("part", length // splits * out)
    text.line(1, "for q in range(begin, end):")
    text.lines_at(2, [f"part = quotient(q, {parts})", f"chunk = quotient(part, {taps})", f"a = part - chunk * {taps}",
                      f"at = (q - part * {parts}) * {size('terms', length // splits)}",
                      f"part = (part * {size('tap', kw * channels)} + at) * {columns}"])
    run_in_filter = [size("run", run * channels * out) for run in range(runs)]
    for start in run_in_filter:
        text.line(2, f"for k in range({filled}):")
        text.line(3, f"y0[part + {start} + k] = {text.code}(0)")
    text.line(2, f"band = quotient({BAND_BYTES // node.out.dtype.size}, {size('read', sh * line + ow * out)}) + 1")
    text.line(2, f"for n in range(quotient(chunk * {images}, {chunk}), quotient((chunk + 1) * {images}, {chunk})):")
    text.line(3, f"for i in range(0, {rows}, band):")
    down = size("down", sh * line)
    text.lines_at(4, [f"count = smaller(band, {rows} - i)", f"w_at = (n * {rows} + i) * {dy_row}",
                      f"x_at = n * {image} + a * {size('x', dh * line)} + i * {down} + at"])
    loops = f"count, {down}, {dy_row}, {size('pixels', ow)}, {size('x', sw * channels)}, {columns}"
    for run, start in enumerate(run_in_filter):
        in_image = size("run", run * dw * channels)

        def call(tile: str, row: str, column: str, start: str = start, in_image: str = in_image) -> str:
            return (f"{tile}(x0, x_at + {in_image} + {row}, 1, x1, w_at + {column}, "
                    f"y0, part + {start} + {row} * {columns} + {column}, {columns}, {loops})")

        text.tiles(4, length // splits, out, call, add=True)
    per_chunk = (batch + chunks - 1) // chunks
    return text.kernel([x, dy], items * splits, (0.02, per_chunk * oh * ow * (runs * length // splits * out)))
