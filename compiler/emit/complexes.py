"""Complex numbers in kernels: complex64 (c64) and complex128 (c128) are pairs of their parts, in registers and in memory.

    complex_NAME(a, ...)    a function of `elementary_complex`
    complex_pair(x, y)      the number with these parts; complex_complex is the same, as the primitive is called
    c64(x), c128(x)         what x, of any type, is as such a number
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import elementary_complex
from ..kernel import COMPLEX, is_complex, part_code
from ..machine import LLVMMachine
from .instruction import Instruction, Write, is_float, is_signed, llvm_type

if TYPE_CHECKING:
    from llvmlite import ir


def instructions(**facts: bool) -> dict[str, Instruction]:
    """The names above.  `facts`: of an LLVMMachine."""
    found = {code: Instruction(1, functools.partial(_converted, code)) for code in COMPLEX.values()}
    for functions, result in ((elementary_complex.FUNCTIONS, str), (elementary_complex.TO_REAL, part_code),
                              (elementary_complex.COMPARISONS, lambda code: "b1")):
        found |= {f"complex_{name}": _instruction(function, result, facts) for name, function in functions.items()}
    return found | dict.fromkeys(("complex_pair", "complex_complex"), Instruction(2, _paired))


def parts(builder: ir.IRBuilder, z: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The parts of a number."""
    return builder.extract_value(z, 0), builder.extract_value(z, 1)


def joined(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """The number with these parts."""
    from llvmlite import ir

    whole = ir.Constant(ir.LiteralStructType([x.type, y.type]), ir.Undefined)
    return builder.insert_value(builder.insert_value(whole, x, 0), y, 1)


def by_parts(write: Callable[..., Any], builder: ir.IRBuilder, *numbers: ir.Value) -> ir.Value:
    """What `write(builder, *parts)` makes of the real parts and of the imaginary ones."""
    return joined(builder, *(write(builder, *both) for both in zip(*(parts(builder, z) for z in numbers))))


def _instruction(function: Callable[..., Any], result: Callable[[str], str], facts: dict[str, bool]) -> Instruction:
    def write(builder: ir.IRBuilder, *numbers: ir.Value) -> ir.Value:
        machine = LLVMMachine(builder, **facts)
        found = function(machine, *(tuple(map(machine.value, parts(builder, z))) for z in numbers))
        return joined(builder, found[0].ir, found[1].ir) if isinstance(found, tuple) else found.ir

    def typed(*codes: str) -> tuple[str, Write] | None:
        return (result(codes[0]), write) if len(set(codes)) == 1 and codes[0] in COMPLEX.values() else None

    return Instruction(len(inspect.signature(function).parameters) - 1, typed)


def _paired(x: str, y: str) -> tuple[str, Write] | None:
    return ("c64" if x == "f32" else "c128", joined) if x == y and is_float(x) else None


def _converted(target: str, code: str) -> tuple[str, Write] | None:
    """How a number of the type `code` becomes one of the complex type `target`."""
    if code.endswith("*") or not code:
        return None
    part = part_code(target)
    if is_complex(code):
        return target, functools.partial(by_parts, functools.partial(_as_float, part, part_code(code)))
    return target, lambda builder, x: joined(builder, _as_float(part, code, builder, x), llvm_type(part)(0.0))


def _as_float(target: str, code: str, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    kind = llvm_type(target)
    if is_float(code):
        return x if code == target else builder.fpext(x, kind) if target == "f64" else builder.fptrunc(x, kind)
    return (builder.sitofp if is_signed(code) else builder.uitofp)(x, kind)
