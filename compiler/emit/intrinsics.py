"""The names that emitted kernels use, as Numba intrinsics: LLVM instructions placed in the kernel itself.

Being intrinsics they cost no function call, no inlining decision and little of Numba's time.  Nothing here is imported
unless a kernel is really compiled.
"""
from __future__ import annotations

import functools

from ..kernel import WIDE_COLUMNS


def _fmax(m, a, b):
    """The larger; NaN if either is NaN."""
    return m.select(m.isnan(a), a, m.select(m.gt(a, b), a, b))


def _fmin(m, a, b):
    """The smaller; NaN if either is NaN."""
    return m.select(m.isnan(a), a, m.select(m.lt(a, b), a, b))


def _sign(m, x):
    """-1, 0 or 1; NaN stays NaN."""
    zero = m.const(0.0, x)
    return m.select(m.gt(x, zero), m.const(1.0, x), m.select(m.lt(x, zero), m.const(-1.0, x),
                                                             m.select(m.isnan(x), x, zero)))


def _ceil(m, x):
    return -m.floor(-x)


def _trunc(m, x):
    return m.copysign(m.floor(m.abs(x)), x)


FLOAT_FUNCTIONS = {"sign": _sign, "ceil": _ceil, "trunc": _trunc, "floor": lambda m, x: m.floor(x),
                   "rint": lambda m, x: m.rint(x), "fabs": lambda m, x: m.abs(x)}


@functools.cache
def namespace() -> dict:
    """Everything that a kernel's text may name, for Numba on the CPU."""
    from numba.core import types

    from .. import elementary
    from ..machine import numba_intrinsic
    from . import arithmetic, turn

    names = {"f32": types.float32, "f64": types.float64, "u8": types.uint8, "u16": types.uint16, "u32": types.uint32,
             "u64": types.uint64, "i8": types.int8, "i16": types.int16, "i32": types.int32, "i64": types.int64}
    for name, function in {**elementary.FUNCTIONS, **FLOAT_FUNCTIONS}.items():
        names[name] = numba_intrinsic(name, function)
    for part in (arithmetic.intrinsics, _choices, _index_arithmetic, _limits, _memory_intrinsics, _blas_intrinsics,
                 turn.intrinsics):
        names.update(part())
    return names


def _limits() -> dict:
    """The smallest and largest value of every type, as functions without arguments, and infinity like a value."""
    import numpy as np
    from numba.core import types
    from numba.core.extending import intrinsic

    found = {}

    def constant(name, ty, value):
        @intrinsic
        def limit(typingctx):
            return ty(), lambda context, builder, signature, args: context.get_constant(ty, value)
        found[name] = limit

    for code in ("f32", "f64"):
        ty = types.float32 if code == "f32" else types.float64
        constant(f"lowest_{code}", ty, -np.inf)
        constant(f"highest_{code}", ty, np.inf)
    for kind, prefix in (("i", "int"), ("u", "uint")):
        for bits in (8, 16, 32, 64):
            info = np.iinfo(f"{prefix}{bits}")
            ty = getattr(types, f"{prefix}{bits}")
            constant(f"lowest_{kind}{bits}", ty, int(info.min))
            constant(f"highest_{kind}{bits}", ty, int(info.max))
    return found


