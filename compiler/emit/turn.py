"""Loads that run across the innermost loop, turned into ones that run along it.

Where an operand is a transposed tensor, neighbours of the innermost loop lie far apart in memory.  Such kernels go over the
two loops block by block; of every transposed operand a block is turned into a scratch array first, 8 x 8 elements at a
time in vector registers.
"""
from __future__ import annotations

from typing import Any

from ..kernel import WIDTH
from .outline import call_outlined

BLOCK = 32              # rows and columns of a block
TILE = 8                # elements that are turned in registers at once, each way
LEAST = 8               # loops this short are not worth turning


def crossing(kernel, last: int):
    """(loop, loads): the loads that step by 1 along another loop and by more along the innermost, and that loop."""
    found: dict[int, list] = {}
    for s in kernel.body:
        if s.kind != "load" or _is(s.access.strides[last], 0) or _is(s.access.strides[last], 1):
            continue
        for k in range(last):
            if _is(s.access.strides[k], 1) and not any(_short(kernel.loops[i].size) for i in (k, last)):
                found.setdefault(k, []).append(s)
                break
    return max(found.items(), key=lambda item: len(item[1]), default=None)


def _is(stride, value: int) -> bool:
    return isinstance(stride, int) and stride == value


def _short(size) -> bool:
    return isinstance(size, int) and size < LEAST


def call(builder: Any, code: str, *args: Any):
    """Calls turn_CODE(from, at, step, to), which turns a block of BLOCK x BLOCK elements, with values or words."""
    call_outlined(builder, f"turn_{code}", list(args), lambda inner, given: _write_block(inner, *given), small=True)


def _write_block(builder, source, at, step, target):
    from numba.core import cgutils

    base, word = builder.gep(source, [at]), at.type
    count = word(BLOCK // TILE)
    with cgutils.for_range(builder, count) as row, cgutils.for_range(builder, count) as column:
        r, c = builder.mul(row.index, word(TILE)), builder.mul(column.index, word(TILE))
        _write_tile(builder, builder.gep(base, [builder.add(builder.mul(c, step), r)]), step,
                    builder.gep(target, [builder.add(builder.mul(r, word(BLOCK)), c)]), source.type.pointee)


def _write_tile(builder, source, step, target, kind):
    """8 x 8 elements: in three rounds, rows that are 4, 2 and 1 apart exchange halves, quarters, eighths."""
    from llvmlite import ir

    vector, word = ir.VectorType(kind, TILE), step.type
    align = kind.width // 8 if isinstance(kind, ir.IntType) else (4 if isinstance(kind, ir.FloatType) else 8)

    def row(base, k, stride):
        return builder.bitcast(builder.gep(base, [builder.mul(word(k), stride)]), vector.as_pointer())

    rows = []
    for k in range(TILE):
        value = builder.load(row(source, k, step))
        value.align = align
        rows.append(value)
    for apart in (4, 2, 1):
        for k in range(TILE):
            if not k & apart:
                a, b = rows[k], rows[k + apart]
                low = [j if not j & apart else TILE + j - apart for j in range(TILE)]
                high = [j + apart if not j & apart else TILE + j for j in range(TILE)]
                for at, order in ((k, low), (k + apart, high)):
                    mask = ir.Constant(ir.VectorType(ir.IntType(32), TILE), order)
                    rows[at] = builder.shuffle_vector(a, b, mask)
    for k, value in enumerate(rows):
        builder.store(value, row(target, k, word(BLOCK))).align = align


def intrinsics() -> dict:
    """turn_CODE(from, at, step, to): a block of BLOCK x BLOCK elements, turned; block_CODE(): a scratch array for one."""
    from llvmlite import ir
    from numba.core import types
    from numba.core.extending import intrinsic

    found = {}

    def declare(code, ty):
        @intrinsic
        def turn(typingctx, source, at, step, target):
            def write(context, builder, signature, args):
                call(builder, code, *args)
                return context.get_dummy_value()
            pointer = types.CPointer(ty)
            return types.none(pointer, types.int64, types.int64, pointer), write

        @intrinsic
        def block(typingctx):
            def write(context, builder, signature, args):
                with builder.goto_entry_block():
                    space = builder.alloca(context.get_value_type(ty), ir.IntType(64)(BLOCK * BLOCK))
                    space.align = 64
                return space
            return types.CPointer(ty)(), write

        found[f"turn_{code}"], found[f"block_{code}"] = turn, block

    names = {"f": "float", "i": "int", "u": "uint"}
    for code, width in WIDTH.items():
        if code != "b1":
            declare(code, getattr(types, f"{names[code[0]]}{8 * width}"))
    return found
