"""Matrix products in register tiles: where one factor has few rows, BLAS spends much of its time on packing the other.

    C[m, n] = A[m, k] @ B[k, n]

A strip of C at a time.  Where B's rows lie together, a strip is some columns of C: blocks of B's columns are copied to a
scratch array, and all rows of A meet them there.  Where B is transposed, a strip is some columns of C, too, but its tiles
are those of C's transpose: A is small and is turned into the scratch array, and the rows of B go by as they lie, once.
"""
from __future__ import annotations

from .. import sizes
from ..ir import Node
from ..kernel import CODES, Kernel
from ..simplify import blas_view
from . import native
from .kernel_text import KernelText
from .tile import Tile, lane_count
from .turn import BLOCK

MOST_ROWS = 64              # more rows than this: BLAS's packing is soon paid for
LEAST = 64                  # columns and terms of a sum, at least
DEPTH = 128                 # terms of a sum that the scratch array holds
APART = DEPTH + 16
COLUMNS = 64                # columns of a strip of B as it lies
LONG = 112                  # rows of a strip of B transposed


def suits(node: Node) -> bool:
    """Whether a product is one of these: one matrix with few rows times one whose columns are known."""
    a, b = node.inputs
    m, n = node.out.shape[-2:]
    k = a.shape[-2 if node.attrs["ta"] else -1]
    if (not node.attrs["tb"]) == (not blas_view(b)[4]) and not isinstance(n, sizes.Size) and n % (2 * lane_count(CODES[node.out.dtype.name])):
        return False
    return (sizes.same(sizes.product(node.out.shape[:-2]), 1) and not isinstance(n, sizes.Size)
            and n >= LEAST and sizes.hint_of(k) >= LEAST and 1 < sizes.hint_of(m) <= MOST_ROWS)


