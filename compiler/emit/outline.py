"""Parts of a kernel as functions of their own, which LLVM optimises once and by themselves, however often they are called."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .words import operand

if TYPE_CHECKING:
    from llvmlite import ir


def call_outlined(builder: ir.IRBuilder, name: str, arguments: list[Any],
                  write: Callable[[ir.IRBuilder, tuple[ir.Value, ...]], Any], small: bool = False,
                  result: ir.Type | None = None) -> ir.Value:
    """Calls the function `name` of the module with values, words or integers; write(builder, parameters) writes it where it
    is not there yet, and returns what it returns, of type `result`.  `small`: its loops are neither unrolled nor widened."""
    from llvmlite import ir

    arguments = [operand(a) for a in arguments]
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(result or ir.VoidType(), [a.type for a in arguments])
        function = ir.Function(builder.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        if small:
            function.attributes.add("optsize")
        inner = ir.IRBuilder(function.append_basic_block())
        value = write(inner, function.args)
        inner.ret_void() if result is None else inner.ret(value)
    return builder.call(function, arguments)


def declared(module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Value:
    """An instruction or a C function that the module calls by its name, of these types."""
    from llvmlite import ir

    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, arguments), name)
