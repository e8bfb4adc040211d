"""One item of a matrix product, see `products`, as an instruction whose name says its form.

It is written instruction by instruction: from loops in a kernel's text, LLVM would need five times as long.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kernel import WIDTH
from . import blocks, few_rows, tile, turn
from .instruction import Instruction, fixed
from .outline import call_outlined
from .turn import BLOCK
from .vectors import Vectors
from .words import Number, Word, loop, scratch, select, smaller

if TYPE_CHECKING:
    from llvmlite import ir


# what the kernel's sizes argument holds.  `..._along`: whether the terms of a sum lie next to each other in that factor;
# `turned`: L is the second factor, R the first, and the result C transposed; `tiles`: of `tall` rows each, which the blocks share
# as equally as there are whole ones, so that two threads end at the same time; `down`: items go down a strip, not along a block
SIZES = ("left_offset", "left_batch", "left_leading", "left_along", "right_offset", "right_batch", "right_leading",
         "right_along", "turned", "terms", "rows", "columns", "strips", "blocks", "tiles", "tall", "strip", "down")
DEPTH = 256             # terms of a sum that the scratch arrays hold
ROW_BYTES = 1 << 18     # of the copied rows of a block, which lie on the stack and stay in the second-level cache
NARROWEST = 2 * BLOCK   # columns of a strip
TURNED_ROWS = 112       # rows of a block whose result is turned: enough to pay for its panels
APART = 1024            # rows of L that lie a multiple of this apart fall on one set of the cache: copied
FAR = 1024              # columns of C from which a tile's rows there crowd a few sets of the caches: a block is made aside
WIDEST = 256            # columns of a strip, at most
SPREAD = DEPTH + 16     # between the copied rows of L: not a power of two, which would fall on one set of the cache


class Product(NamedTuple):
    """C[rows, columns] = L @ R in tiles of `tall` rows and `vectors` (one or two) of `lanes` elements.  `few`: it may turn out that
    there are few rows, see `few_rows`."""

    code: str
    lanes: int
    tall: int
    vectors: int = 2
    few: bool = False

    @property
    def name(self) -> str:
        return f"product_{self.code}x{self.lanes}_{self.tall}x{self.vectors}" + "_few" * self.few

    def instruction(self) -> Instruction:
        """product(L, R, C, sizes, item)"""
        return _instruction(self, lambda builder, args: _Tiled(self, builder, args).write())


class FewRows(NamedTuple):
    """The same for so few `rows` that R goes by once, see `few_rows`; `along`: whether the terms of a sum lie next to each other
    in R."""

    code: str
    lanes: int
    rows: int
    along: bool

    @property
    def name(self) -> str:
        return f"few_rows_{self.code}x{self.lanes}_{self.rows}" + "_along" * self.along

    def instruction(self) -> Instruction:
        """few_rows(L, R, C, sizes, item)"""
        def write(builder: ir.IRBuilder, args: tuple[ir.Value, ...]) -> None:
            item = _Item(self.code, builder, args)
            item.multiply_few(self.along, self.rows, item.whole, item.scratch(few_rows.TALLEST * self.lanes))

        return _instruction(self, write)


def _instruction(form: Product | FewRows, write: Callable[[ir.IRBuilder, tuple[ir.Value, ...]], None]) -> Instruction:
    pointer = form.code + "*"
    return fixed("", pointer, pointer, pointer, "i64*", "i64", heavy=True)(
        lambda builder, *args: call_outlined(builder, form.name, list(args), write, small=True))


Place = tuple["ir.Value", Word, Word]      # (array, number of the first element, how far apart rows are)


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


class _Item:
    """One item of a product: so many rows from `top` on, `high` of them, and columns from `left` on, `wide` of them."""

    def __init__(self, code: str, builder: ir.IRBuilder, args: tuple[ir.Value, ...]):
        self.code, self.b = code, builder
        self.left_factor, self.right_factor, self.y, sizes, number = args
        size = self.size = {name: Word(builder, builder.load(builder.gep(sizes, [number.type(k)]))) for k, name in enumerate(SIZES)}
        blocks, strips, down = size["blocks"], size["strips"], size["down"].is_equal(1)
        self.batch = Word(builder, number) // (blocks * strips)
        rest, run = Word(builder, number) - self.batch * blocks * strips, select(builder, down, blocks, strips)
        whole, part = rest // run, rest - rest // run * run
        block, strip = select(builder, down, part, whole), select(builder, down, whole, part)
        self.left = strip * size["strip"]
        self.wide = smaller(size["columns"] - self.left, size["strip"])
        self.top, end = (k * size["tiles"] // size["blocks"] * size["tall"] for k in (block, block + 1))
        self.high = smaller(size["rows"], end) - self.top
        self.rows_at, self.columns_at = (size[f"{side}_offset"] + self.batch * size[f"{side}_batch"] for side in ("left", "right"))
        self.whole: Place = self.y, (self.batch * size["rows"] + self.top) * size["columns"] + self.left, size["columns"]

    def clear(self, place: Place) -> None:
        """Sets the item's part of C, at this place, to 0."""
        self.block("clear", *place, self.high, self.wide)

    def multiply_few(self, along: bool, known: int | None, place: Place, corner: ir.Value) -> None:
        """Writes the product to `place`, where there are few rows, as many as `known` says if it does."""
        self.clear(place)
        b, size, terms, leading = self.b, self.size, self.size["terms"], self.size["right_leading"]
        rowwise = size["left_along"].is_equal(1)
        row_step, term_step = select(b, rowwise, size["left_leading"], 1), select(b, rowwise, 1, size["left_leading"])
        here = self.rows_at + self.top * row_step
        if along:
            few_rows.along(b, self.code, known, self.left_factor, here, row_step, self.right_factor,
                           self.columns_at + self.left * leading, leading, *place, terms, self.high, self.wide)
            return
        with loop(b, 0, terms, DEPTH) as k0:
            few_rows.across(b, self.code, known, self.left_factor, here + k0 * term_step, row_step, term_step, self.right_factor,
                            self.columns_at + self.left + k0 * leading, leading, *place, smaller(terms - k0, DEPTH), self.high,
                            self.wide, corner)

    def block(self, what: str, *args: Any) -> None:
        blocks.call(self.b, what, self.code, *args)

    def element(self, buffer: ir.Value, at: Word) -> ir.Value:
        return self.b.gep(buffer, [at.value])

    def scratch(self, count: int) -> ir.Value:
        return scratch(self.b, self.code, count)


