"""Registers full of elements: loads and stores of whole ones and of their first lanes."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import cpu_features
from .outline import declared
from .words import fetched

if TYPE_CHECKING:
    from llvmlite import ir


def lane_count(code: str) -> int:
    """Elements in a vector register of the machine that kernels are compiled for."""
    return cpu_features.vector_bytes() // (4 if code == "f32" else 8)


class Vectors:
    """Instructions on vectors of `lanes` elements f32 or f64."""

    def __init__(self, builder: ir.IRBuilder, code: str, lanes: int):
        from llvmlite import ir

        self.ir, self.b, self.code, self.lanes = ir, builder, code, lanes
        self.element = ir.FloatType() if code == "f32" else ir.DoubleType()
        self.vector = ir.VectorType(self.element, lanes)
        self.zero = self.constant(0.0)
        self.bits = ir.IntType(lanes)
        self.align = 4 if code == "f32" else 8

    def constant(self, number: float) -> ir.Value:
        """A vector of one number."""
        return self.ir.Constant(self.vector, [number] * self.lanes)

    def splat(self, value: ir.Value) -> ir.Value:
        """A vector with a value in every lane."""
        i32 = self.ir.IntType(32)
        undefined = self.ir.Constant(self.ir.VectorType(value.type, self.lanes), self.ir.Undefined)
        first = self.b.insert_element(undefined, value, i32(0))
        return self.b.shuffle_vector(first, undefined, self.ir.Constant(self.ir.VectorType(i32, self.lanes), [0] * self.lanes))

    def first(self, count: ir.Value) -> ir.Value:
        """Truth values for the first `count` lanes, an int64."""
        i32 = self.ir.IntType(32)
        numbers = self.ir.Constant(self.ir.VectorType(i32, self.lanes), list(range(self.lanes)))
        return self.b.icmp_signed("<", numbers, self.splat(self.b.trunc(count, i32)))

    def place(self, array: ir.Value, at: ir.Value) -> ir.Value:
        """The address of the vector that begins with element `at` of an array."""
        return self.b.bitcast(self.b.gep(array, [at]), self.vector.as_pointer())

    def load(self, place: ir.Value, mask: ir.Value | None = None) -> ir.Value:
        """The vector at a place; lanes that `mask` leaves out are 0."""
        if mask is None:
            value = self.b.load(place)
            value.align = self.align
            return value
        return self._masked("load", self.vector, [place, self.ir.IntType(32)(self.align), mask, self.zero])

    def store(self, place: ir.Value, value: ir.Value, mask: ir.Value | None = None) -> None:
        if mask is None:
            self.b.store(value, place).align = self.align
        else:
            self._masked("store", self.ir.VoidType(), [value, place, self.ir.IntType(32)(self.align), mask])

    def fetch(self, place: ir.Value) -> None:
        """Asks memory for the line of a place ahead of its turn."""
        fetched(self.b, place)

    def _masked(self, what: str, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
        name = f"llvm.masked.{what}.v{self.lanes}{self.code}.p0"
        return self.b.call(declared(self.b.module, name, result, [a.type for a in arguments]), arguments)
