"""Winograd's transformations of one tile, for many channels, as instructions whose names say their form.

    to[i, j, :] = sum over a and b of down[i, a] * across[j, b] * x[a, b, :]

`winograd_pixels_f32x16_6x6` takes 6 x 6 pixels, `winograd_weights_f32x16_4x4` gradients of 4 x 4 results to what the
products are made of, and `winograd_result_f32x16_4x4` gives 4 x 4 results.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import winograd
from .instruction import Instruction, fixed, llvm_type
from .outline import call_outlined, declared
from .vectors import Vectors, lane_count
from .words import Word, loop

if TYPE_CHECKING:
    from fractions import Fraction

    from llvmlite import ir

    from ..winograd_matrices import Matrix


class Transformation(NamedTuple):
    """`kind`: which of the matrices of `winograd`; `down`, `across`: rows and columns outside of the transformed tile."""

    kind: str
    code: str
    down: int
    across: int

    @property
    def name(self) -> str:
        return f"winograd_{self.kind}_{self.code}x{lane_count(self.code)}_{self.down}x{self.across}"

    def instruction(self) -> Instruction:
        """transform(x, at, step between rows, step between columns, to, at, step, step, channels) gives 1 if a number that it
        stores is infinite or NaN, else 0 (`result`; the others always 0)."""
        pointer = self.code + "*"

        def write(builder: ir.IRBuilder, *args: ir.Value) -> ir.Value:
            return call_outlined(builder, self.name, list(args), lambda inner, given: _Writer(self, inner).write(*given),
                                 small=True, result=llvm_type("i64"))

        return fixed("i64", pointer, "i64", "i64", "i64", pointer, "i64", "i64", "i64", "i64", heavy=True)(write)


class _Writer:
    """Writes the function for one tile."""

    def __init__(self, form: Transformation, builder: ir.IRBuilder):
        self.form, self.b = form, builder
        self.vectors = Vectors(builder, form.code, lane_count(form.code))
        name = f"llvm.fmuladd.v{self.vectors.lanes}{form.code}"
        self.constants: dict[Fraction, Any] = {}
        self.fma = declared(builder.module, name, self.vectors.vector, [self.vectors.vector] * 3)

    def write(self, *args: ir.Value) -> Any:
        b, vectors, form = self.b, self.vectors, self.form
        x, at, row, column, to, *steps, channels = [Word(b, a) if str(a.type) == "i64" else a for a in args]
        to_at, to_row, to_column = steps
        inside = form.kind == "result"
        rows, columns = (winograd.SIZE, winograd.SIZE) if inside else (form.down, form.across)
        with b.goto_entry_block():
            seen = b.alloca(vectors.vector)
        b.store(vectors.zero, seen)
        with loop(b, 0, channels, vectors.lanes) as c:
            def place(array: ir.Value, at: Word, i: int, row: Word, j: int, column: Word) -> ir.Value:
                return vectors.place(array, (at + row * i + column * j + c).value)

            turned = [self._along(form.down, [vectors.load(place(x, at, i, row, j, column)) for i in range(rows)])
                      for j in range(columns)]
            for i, values in enumerate(zip(*turned)):
                for j, value in enumerate(self._along(form.across, list(values))):
                    vectors.store(place(to, to_at, i, to_row, j, to_column), value)
                    if inside:          # 0 times infinity is NaN, and NaN stays
                        b.store(self._fma(value, vectors.zero, b.load(seen)), seen)
        wrong = b.load(seen)
        bits = b.bitcast(b.fcmp_unordered("uno", wrong, wrong), vectors.bits)
        return b.zext(b.icmp_unsigned("!=", bits, vectors.bits(0)), llvm_type("i64"))

    def _along(self, size: int, values: list[ir.Value]) -> list[ir.Value]:
        """The transformation along one axis; `size`: rows or columns outside of the transformed tile."""
        from .. import winograd_matrices as matrices  # few programs need fractions

        if self.form.kind == "result":
            return self._gathered(matrices.result(size), values)
        return self._spread(matrices.pixels() if self.form.kind == "pixels" else matrices.weights(size), values)

    def _spread(self, matrix: Matrix, values: list[ir.Value]) -> list[ir.Value]:
        """matrix @ values, SIZE results: those for points q and -q are sum and difference of even and odd powers."""
        found = [self._sum(zip(matrix[0], values))]
        for k in (1, 3):
            even, odd = ([(f, v) for f, g, v in zip(matrix[k], matrix[k + 1], values) if f and f == sign * g]
                         for sign in (1, -1))
            factor = odd[-1][0]
            base, other = self._sum(even), self._sum((f / factor, v) for f, v in odd)
            found += [self._sum([(1, base), (sign * factor, other)]) for sign in (1, -1)]
        return [*found, self._sum(zip(matrix[5], values))]

    def _gathered(self, matrix: Matrix, values: list[ir.Value]) -> list[ir.Value]:
        """matrix @ values, of SIZE values: those for points q and -q are needed as their sum and their difference."""
        b, (first, p, minus_p, q, minus_q, last) = self.b, values
        pairs = [(b.fadd(p, minus_p), b.fadd(q, minus_q)), (b.fsub(p, minus_p), b.fsub(q, minus_q))]
        return [self._sum([(row[0], first), (row[1], pairs[k % 2][0]), (row[3], pairs[k % 2][1]), (row[5], last)])
                for k, row in enumerate(matrix)]

    def _sum(self, terms: Any) -> ir.Value:
        """The sum of (factor, value) pairs; it begins with a value that is not multiplied, if there is one."""
        (factor, total), *others = sorted(((f, v) for f, v in terms if f), key=lambda term: term[0] != 1)
        if factor != 1:
            total = self.b.fmul(self._constant(factor), total)
        for f, value in others:
            total = self.b.fadd(total, value) if f == 1 else self._fma(self._constant(f), value, total)
        return total

    def _constant(self, factor: Fraction) -> ir.Value:
        if factor not in self.constants:        # its text is long: llvmlite remembers that of an object
            self.constants[factor] = self.vectors.constant(float(factor))
        return self.constants[factor]

    def _fma(self, a: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.b.call(self.fma, [a, x, y])
