"""The names that emitted kernels use, as Numba intrinsics for CUDA.

Most mean the same instructions as on the CPU (`intrinsics.py`); here is what NVVM cannot take, or what a CPU does not
have.  Kernels for CUDA call nothing else: no device functions, no arrays, nothing that needs a driver to compile.

    thread_index() thread_count()       of the block
    block_index() block_count()         of the grid
    barrier()                           waits for all threads of the block; orders their reads and writes
    shared_CODE(n)                      n elements, one array for the whole block, not initialised
    local_CODE(n)                       n elements of the thread's own, in registers, all 0
    taken(x, at, condition)             x[at] where the condition holds, else 0: nothing is read then
    take4(to, i, x, at, condition)      to[i], ... to[i + 3] = x[at], ... x[at + 3], likewise
    copy4(to, i, x, at)                 the same without a condition
    load8(to, i, x, at)                 the same of eight elements of memory, to the thread's own; store8 the other way
    take8(to, i, x, at, condition)      load8, as take4
    copy_some(to, i, x, at, n)          the first n of the four, one by one; none if n is negative
    add_products(sums, a, n, b, m)      sums[i * m + j] += a[i] * b[j] for the n elements of a and m of b, each rounded once
    quotient32(a, b)                    a // b of numbers in [0, 2**32): a 64-bit division takes four times as long
    unforeseen(x)                       x, an int64; how often a loop that counts by it runs nobody can tell: it is not unrolled
    fold_PRIM(x)                        `x` of the 32 lanes of a warp, combined; every lane gets the same result
    fold_argmax(x, at)                  (largest x, its place), of equal ones the smallest place; fold_argmin likewise
    pointer_CODE(table, k)              the pointer whose address is word k of a table of int64
    onwards(table, k)                   the table from word k on
    report(error, bits)                 ORs bits into the flags that the host looks at

and those of `cuda_halves`.  What moves four (or eight) elements does so by instructions of 16 bytes: both places are multiples of
four (eight).  All places in arrays of the thread's own are literals, so that these stay in registers.

A fold combines lane i with lane i ^ 16, then i ^ 8, ... i ^ 1: a fixed order, so that sums are the same at every run.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..kernel import CODES
from . import cuda_halves
from .instruction import Codegen, Instruction, Write, fixed, is_float, llvm_type, numba_intrinsic, type_names

if TYPE_CHECKING:
    from llvmlite import ir


WARP = 32
FOLDS = ("add", "mul", "max", "min", "and", "or")
POSITIONS = {"thread_index": "tid", "thread_count": "ntid", "block_index": "ctaid", "block_count": "nctaid"}


@functools.cache
def namespace() -> dict[str, Any]:
    """Everything that a kernel's text may name, for Numba on CUDA."""
    from . import intrinsics

    common = {name: meaning for name, meaning in intrinsics.namespace().items()
              if not name.startswith(("gemm_", "turn_"))}
    common.update(intrinsics.elementary_instructions(has_fma=True, gpu=True))
    for name, write in _float_operations().items():
        common[name] = _for_floats(write, common[name])
    names = {name: numba_intrinsic(meaning) for name, meaning in common.items()}
    names.update(type_names())
    names.update(_positions())
    names.update(_folds())
    names.update(_shared())
    names.update(_local())
    names.update({name: numba_intrinsic(meaning) for name, meaning in {**_moves(), **cuda_halves.instructions()}.items()})
    return names


# arithmetic ----------------------------------------------------------------------------------------------------------
def _for_floats(write: Write, otherwise: Instruction) -> Instruction:
    """An instruction on two equal types: write(builder, a, b) for floats, for other types what it means on the CPU."""
    def typed(*codes: str) -> tuple[str, Write] | None:
        return (codes[0], write) if len(set(codes)) == 1 and is_float(codes[0]) else otherwise.typed(*codes)

    return Instruction(2, typed)


