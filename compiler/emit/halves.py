"""Floats of 16 bits in kernels: float16 (f16) and bfloat16 (fb16) lie in memory, and are computed with as float32.

    f16_value(bits)         the float32 for their bits, a uint16
    f16_bits(x)             the bits of a float32 that is such a number
    f16(x)                  what x, of any type, is rounded to such a number, as a float32
    scalar_f16(sizes, k)    such a number in the sizes

and likewise with fb16.  A sum, difference, product or quotient of two, or a square root, that is rounded to float32 first is what
rounding once gives: float32 has more than twice their bits.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..kernel import HALVES
from .instruction import Instruction, Write, fixed

if TYPE_CHECKING:
    from llvmlite import ir

Convert = Callable[["ir.IRBuilder", Any], Any]


@dataclass(frozen=True)
class Conversions:
    """How a machine converts one of the two: bits to float32, float32 to bits, bits of what is such a number, float64 to bits
    (None: by float32)."""

    value: Convert
    rounded: Convert
    stored: Convert
    of_double: Convert | None = None


def bfloat16(rounded: Convert) -> Conversions:
    """bfloat16 is the upper half of a float32."""
    from llvmlite import ir

    wide, bits = ir.IntType(32), ir.IntType(16)

    def shifted(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.bitcast(builder.shl(builder.zext(x, wide), wide(16)), ir.FloatType())

    def cut(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.trunc(builder.lshr(builder.bitcast(x, wide), wide(16)), bits)

    return Conversions(shifted, rounded, cut)


def instructions(conversions: dict[str, Conversions]) -> dict[str, Instruction]:
    """The names above for {"f16": how, "fb16": how}."""
    from llvmlite import ir

    def rounded(how: Conversions) -> Instruction:
        def write(code: str, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
            if how.of_double is not None and code == "f64":         # rounded once
                return how.value(builder, how.of_double(builder, x))
            if code == "f64":
                x = builder.fptrunc(x, ir.FloatType())
            elif code != "f32":
                x = (builder.sitofp if code[0] == "i" else builder.uitofp)(x, ir.FloatType())
            return how.value(builder, how.rounded(builder, x))

        return Instruction(1, lambda code: None if code.endswith("*") else ("f32", functools.partial(write, code)))

    def scalar(how: Conversions) -> Write:
        place = ir.IntType(16).as_pointer()
        return lambda builder, sizes, k: how.value(builder, builder.load(builder.bitcast(builder.gep(sizes, [k]), place)))

    found: dict[str, Instruction] = {}
    for name in HALVES.values():
        how = conversions[name]
        found |= {f"{name}_value": fixed("f32", "u16")(how.value), f"{name}_bits": fixed("u16", "f32")(how.stored),
                  name: rounded(how), f"scalar_{name}": fixed("f32", "i64*", "i64")(scalar(how))}
    return found


# the CPU -------------------------------------------------------------------------------------------------------------
def cpu_instructions() -> dict[str, Instruction]:
    """The names above by the CPU's own conversions of float16, and integer arithmetic for bfloat16."""
    from llvmlite import ir

    half, bits = ir.HalfType(), ir.IntType(16)

    def value(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.fpext(builder.bitcast(x, half), ir.FloatType())

    def narrow(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.bitcast(builder.fptrunc(x, half), bits)

    def of_double(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return narrow(builder, _to_odd(builder, x))

    return instructions({"f16": Conversions(value, narrow, narrow, of_double), "fb16": bfloat16(_to_even)})


def _to_odd(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """float64 -> float32, where inexact with the last bit set: what is rounded from there is rounded once (S. Boldo and
    G. Melquiond, "When double rounding is odd", 2005)."""
    from llvmlite import ir

    wide, long = ir.IntType(32), ir.IntType(64)
    near = builder.fptrunc(x, ir.FloatType())
    back = builder.fpext(near, ir.DoubleType())
    exact = builder.fcmp_unordered("==", back, x)
    size, given = (builder.and_(builder.bitcast(v, long), long((1 << 63) - 1)) for v in (back, x))
    down = builder.sub(builder.bitcast(near, wide), builder.zext(builder.icmp_unsigned(">", size, given), wide))
    return builder.bitcast(builder.select(exact, builder.bitcast(near, wide), builder.or_(down, wide(1))), ir.FloatType())


def _to_even(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    """float32 -> the bits of the nearest bfloat16, of two as near the even one; NaN stays NaN."""
    from llvmlite import ir

    wide = ir.IntType(32)
    bits = builder.bitcast(x, wide)
    last = builder.and_(builder.lshr(bits, wide(16)), wide(1))
    rounded = builder.lshr(builder.add(bits, builder.add(last, wide(0x7FFF))), wide(16))
    quiet = builder.or_(builder.lshr(bits, wide(16)), wide(0x40))
    return builder.trunc(builder.select(builder.fcmp_unordered("uno", x, x), quiet, rounded), ir.IntType(16))
