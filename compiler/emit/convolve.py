"""Convolutions over images [batch, height, width, channels] and their gradients, as loops around register tiles.

A row of output pixels is a product: for every tap of the filter, input pixels that lie a constant step apart times the
filter's matrix of that tap.  So nothing is copied into columns; the filter stays in the second-level cache and the sums
in registers.  Items (rows of pixels, chunks of the batch) depend on sizes alone, so results are the same for any number
of threads.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import sizes
from ..ir import Node, Value
from ..kernel import Kernel
from ..tuning import CPU
from .kernel_text import KernelText
from .tile import Tile, cut
from .vectors import lane_count

RESIDENT_BYTES = 1 << 18        # filters up to this size stay in the cache while rows go by


class TileText(KernelText):
    """The text of a kernel around tiles that are `depth` loops deep, and `rare` if they are hardly ever computed."""

    def __init__(self, node: Node, name: str, depth: int):
        super().__init__(node, name)
        self.depth, self.rare = depth, False

    def lines_at(self, indent: int, texts: list[str]) -> None:
        """Lines, or where the first of them opens a loop, the loop and its body."""
        for k, text in enumerate(texts):
            self.line(indent + (k > 0 and texts[0].endswith(":")), text)

    def rows(self, resident: bool, rows: str) -> None:
        """The head of the loop over items: row i of image n where the filter is `resident`, else image n."""
        self.line(1, "for q in range(begin, end):")
        self.lines_at(2, [f"n = quotient(q, {rows})", f"i = q - n * {rows}"] if resident else ["n = q"])

    def row_tiles(self, resident: bool, rows: str, count: int | str, columns: int, write: Callable[[str, str, str], str],
                  row: list[str]) -> None:
        """The tiles of one row, which the lines `row` find; for an image, those of all its rows, which meet one block of
        the filter's columns after the other."""
        if resident:
            self.lines_at(2, row)
        self.tiles(2, count, columns, write, each=[] if resident else [f"for i in range({rows}):", *row])

    def tiles(self, indent: int, rows: int | str, columns: int, write: Callable[[str, str, str], str], add: bool = False,
              each: list[str] | None = None) -> None:
        """Loops over all tiles of `rows` x `columns` results; write(the tile's name, first row, first column) is the call.

        Rows that are known are cut evenly; others end in tiles of one row.  `each`: the lines of a loop that runs for
        every block of columns, its head first; without it, there is none.
        """
        known = None if isinstance(rows, str) else rows
        at, blocks = 0, cut(self.code, known, columns)
        for r, v, count in blocks:
            rest = columns % lane_count(self.code) if at + count * v * lane_count(self.code) > columns else 0
            step = v * lane_count(self.code)
            column = str(at)
            inside = indent
            if count > 1:
                self.line(indent, f"for c in range({at}, {at + count * step}, {step}):")
                column, inside = "c", indent + 1
            self.lines_at(inside, each or [])
            inside += bool(each)
            for first, limit, tall in _row_runs(rows, r):
                tile = Tile(self.code, lane_count(self.code), tall, v, self.depth, add, rest, self.rare)
                self.line(inside, f"for r in range({first}, {limit}, {tall}):")
                self.line(inside + 1, write(self.named(tile), "r", column))
            at += count * step


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
    kh, kw, channels, out = w.shape
    _, oh, ow, _ = node.out.shape
    text = TileText(node, "convolve", 2 if dw == 1 else 3)
    height, width = text.slot("height", x.shape[1]), text.slot("width", x.shape[2])
    rows, pixels = text.slot("rows", oh), text.slot("pixels", ow)
    loops = f"{kh}, {dh} * {width} * {channels}, {kw * channels * out}"
    loops += f", {kw * channels}, 1, {out}" if dw == 1 else f", {kw}, {dw * channels}, {channels * out}, {channels}, 1, {out}"

    def call(tile: str, row: str, column: str) -> str:
        return (f"{tile}(x0, x_row + {row} * {sw * channels}, {sw * channels}, x1, {column}, "
                f"y0, y_row + {row} * {out} + {column}, {out}, {loops})")

    resident = _is_resident(w)
    text.rows(resident, rows)
    text.row_tiles(resident, rows, pixels if isinstance(ow, sizes.Size) else ow, out, call, [
        f"x_row = (n * {height} + i * {sh}) * {width} * {channels}", f"y_row = (n * {rows} + i) * {pixels} * {out}"])
    items = node.out.shape[0] * (oh if resident else 1)
    work = sizes.product(node.out.shape[1:] if not resident else node.out.shape[2:]) * (kh * kw * channels)
    return text.kernel([x, w], items, (0.02, work))


