"""One item of a matrix product, see `products`, as an intrinsic whose name says its form.

It is written instruction by instruction: from loops in a kernel's text, LLVM and Numba would need five times as long.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import blocks, tile, turn
from .outline import call_outlined
from .turn import BLOCK
from .words import Word, loop, smaller

PATTERN = re.compile(r"\bproduct_(f32|f64)x(\d+)_(\d+)([mk])([nk])(_turned)?\b")
SIZES = ("offset0", "batch0", "leading0", "offset1", "batch1", "leading1", "terms", "rows", "columns", "strips", "blocks",
         "block_rows", "strip")     # what the kernel's sizes argument holds
DEPTH = 256             # terms of a sum that the scratch arrays hold
WIDEST, NARROWEST = 8 * BLOCK, 2 * BLOCK     # columns of a strip
TURNED_ROWS = 112       # rows of a block whose result is turned: enough to pay for its panels
FAR = 256               # rows of a transposed L that lie a multiple of this apart fall on one set of the cache: they are copied
SPREAD = DEPTH + 16     # between the copied rows of L: not a power of two, which would fall on one set of the cache


@dataclass(frozen=True)
class Form:
    """C[rows, columns] = L @ R in tiles of `tall` rows.  `left_along`, `right_along`: whether the terms of a sum lie next
    to each other in that factor; `turned`: L is the second factor, R the first, and the result C transposed."""

    code: str
    lanes: int
    tall: int
    left_along: bool
    right_along: bool
    turned: bool = False

    @property
    def name(self) -> str:
        return (f"product_{self.code}x{self.lanes}_{self.tall}{'mk'[self.left_along]}{'nk'[self.right_along]}"
                + "_turned" * self.turned)


def named_in(source: str) -> dict[str, Any]:
    """The intrinsics for all such names in a kernel's text: product(x0, x1, y0, sizes, item)."""
    found = {}
    for match in PATTERN.finditer(source):
        code, lanes, tall, left, right, turned = match.groups()
        found[match.group()] = _intrinsic(Form(code, int(lanes), int(tall), left == "k", right == "k", bool(turned)))
    return found


def _intrinsic(form: Form):
    from numba.core import types
    from numba.core.extending import intrinsic

    pointer = types.CPointer(types.float32 if form.code == "f32" else types.float64)
    signature = types.none(pointer, pointer, pointer, types.CPointer(types.int64), types.int64)

    def write(context, builder, signature, args):
        call_outlined(builder, form.name, args, lambda inner, given: _Writer(form, inner, given).write(), small=True)
        return context.get_dummy_value()

    @intrinsic
    def product(typingctx, x0, x1, y0, sizes, item):
        return signature, write

    return product