def _float_operations() -> dict[str, Write]:
    """Replaced: llvm.maximum, which NVVM does not know; frem, which it expands inexactly; and sums that LLVM may reorder
    or contract, since on a GPU each thread adds up few terms and the same bits as in the simulator are worth more."""
    def fmod(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        return _call(builder, f"__nv_fmod{'f' if a.type.intrinsic_name == 'f32' else ''}", a.type, [a, b])

    def floor_mod(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        rest, zero = fmod(builder, a, b), a.type(0.0)
        off = builder.and_(builder.fcmp_unordered("!=", rest, zero),
                           builder.xor(builder.fcmp_ordered("<", rest, zero), builder.fcmp_ordered("<", b, zero)))
        return builder.select(off, builder.fadd(rest, b), rest)

    return {"maximum": lambda builder, a, b: combined(builder, "max", True, b, a),
            "minimum": lambda builder, a, b: combined(builder, "min", True, b, a),
            "max_step": lambda builder, a, b: extreme_step(builder, "max", a, b),
            "min_step": lambda builder, a, b: extreme_step(builder, "min", a, b),
            "sum_step": lambda builder, a, b: builder.fadd(a, b),
            "product_step": lambda builder, a, b: builder.fmul(a, b),
            "fmod": fmod, "floor_mod": floor_mod}


def combined(builder: ir.IRBuilder, prim: str, signed: bool, a: ir.Value, b: ir.Value) -> ir.Value:
    """The LLVM value of one reduction step; maxima and minima are NaN where one of the two is."""
    floating = a.type.intrinsic_name in ("f32", "f64")
    if prim in ("add", "mul"):
        return getattr(builder, f"f{prim}" if floating else prim)(a, b)
    if prim in ("and", "or"):
        return getattr(builder, prim + "_")(a, b)
    return builder.select(_better(builder, prim, signed, a, b, or_nan=True), a, b)


def extreme_step(builder: ir.IRBuilder, prim: str, total: ir.Value, x: ir.Value) -> ir.Value:
    """The larger (smaller) of an accumulator and x, of which one that is NaN does not count."""
    name = f"llvm.nvvm.f{prim}.{'f' if total.type.intrinsic_name == 'f32' else 'd'}"
    return _call(builder, name, total.type, [total, x])


def _better(builder: ir.IRBuilder, prim: str, signed: bool, a: ir.Value, b: ir.Value, or_nan: bool = False) -> ir.Value:
    """Whether a is larger (smaller) than b, or, with `or_nan`, is NaN."""
    sign = ">" if prim in ("max", "argmax") else "<"
    if a.type.intrinsic_name not in ("f32", "f64"):
        return (builder.icmp_signed if signed else builder.icmp_unsigned)(sign, a, b)
    better = builder.fcmp_ordered(sign, a, b)
    return builder.or_(better, builder.fcmp_unordered("uno", a, a)) if or_nan else better


# the block and the grid ----------------------------------------------------------------------------------------------
def _call(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
    """A call of a function that NVVM or libdevice defines."""
    from llvmlite import ir

    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(result, [a.type for a in arguments]), name)
    return builder.call(function, arguments)


def _positions() -> dict[str, Any]:
    """Where a thread is, how it waits for the others of its block, and how it reports what failed."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    def position(register: str) -> Any:
        @intrinsic
        def read(typingctx: Any) -> tuple[Any, Codegen]:
            def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                value = _call(builder, f"llvm.nvvm.read.ptx.sreg.{register}.x", ir.IntType(32), [])
                return builder.zext(value, ir.IntType(64))
            return types.int64(), write
        return read

    @intrinsic
    def barrier(typingctx: Any) -> tuple[Any, Codegen]:
        def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
            _call(builder, "llvm.nvvm.barrier0", ir.VoidType(), [])
            return context.get_dummy_value()
        return types.none(), write

    @intrinsic
    def report(typingctx: Any, error: Any, bits: Any) -> tuple[Any, Codegen]:
        def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
            builder.atomic_rmw("or", *args, "monotonic")
            return context.get_dummy_value()
        return types.none(types.CPointer(types.int64), types.int64), write

    found = {name: position(register) for name, register in POSITIONS.items()}
    return {**found, "barrier": barrier, "report": report}


def _shared() -> dict[str, Any]:
    """shared_CODE(n): a pointer to n elements of the block's shared memory; every call in a kernel is another array."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    def shared(ty: Any, code: str) -> Any:
        @intrinsic(prefer_literal=True)
        def allocate(typingctx: Any, count: Any) -> tuple[Any, Codegen]:
            def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                module, kind = builder.module, context.get_data_type(ty)
                array = ir.ArrayType(kind, count.literal_value)
                name = module.get_unique_name(f"shared_{code}")
                block = ir.GlobalVariable(module, array, name, addrspace=3)
                block.linkage, block.initializer, block.align = "internal", ir.Constant(array, ir.Undefined), 16
                return builder.addrspacecast(builder.bitcast(block, kind.as_pointer(3)), kind.as_pointer(), "generic")
            return types.CPointer(ty)(count), write
        return allocate

    return {f"shared_{code}": shared(getattr(types, name), code) for name, code in CODES.items() if code != "b1"}


# a thread's own elements, and what it moves -----------------------------------------------------------------------------
def _local() -> dict[str, Any]:
    """local_CODE(n), and add_products, whose arrays they are."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    def local(ty: Any) -> Any:
        @intrinsic(prefer_literal=True)
        def allocate(typingctx: Any, count: Any) -> tuple[Any, Codegen]:
            def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                kind, number = context.get_data_type(ty), count.literal_value
                with builder.goto_entry_block():
                    place = builder.alloca(ir.ArrayType(kind, number))
                    place.align = 16
                start = builder.bitcast(place, kind.as_pointer())
                for k in range(number):
                    builder.store(kind(0), _element(builder, start, k))
                return start
            return types.CPointer(ty)(count), write
        return allocate

    @intrinsic(prefer_literal=True)
    def add_products(typingctx: Any, sums: Any, a: Any, n: Any, b: Any, m: Any) -> tuple[Any, Codegen]:
        def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
            total, left, _, right, _ = args
            rows, columns = n.literal_value, m.literal_value
            factors = [builder.load(_element(builder, right, j)) for j in range(columns)]
            for i in range(rows):
                factor = builder.load(_element(builder, left, i))
                for j in range(columns):
                    place = _element(builder, total, i * columns + j)
                    terms = [factor, factors[j], builder.load(place)]
                    builder.store(_call(builder, f"llvm.fma.{factor.type.intrinsic_name}", factor.type, terms), place)
            return context.get_dummy_value()
        return types.none(sums, a, n, b, m), write

    found = {f"local_{code}": local(getattr(types, name)) for name, code in CODES.items() if code != "b1"}
    return {**found, "add_products": add_products}


def _element(builder: ir.IRBuilder, start: ir.Value, k: int) -> ir.Value:
    from llvmlite import ir

    return builder.gep(start, [ir.IntType(64)(k)], inbounds=True)


def _moves() -> dict[str, Instruction]:
    """taken, take4, copy4, copy_some, and quotient32 by which their places are found."""
    from llvmlite import ir

    def taken(pointer: str, *rest: str) -> tuple[str, Write] | None:
        def write(builder: ir.IRBuilder, x: ir.Value, at: ir.Value, condition: ir.Value) -> ir.Value:
            before = builder.block
            with builder.if_then(condition):
                value, inside = builder.load(builder.gep(x, [at])), builder.block
            found = builder.phi(x.type.pointee)
            found.add_incoming(x.type.pointee(0), before)
            found.add_incoming(value, inside)
            return found

        return (pointer[:-1], write) if pointer.endswith("*") and rest == ("i64", "b1") else None

    def move(builder: ir.IRBuilder, to: ir.Value, i: ir.Value, x: ir.Value, at: ir.Value, count: int = 4) -> None:
        kind = x.type.pointee
        size = int(kind.intrinsic_name[1:]) // 8
        each = min(16 // size, count)
        vector = ir.VectorType(kind, each).as_pointer()
        for k in range(0, count, each):
            source, target = (builder.bitcast(builder.gep(start, [builder.add(place, place.type(k))]), vector)
                              for start, place in ((x, at), (to, i)))
            builder.store(builder.load(source, align=each * size), target, align=each * size)

    def zeros(builder: ir.IRBuilder, to: ir.Value, i: ir.Value, count: int = 4) -> None:
        for k in range(count):
            builder.store(to.type.pointee(0), builder.gep(to, [builder.add(i, i.type(k))]))

    def taken4(builder: ir.IRBuilder, to: ir.Value, i: ir.Value, x: ir.Value, at: ir.Value, condition: ir.Value) -> None:
        zeros(builder, to, i)
        with builder.if_then(condition):
            move(builder, to, i, x, at)

    def some(builder: ir.IRBuilder, to: ir.Value, i: ir.Value, x: ir.Value, at: ir.Value, count: ir.Value) -> None:
        for k in range(4):
            with builder.if_then(builder.icmp_signed(">", count, count.type(k))):
                source, target = (builder.gep(start, [builder.add(place, place.type(k))]) for start, place in ((x, at), (to, i)))
                builder.store(builder.load(source), target)

    def moving(write: Write, *conditions: str) -> Any:
        def typed(*codes: str) -> tuple[str, Write] | None:
            to, i, x, at, *rest = codes
            fits = to == x and to[:-1] in ("f32", "f64", "i32", "i64", "u32", "u64", "u16")
            return ("", write) if fits and i == at == "i64" and tuple(rest) == conditions else None
        return Instruction(4 + len(conditions), typed)

    def divided(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
        short = ir.IntType(32)
        return builder.zext(builder.udiv(builder.trunc(a, short), builder.trunc(b, short)), a.type)

    def unforeseen(builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return builder.asm(ir.FunctionType(x.type, [x.type]), "mov.b64 $0, $1;", "=l,l", [x], False)

    return {**_pointers(), "unforeseen": fixed("i64", "i64")(unforeseen),
            "taken": Instruction(3, taken), "take4": moving(taken4, "b1"), "copy4": moving(move),
            **_eights(move, zeros, moving), "copy_some": moving(some, "i64"), "quotient32": fixed("i64", "i64", "i64")(divided)}


def _eights(move: Write, zeros: Callable[..., None], moving: Callable[..., Instruction]) -> dict[str, Instruction]:
    """load8, take8, store8.  Of 16 bits, eight at once are four words for NVVM, and only one by one do they stay in registers."""
    from llvmlite import ir

    short, words = ir.IntType(16), ir.VectorType(ir.IntType(32), 4)

    def load_words(builder: ir.IRBuilder, to: list[ir.Value], x: list[ir.Value]) -> None:
        found = builder.load(builder.bitcast(x[0], words.as_pointer()), align=16)
        for k in range(8):
            word = builder.extract_element(found, ir.IntType(32)(k // 2))
            builder.store(builder.trunc(builder.lshr(word, word.type(16)) if k % 2 else word, short), to[k])

    def store_words(builder: ir.IRBuilder, to: list[ir.Value], x: list[ir.Value]) -> None:
        found = words(ir.Undefined)
        for k in range(0, 8, 2):
            low, high = (builder.zext(builder.load(x[k + j]), words.element) for j in range(2))
            word = builder.or_(low, builder.shl(high, words.element(16)))
            found = builder.insert_element(found, word, words.element(k // 2))
        builder.store(found, builder.bitcast(to[0], words.as_pointer()), align=16)

    def move8(short_ones: Write, builder: ir.IRBuilder, to: ir.Value, i: ir.Value, x: ir.Value, at: ir.Value) -> None:
        if x.type.pointee != short:
            return move(builder, to, i, x, at, 8)
        places = ([builder.gep(start, [builder.add(place, place.type(k))]) for k in range(8)]
                  for start, place in ((to, i), (x, at)))
        return short_ones(builder, *places)

    load8 = functools.partial(move8, load_words)

    def taken8(builder: ir.IRBuilder, to: ir.Value, i: ir.Value, x: ir.Value, at: ir.Value, condition: ir.Value) -> None:
        zeros(builder, to, i, 8)
        with builder.if_then(condition):
            load8(builder, to, i, x, at)

    return {"load8": moving(load8), "store8": moving(functools.partial(move8, store_words)), "take8": moving(taken8, "b1")}


def _pointers() -> dict[str, Instruction]:
    """pointer_CODE, and onwards."""
    def pointer(code: str) -> Instruction:
        def read(builder: ir.IRBuilder, table: ir.Value, k: ir.Value) -> ir.Value:
            kind = llvm_type(code)      # said to be in global memory, so that it is not looked for elsewhere
            there = builder.inttoptr(builder.load(builder.gep(table, [k])), kind.as_pointer(1))
            return builder.addrspacecast(there, kind.as_pointer())

        return fixed(f"{code}*", "i64*", "i64")(read)

    found = {f"pointer_{code}": pointer(code) for code in CODES.values() if code != "b1"}
    return {**found, "onwards": fixed("i64*", "i64*", "i64")(lambda builder, table, k: builder.gep(table, [k]))}


def _shuffled(builder: ir.IRBuilder, value: ir.Value, distance: int) -> ir.Value:
    """`value` of the lane whose number differs by the bit `distance`; all 32 lanes take part."""
    from llvmlite import ir

    i32, i64 = ir.IntType(32), ir.IntType(64)
    kind, wide = value.type, value.type.intrinsic_name in ("f64", "i64")
    bits = builder.bitcast(value, i64 if wide else i32) if kind.intrinsic_name in ("f32", "f64") else value
    if not wide and bits.type != i32:
        bits = builder.zext(bits, i32)
    halves = [builder.trunc(bits, i32), builder.trunc(builder.lshr(bits, i64(32)), i32)] if wide else [bits]
    pair = ir.LiteralStructType([i32, ir.IntType(1)])
    everyone, butterfly, clamp = i32(-1), i32(3), i32(WARP - 1)
    moved = [builder.extract_value(_call(builder, "llvm.nvvm.shfl.sync.i32", pair,
                                         [everyone, butterfly, half, i32(distance), clamp]), 0) for half in halves]
    bits = moved[0]
    if wide:
        bits = builder.or_(builder.zext(moved[0], i64), builder.shl(builder.zext(moved[1], i64), i64(32)))
    if kind.intrinsic_name in ("f32", "f64"):
        return builder.bitcast(bits, kind)
    return builder.trunc(bits, kind) if kind.width < 32 else bits


def _folds() -> dict[str, Any]:
    """fold_PRIM and fold_argmax, fold_argmin."""
    from numba.core import types
    from numba.core.extending import intrinsic

    distances = [WARP >> k for k in range(1, WARP.bit_length())]

    def signed(ty: Any) -> bool:
        return getattr(ty, "signed", False)

    def fold(prim: str) -> Any:
        @intrinsic
        def folded(typingctx: Any, x: Any) -> tuple[Any, Codegen]:
            def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                (value,) = args
                for distance in distances:
                    value = combined(builder, prim, signed(x), value, _shuffled(builder, value, distance))
                return value
            return x(x), write
        return folded

    def fold_place(prim: str) -> Any:
        @intrinsic
        def folded(typingctx: Any, x: Any, at: Any) -> tuple[Any, Codegen]:
            def write(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
                value, place = args
                for distance in distances:
                    other, there = _shuffled(builder, value, distance), _shuffled(builder, place, distance)
                    worse = _better(builder, prim, signed(x), value, other)
                    better = _better(builder, prim, signed(x), other, value)
                    earlier = builder.and_(builder.not_(worse), builder.icmp_signed("<", there, place))
                    take = builder.or_(better, earlier)
                    value, place = builder.select(take, other, value), builder.select(take, there, place)
                return context.make_tuple(builder, signature.return_type, [value, place])
            return types.Tuple((x, types.int64))(x, types.int64), write
        return folded

    return {**{f"fold_{prim}": fold(prim) for prim in FOLDS},
            **{f"fold_{prim}": fold_place(prim) for prim in ("argmax", "argmin")}}