def emit(node: Node) -> Kernel:
    """The kernel of a matmul node that `suits`."""
    text = _Text(node)
    if text.tb:
        text.columns_of_transpose()
        strips = -(-text.n // LONG)
    else:
        text.columns()
        strips = -(-text.n // COLUMNS)
    m, k = node.out.shape[-2], text.terms
    return text.kernel(list(node.inputs), strips, (0.01, sizes.maximum(m, 1) * k * (text.n // strips + 1)))


class _Text(KernelText):

    def __init__(self, node: Node):
        super().__init__(node, "matmul_tiles")
        a, b = (blas_view(v) for v in node.inputs)
        self.ta, self.tb = node.attrs["ta"] != a[4], node.attrs["tb"] != b[4]
        self.terms = node.inputs[0].shape[-2 if node.attrs["ta"] else -1]
        self.n = node.out.shape[-1]
        self.lanes = lane_count(self.code)
        self.vectors = 2
        self.tall = min(14, (native.vector_registers() - 2) // self.vectors - 1)
        self.m, self.k = self.slot("m", node.out.shape[-2]), self.slot("k", self.terms)
        self.a, self.lda = self.slot("a", a[1]), self.slot("lda", a[3])
        self.b, self.ldb = self.slot("b", b[1]), self.slot("ldb", b[3])

    def row_tiles(self, indent: int, rows: str, call):
        """Tiles over `rows` rows, the text of their number: call(tile, first row) is the line."""
        if rows.isdigit():
            count = int(rows)
            tall = -(-count // -(-count // self.tall))
            runs = [tall, count % tall] if count % tall else [tall]
        else:
            runs = [self.tall] + [r for r in (8, 4, 2, 1) if r < self.tall]
        self.line(indent, "r = 0")
        for tall in runs:
            tile = Tile(self.code, self.lanes, tall, self.vectors, 1, add=True)
            self.line(indent, f"while r <= {rows} - {tall}:")
            self.line(indent + 1, call(tile, "r"))
            self.line(indent + 1, f"r += {tall}")

    def columns(self):
        """B's rows lie together: strips of its columns."""
        width, n = self.vectors * self.lanes, self.n
        step, along = ("1", self.lda) if self.ta else (self.lda, "1")
        line = self.line
        line(1, f"panel = scratch_{self.code}_{DEPTH * COLUMNS}()")
        line(1, "for q in range(begin, end):")
        line(2, f"left = q * {COLUMNS}")
        line(2, f"wide = smaller({COLUMNS}, {n} - left)")
        line(2, f"for r in range({self.m}):")
        line(3, "for c in range(wide):")
        line(4, f"y0[r * {n} + left + c] = {self.code}(0)")
        line(2, f"for k0 in range(0, {self.k}, {DEPTH}):")
        line(3, f"terms = smaller({DEPTH}, {self.k} - k0)")
        line(3, "for t in range(terms):")
        line(4, f"at = {self.b} + (k0 + t) * {self.ldb} + left")
        line(4, f"for c in range(wide):")
        line(5, f"panel[t * {COLUMNS} + c] = x1[at + c]")
        line(3, f"for c in range(0, wide, {width}):")

        def call(tile, r):
            return (f"{tile.name}(x0, {self.a} + {r} * {step} + k0 * {along}, {step}, panel, c, "
                    f"y0, {r} * {n} + left + c, {n}, terms, {along}, {COLUMNS})")

        self.row_tiles(4, self.m, call)

    def columns_of_transpose(self):
        """B's columns lie together: strips of them, whose products with A's rows are the transpose of C's columns."""
        width, line = self.vectors * self.lanes, self.line
        turned = f"panel[t * {BLOCK} + r]"
        line(1, f"panel = scratch_{self.code}_{DEPTH * BLOCK}()")
        line(1, f"part = scratch_{self.code}_{LONG * BLOCK}()")
        line(1, f"strip = scratch_{self.code}_{LONG * APART}()")
        line(1, "for q in range(begin, end):")
        line(2, f"left = q * {LONG}")
        line(2, f"wide = smaller({LONG}, {self.n} - left)")
        line(2, f"for top in range(0, {self.m}, {BLOCK}):")
        line(3, f"rows = smaller({BLOCK}, {self.m} - top)")
        line(3, f"for i in range(wide * {BLOCK}):")
        line(4, f"part[i] = {self.code}(0)")
        line(3, f"for k0 in range(0, {self.k}, {DEPTH}):")
        line(4, f"terms = smaller({DEPTH}, {self.k} - k0)")
        if self.ta:
            line(4, "for t in range(terms):")
            line(5, f"for r in range(rows):")
            line(6, f"{turned} = x0[{self.a} + (k0 + t) * {self.lda} + top + r]")
        else:
            line(4, "whole = 0")
            line(4, f"if rows == {BLOCK}:")
            line(5, f"whole = quotient(terms, {BLOCK}) * {BLOCK}")
            line(5, f"for t in range(0, whole, {BLOCK}):")
            line(6, f"turn_{self.code}(x0, {self.a} + top * {self.lda} + k0 + t, {self.lda}, panel, t * {BLOCK})")
            line(4, "for r in range(rows):")
            line(5, "for t in range(whole, terms):")
            line(6, f"{turned} = x0[{self.a} + (top + r) * {self.lda} + k0 + t]")
        line(4, f"for c in range(wide):")
        line(5, f"at = {self.b} + (left + c) * {self.ldb} + k0")
        line(5, f"for t in range(terms):")
        line(6, f"strip[c * {APART} + t] = x1[at + t]")
        line(4, f"for c in range(0, {BLOCK}, {width}):")

        def call(tile, r):
            return (f"{tile.name}(strip, {r} * {APART}, {APART}, panel, c, "
                    f"part, {r} * {BLOCK} + c, {BLOCK}, terms, 1, {BLOCK})")

        self.row_tiles(5, "wide", call)
        line(3, "for i in range(rows):")
        line(4, "for c in range(wide):")
        line(5, f"y0[(top + i) * {self.n} + left + c] = part[c * {BLOCK} + i]")
