"""The names that the text of CPU kernels uses.  Nothing here is imported unless a kernel is really compiled."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import ranges
from ..kernel import CODES, memory_code
from ..machine import LLVMMachine
from ..machine_base import Machine
from . import cpu_features
from .instruction import Instruction, Write, fixed, is_float, llvm_type

if TYPE_CHECKING:
    from llvmlite import ir


def _sign(m: Machine, x: Any) -> Any:
    """-1, 0 or 1; NaN stays NaN."""
    zero = m.const(0.0, x)
    return m.select(m.gt(x, zero), m.const(1.0, x), m.select(m.lt(x, zero), m.const(-1.0, x),
                                                             m.select(m.isnan(x), x, zero)))


def _ceil(m: Machine, x: Any) -> Any:
    return -m.floor(-x)


def _trunc(m: Machine, x: Any) -> Any:
    return m.copysign(m.floor(m.abs(x)), x)


FLOAT_FUNCTIONS = {"sign": _sign, "ceil": _ceil, "trunc": _trunc, "floor": lambda m, x: m.floor(x),
                   "rint": lambda m, x: m.rint(x), "fabs": lambda m, x: m.abs(x)}


@functools.cache
def namespace() -> dict[str, Instruction]:
    """Everything that a kernel's text may name, but types and what has a `Form`."""
    from . import arithmetic, complexes, halves, turn

    facts = {"has_fma": cpu_features.has_fma(), "has_ldexp": cpu_features.has_ldexp()}
    names = {**elementary_instructions(**facts), **complexes.instructions(**facts)}
    for part in (arithmetic, turn):
        names.update(part.instructions())
    for made in (_limits, _choices, _index_arithmetic, _memory, _blas):
        names.update(made())
    if cpu_features.has_halves():
        names.update(halves.cpu_instructions())
    return names


def elementary_instructions(**facts: bool) -> dict[str, Instruction]:
    """The elementary functions: float32 or float64 arguments of one type give that type.  `facts`: of an LLVMMachine."""
    from .. import elementary

    return {name: elementary_instruction(function, **facts)
            for name, function in {**elementary.FUNCTIONS, **FLOAT_FUNCTIONS}.items()}


