"""What every machine shares: constants of the float formats, and the operations that are sequences of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Number = Any    # what a machine computes with: arrays of NumPy, or values of LLVM

# Adding 1.5 * 2**(mantissa bits) pushes the fraction out of the significand: the sum's low bits are the integer.
ROUND_MAGIC = {32: 12582912.0, 64: 6755399441055744.0}
ROUND_MAGIC_BITS = {32: 0x4B400000, 64: 0x4338000000000000}
SIGN_BIT = {32: -(1 << 31), 64: -(1 << 63)}


class Machine:
    """The operations that are sequences of others. `has_fma`: is `fma` one instruction with one rounding? `has_ldexp`: is
    there one for `ldexp`?"""

    has_fma = True
    has_ldexp = False

    # what each make supplies, see `machine`
    width: Callable[..., int]
    const: Callable[..., Number]
    fma: Callable[..., Number]
    ldexp: Callable[..., Number]
    abs: Callable[..., Number]
    floor: Callable[..., Number]
    rint: Callable[..., Number]
    sqrt: Callable[..., Number]
    isnan: Callable[..., Number]
    lt: Callable[..., Number]
    le: Callable[..., Number]
    gt: Callable[..., Number]
    ge: Callable[..., Number]
    eq: Callable[..., Number]
    ne: Callable[..., Number]
    min: Callable[..., Number]
    max: Callable[..., Number]
    select: Callable[..., Number]
    bits: Callable[..., Number]
    from_bits: Callable[..., Number]
    shr: Callable[..., Number]
    sar: Callable[..., Number]
    to_float: Callable[..., Number]
    to_int: Callable[..., Number]
    widen: Callable[..., Number]
    narrow: Callable[..., Number]
    extend: Callable[..., Number]
    low: Callable[..., Number]
    rarely: Callable[..., Number]
    table: Callable[..., Number]

    def copysign(self, magnitude: Number, sign: Number) -> Number:
        """The size of `magnitude` with the sign of `sign` (also of zeros and NaN)."""
        mask = SIGN_BIT[self.width(sign)]
        return self.from_bits((self.bits(magnitude) & ~mask) | (self.bits(sign) & mask))

    def round_shift(self, x: Number, factor: float = 1.0) -> tuple[Number, Number]:
        """(n, i): x * factor rounded to an integer as float and as integer; |n| < 2**22 (2**51 for 64 bits).

        Cheaper than `to_int(rint(x))` and, unlike that, vectorised for 64 bits on AVX2.
        """
        magic = ROUND_MAGIC[self.width(x)]
        shifted = self.fma(x, factor, magic) if factor != 1.0 else x + magic
        return shifted - magic, self.bits(shifted) - ROUND_MAGIC_BITS[self.width(x)]

    def two_sum(self, a: Number, b: Number) -> tuple[Number, Number]:
        """(s, e): s = a + b rounded, and s + e = a + b exactly (Knuth)."""
        s = a + b
        t = s - a
        return s, (a - (s - t)) + (b - t)

    def fast_two_sum(self, a: Number, b: Number) -> tuple[Number, Number]:
        """(s, e) as `two_sum`, for |a| >= |b| or a = 0 (Dekker)."""
        s = a + b
        return s, b - (s - a)

    def two_product(self, a: Number, b: Number) -> tuple[Number, Number]:
        """(p, e): p = a * b rounded, and p + e = a * b exactly, barring under- and overflow (Dekker, Veltkamp)."""
        p = a * b
        if self.has_fma:
            return p, self.fma(a, b, -p)
        (ah, al), (bh, bl) = self._split(a), self._split(b)
        return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl

    def _split(self, a: Number) -> tuple[Number, Number]:
        """a = high + low, each with half of the significand, so that products of halves are exact."""
        scaled = a * (4097.0 if self.width(a) == 32 else 134217729.0)
        high = scaled - (scaled - a)
        return high, a - high

    def horner(self, x: Number, coefficients: Sequence[float]) -> Number:
        """c[0] + x * (c[1] + x * (c[2] + ...)), one fma a term."""
        *rest, total = coefficients
        total = self.const(total, x)
        for c in reversed(rest):
            total = self.fma(total, x, c)
        return total

    def polynomial(self, x: Number, coefficients: Sequence[float]) -> Number:
        """The polynomial that `horner` computes; long ones as two halves, in x**2, that do not wait for each other.

        For |x| up to about 1/2: the rounding of x**2 costs some accuracy where the high terms weigh much.
        """
        if len(coefficients) < 9:
            return self.horner(x, coefficients)
        square = x * x
        return self.fma(x, self.horner(square, coefficients[1::2]), self.horner(square, coefficients[::2]))