def _is_resident(w: Value) -> bool:
    """Whether a filter stays in the cache: then items are rows of pixels, else whole images, all of whose rows meet one
    block of the filter's columns after the other."""
    return sizes.product(w.shape) * w.dtype.size <= RESIDENT_BYTES


def emit_input_gradient(node: Node) -> Kernel:
    """The gradient for the input: x[n, p, ...] = sum over taps a with p + before = i * stride + a * gap of
    dy[n, i, ...] @ w[a, b].T; dy is padded, w has its last two axes exchanged: [kh, kw, out, channels]."""
    dy, w = node.inputs
    (sh, sw), (dh, dw) = node.attrs["strides"], node.attrs["dilations"]
    before, (above, beside) = node.attrs["before"], node.attrs["margin"]
    kh, kw, out, channels = w.shape
    _, h, wide, _ = node.out.shape
    text = TileText(node, "convolve_input", 3)
    height, width = text.slot("height", dy.shape[1]), text.slot("width", dy.shape[2])
    rows, pixels = text.slot("rows", h), text.slot("pixels", wide)
    top, left = text.slot("top", before[0]), text.slot("left", before[1])
    resident = sh > kh or _is_resident(w)
    text.rows(resident, rows)
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
        if not count_w:
            text.lines_at(2, row if resident else [f"for i in range({rows}):", *row])
            _zero_pixels(text, 2 if resident else 3, count, sw, channels)
            continue
        loops = (f"taps, -{dh} * {width} * {out}, {sh * kw * out * channels}, {count_w}, {-dw * out}, "
                 f"{sw * out * channels}, {out}, 1, {channels}")

        def call(tile: str, row: str, at: str, phase: int = phase, loops: str = loops) -> str:
            return (f"{tile}(x0, x_row + {row} * {out}, {out}, x1, (a * {kw} + {phase}) * {out * channels} + {at}, "
                    f"y0, y_row + {row} * {sw * channels} + {at}, {sw * channels}, {loops})")

        if sh > kh:         # rows that no tap reaches
            text.lines_at(2, [*row, "if taps < 1:"])
            _zero_pixels(text, 3, count, sw, channels)
            text.line(2, "else:")
            text.tiles(3, count, channels, call)
        else:
            text.row_tiles(resident, rows, count, channels, call, row)
    work = wide * channels * (-(-kh // sh) * -(-kw // sw) * out)
    if resident:
        return text.kernel([dy, w], node.out.shape[0] * h, (0.02, work))
    return text.kernel([dy, w], node.out.shape[0], (0.02, h * work))


def _zero_pixels(text: TileText, indent: int, count: int | str, step: int, channels: int) -> None:
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
    few = chunks < CPU.chunks // 2              # then an item is one row of taps of a chunk, else a chunk
    size = (1 if few else kh) * kw * channels * out
    text.line(1, "for q in range(begin, end):")
    text.line(2, f"chunk = quotient(q, {kh if few else 1})")
    text.line(2, f"part = q * {size}")
    text.line(2, f"for k in range({size}):")
    text.line(3, f"y0[part + k] = {text.code}(0)")
    text.line(2, f"for n in range(quotient(chunk * {images}, {chunks}), quotient((chunk + 1) * {images}, {chunks})):")
    text.line(3, f"w_at = n * {rows} * {pixels} * {out}")
    text.line(3, f"first = q - chunk * {kh}" if few else "first = 0")
    text.line(3, f"for a in range(first, first + {1 if few else kh}):")
    text.line(4, f"x_at = (n * {height} + a * {dh}) * {width} * {channels}")
    text.line(4, f"y_at = part + (a - first) * {kw * channels * out}")
    loops = f"{rows}, {sh} * {width} * {channels}, {pixels} * {out}, {pixels}, {sw * channels}, {out}"
    for run in range(runs):
        def call(tile: str, row: str, column: str, run: int = run) -> str:
            return (f"{tile}(x0, x_at + {run * dw * channels} + {row}, 1, x1, w_at + {column}, "
                    f"y0, y_at + ({run * channels} + {row}) * {out} + {column}, {out}, {loops})")

        text.tiles(4, length, out, call, add=True)
    per_chunk = (batch + chunks - 1) // chunks
    return text.kernel([x, dy], chunks * (kh if few else 1), (0.02, per_chunk * oh * ow * size))
