"""Floats of 16 bits in kernels for CUDA: float16 (f16) and bfloat16 (fb16) lie in memory, and are computed with as float32.

    f16_value(bits)         the float32 for their bits, a uint16
    f16_bits(x)             the bits of a float32 that is such a number
    f16(x)                  what x, of any type, is rounded to such a number, as a float32
    scalar_f16(sizes, k)    such a number in the sizes

and likewise with fb16.  A sum, difference, product or quotient of two, or a square root, that is rounded to float32 first is what
rounding once gives: float32 has more than twice their bits.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..kernel import HALVES
from .instruction import Instruction, Write, fixed

if TYPE_CHECKING:
    from llvmlite import ir


def instructions() -> dict[str, Instruction]:
    """The names above, as instructions of PTX: what NVVM makes of LLVM's own, by eight, it does not compile."""
    from llvmlite import ir

    single, double, bits, wide = ir.FloatType(), ir.DoubleType(), ir.IntType(16), ir.IntType(32)

    def instruction(text: str, result: ir.Type, argument: ir.Type, registers: str) -> Write:
        asm = ir.InlineAsm(ir.FunctionType(result, [argument]), f"{text} $0, $1;", registers)
        return lambda builder, x: builder.call(asm, [x])

    def shifted(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.bitcast(builder.shl(builder.zext(x, wide), wide(16)), single)

    def cut(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.trunc(builder.lshr(builder.bitcast(x, wide), wide(16)), bits)

    narrow = {name: instruction(f"cvt.rn.{kind}.f32", bits, single, "=h,f") for name, kind in (("f16", "f16"), ("fb16", "bf16"))}
    value = {"f16": instruction("cvt.f32.f16", single, bits, "=f,h"), "fb16": shifted}
    stored = {"f16": narrow["f16"], "fb16": cut}        # of what is such a float already
    of_double = instruction("cvt.rn.f16.f64", bits, double, "=h,d")

    def rounded(name: str) -> Instruction:
        def write(code: str, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
            if name == "f16" and code == "f64":         # rounded once
                return value[name](builder, of_double(builder, x))
            if code == "f64":
                x = builder.fptrunc(x, single)
            elif code != "f32":
                x = (builder.sitofp if code[0] == "i" else builder.uitofp)(x, single)
            return value[name](builder, narrow[name](builder, x))

        return Instruction(1, lambda code: None if code.endswith("*") else ("f32", functools.partial(write, code)))

    def scalar(name: str) -> Write:
        return lambda builder, sizes, k: value[name](builder, builder.load(builder.bitcast(builder.gep(sizes, [k]),
                                                                                           bits.as_pointer())))

    found: dict[str, Instruction] = {}
    for name in HALVES.values():
        found |= {f"{name}_value": fixed("f32", "u16")(value[name]), f"{name}_bits": fixed("u16", "f32")(stored[name]),
                  name: rounded(name), f"scalar_{name}": fixed("f32", "i64*", "i64")(scalar(name))}
    return found
