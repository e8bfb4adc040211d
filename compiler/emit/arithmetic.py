"""Arithmetic for which LLVM has no one instruction, written with llvmlite: division that never traps, remainders, extremes
that mind NaN, sums that may be reassociated, powers of integers.  Imported only where a kernel is really compiled.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ..kernel import is_complex, part_code
from . import complexes
from .instruction import Instruction, is_float, is_signed, of_same


def instructions() -> dict[str, Instruction]:
    """The names of this arithmetic in kernels; all but the first two take two numbers of one type, which they also give."""
    binary: dict[str, tuple[Any, ...]] = {
        "ipow": (_power,), "maximum": (_extreme_of_two, True), "minimum": (_extreme_of_two, False),
        "max_step": (_extreme_step, True), "min_step": (_extreme_step, False),
        "max_step_beside": (_extreme_beside, True), "min_step_beside": (_extreme_beside, False),
        "sum_step": (_reassociated, "add"), "product_step": (_reassociated, "mul"),
        "floor_div": (_divided, "floor_div"), "trunc_div": (_divided, "trunc_div"),
        "floor_mod": (_remainder, "floor_mod"), "trunc_mod": (_divided, "trunc_mod"), "fmod": (_remainder, "fmod")}
    return {"iabs": of_same(1)(_absolute), "isign": of_same(1)(_sign),
            **{name: of_same(2)(functools.partial(_with, write, extra)) for name, (write, *extra) in binary.items()}}


def _with(write: Callable[..., ir.Value], extra: list[Any], builder: ir.IRBuilder, code: str, a: ir.Value, b: ir.Value) -> ir.Value:
    return write(builder, code, a, b, *extra)


# division ------------------------------------------------------------------------------------------------------------
def _divided(builder: ir.IRBuilder, code: str, a: ir.Value, b: ir.Value, what: str) -> ir.Value:
    """Integer division that never traps: by 0 it gives 0 (the kernel reports that), by -1 it negates."""
    zero, one, minus = (ir.Constant(a.type, n) for n in (0, 1, -1))
    by_zero = builder.icmp_signed("==", b, zero)
    special = by_zero
    if is_signed(code):
        special = builder.or_(by_zero, builder.icmp_signed("==", b, minus))
    safe = builder.select(special, one, b)
    quotient = builder.sdiv(a, safe) if is_signed(code) else builder.udiv(a, safe)
    if is_signed(code):
        quotient = builder.select(builder.icmp_signed("==", b, minus), builder.neg(a), quotient)
    quotient = builder.select(by_zero, zero, quotient)
    rest = builder.sub(a, builder.mul(quotient, b))
    if is_signed(code) and what.startswith("floor"):
        off = builder.and_(builder.icmp_signed("!=", rest, zero), builder.icmp_signed("<", builder.xor(rest, b), zero))
        quotient = builder.select(off, builder.sub(quotient, one), quotient)
        rest = builder.select(off, builder.add(rest, b), rest)
    return quotient if what.endswith("div") else rest


def _remainder(builder: ir.IRBuilder, code: str, a: ir.Value, b: ir.Value, what: str) -> ir.Value:
    """floor_mod has the sign of b, fmod that of a."""
    if not is_float(code):
        return _divided(builder, code, a, b, what)
    rest = builder.frem(a, b)
    if what == "fmod":
        return rest
    zero = ir.Constant(a.type, 0.0)
    off = builder.and_(builder.fcmp_unordered("!=", rest, zero),
                       builder.xor(builder.fcmp_ordered("<", rest, zero), builder.fcmp_ordered("<", b, zero)))
    return builder.select(off, builder.fadd(rest, b), rest)


# what reductions combine with ----------------------------------------------------------------------------------------
def _extreme(builder: ir.IRBuilder, code: str, a: ir.Value, b: ir.Value, larger: bool) -> ir.Value:
    """The larger (smaller); NaN if either is NaN."""
    if is_float(code):
        return _call(builder, f"llvm.{'maximum' if larger else 'minimum'}", a, b)
    compare = builder.icmp_signed if is_signed(code) else builder.icmp_unsigned
    return builder.select(compare(">" if larger else "<", a, b), a, b)


def _extreme_of_two(builder: ir.IRBuilder, code: str, a: ir.Value, b: ir.Value, larger: bool) -> ir.Value:
    """The same outside of reductions; a where both are equal, so that zeros have the signs that TensorFlow gives them.

    llvm.maximum, which LLVM knows in a reduction, orders zeros, in six instructions of x86.  This is two where b is the same for a
    whole loop: a comparison, and the addition of b if that is NaN, of -0 if not."""
    if not is_float(code):
        return _extreme(builder, code, a, b, larger)
    best = builder.select(builder.fcmp_ordered(">" if larger else "<", b, a), b, a)
    return builder.fadd(best, builder.select(builder.fcmp_unordered("uno", b, b), b, ir.Constant(b.type, -0.0)))


def _extreme_step(builder: ir.IRBuilder, code: str, total: ir.Value, x: ir.Value, larger: bool) -> ir.Value:
    """The larger (smaller) of an accumulator and x, which does not count where it is NaN.

    LLVM makes a vector loop of it that ends at the first NaN, if the loop does nothing else."""
    if is_float(code):
        return _call(builder, f"llvm.{'maxnum' if larger else 'minnum'}", total, x)
    return _extreme(builder, code, total, x, larger)


def _extreme_beside(builder: ir.IRBuilder, code: str, total: ir.Value, x: ir.Value, larger: bool) -> ir.Value:
    """The same beside other reductions and stores: NaN becomes the lowest number first."""
    if is_float(code):
        x = _extreme_step(builder, code, x, ir.Constant(x.type, float("-inf" if larger else "inf")), larger)
    return _extreme(builder, code, total, x, larger)


def _call(builder: ir.IRBuilder, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """A function of LLVM's on two numbers of one type."""
    kind = ir.FunctionType(a.type, [a.type, a.type])
    return builder.call(builder.module.declare_intrinsic(name, [a.type], kind), [a, b])


