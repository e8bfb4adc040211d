"""A kernel that another one calls by its address."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .instruction import Instruction, fixed
from .words import scratch

if TYPE_CHECKING:
    from llvmlite import ir


class Call(NamedTuple):
    """A kernel that is called by its address, whose buffers have these dtype codes, with spaces between them."""

    codes: str

    @property
    def name(self) -> str:
        return "run_" + self.codes.replace(" ", "_")

    def instruction(self) -> Instruction:
        """run(address, buffers ..., sizes, begin, end)"""
        from llvmlite import ir

        i64, codes = ir.IntType(64), self.codes.split()
        word = i64.as_pointer()

        def write(builder: ir.IRBuilder, address: ir.Value, *given: ir.Value) -> ir.Value:
            *buffers, numbers, begin, end = given
            places = scratch(builder, "i64", len(buffers))
            for k, buffer in enumerate(buffers):
                builder.store(builder.ptrtoint(buffer, i64), builder.gep(places, [i64(k)]))
            function = ir.FunctionType(i64, [word, word, i64, i64])
            return builder.call(builder.inttoptr(address, function.as_pointer()), [places, numbers, begin, end])

        return fixed("i64", "i64", *(code + "*" for code in codes), "i64*", "i64", "i64")(write)
