"""Blocks of matrices, row by row, as intrinsics that kernels name: loops written in vector instructions, which cost the
compiler a fraction of what it takes to find them in a kernel's text.

    copy_block_CODE(source, at, step, target, at, step, rows, columns)
    add_block_CODE(source, at, step, target, at, step, rows, columns)
    clear_block_CODE(target, at, step, rows, columns)

`at` is the index of a block's first element, `step` the distance between two of its rows.
"""
from __future__ import annotations

import re
from typing import Any

from .outline import call_outlined

PATTERN = re.compile(r"\b(copy|add|clear)_block_(f32|f64)\b")


def named_in(source: str) -> dict[str, Any]:
    """The intrinsics for all such names in a kernel's text."""
    return {match.group(): _intrinsic(*match.groups()) for match in PATTERN.finditer(source)}


def _intrinsic(what: str, code: str):
    from numba.core import types
    from numba.core.extending import intrinsic

    pointer, i64 = types.CPointer(types.float32 if code == "f32" else types.float64), types.int64
    names = _argument_names(what)
    signature = types.none(*[pointer if name in ("source", "target") else i64 for name in names])

    def write(context, builder, signature, args):
        call(builder, what, code, args)
        return context.get_dummy_value()

    scope = {"typed": (signature, write)}
    exec(f"def made(typingctx, {', '.join(names)}):\n    return typed", scope)
    return intrinsic(scope["made"])


def _argument_names(what: str) -> list[str]:
    sides = ["target"] if what == "clear" else ["source", "target"]
    return [name for side in sides for name in (side, f"{side}_at", f"{side}_step")] + ["rows", "columns"]


def call(builder: Any, what: str, code: str, args: list):
    """Calls one of these with values, in the order of its arguments."""
    names = _argument_names(what)
    call_outlined(builder, f"{what}_block_{code}", args,
                  lambda inner, given: _Writer(what, code, inner, dict(zip(names, given))).write(), small=True)


class _Writer:

    def __init__(self, what: str, code: str, builder: Any, args: dict[str, Any]):
        from llvmlite import ir

        from .tile import lane_count

        self.ir, self.what, self.code, self.b, self.args = ir, what, code, builder, args
        self.lanes = lane_count(code)
        self.element = ir.FloatType() if code == "f32" else ir.DoubleType()
        self.vector = ir.VectorType(self.element, self.lanes)
        self.i64 = ir.IntType(64)
        self.align = 4 if code == "f32" else 8

    def write(self):
        from numba.core import cgutils

        b, i64 = self.b, self.i64
        columns = self.args["columns"]
        whole = b.sdiv(columns, i64(self.lanes))
        first = b.mul(whole, i64(self.lanes))
        rest = b.sub(columns, first)
        mask = self._mask(rest)
        with cgutils.for_range(b, self.args["rows"]) as row:
            at = {side: b.add(self.args[f"{side}_at"], b.mul(row.index, self.args[f"{side}_step"]))
                  for side in ("source", "target") if side in self.args}
            with cgutils.for_range(b, whole) as chunk:
                self._chunk(at, b.mul(chunk.index, i64(self.lanes)), None)
            with b.if_then(b.icmp_signed(">", rest, i64(0))):
                self._chunk(at, first, mask)

    def _mask(self, count: Any):
        """Truth values for the first `count` lanes."""
        b, kind = self.b, self.ir.VectorType(self.ir.IntType(32), self.lanes)
        undefined = self.ir.Constant(kind, self.ir.Undefined)
        zeros = self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), self.lanes), [0] * self.lanes)
        count = b.trunc(count, self.ir.IntType(32))
        every = b.shuffle_vector(b.insert_element(undefined, count, self.ir.IntType(32)(0)), undefined, zeros)
        return b.icmp_signed("<", self.ir.Constant(kind, list(range(self.lanes))), every)

    def _chunk(self, at: dict[str, Any], column: Any, mask: Any):
        place = {side: self.b.bitcast(self.b.gep(self.args[side], [self.b.add(start, column)]), self.vector.as_pointer())
                 for side, start in at.items()}
        zero = self.ir.Constant(self.vector, [0.0] * self.lanes)
        value = zero if self.what == "clear" else self._load(place["source"], mask, zero)
        if self.what == "add":
            value = self.b.fadd(self._load(place["target"], mask, zero), value)
        self._store(place["target"], mask, value)

    def _load(self, place: Any, mask: Any, zero: Any) -> Any:
        if mask is None:
            value = self.b.load(place)
            value.align = self.align
            return value
        i32 = self.ir.IntType(32)
        load = self._function("load", self.vector, [place.type, i32, mask.type, self.vector])
        return self.b.call(load, [place, i32(self.align), mask, zero])

    def _store(self, place: Any, mask: Any, value: Any):
        if mask is None:
            self.b.store(value, place).align = self.align
            return
        i32 = self.ir.IntType(32)
        store = self._function("store", self.ir.VoidType(), [self.vector, place.type, i32, mask.type])
        self.b.call(store, [value, place, i32(self.align), mask])

    def _function(self, what: str, result: Any, arguments: list) -> Any:
        name = f"llvm.masked.{what}.v{self.lanes}{self.code}.p0"
        found = self.b.module.globals.get(name)
        return found or self.ir.Function(self.b.module, self.ir.FunctionType(result, arguments), name)