def elementary_instruction(function: Callable[..., Any], **facts: bool) -> Instruction:
    """`function(m, *args)` of a machine; its instructions stand in the caller itself: no inlining threshold can keep a
    loop scalar."""
    def write(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
        machine = LLVMMachine(builder, **facts)
        return function(machine, *map(machine.value, values)).ir

    def typed(*codes: str) -> tuple[str, Write] | None:
        return (codes[0], write) if len(set(codes)) == 1 and is_float(codes[0]) else None

    return Instruction(len(inspect.signature(function).parameters) - 1, typed)


def _limits() -> dict[str, Instruction]:
    """The smallest and largest value of every type, as functions without arguments, and infinity like a value."""
    found = {}
    for code in CODES.values():
        low, high = (float("-inf"), float("inf")) if is_float(code) else ranges.full(code) or (0, 1)
        for name, value in (("lowest", low), ("highest", high)):
            found[f"{name}_{code}"] = fixed(code)(lambda builder, code=code, value=value: llvm_type(code)(value))
    return found


def _choices() -> dict[str, Instruction]:
    """Choosing between two values, the opposite of a truth value, infinity in the type of a value, bits seen as another type."""
    from .complexes import by_parts

    def choose(builder: ir.IRBuilder, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        if a.type.is_pointer or not hasattr(a.type, "elements"):
            return builder.select(condition, a, b)
        return by_parts(lambda builder, a, b: builder.select(condition, a, b), builder, a, b)

    def select(condition: str, a: str, b: str) -> tuple[str, Write] | None:
        return (a, choose) if (condition, a) == ("b1", b) else None

    def inf(like: str) -> tuple[str, Write] | None:
        return (like, lambda builder, value: value.type(float("inf"))) if is_float(like) else None

    return {"select": Instruction(3, select), "inf": Instruction(1, inf),
            "not_": fixed("b1", "b1")(lambda builder, x: builder.xor(x, x.type(1))),
            "float_bits": Instruction(1, _bits),
            "bits_float": fixed("f32", "i32")(lambda builder, x: builder.bitcast(x, llvm_type("f32")))}


def _bits(code: str) -> tuple[str, Write] | None:
    """What an integer of the width of a float has the same bits as."""
    if not is_float(code):
        return None
    kind = "i" + code[1:]
    return kind, lambda builder, x: builder.bitcast(x, llvm_type(kind))


def _index_arithmetic() -> dict[str, Instruction]:
    """On places and sizes, which are int64 and not negative where it matters."""
    of_two = fixed("i64", "i64", "i64")

    def outside(builder: ir.IRBuilder, index: ir.Value, limit: ir.Value) -> ir.Value:
        """1 where an index (negative ones too) is out of range, else 0."""
        return builder.zext(builder.icmp_unsigned(">=", index, limit), index.type)

    def inside(builder: ir.IRBuilder, index: ir.Value, limit: ir.Value) -> ir.Value:
        """The index, or 0 where it is out of range."""
        return builder.select(builder.icmp_unsigned("<", index, limit), index, index.type(0))

    return {"outside": of_two(outside), "inside": of_two(inside),
            "quotient": of_two(lambda builder, a, b: builder.udiv(a, b)),
            "smaller": of_two(lambda builder, a, b: builder.select(builder.icmp_signed("<", a, b), a, b)),
            "larger": of_two(lambda builder, a, b: builder.select(builder.icmp_signed(">", a, b), a, b))}


GEMM_ARGUMENTS = "address ta tb m n k a a_at lda b b_at ldb c c_at ldc".split()


def _blas() -> dict[str, Instruction]:
    """gemm_f32 and gemm_f64: a call of cblas_?gemm (32-bit integers) through its address, row-major, C = A B."""
    from llvmlite import ir

    def gemm(code: str) -> Instruction:
        def write(builder: ir.IRBuilder, *args: ir.Value) -> ir.Value:
            i32, kind = ir.IntType(32), llvm_type(code)
            given = dict(zip(GEMM_ARGUMENTS, args))
            low = {name: builder.trunc(given[name], i32) for name in ("ta", "tb", "m", "n", "k", "lda", "ldb", "ldc")}
            flags = [builder.add(low[name], i32(111)) for name in ("ta", "tb")]        # CblasNoTrans, CblasTrans
            a, b, c = (builder.gep(given[name], [given[name + "_at"]]) for name in "abc")
            function = ir.FunctionType(ir.VoidType(), [i32] * 6 + [kind, a.type, i32, a.type, i32, kind, a.type, i32])
            builder.call(builder.inttoptr(given["address"], function.as_pointer()),
                         [i32(101), *flags, low["m"], low["n"], low["k"], kind(1.0), a, low["lda"], b, low["ldb"],
                          kind(0.0), c, low["ldc"]])

        return fixed("", *(code + "*" if name in ("a", "b", "c") else "i64" for name in GEMM_ARGUMENTS))(write)

    return {f"gemm_{code}": gemm(code) for code in ("f32", "f64")}


def _memory() -> dict[str, Instruction]:
    """Scalars passed in the sizes argument, and numbers at an address, which need not be a multiple of their size."""
    codes = CODES.values()
    return {**{f"scalar_{code}": fixed(code, "i64*", "i64")(functools.partial(_read_scalar, code)) for code in codes},
            **{f"{code}_at": fixed(code, "i64")(functools.partial(_read_at, code)) for code in codes if code != "b1"},
            "called": fixed("i64", "i64", "i64", "i64")(_call),
            "call_f64": fixed("f64", "i64", "f64")(_call), "call_f64_f64": fixed("f64", "i64", "f64", "f64")(_call)}


def _call(builder: ir.IRBuilder, function: ir.Value, *given: ir.Value) -> ir.Value:
    """What a function at an address gives for words, or for float64, of which it gives another."""
    from llvmlite import ir

    kinds = [value.type for value in given]
    return builder.call(builder.inttoptr(function, ir.FunctionType(kinds[0], kinds).as_pointer()), given)


def _read_at(code: str, builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    value = builder.load(builder.inttoptr(address, llvm_type(code).as_pointer()))
    value.align = 1
    return value


def _read_scalar(code: str, builder: ir.IRBuilder, sizes: ir.Value, slot: ir.Value) -> ir.Value:
    kind = llvm_type(memory_code(code))
    value = builder.load(builder.bitcast(builder.gep(sizes, [slot]), kind.as_pointer()))
    return builder.icmp_unsigned("!=", value, kind(0)) if code == "b1" else value
