"""Matrix products in register tiles.

    C[m, n] = L[m, k] @ R[k, n]

C is made in strips of columns: for DEPTH terms of the sum at a time, a strip of R is copied to panels in the cache, as
wide as two vectors; a few rows of L after the other are copied, too, and meet all panels in registers.  So whatever lies
far apart in memory, or transposed, is read once per strip, and the tiles see dense operands.

Where L has few rows and R is transposed, the tiles are those of C's transpose: then R goes by as it lies, and the little L
is what is turned into panels.  Items depend on the sizes alone, so results are the same for any number of threads.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel
from ..simplify import blas_view
from . import native
from .kernel_text import KernelText
from .tile import Tile, lane_count
from .turn import BLOCK

FEW = 64                # rows up to which the other factor is better not turned
LEAST = 32              # columns and terms of a sum from which tiles are worth while
DEPTH = 256             # terms of a sum that the scratch arrays hold
WIDEST, NARROWEST = 8 * BLOCK, 2 * BLOCK     # columns of a strip
ITEMS = 8               # fewer than this: strips are made narrower
TALL = 112              # rows of a block where there is one strip only: enough to pay for its panels
BLOCKS = 32             # about so many items, at most
ROWS = 128              # of at least so many rows
SPREAD = DEPTH + 16     # between the copied rows of L: not a power of two, which would fall on one set of the cache


@dataclass(frozen=True)
class _Side:
    """A factor as the kernel steps through it: the text of its buffer, offset, batch step and leading dimension; `along`:
    whether the terms of a sum lie next to each other."""

    buffer: str
    offset: str
    batch: str
    leading: str
    along: bool

    def at(self, line: str, term: str) -> str:
        """The index of an element, of row `line` of L or column `line` of R."""
        return f"{self.offset} + {line} * {self.leading} + {term}" if self.along else \
            f"{self.offset} + {term} * {self.leading} + {line}"


def suits(node: Node) -> bool:
    """Whether a product is made here: not too small, with a known number of columns."""
    n, k = node.out.shape[-1], node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
    return not isinstance(n, sizes.Size) and n >= LEAST and sizes.hint_of(k) >= LEAST and \
        sizes.hint_of(node.out.shape[-2]) > 1 and native.vector_bytes() >= 16


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node that `suits`."""
    return _Product(node).emit()


