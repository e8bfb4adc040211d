"""The names that emitted kernels use, as Numba intrinsics: LLVM instructions placed in the kernel itself.

Being intrinsics they cost no function call, no inlining decision and little of Numba's time.  Nothing here is imported
unless a kernel is really compiled.
"""
from __future__ import annotations

import functools

from ..kernel import COLUMNS


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
    from . import turn

    names = {"f32": types.float32, "f64": types.float64, "u8": types.uint8, "u16": types.uint16, "u32": types.uint32,
             "u64": types.uint64, "i8": types.int8, "i16": types.int16, "i32": types.int32, "i64": types.int64}
    for name, function in {**elementary.FUNCTIONS, **FLOAT_FUNCTIONS}.items():
        names[name] = numba_intrinsic(name, function)
    names.update(_typed_intrinsics())
    names.update(_limits())
    names.update(turn.intrinsics())
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


def _typed_intrinsics() -> dict:
    """Intrinsics over several types, written with llvmlite."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    def same_type(make):
        """An intrinsic whose arguments have one type, which it also gives; make(builder, type, args) writes it."""
        @intrinsic
        def binary(typingctx, a, b):
            if a != b:
                return None
            return a(a, b), lambda context, builder, signature, args: make(builder, a, args)
        return binary

    def is_float(ty):
        return ty in (types.float32, types.float64)

    def divided(builder, ty, args, what):
        """Integer division that never traps: by 0 it gives 0 (the kernel reports that), by -1 it negates."""
        a, b = args
        kind, minus = a.type, ir.Constant(a.type, -1)
        zero = builder.icmp_signed("==", b, ir.Constant(kind, 0))
        special = zero
        if ty.signed:
            special = builder.or_(zero, builder.icmp_signed("==", b, minus))
        safe = builder.select(special, ir.Constant(kind, 1), b)
        quotient = builder.sdiv(a, safe) if ty.signed else builder.udiv(a, safe)
        if ty.signed:
            quotient = builder.select(builder.icmp_signed("==", b, minus), builder.neg(a), quotient)
        quotient = builder.select(zero, ir.Constant(kind, 0), quotient)
        rest = builder.sub(a, builder.mul(quotient, b))
        if ty.signed and what.startswith("floor"):
            off = builder.and_(builder.icmp_signed("!=", rest, ir.Constant(kind, 0)),
                               builder.icmp_signed("<", builder.xor(rest, b), ir.Constant(kind, 0)))
            quotient = builder.select(off, builder.sub(quotient, ir.Constant(kind, 1)), quotient)
            rest = builder.select(off, builder.add(rest, b), rest)
        return quotient if what.endswith("div") else rest

    def modulo(builder, ty, args, what):
        if not is_float(ty):
            return divided(builder, ty, args, what)
        a, b = args
        rest = builder.frem(a, b)
        if what == "fmod":
            return rest
        zero = ir.Constant(a.type, 0.0)
        off = builder.and_(builder.fcmp_unordered("!=", rest, zero),
                           builder.xor(builder.fcmp_ordered("<", rest, zero), builder.fcmp_ordered("<", b, zero)))
        return builder.select(off, builder.fadd(rest, b), rest)

    def extreme(builder, ty, args, larger):
        a, b = args
        if is_float(ty):
            name = f"llvm.{'maximum' if larger else 'minimum'}"
            kind = ir.FunctionType(a.type, [a.type, a.type])
            return builder.call(builder.module.declare_intrinsic(name, [a.type], kind), [a, b])
        compare = builder.icmp_signed if ty.signed else builder.icmp_unsigned
        return builder.select(compare(">" if larger else "<", a, b), a, b)

    def extreme_step(builder, ty, args, larger):
        """The larger (smaller) of an accumulator and x, which does not count where it is NaN."""
        total, x = args
        if is_float(ty):
            # NaN becomes the lowest number; a comparison with the accumulator would not be vectorised
            kind = ir.FunctionType(x.type, [x.type, x.type])
            number = builder.module.declare_intrinsic(f"llvm.{'maxnum' if larger else 'minnum'}", [x.type], kind)
            x = builder.call(number, [x, ir.Constant(x.type, float("-inf" if larger else "inf"))])
        return extreme(builder, ty, (total, x), larger)

    def reassociated(builder, ty, args, name):
        flags = ("reassoc", "nsz", "contract")
        return getattr(builder, name)(*args, flags=flags) if is_float(ty) else getattr(builder, name[1:])(*args)

    def both(function, *extra):
        return same_type(lambda builder, ty, args: function(builder, ty, args, *extra))

    @intrinsic
    def select(typingctx, condition, a, b):
        if a != b or condition != types.boolean:
            return None
        return a(condition, a, b), lambda context, builder, signature, args: builder.select(*args)

    @intrinsic
    def inf(typingctx, like):
        if not is_float(like):
            return None
        return like(like), lambda context, builder, signature, args: ir.Constant(args[0].type, float("inf"))

    @intrinsic
    def not_(typingctx, x):
        if x != types.boolean:
            return None
        return x(x), lambda context, builder, signature, args: builder.xor(args[0], ir.Constant(args[0].type, 1))

    @intrinsic
    def outside(typingctx, index, limit):
        def write(context, builder, signature, args):
            return builder.zext(builder.icmp_unsigned(">=", *args), ir.IntType(64))
        return types.int64(types.int64, types.int64), write

    @intrinsic
    def inside(typingctx, index, limit):
        def write(context, builder, signature, args):
            return builder.select(builder.icmp_unsigned("<", *args), args[0], ir.Constant(args[0].type, 0))
        return types.int64(types.int64, types.int64), write

    @intrinsic
    def quotient(typingctx, a, b):
        return types.int64(types.int64, types.int64), lambda context, builder, signature, args: builder.udiv(*args)

    @intrinsic
    def smaller(typingctx, a, b):
        def write(context, builder, signature, args):
            return builder.select(builder.icmp_signed("<", *args), *args)
        return types.int64(types.int64, types.int64), write

    @intrinsic
    def larger(typingctx, a, b):
        def write(context, builder, signature, args):
            return builder.select(builder.icmp_signed(">", *args), *args)
        return types.int64(types.int64, types.int64), write

    def same_bits(source, target):
        @intrinsic
        def convert(typingctx, x):
            return target(source), lambda context, builder, signature, args: builder.bitcast(
                args[0], context.get_value_type(target))
        return convert

    @intrinsic
    def iabs(typingctx, x):
        def write(context, builder, signature, args):
            if not x.signed:
                return args[0]
            negative = builder.icmp_signed("<", args[0], ir.Constant(args[0].type, 0))
            return builder.select(negative, builder.neg(args[0]), args[0])
        return x(x), write

    @intrinsic
    def isign(typingctx, x):
        def write(context, builder, signature, args):
            zero, one = ir.Constant(args[0].type, 0), ir.Constant(args[0].type, 1)
            up = builder.select(builder.icmp_signed("!=", args[0], zero), one, zero)
            if not x.signed:
                return up
            return builder.select(builder.icmp_signed("<", args[0], zero), ir.Constant(args[0].type, -1), up)
        return x(x), write

    found = {"select": select, "inf": inf, "not_": not_, "outside": outside, "inside": inside, "quotient": quotient,
             "float_bits": same_bits(types.float32, types.int32), "bits_float": same_bits(types.int32, types.float32),
             "smaller": smaller, "larger": larger, "iabs": iabs, "isign": isign, "ipow": _integer_power(),
             "maximum": both(extreme, True), "minimum": both(extreme, False),
             "max_step": both(extreme_step, True), "min_step": both(extreme_step, False),
             "sum_step": both(reassociated, "fadd"), "product_step": both(reassociated, "fmul"),
             "floor_div": both(divided, "floor_div"), "trunc_div": both(divided, "trunc_div"),
             "floor_mod": both(modulo, "floor_mod"), "trunc_mod": both(divided, "trunc_mod"),
             "fmod": both(modulo, "fmod")}
    found.update(_memory_intrinsics())
    found.update(_blas_intrinsics())
    return found


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


def _integer_power():
    """x ** y by squaring, in the type of x; negative exponents (which the kernel reports) give 1."""
    from numba.core.extending import intrinsic

    @intrinsic
    def ipow(typingctx, x, y):
        if x != y:
            return None

        def write(context, builder, signature, args):
            kind, before = args[0].type, builder.block
            head, body, end = (builder.append_basic_block(f"ipow.{part}") for part in ("head", "body", "end"))
            builder.branch(head)
            builder.position_at_end(head)
            result, base, left = (builder.phi(kind) for _ in range(3))
            compare = builder.icmp_signed if x.signed else builder.icmp_unsigned
            builder.cbranch(compare(">", left, kind(0)), body, end)
            builder.position_at_end(body)
            odd = builder.icmp_unsigned("!=", builder.and_(left, kind(1)), kind(0))
            steps = (builder.select(odd, builder.mul(result, base), result), builder.mul(base, base),
                     builder.lshr(left, kind(1)))
            builder.branch(head)
            for phi, start, step in zip((result, base, left), (kind(1), *args), steps):
                phi.add_incoming(start, before)
                phi.add_incoming(step, body)
            builder.position_at_end(end)
            return result
        return x(x, y), write

    return ipow


def _memory_intrinsics() -> dict:
    """Scalars passed in the sizes argument, and a scratch array of COLUMNS elements on the stack."""
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
                    block = builder.alloca(kind, ir.Constant(ir.IntType(64), COLUMNS))
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
