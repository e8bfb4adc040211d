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
from .vectors import Vectors
from .words import Number, Word, loop, scratch, select, smaller

if TYPE_CHECKING:
    from llvmlite import ir


# what the kernel's sizes argument holds.  `..._along`: whether the terms of a sum lie next to each other in that factor;
# `turned`: L is the second factor, R the first, and the result C transposed
SIZES = ("left_offset", "left_batch", "left_leading", "left_along", "right_offset", "right_batch", "right_leading",
         "right_along", "turned", "terms", "rows", "columns", "strips", "blocks", "block_rows", "strip")
DEPTH = 256             # terms of a sum that the scratch arrays hold
ROW_BYTES = 1 << 18     # of the copied rows of a block, which lie on the stack and stay in the second-level cache
NARROWEST = 2 * BLOCK   # columns of a strip
TURNED_ROWS = 112       # rows of a block whose result is turned: enough to pay for its panels
APART = 1024            # rows of L that lie a multiple of this apart fall on one set of the cache: copied
FAR = 1024              # columns of C from which a tile's rows there crowd a few sets of the caches: a block is made aside
WIDEST = 256            # columns of a strip, at most
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


def highest(code: str) -> int:
    """Rows of a block, at most."""
    return ROW_BYTES // (SPREAD * WIDTH[code]) // 8 * 8


class Dense(NamedTuple):
    """Where tiles find the rows of L: from row `copied` on in the scratch array, where `row_step` and `term_step` lead to the
    next ones; before it in L, where the block begins `at` and rows are `leading` apart."""

    copied: Word
    at: Word
    leading: Word
    row_step: Word
    term_step: Word