class _Writer:
    """Writes the function for one item."""

    def __init__(self, form: Form, builder: Any, args: Any):
        self.form, self.b = form, builder
        self.x0, self.x1, self.y, sizes, item = args
        self.item = Word(builder, item)
        self.size = {name: Word(builder, builder.load(builder.gep(sizes, [item.type(k)])))
                     for k, name in enumerate(SIZES)}
        self.width = 2 * form.lanes

    def write(self):
        form, b, size = self.form, self.b, self.size
        panel = self._scratch(DEPTH * WIDEST)
        tall, corner = self._scratch(form.tall * SPREAD), self._scratch(form.tall * self.width)
        block = self.item // size["strips"]
        left = (self.item - block * size["strips"]) * size["strip"]
        wide = smaller(size["columns"] - left, size["strip"])
        batch = block // size["blocks"]
        top = (block - batch * size["blocks"]) * size["block_rows"]
        high = smaller(size["rows"] - top, size["block_rows"])
        if form.turned:
            target, step, start = self._scratch(TURNED_ROWS * NARROWEST), size["strip"], size["strip"] * 0
        else:
            target, step, start = self.y, size["columns"], (batch * size["rows"] + top) * size["columns"] + left
        self._block("clear", target, start, step, high, wide)
        rows_at, columns_at = (size[f"offset{k}"] + batch * size[f"batch{k}"] for k in ((1, 0) if form.turned else (0, 1)))
        with loop(b, 0, size["terms"], DEPTH) as k0:
            terms = smaller(size["terms"] - k0, DEPTH)
            with loop(b, 0, wide, BLOCK) as c:
                self._fill_panel(panel, c, columns_at, left + c, smaller(wide - c, BLOCK), k0, terms)
            with loop(b, 0, high, form.tall) as r:
                rows = smaller(high - r, form.tall)
                dense = self._dense_rows(tall, rows_at, top + r, rows, k0, terms)
                with loop(b, 0, wide, self.width) as c:
                    fits = b.and_(rows.is_equal(form.tall), b.not_(wide.is_below(c + self.width)))
                    place = start + r * step + c
                    with b.if_else(fits) as (whole, part):
                        with whole:
                            self._tile(dense, panel, c, terms, target, place, step)
                        with part:
                            nothing = c * 0
                            self._block("clear", corner, nothing, nothing, nothing + 1, nothing + form.tall * self.width)
                            self._tile(dense, panel, c, terms, corner, nothing, nothing + self.width)
                            self._block("add", corner, nothing, nothing + self.width, target, place, step, rows,
                                        smaller(wide - c, self.width))
        if form.turned:
            self._turn_back(target, step, batch, top, high, left, wide)

    def _factor(self, left: bool) -> tuple:
        """(buffer, leading dimension) of L or R."""
        first = left != self.form.turned
        return (self.x0, self.size["leading0"]) if first else (self.x1, self.size["leading1"])

    def _fill_panel(self, panel, c, at, column, columns, k0, terms):
        """panel[c // BLOCK, t, i] = R[k0 + t, column + i]; what lies beyond `columns` is never looked at."""
        b = self.b
        buffer, leading = self._factor(left=False)
        into = c * DEPTH
        if not self.form.right_along:
            self._block("copy", buffer, at + k0 * leading + column, leading, panel, into, into * 0 + BLOCK, terms, columns)
            return
        at = at + column * leading + k0
        whole = terms // BLOCK * BLOCK
        whole = Word(b, b.select(columns.is_equal(BLOCK), whole.value, whole.of(0)))
        with loop(b, 0, whole, BLOCK) as t:
            self._turn(buffer, at + t, leading, panel, into + t * BLOCK)
        with loop(b, 0, columns) as i, loop(b, whole, terms) as t:
            b.store(b.load(self._element(buffer, at + i * leading + t)), self._element(panel, into + t * BLOCK + i))

    def _dense_rows(self, tall, at, row, rows, k0, terms) -> tuple:
        """(buffer, start, step between rows, step between terms) of L's rows for a tile: copied, or where they lie."""
        b, (buffer, leading) = self.b, self._factor(left=True)
        nothing = row * 0
        if self.form.left_along:
            self._block("copy", buffer, at + row * leading + k0, leading, tall, nothing, nothing + SPREAD, rows, terms)
            return tall, nothing, nothing + SPREAD, nothing + 1
        here = at + k0 * leading + row
        far = leading - leading // FAR * FAR
        copied = b.or_(rows.is_below(self.form.tall), far.is_equal(0))
        with b.if_then(copied):
            self._block("copy", buffer, here, leading, tall, nothing, nothing + self.form.tall, terms, rows)
        return (b.select(copied, tall, buffer), Word(b, b.select(copied, nothing.value, here.value)), nothing + 1,
                Word(b, b.select(copied, leading.of(self.form.tall), leading.value)))

    def _tile(self, dense, panel, c, terms, target, place, step):
        form, (rows, start, row_step, term_step) = self.form, dense
        panel_at = c // BLOCK * (BLOCK * DEPTH - BLOCK) + c
        tile.call(self.b, tile.Tile(form.code, form.lanes, form.tall, 2, 1, add=True),
                  [rows, start, row_step, panel, panel_at, target, place, step, terms, term_step, c * 0 + BLOCK])

    def _turn_back(self, part, step, batch, top, high, left, wide):
        b, size = self.b, self.size
        with loop(b, 0, wide) as c, loop(b, 0, high) as r:
            b.store(b.load(self._element(part, r * step + c)),
                    self._element(self.y, (batch * size["columns"] + left + c) * size["rows"] + top + r))

    def _turn(self, *args):
        turn.call(self.b, self.form.code, [a.value if isinstance(a, Word) else a for a in args])

    def _block(self, what: str, *args):
        blocks.call(self.b, what, self.form.code, [a.value if isinstance(a, Word) else a for a in args])

    def _element(self, buffer: Any, at: Word) -> Any:
        return self.b.gep(buffer, [at.value])

    def _scratch(self, count: int) -> Any:
        with self.b.goto_entry_block():
            space = self.b.alloca(self.y.type.pointee, self.item.of(count))
            space.align = 64
        return space