def _reassociated(builder: ir.IRBuilder, code: str, total: ir.Value, x: ir.Value, name: str) -> ir.Value:
    """add or mul, whose order LLVM may change to use vectors."""
    if is_complex(code):
        if name == "mul":
            return _complex_product(builder, total, x)
        return complexes.by_parts(lambda builder, a, b: _reassociated(builder, part_code(code), a, b, name), builder, total, x)
    if is_float(code):
        return getattr(builder, "f" + name)(total, x, flags=("reassoc", "nsz", "contract"))
    return getattr(builder, name)(total, x)


def _complex_product(builder: ir.IRBuilder, total: ir.Value, x: ir.Value) -> ir.Value:
    """The plain product: the order of factors stays."""
    (a, b), (c, d) = (complexes.parts(builder, z) for z in (total, x))
    return complexes.joined(builder, builder.fsub(builder.fmul(a, c), builder.fmul(b, d)),
                            builder.fadd(builder.fmul(a, d), builder.fmul(b, c)))


# integers ------------------------------------------------------------------------------------------------------------
def _absolute(builder: ir.IRBuilder, code: str, x: ir.Value) -> ir.Value:
    if not is_signed(code):
        return x
    return builder.select(builder.icmp_signed("<", x, ir.Constant(x.type, 0)), builder.neg(x), x)


def _sign(builder: ir.IRBuilder, code: str, x: ir.Value) -> ir.Value:
    zero, one, minus = (ir.Constant(x.type, n) for n in (0, 1, -1))
    up = builder.select(builder.icmp_signed("!=", x, zero), one, zero)
    return builder.select(builder.icmp_signed("<", x, zero), minus, up) if is_signed(code) else up


def _power(builder: ir.IRBuilder, code: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """x ** y by squaring, in the type of x; negative exponents (which the kernel reports) give 1."""
    kind, before = x.type, builder.block
    head, body, end = (builder.append_basic_block(f"ipow.{part}") for part in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    result, base, left = (builder.phi(kind) for _ in range(3))
    compare = builder.icmp_signed if is_signed(code) else builder.icmp_unsigned
    builder.cbranch(compare(">", left, kind(0)), body, end)
    builder.position_at_end(body)
    odd = builder.icmp_unsigned("!=", builder.and_(left, kind(1)), kind(0))
    steps = (builder.select(odd, builder.mul(result, base), result), builder.mul(base, base),
             builder.lshr(left, kind(1)))
    builder.branch(head)
    for phi, start, step in zip((result, base, left), (kind(1), x, y), steps):
        phi.add_incoming(start, before)
        phi.add_incoming(step, body)
    builder.position_at_end(end)
    return result