def _pack(vectors: Vectors, tall: int, source: ir.Value, at: ir.Value, step: ir.Value, target: ir.Value, terms: ir.Value,
          rows: ir.Value) -> None:
    """target[r // tall, t, r % tall] = source[t, r], where rows of the source are `step` apart.  Stores write all lanes: what
    they leave behind `tall` elements, the next ones overwrite."""
    b, high, lanes = vectors.b, Word(vectors.b, rows), vectors.lanes
    wide = -(-tall // lanes) * lanes
    safe = select(b, high.is_below(wide), 0, (high - wide + tall) // tall * tall)
    with loop(b, 0, Word(b, terms)) as t:
        row, into = Word(b, at) + t * Word(b, step), t * tall

        def copy(r: Word, masked: bool) -> None:
            for k in range(0, wide, lanes):
                mask = vectors.first((high - r - k).value) if masked else None
                value = vectors.load(vectors.place(source, (row + r + k).value), mask)
                vectors.store(vectors.place(target, (into + r * SPREAD + k).value), value)

        with loop(b, 0, safe, tall) as r:
            copy(r, False)
        with loop(b, safe, high, tall) as r:
            copy(r, True)


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
        panel, part = self._scratch(DEPTH * BLOCK), self._scratch(max(TURNED_ROWS * NARROWEST, highest(form.code) * WIDEST))
        tall, corner = self._scratch((highest(form.code) + form.tall) * SPREAD), self._scratch(form.tall * self.width)
        block = self.item // size["strips"]
        left = (self.item - block * size["strips"]) * size["strip"]
        wide = smaller(size["columns"] - left, size["strip"])
        batch = block // size["blocks"]
        top = (block - batch * size["blocks"]) * size["block_rows"]
        high = smaller(size["rows"] - top, size["block_rows"])
        turned = size["turned"].is_equal(1)
        far = b.and_(b.not_(size["columns"].is_below(FAR)), size["terms"].is_above(DEPTH))      # what is added to several times
        aside, there = b.or_(turned, far), (batch * size["rows"] + top) * size["columns"] + left
        target = b.select(aside, part, self.y)
        step = select(b, aside, size["strip"], size["columns"])
        start = select(b, aside, 0, there)
        self._block("clear", target, start, step, high, wide)
        rows_at, columns_at = (size[f"{side}_offset"] + batch * size[f"{side}_batch"] for side in ("left", "right"))
        with loop(b, 0, size["terms"], DEPTH) as k0:
            terms = smaller(size["terms"] - k0, DEPTH)
            dense = self._dense_rows(tall, rows_at, top, high, k0, terms)
            with loop(b, 0, wide, BLOCK) as c:
                columns = smaller(wide - c, BLOCK)
                source = columns_at + k0 * size["right_leading"] + left + c
                keeps = b.and_(size["right_along"].is_equal(0), (columns // form.lanes * form.lanes - columns).is_equal(0))
                with b.if_then(b.not_(keeps)):
                    self._fill_panel(panel, columns_at, left + c, columns, k0, terms)
                with loop(b, 0, high, form.tall) as r, loop(b, 0, columns, self.width) as inner:
                    place, rest = start + r * step + c + inner, columns - inner
                    narrow = b.not_(rest.is_above(form.lanes))
                    width = select(b, narrow, form.lanes, self.width)
                    fits = b.and_(b.not_(high.is_below(r + form.tall)), b.not_(rest.is_below(width)))
                    with b.if_then(b.not_(fits)):
                        self._block("clear", corner, 0, 0, 1, form.tall * self.width)
                    into = b.select(fits, target, corner), select(b, fits, place, 0), select(b, fits, step, self.width)
                    with b.if_else(b.and_(keeps, r.is_equal(0))) as (first, further):
                        with first:
                            self._tiles(narrow, tall, dense, r, self.right, source + inner, size["right_leading"], into, terms,
                                        panel, inner)
                        with further:
                            self._tiles(narrow, tall, dense, r, panel, inner, BLOCK, into, terms)
                    with b.if_then(b.not_(fits)):
                        self._block("add", corner, 0, self.width, target, place, step, smaller(high - r, form.tall),
                                    smaller(rest, width))
        with b.if_then(b.and_(aside, b.not_(turned))):
            self._block("copy", part, 0, step, self.y, there, size["columns"], high, wide)
        with b.if_then(turned), loop(b, 0, wide) as c, loop(b, 0, high) as r:
            b.store(b.load(self._element(part, r * step + c)),
                    self._element(self.y, (batch * size["columns"] + left + c) * size["rows"] + top + r))

    def _fill_panel(self, panel: ir.Value, at: Word, left: Word, columns: Word, k0: Word, terms: Word) -> None:
        """panel[t, c] = R[k0 + t, left + c] for at most BLOCK columns; what lies beyond them is never looked at."""
        b, leading = self.b, self.size["right_leading"]
        with b.if_else(self.size["right_along"].is_equal(1)) as (across, straight):
            with straight:
                self._block("copy", self.right, at + k0 * leading + left, leading, panel, 0, BLOCK, terms, columns)
            with across:
                start = at + left * leading + k0
                whole = select(b, columns.is_equal(BLOCK), terms // BLOCK * BLOCK, 0)
                with loop(b, 0, whole, BLOCK) as t:
                    turn.call(b, self.form.code, self.right, start + t, leading, self._element(panel, t * BLOCK))
                with loop(b, 0, columns) as i, loop(b, whole, terms) as t:
                    b.store(b.load(self._element(self.right, start + i * leading + t)), self._element(panel, t * BLOCK + i))

    def _dense_rows(self, tall: ir.Value, at: Word, top: Word, high: Word, k0: Word, terms: Word) -> Dense:
        """Where tiles find L's rows: where they lie, or in `tall`, to which all are copied that fall on one set of the cache,
        and those of a tile that has fewer than others."""
        b, leading, form = self.b, self.size["left_leading"], self.form
        along = self.size["left_along"].is_equal(1)
        here = at + select(b, along, top * leading + k0, k0 * leading + top)
        far = leading - leading // APART * APART
        first = select(b, b.and_(along, b.not_(far.is_equal(0))), high // form.tall * form.tall, 0)
        with b.if_else(along) as (rowwise, termwise):
            with rowwise:
                self._block("copy", self.left, here + first * leading, leading, tall, first * SPREAD, SPREAD, high - first, terms)
            with termwise:
                call_outlined(b, f"pack_{form.code}_{form.tall}", [self.left, here, leading, tall, terms, high],
                              lambda inner, given: _pack(Vectors(inner, form.code, form.lanes), form.tall, *given), small=True)
        return Dense(first, here, leading, select(b, along, SPREAD, 1), select(b, along, 1, form.tall))

    def _tiles(self, narrow: ir.Value, *args: Any) -> None:
        """One vector or two, as `narrow` says, of the rows that `_tile` multiplies."""
        if self.form.vectors == 1:
            self._tile(1, *args)
            return
        with self.b.if_else(narrow) as (one, two):
            with one:
                self._tile(1, *args)
            with two:
                self._tile(2, *args)

    def _tile(self, vectors: int, tall: ir.Value, dense: Dense, r: Word, right: ir.Value, at: Word, leading: Number,
              into: tuple[ir.Value, Word, Word], terms: Word, *kept: Any) -> None:
        """Multiplies the rows from `r` on; `kept`: the panel to which the rows of the right factor go, if they do."""
        b, form = self.b, self.form
        copied = b.not_(r.is_below(dense.copied))
        tile.call(b, tile.Tile(form.code, form.lanes, form.tall, vectors, 1, add=True, keeps=BLOCK if kept else 0),
                  [b.select(copied, tall, self.left), select(b, copied, r * SPREAD, dense.at + r * dense.leading),
                   select(b, copied, dense.row_step, dense.leading), right, at, *into, terms,
                   select(b, copied, dense.term_step, 1), leading, *kept])

    def _block(self, what: str, *args: Any) -> None:
        blocks.call(self.b, what, self.form.code, *args)

    def _element(self, buffer: ir.Value, at: Word) -> ir.Value:
        return self.b.gep(buffer, [at.value])

    def _scratch(self, count: int) -> ir.Value:
        return scratch(self.b, self.form.code, count)
