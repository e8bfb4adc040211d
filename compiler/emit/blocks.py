"""Blocks of matrices, row by row: loops written in vector instructions, which cost the compiler a fraction of what it takes
to find them in a kernel's text.

    copy    (source, at, step, target, at, step, rows, columns)
    add     (source, at, step, target, at, step, rows, columns)
    clear   (target, at, step, rows, columns)

A copy asks memory for rows ahead of their turn: they may lie far apart.  `at` is the index of a block's first element, `step` the
distance between two of its rows.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .outline import call_outlined
from .vectors import Vectors, lane_count
from .words import Word, loop

if TYPE_CHECKING:
    from llvmlite import ir


AHEAD = 16              # rows: as many as memory answers at a time


def call(builder: ir.IRBuilder, what: str, code: str, *args: Any) -> None:
    """Does one of these with values, words or integers, in the order of its arguments."""
    def write(inner: ir.IRBuilder, given: Sequence[ir.Value]) -> None:
        *sides, rows, columns = given
        _write(what, Vectors(inner, code, lane_count(code)), [sides[k:k + 3] for k in range(0, len(sides), 3)],
               Word(inner, rows), Word(inner, columns))

    call_outlined(builder, f"{what}_block_{code}", list(args), write, small=True)


def _write(what: str, vectors: Vectors, sides: list[Sequence[ir.Value]], rows: Word, columns: Word) -> None:
    """`sides`: (array, at, step) of the source, if there is one, and of the target."""
    b, lanes = vectors.b, vectors.lanes
    whole = columns // lanes * lanes
    rest = columns - whole
    mask = vectors.first(rest.value)

    def place(side: Sequence[ir.Value], row: Word, column: Word) -> ir.Value:
        array, at, step = side
        return vectors.place(array, (Word(b, at) + row * Word(b, step) + column).value)

    def chunk(row: Word, column: Word, mask: Any = None) -> None:
        *source, target = (place(side, row, column) for side in sides)
        if what == "copy":
            vectors.fetch(place(sides[0], row + AHEAD, column))
        value = vectors.load(source[0], mask) if source else vectors.zero
        if what == "add":
            value = b.fadd(vectors.load(target, mask), value)
        vectors.store(target, value, mask)

    with loop(b, 0, rows) as row:
        with loop(b, 0, whole, lanes) as column:
            chunk(row, column)
        with b.if_then(rest.is_above(0)):
            chunk(row, whole, mask)
