"""One item of a matrix product, see `products`, as an instruction whose name says its form.

It is written instruction by instruction: from loops in a kernel's text, LLVM would need five times as long.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..kernel import WIDTH
from . import blocks, tile, turn
from .instruction import Instruction, fixed
from .outline import call_outlined
from .turn import BLOCK
from .words import Number, Word, loop, scratch, select, smaller

if TYPE_CHECKING:
    from llvmlite import ir


# what the kernel's sizes argument holds.  `..._along`: whether the terms of a sum lie next to each other in that factor;
# `turned`: L is the second factor, R the first, and the result C transposed
SIZES = ("left_offset", "left_batch", "left_leading", "left_along", "right_offset", "right_batch", "right_leading",
         "right_along", "turned", "terms", "rows", "columns", "strips", "blocks", "block_rows", "strip")
DEPTH = 256             # terms of a sum that the scratch arrays hold
STRETCH = 8             # rows that are copied to all panels before the next: memory is read along them
PANEL_BYTES = 1 << 18   # of the panels of a strip, which lie on the stack and stay in the second-level cache
NARROWEST = 2 * BLOCK   # columns of a strip
TURNED_ROWS = 112       # rows of a block whose result is turned: enough to pay for its panels
FAR, APART = 256, 1024  # rows of L, transposed or not, that lie a multiple of this apart fall on one set of the cache: copied
SPREAD = DEPTH + 16     # between the copied rows of L: not a power of two, which would fall on one set of the cache


class Product(NamedTuple):
    """C[rows, columns] = L @ R in tiles of `tall` rows and `vectors` (one or two) of `lanes` elements."""

    code: str
    lanes: int
    tall: int
    vectors: int = 2

    @property
    def name(self) -> str:
        return f"product_{self.code}x{self.lanes}_{self.tall}x{self.vectors}"

    def instruction(self) -> Instruction:
        """product(L, R, C, sizes, item)"""
        pointer = self.code + "*"

        def write(builder: ir.IRBuilder, *args: ir.Value) -> None:
            call_outlined(builder, self.name, list(args), lambda inner, given: _Writer(self, inner, given).write(), small=True)

        return fixed("", pointer, pointer, pointer, "i64*", "i64", heavy=True)(write)


def widest(code: str) -> int:
    """Columns of a strip, at most."""
    return PANEL_BYTES // (DEPTH * WIDTH[code])


class _Writer:
    """Writes the function for one item."""

    def __init__(self, form: Product, builder: ir.IRBuilder, args: Any):
        self.form, self.b = form, builder
        self.left, self.right, self.y, sizes, item = args
        self.item = Word(builder, item)
        self.size = {name: Word(builder, builder.load(builder.gep(sizes, [item.type(k)])))
                     for k, name in enumerate(SIZES)}
        self.width = form.vectors * form.lanes

    def write(self) -> None:
        form, b, size = self.form, self.b, self.size
        panel, part = self._scratch(DEPTH * widest(form.code)), self._scratch(TURNED_ROWS * NARROWEST)
        tall, corner = self._scratch(form.tall * SPREAD), self._scratch(form.tall * self.width)
        block = self.item // size["strips"]
        left = (self.item - block * size["strips"]) * size["strip"]
        wide = smaller(size["columns"] - left, size["strip"])
        batch = block // size["blocks"]
        top = (block - batch * size["blocks"]) * size["block_rows"]
        high = smaller(size["rows"] - top, size["block_rows"])
        turned = size["turned"].is_equal(1)
        target = b.select(turned, part, self.y)
        step = select(b, turned, size["strip"], size["columns"])
        start = select(b, turned, 0, (batch * size["rows"] + top) * size["columns"] + left)
        self._block("clear", target, start, step, high, wide)
        rows_at, columns_at = (size[f"{side}_offset"] + batch * size[f"{side}_batch"] for side in ("left", "right"))
        with loop(b, 0, size["terms"], DEPTH) as k0:
            terms = smaller(size["terms"] - k0, DEPTH)
            self._fill_panels(panel, columns_at, left, wide, k0, terms)
            with loop(b, 0, high, form.tall) as r:
                rows = smaller(high - r, form.tall)
                dense = self._dense_rows(tall, rows_at, top + r, rows, k0, terms)
                with loop(b, 0, wide, self.width) as c:
                    fits = b.and_(rows.is_equal(form.tall), b.not_(wide.is_below(c + self.width)))
                    place = start + r * step + c
                    with b.if_else(fits) as (whole, partly):
                        with whole:
                            self._tile(dense, panel, c, terms, target, place, step)
                        with partly:
                            self._block("clear", corner, 0, 0, 1, form.tall * self.width)
                            self._tile(dense, panel, c, terms, corner, 0, self.width)
                            self._block("add", corner, 0, self.width, target, place, step, rows,
                                        smaller(wide - c, self.width))
        with b.if_then(turned), loop(b, 0, wide) as c, loop(b, 0, high) as r:
            b.store(b.load(self._element(part, r * step + c)),
                    self._element(self.y, (batch * size["columns"] + left + c) * size["rows"] + top + r))

    def _fill_panels(self, panel: ir.Value, at: Word, left: Word, wide: Word, k0: Word, terms: Word) -> None:
        """panel[c // BLOCK, t, c % BLOCK] = R[k0 + t, left + c]; what lies beyond `wide` is never looked at."""
        b, leading = self.b, self.size["right_leading"]
        with b.if_else(self.size["right_along"].is_equal(1)) as (across, straight):
            with straight, loop(b, 0, terms, STRETCH) as t, loop(b, 0, wide, BLOCK) as c:
                here, columns = at + (k0 + t) * leading + left + c, smaller(wide - c, BLOCK)
                self._block("fetch", self.right, here + leading * STRETCH, leading, STRETCH, columns)
                self._block("copy", self.right, here, leading, panel, c * DEPTH + t * BLOCK, BLOCK, smaller(terms - t, STRETCH),
                            columns)
            with across, loop(b, 0, wide, BLOCK) as c:
                into, columns = c * DEPTH, smaller(wide - c, BLOCK)
                start = at + (left + c) * leading + k0
                whole = select(b, columns.is_equal(BLOCK), terms // BLOCK * BLOCK, 0)
                with loop(b, 0, whole, BLOCK) as t:
                    turn.call(b, self.form.code, self.right, start + t, leading, self._element(panel, into + t * BLOCK))
                with loop(b, 0, columns) as i, loop(b, whole, terms) as t:
                    b.store(b.load(self._element(self.right, start + i * leading + t)),
                            self._element(panel, into + t * BLOCK + i))

    def _dense_rows(self, tall: ir.Value, at: Word, row: Word, rows: Word, k0: Word,
                    terms: Word) -> tuple[ir.Value, Word, Word, Word]:
        """(buffer, start, step between rows, step between terms) of L's rows for a tile: copied, or where they lie."""
        b, leading, form = self.b, self.size["left_leading"], self.form
        along = self.size["left_along"].is_equal(1)
        here = at + select(b, along, row * leading + k0, k0 * leading + row)
        far = leading - leading // select(b, along, APART, FAR) * select(b, along, APART, FAR)
        copied = b.or_(rows.is_below(form.tall), far.is_equal(0))
        with b.if_then(copied):
            self._block("copy", self.left, here, leading, tall, 0, select(b, along, SPREAD, form.tall),
                        select(b, along, rows, terms), select(b, along, terms, rows))
        return (b.select(copied, tall, self.left), select(b, copied, 0, here),
                select(b, along, select(b, copied, SPREAD, leading), 1),
                select(b, along, 1, select(b, copied, form.tall, leading)))

    def _tile(self, dense: tuple[ir.Value, Word, Word, Word], panel: ir.Value, c: Word, terms: Word, target: ir.Value,
              place: Number, step: Number) -> None:
        form, (rows, start, row_step, term_step) = self.form, dense
        panel_at = c // BLOCK * (BLOCK * DEPTH - BLOCK) + c
        tile.call(self.b, tile.Tile(form.code, form.lanes, form.tall, form.vectors, 1, add=True),
                  [rows, start, row_step, panel, panel_at, target, place, step, terms, term_step, BLOCK])

    def _block(self, what: str, *args: Any) -> None:
        blocks.call(self.b, what, self.form.code, *args)

    def _element(self, buffer: ir.Value, at: Word) -> ir.Value:
        return self.b.gep(buffer, [at.value])

    def _scratch(self, count: int) -> ir.Value:
        return scratch(self.b, self.form.code, count)