def _choices() -> dict:
    """Choosing between two values, the opposite of a truth value, infinity in the type of a value, bits seen as another type."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    @intrinsic
    def select(typingctx, condition, a, b):
        if a != b or condition != types.boolean:
            return None
        return a(condition, a, b), lambda context, builder, signature, args: builder.select(*args)

    @intrinsic
    def not_(typingctx, x):
        if x != types.boolean:
            return None
        return x(x), lambda context, builder, signature, args: builder.xor(args[0], ir.Constant(args[0].type, 1))

    @intrinsic
    def inf(typingctx, like):
        if like not in (types.float32, types.float64):
            return None
        return like(like), lambda context, builder, signature, args: ir.Constant(args[0].type, float("inf"))

    def same_bits(source, target):
        @intrinsic
        def convert(typingctx, x):
            return target(source), lambda context, builder, signature, args: builder.bitcast(
                args[0], context.get_value_type(target))
        return convert

    return {"select": select, "not_": not_, "inf": inf, "float_bits": same_bits(types.float32, types.int32),
            "bits_float": same_bits(types.int32, types.float32)}


def _index_arithmetic() -> dict:
    """On places and sizes, which are int64 and not negative where it matters."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    def of_two(write):
        @intrinsic
        def operation(typingctx, a, b):
            return types.int64(types.int64, types.int64), lambda context, builder, signature, args: write(builder, *args)
        return operation

    def outside(builder, index, limit):
        """1 where an index (negative ones too) is out of range, else 0."""
        return builder.zext(builder.icmp_unsigned(">=", index, limit), ir.IntType(64))

    def inside(builder, index, limit):
        """The index, or 0 where it is out of range."""
        return builder.select(builder.icmp_unsigned("<", index, limit), index, ir.Constant(index.type, 0))

    return {"outside": of_two(outside), "inside": of_two(inside),
            "quotient": of_two(lambda builder, a, b: builder.udiv(a, b)),
            "smaller": of_two(lambda builder, a, b: builder.select(builder.icmp_signed("<", a, b), a, b)),
            "larger": of_two(lambda builder, a, b: builder.select(builder.icmp_signed(">", a, b), a, b))}


def _blas_intrinsics() -> dict:
    """gemm_f32 and gemm_f64: a call of cblas_?gemm (32-bit integers) through its address, row-major, C = A B."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    found = {}

    def gemm(code, ty):
        @intrinsic
        def call(typingctx, address, ta, tb, m, n, k, a, a_at, lda, b, b_at, ldb, c, c_at, ldc):
            def write(context, builder, signature, args):
                i32, kind = ir.IntType(32), context.get_value_type(ty)
                pointer = kind.as_pointer()
                low = [builder.trunc(x, i32) for x in (args[1], args[2], *args[3:6], args[8], args[11], args[14])]
                flags = [builder.add(x, i32(111)) for x in low[:2]]     # CblasNoTrans, CblasTrans
                where = [builder.gep(args[x], [args[x + 1]]) for x in (6, 9, 12)]
                function = ir.FunctionType(ir.VoidType(), [i32] * 6 + [kind, pointer, i32, pointer, i32, kind, pointer,
                                                                       i32])
                target = builder.inttoptr(args[0], function.as_pointer())
                builder.call(target, [i32(101), *flags, *low[2:5], ir.Constant(kind, 1.0), where[0], low[5], where[1],
                                      low[6], ir.Constant(kind, 0.0), where[2], low[7]])
                return context.get_dummy_value()
            i64, p = types.int64, types.CPointer(ty)
            return types.none(i64, i64, i64, i64, i64, i64, p, i64, i64, p, i64, i64, p, i64, i64), write
        found[f"gemm_{code}"] = call

    gemm("f32", types.float32)
    gemm("f64", types.float64)
    return found


def _memory_intrinsics() -> dict:
    """Scalars passed in the sizes argument, and a scratch array of WIDE_COLUMNS elements on the stack."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    found = {}

    def scalar(code, ty):
        @intrinsic
        def read(typingctx, sizes, slot):
            def write(context, builder, signature, args):
                kind = context.get_value_type(ty) if ty != types.boolean else ir.IntType(8)
                address = builder.bitcast(builder.gep(args[0], [args[1]]), kind.as_pointer())
                value = builder.load(address)
                return builder.icmp_unsigned("!=", value, ir.Constant(kind, 0)) if ty == types.boolean else value
            return ty(sizes, slot), write
        found[f"scalar_{code}"] = read

    def scratch(code, ty):
        @intrinsic
        def allocate(typingctx):
            def write(context, builder, signature, args):
                kind = context.get_value_type(ty)
                with builder.goto_entry_block():
                    block = builder.alloca(kind, ir.Constant(ir.IntType(64), WIDE_COLUMNS))
                    block.align = 64
                return block
            return types.CPointer(ty)(), write
        found[f"scratch_{code}"] = allocate

    for code, ty in (("f32", types.float32), ("f64", types.float64), ("i8", types.int8), ("i16", types.int16),
                     ("i32", types.int32), ("i64", types.int64), ("u8", types.uint8), ("u16", types.uint16),
                     ("u32", types.uint32), ("u64", types.uint64), ("b1", types.boolean)):
        scalar(code, ty)
        scratch(code, ty)
    return found