class _Product(KernelText):

    def __init__(self, node: Node):
        super().__init__(node, "matmul_tiles")
        a, b = (blas_view(v) for v in node.inputs)
        ta, tb = node.attrs["ta"] != a[4], node.attrs["tb"] != b[4]
        self.batch, (m, n) = sizes.product(node.out.shape[:-2]), node.out.shape[-2:]
        self.terms = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
        self.k, self.m, self.n = self.slot("k", self.terms), self.slot("m", m), str(n)
        left, right = self._side("x0", a, not ta), self._side("x1", b, tb)
        self.swapped = tb and sizes.hint_of(m) <= FEW
        if self.swapped:
            (m, n), (left, right) = (n, m), (right, left)
        self.left, self.right, self.rows, self.columns = left, right, m, n
        self.row_count, self.column_count = (self.n, self.m) if self.swapped else (self.m, self.n)
        self.lanes, self.vectors = lane_count(self.code), 2
        self.width = self.vectors * self.lanes
        self.strip, self.block = self._cut()
        self.tall = min(14, (native.vector_registers() - 2) // self.vectors - 1)

    def _side(self, buffer: str, view: tuple, along: bool) -> _Side:
        _, offset, batch, leading, _ = view
        return _Side(buffer, *(self.slot(f"{name}{buffer[1]}", value) for name, value in
                               (("offset", offset), ("batch", batch), ("leading", leading))), along)

    def emit(self) -> Kernel:
        block = self.block
        strips, blocks = (self.columns + self.strip - 1) // self.strip, (self.rows + block - 1) // block
        columns, rows, line = self.column_count, self.row_count, self.line
        strip_count, block_count = self.slot("strips", strips), self.slot("blocks", blocks)
        block_rows = self.slot("block_rows", block)
        line(1, f"panel = scratch_{self.code}_{DEPTH * self.strip}()")
        line(1, f"tall = scratch_{self.code}_{self.tall * SPREAD}()")
        if self.swapped:
            line(1, f"part = scratch_{self.code}_{TALL * self.strip}()")
        line(1, "for q in range(begin, end):")
        line(2, f"block = quotient(q, {strip_count})")
        line(2, f"left = (q - block * {strip_count}) * {self.strip}")
        line(2, f"wide = smaller({self.strip}, {columns} - left)")
        line(2, f"batch = quotient(block, {block_count})")
        line(2, f"top = (block - batch * {block_count}) * {block_rows}")
        line(2, f"high = smaller({block_rows}, {rows} - top)")
        self._clear()
        line(2, f"for k0 in range(0, {self.k}, {DEPTH}):")
        line(3, f"terms = smaller({DEPTH}, {self.k} - k0)")
        self._fill_panels()
        self._row_tiles()
        if self.swapped:
            line(2, "for c in range(wide):")
            line(3, "for r in range(high):")
            line(4, f"y0[(batch * {self.m} + left + c) * {self.n} + top + r] = part[r * {self.strip} + c]")
        work = self.terms * min(block, self.rows, key=sizes.hint_of) * min(self.strip, self.columns, key=sizes.hint_of)
        return self.kernel(list(self.node.inputs), self.batch * blocks * strips, (0.01, work))

    def _cut(self):
        """(columns of a strip, rows of a block)."""
        if self.swapped:
            return NARROWEST, TALL
        strip = WIDEST
        while True:
            strips = (self.columns + strip - 1) // strip * self.batch
            blocks = max(BLOCKS // max(sizes.hint_of(strips), 1), 1)
            block = sizes.maximum((self.rows + blocks - 1) // blocks, ROWS)
            if strip == NARROWEST or sizes.hint_of(strips * ((self.rows + block - 1) // block)) >= ITEMS:
                return strip, block
            strip //= 2

    def _clear(self):
        line = self.line
        if self.swapped:
            line(2, f"for i in range(high * {self.strip}):")
            line(3, f"part[i] = {self.code}(0)")
            return
        line(2, f"y_at = (batch * {self.m} + top) * {self.n} + left")
        line(2, "for r in range(high):")
        line(3, "for c in range(wide):")
        line(4, f"y0[y_at + r * {self.n} + c] = {self.code}(0)")

    def _fill_panels(self):
        """panel[c // BLOCK, t, c % BLOCK] = R[k0 + t, left + c]; what lies beyond `wide` is never looked at."""
        line, side = self.line, self.right
        place = f"panel[c0 * {DEPTH} + t * {BLOCK} + c]"
        source = side.at("(left + c0 + c)", "(k0 + t)") + f" + batch * {side.batch}"
        if not side.along:
            line(3, "for t in range(terms):")
            line(4, f"for c0 in range(0, wide - {BLOCK - 1}, {BLOCK}):")
            line(5, f"for c in range({BLOCK}):")
            line(6, f"{place} = {side.buffer}[{source}]")
            line(4, f"c0 = quotient(wide, {BLOCK}) * {BLOCK}")
            line(4, "for c in range(wide - c0):")
            line(5, f"{place} = {side.buffer}[{source}]")
            return
        line(3, f"for c0 in range(0, wide, {BLOCK}):")
        line(4, f"columns = smaller({BLOCK}, wide - c0)")
        line(4, "whole = 0")
        line(4, f"if columns == {BLOCK}:")
        line(5, f"whole = quotient(terms, {BLOCK}) * {BLOCK}")
        line(5, f"for t in range(0, whole, {BLOCK}):")
        start = side.at("(left + c0)", "(k0 + t)") + f" + batch * {side.batch}"
        line(6, f"turn_{self.code}({side.buffer}, {start}, {side.leading}, panel, c0 * {DEPTH} + t * {BLOCK})")
        line(4, "for c in range(columns):")
        line(5, "for t in range(whole, terms):")
        line(6, f"{place} = {side.buffer}[{source}]")

    def _row_tiles(self):
        """All rows of the block, a few at a time: those of L are copied, and meet one panel after the other."""
        count = int(self.row_count) if self.row_count.isdigit() else None
        if count is not None and not self.swapped and count <= ROWS:
            tall = -(-count // -(-count // self.tall))
            runs = [tall] + ([count % tall] if count % tall else [])
        else:
            runs = [self.tall] + [r for r in (8, 4, 2, 1) if r < self.tall]
        self.line(3, "r = 0")
        for tall in runs:
            self.line(3, f"while r <= high - {tall}:")
            self._fill_rows(tall)
            self._tiles(tall)
            self.line(4, f"r += {tall}")

    def _fill_rows(self, tall: int):
        """tall[i, t] = L[top + r + i, k0 + t], the terms next to each other or `tall` apart as they lie in L."""
        line, side = self.line, self.left
        source = side.at("(top + r + i)", "(k0 + t)") + f" + batch * {side.batch}"
        if side.along:
            line(4, f"for i in range({tall}):")
            line(5, "for t in range(terms):")
            line(6, f"tall[i * {SPREAD} + t] = {side.buffer}[{source}]")
        else:
            line(4, "for t in range(terms):")
            line(5, f"for i in range({tall}):")
            line(6, f"tall[t * {tall} + i] = {side.buffer}[{source}]")

    def _tiles(self, tall: int):
        line = self.line
        step, along = (SPREAD, 1) if self.left.along else (1, tall)
        rest: Any = 0 if self.swapped else int(self.column_count) % self.width
        whole = "wide" if not rest else f"quotient(wide, {self.width}) * {self.width}"
        if self.swapped:
            target, row_step = f"part, r * {self.strip} + c", self.strip
            whole = f"quotient(wide + {self.width - 1}, {self.width}) * {self.width}"
        else:
            target, row_step = f"y0, y_at + r * {self.n} + c", self.n

        def call(tile):
            return (f"{tile.name}(tall, 0, {step}, panel, quotient(c, {BLOCK}) * {(DEPTH - 1) * BLOCK} + c, "
                    f"{target}, {row_step}, terms, {along}, {BLOCK})")

        line(4, f"for c in range(0, {whole}, {self.width}):")
        line(5, call(Tile(self.code, self.lanes, tall, self.vectors, 1, add=True)))
        if rest:
            line(4, f"c = {whole}")
            line(4, "if c < wide:")
            line(5, call(Tile(self.code, self.lanes, tall, -(-rest // self.lanes), 1, add=True, rest=rest % self.lanes)))