class _Tiled(_Item):
    """Writes the function for one item of a product in tiles."""

    def __init__(self, form: Product, builder: ir.IRBuilder, args: tuple[ir.Value, ...]):
        super().__init__(form.code, builder, args)
        self.form, self.width = form, form.vectors * form.lanes

    def write(self) -> None:
        form, b, size, high, wide = self.form, self.b, self.size, self.high, self.wide
        part, corner = self.scratch(max(TURNED_ROWS * NARROWEST, highest(form.code) * WIDEST)), self.scratch(form.tall * self.width)
        turned = size["turned"].is_equal(1)
        far = b.and_(b.not_(size["columns"].is_below(FAR)), size["terms"].is_above(DEPTH))      # what is added to several times
        aside, (_, there, _) = b.or_(turned, far), self.whole
        place = b.select(aside, part, self.y), select(b, aside, 0, there), select(b, aside, size["strip"], size["columns"])
        if form.few:
            self._few_or_tiles(place, corner)
        else:
            self._all_tiles(place, corner)
        with b.if_then(b.and_(aside, b.not_(turned))):
            self.block("copy", part, 0, place[2], self.y, there, size["columns"], high, wide)
        with b.if_then(turned), loop(b, 0, wide) as c, loop(b, 0, high) as r:
            b.store(b.load(self.element(part, r * place[2] + c)),
                    self.element(self.y, (self.batch * size["columns"] + self.left + c) * size["rows"] + self.top + r))

    def _few_or_tiles(self, place: Place, corner: ir.Value) -> None:
        """What few rows are for, is found when the kernel runs."""
        b, size = self.b, self.size
        few = self.high.is_below(few_rows.MOST)
        across = b.and_(size["right_along"].is_equal(0), b.not_(size["columns"].is_below(self.form.lanes)))
        along = b.and_(size["right_along"].is_equal(1), size["left_along"].is_equal(1))
        with b.if_else(b.and_(few, across)) as (straight, other):
            with straight:
                self.multiply_few(False, None, place, corner)
            with other, b.if_else(b.and_(few, along)) as (turned, many):
                with turned:
                    self.multiply_few(True, None, place, corner)
                with many:
                    self._all_tiles(place, corner)

    def _all_tiles(self, into: Place, corner: ir.Value) -> None:
        form, b, size, high, wide, (target, start, step) = self.form, self.b, self.size, self.high, self.wide, into
        panel, tall = self.scratch(DEPTH * BLOCK), self.scratch((highest(form.code) + form.tall) * SPREAD)
        with b.if_then(size["terms"].is_equal(0)):
            self.clear(into)
        with loop(b, 0, size["terms"], DEPTH) as k0:
            terms = smaller(size["terms"] - k0, DEPTH)
            dense = self._dense_rows(tall, self.rows_at, self.top, high, k0, terms)
            with loop(b, 0, wide, BLOCK) as c:
                columns = smaller(wide - c, BLOCK)
                source = self.columns_at + k0 * size["right_leading"] + self.left + c
                keeps = b.and_(size["right_along"].is_equal(0), (columns // form.lanes * form.lanes - columns).is_equal(0))
                with b.if_then(b.not_(keeps)):
                    self._fill_panel(panel, self.columns_at, self.left + c, columns, k0, terms)
                with loop(b, 0, high, form.tall) as r, loop(b, 0, columns, self.width) as inner:
                    place, rest = start + r * step + c + inner, columns - inner
                    narrow = b.not_(rest.is_above(form.lanes))
                    width = select(b, narrow, form.lanes, self.width)
                    fits = b.and_(b.not_(high.is_below(r + form.tall)), b.not_(rest.is_below(width)))
                    there = b.select(fits, target, corner), select(b, fits, place, 0), select(b, fits, step, self.width)
                    adds = select(b, b.and_(fits, k0.is_above(0)), 1, 0)
                    with b.if_else(b.and_(keeps, r.is_equal(0))) as (first, further):
                        with first:
                            self._tiles(narrow, tall, dense, r, self.right_factor, source + inner, size["right_leading"], there,
                                        terms, adds, panel, inner)
                        with further:
                            self._tiles(narrow, tall, dense, r, panel, inner, BLOCK, there, terms, adds)
                    with b.if_then(b.not_(fits)):
                        valid = corner, 0, self.width, target, place, step, smaller(high - r, form.tall), smaller(rest, width)
                        with b.if_else(k0.is_above(0)) as (further, first):
                            with further:
                                self.block("add", *valid)
                            with first:
                                self.block("copy", *valid)

    def _fill_panel(self, panel: ir.Value, at: Word, left: Word, columns: Word, k0: Word, terms: Word) -> None:
        """panel[t, c] = R[k0 + t, left + c] for at most BLOCK columns; what lies beyond them is never looked at."""
        b, leading = self.b, self.size["right_leading"]
        with b.if_else(self.size["right_along"].is_equal(1)) as (across, straight):
            with straight:
                self.block("copy", self.right_factor, at + k0 * leading + left, leading, panel, 0, BLOCK, terms, columns)
            with across:
                start = at + left * leading + k0
                whole = select(b, columns.is_equal(BLOCK), terms // BLOCK * BLOCK, 0)
                with loop(b, 0, whole, BLOCK) as t:
                    turn.call(b, self.form.code, self.right_factor, start + t, leading, self.element(panel, t * BLOCK))
                with loop(b, 0, columns) as i, loop(b, whole, terms) as t:
                    b.store(b.load(self.element(self.right_factor, start + i * leading + t)), self.element(panel, t * BLOCK + i))

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
                self.block("copy", self.left_factor, here + first * leading, leading, tall, first * SPREAD, SPREAD, high - first,
                           terms)
            with termwise:
                call_outlined(b, f"pack_{form.code}_{form.tall}", [self.left_factor, here, leading, tall, terms, high],
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
              into: tuple[ir.Value, Word, Word], terms: Word, adds: Word, *kept: Any) -> None:
        """Multiplies the rows from `r` on; `adds`: 1 if what is there is added to; `kept`: the panel to which the rows of the
        right factor go, if they do."""
        b, form = self.b, self.form
        copied = b.not_(r.is_below(dense.copied))
        tile.call(b, tile.Tile(form.code, form.lanes, form.tall, vectors, 1, keeps=BLOCK if kept else 0, asks=True),
                  [b.select(copied, tall, self.left_factor), select(b, copied, r * SPREAD, dense.at + r * dense.leading),
                   select(b, copied, dense.row_step, dense.leading), right, at, *into, terms,
                   select(b, copied, dense.term_step, 1), leading, *kept, adds])
