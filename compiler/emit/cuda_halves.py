"""Floats of 16 bits in kernels for CUDA, see `halves`: by instructions of PTX, for what NVVM makes of LLVM's own, by eight, it
does not compile."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .halves import Conversions, Convert, bfloat16
from .halves import instructions as converting
from .instruction import Instruction

if TYPE_CHECKING:
    from llvmlite import ir


def instructions() -> dict[str, Instruction]:
    """The names that `halves` lists."""
    from llvmlite import ir

    single, double, bits = ir.FloatType(), ir.DoubleType(), ir.IntType(16)

    def instruction(text: str, result: ir.Type, argument: ir.Type, registers: str) -> Convert:
        asm = ir.InlineAsm(ir.FunctionType(result, [argument]), f"{text} $0, $1;", registers)
        return lambda builder, x: builder.call(asm, [x])

    narrow = instruction("cvt.rn.f16.f32", bits, single, "=h,f")
    value = instruction("cvt.f32.f16", single, bits, "=f,h")
    of_double = instruction("cvt.rn.f16.f64", bits, double, "=h,d")
    return converting({"f16": Conversions(value, narrow, narrow, of_double),
                       "fb16": bfloat16(instruction("cvt.rn.bf16.f32", bits, single, "=h,f"))})
