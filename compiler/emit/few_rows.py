"""A product of few rows, whose other factor goes by once.

    C[rows, columns] += L[rows, terms] @ R[terms, columns]          rows < MOST

Each number of R is multiplied by few others, so that memory, or the second-level cache, is the limit: R is read where it lies, for
columns as wide as registers allow, and nothing of it is kept; nor is anything of L copied.  Where the terms of R lie next to each
other, and so do those of L, vectors of terms are multiplied, and added up at the end.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..kernel import WIDTH
from . import blocks, cpu_features, tile
from .outline import call_outlined, declared
from .vectors import Vectors, lane_count
from .words import Number, Word, loop

if TYPE_CHECKING:
    from llvmlite import ir


MOST = 8                # rows from which panels are worth while
TALLEST = 4             # rows that are multiplied at once
CACHED = 1 << 20        # bytes of R that the second-level cache may hold: asking for them ahead costs a fifth of its rate
SIDE_BY_SIDE = 4        # columns of terms that are multiplied at once
ACROSS = ("left", "left_at", "row_step", "term_step", "right", "right_at", "leading", "y", "y_at", "y_step", "terms", "rows",
          "columns", "corner")
ALONG = tuple(name for name in ACROSS if name not in ("term_step", "corner"))


def across(builder: ir.IRBuilder, code: str, known: int | None, *args: Any) -> None:
    """Adds a product with values, words or integers in the order of ACROSS, where R's columns lie next to each other.

    R has a whole vector of columns at least, if some of them on the left of the product's.  `corner` holds a vector for each of
    TALLEST rows.  `known`: the number of rows, where it is."""
    _call(builder, code, known, "across", ACROSS, args)


def along(builder: ir.IRBuilder, code: str, known: int | None, *args: Any) -> None:
    """The same in the order of ALONG, where the terms lie next to each other in both factors."""
    _call(builder, code, known, "along", ALONG, args)


def _call(builder: ir.IRBuilder, code: str, known: int | None, way: str, names: Sequence[str], args: Sequence[Any]) -> None:
    def write(inner: ir.IRBuilder, given: Sequence[ir.Value]) -> None:
        _Writer(code, inner, dict(zip(names, given))).write(way, known)

    call_outlined(builder, f"few_rows_{way}_{code}", list(args), write, small=True)


class _Writer:
    def __init__(self, code: str, builder: ir.IRBuilder, args: dict[str, Any]):
        self.code, self.b, self.lanes = code, builder, lane_count(code)
        self.at = {name: Word(builder, value) for name, value in args.items() if name not in ("left", "right", "y", "corner")}
        self.arrays = {name: value for name, value in args.items() if name not in self.at}

    def write(self, way: str, known: int | None) -> None:
        """Rows go by as many at once as there may be, and what is left together."""
        b, rows = self.b, self.at["rows"]
        multiply = {"across": self._across, "along": self._along}[way]
        if known is not None:
            for first in range(0, known, TALLEST):
                multiply(min(TALLEST, known - first), first)
            return
        whole = rows // TALLEST * TALLEST
        with loop(b, 0, whole, TALLEST) as top:
            multiply(TALLEST, top)
        for rest in range(1, TALLEST):
            with b.if_then((rows - whole).is_equal(rest)):
                multiply(rest, whole)

    # -- columns that lie next to each other -----------------------------------------------------------------------------

    def _across(self, rows: int, first: Number) -> None:
        """Multiplies so many rows from `first` on."""
        at, lanes = self.at, self.lanes
        begin = self._columns(rows, first, self._widest(rows), 0)
        if rows == 1:
            begin = self._columns(rows, first, 4, begin)
        whole = self._columns(rows, first, 1, begin)
        rest = at["columns"] - whole
        with self.b.if_then(rest.is_above(0)):
            blocks.call(self.b, "clear", self.code, self.arrays["corner"], 0, lanes, rows, lanes)
            self._tile(rows, 1, False, first, at["columns"] - lanes, ("corner", 0, lanes))
            blocks.call(self.b, "add", self.code, self.arrays["corner"], whole - at["columns"] + lanes, lanes,
                        self.arrays["y"], at["y_at"] + at["y_step"] * first + whole, at["y_step"], rows, rest)

    @staticmethod
    def _widest(rows: int) -> int:
        """Vectors of a tile of so many rows."""
        many = cpu_features.vector_registers() >= 32
        return {1: 16, 2: 8, 3: 4, 4: 4}[rows] // (1 if many else 2)

    def _columns(self, rows: int, first: Number, vectors: int, begin: Number) -> Word:
        """Multiplies columns from `begin` on by tiles of so many vectors; returns the first column that is left."""
        at, b, width = self.at, self.b, vectors * self.lanes
        end = (at["columns"] - begin) // width * width + begin
        far = (at["terms"] * at["leading"]).is_above(CACHED // WIDTH[self.code])
        with loop(b, begin, end, width) as column:
            into = "y", at["y_at"] + at["y_step"] * first + column, at["y_step"]
            if rows > 1 or vectors <= 4:
                self._tile(rows, vectors, vectors > 1, first, column, into)
            else:
                with b.if_else(far) as (ahead, near):
                    with ahead:
                        self._tile(rows, vectors, True, first, column, into)
                    with near:
                        self._tile(rows, vectors, False, first, column, into)
        return end

    def _tile(self, rows: int, vectors: int, ahead: bool, first: Number, column: Word, into: tuple[str, Any, Any]) -> None:
        at, (target, place, step) = self.at, into
        form = tile.Tile(self.code, self.lanes, rows, vectors, 1, add=True, ahead=ahead)
        tile.call(self.b, form, [
            self.arrays["left"], at["left_at"] + at["row_step"] * first, at["row_step"],
            self.arrays["right"], at["right_at"] + column, self.arrays[target], place, step,
            at["terms"], at["term_step"], at["leading"]])

    # -- terms that lie next to each other -------------------------------------------------------------------------------

    def _along(self, rows: int, first: Number) -> None:
        """Multiplies so many rows from `first` on."""
        columns = self.at["columns"]
        whole = columns // SIDE_BY_SIDE * SIDE_BY_SIDE
        with loop(self.b, 0, whole, SIDE_BY_SIDE) as column:
            self._dots(rows, SIDE_BY_SIDE, first, column)
        with loop(self.b, whole, columns) as column:
            self._dots(rows, 1, first, column)

    def _dots(self, rows: int, columns: int, first: Number, column: Word) -> None:
        at, b, lanes = self.at, self.b, self.lanes
        vectors = Vectors(b, self.code, lanes)
        with b.goto_entry_block():
            sums = [[b.alloca(vectors.vector) for _ in range(columns)] for _ in range(rows)]
        for place in (p for row in sums for p in row):
            b.store(vectors.zero, place)
        left = [at["left_at"] + at["row_step"] * (first + r) for r in range(rows)]
        right = [at["right_at"] + at["leading"] * (column + c) for c in range(columns)]
        whole = at["terms"] // lanes * lanes

        def add(term: Word, mask: ir.Value | None) -> None:
            factors, others = ([vectors.load(vectors.place(self.arrays[name], (start + term).value), mask) for start in starts]
                               for name, starts in (("left", left), ("right", right)))
            fma = declared(b.module, f"llvm.fma.v{lanes}{self.code}", vectors.vector, [vectors.vector] * 3)
            for r, x in enumerate(factors):
                for c, y in enumerate(others):
                    b.store(b.call(fma, [x, y, b.load(sums[r][c])]), sums[r][c])

        with loop(b, 0, whole, lanes) as term:
            add(term, None)
        rest = at["terms"] - whole
        with b.if_then(rest.is_above(0)):
            add(whole, vectors.first(rest.value))
        total = declared(b.module, f"llvm.vector.reduce.fadd.v{lanes}{self.code}", vectors.element,
                         [vectors.element, vectors.vector])
        for r in range(rows):
            for c in range(columns):
                made = b.call(total, [vectors.element(0.0), b.load(sums[r][c])], fastmath=("reassoc",))
                place = b.gep(self.arrays["y"], [(at["y_at"] + at["y_step"] * (first + r) + column + c).value])
                b.store(b.fadd(b.load(place), made), place)
