"""Loads that run across the innermost loop, turned into ones that run along it.

Where an operand is a transposed tensor, neighbours of the innermost loop lie far apart in memory.  Such kernels go over the
two loops block by block; of every transposed operand a block is turned into a scratch array first, 8 x 8 elements at a
time in vector registers.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..kernel import WIDTH, Kernel, Statement
from ..sizes import Dim
from .instruction import Instruction, fixed, llvm_type
from .outline import call_outlined
from .words import Word, loop

if TYPE_CHECKING:
    from llvmlite import ir


BLOCK = 32              # rows and columns of a block
TILE = 8                # elements that are turned in registers at once, each way
LEAST = 8               # loops this short are not worth turning


def crossing(kernel: Kernel, last: int) -> tuple[int, list[Statement]] | None:
    """(loop, loads): the loads that step by 1 along another loop and by more along the innermost, and that loop."""
    found: dict[int, list[Statement]] = {}
    for s in kernel.body:
        if s.kind != "load" or s.access is None or s.dtype == "c128":
            continue
        if _is(s.access.strides[last], 0) or _is(s.access.strides[last], 1):
            continue
        for k in range(last):
            if _is(s.access.strides[k], 1) and not any(_short(kernel.loops[i].size) for i in (k, last)):
                found.setdefault(k, []).append(s)
                break
    return max(found.items(), key=lambda item: len(item[1]), default=None)


def _is(stride: Dim, value: int) -> bool:
    return isinstance(stride, int) and stride == value


def _short(size: Dim) -> bool:
    return isinstance(size, int) and size < LEAST


def call(builder: ir.IRBuilder, code: str, *args: Any) -> None:
    """Calls turn_CODE(from, at, step, to), which turns a block of BLOCK x BLOCK elements, with values or words."""
    call_outlined(builder, f"turn_{code}", list(args), lambda inner, given: _write_block(inner, *given), small=True)


def _write_block(builder: ir.IRBuilder, source: ir.Value, at: ir.Value, step: ir.Value, target: ir.Value) -> None:
    base, size = builder.gep(source, [at]), Word(builder, at.type(BLOCK))
    with loop(builder, 0, size, TILE) as r, loop(builder, 0, size, TILE) as c:
        _write_tile(builder, builder.gep(base, [(c * Word(builder, step) + r).value]), step,
                    builder.gep(target, [(r * BLOCK + c).value]), source.type.pointee)


def _write_tile(builder: ir.IRBuilder, source: ir.Value, step: ir.Value, target: ir.Value, kind: ir.Type) -> None:
    """8 x 8 elements: in three rounds, rows that are 4, 2 and 1 apart exchange halves, quarters, eighths."""
    from llvmlite import ir

    vector, word = ir.VectorType(kind, TILE), step.type
    align = kind.width // 8 if isinstance(kind, ir.IntType) else (4 if isinstance(kind, ir.FloatType) else 8)

    def row(base: ir.Value, k: int, stride: ir.Value) -> ir.Value:
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


def instructions() -> dict[str, Instruction]:
    """turn_CODE(from, at, step, to): a block of BLOCK x BLOCK elements, turned."""
    found = {}
    for code in WIDTH:
        if code not in ("b1", "c128"):
            pointer = code + "*"
            found[f"turn_{code}"] = fixed("", pointer, "i64", "i64", pointer)(functools.partial(_call_code, code))
    return found


def _call_code(code: str, builder: ir.IRBuilder, *args: Any) -> None:
    if code == "c64":       # moved as one number of its width
        source, at, step, target = args
        source, target = (builder.bitcast(pointer, llvm_type("i64*")) for pointer in (source, target))
        code, args = "i64", (source, at, step, target)
    call(builder, code, *args)
