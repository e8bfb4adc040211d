"""Parts of a kernel as functions of their own, which LLVM optimises once and by themselves, however often they are called."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def call_outlined(builder: Any, name: str, arguments: list, write: Callable, small: bool = False):
    """Calls the function `name` of the module with values; write(builder, parameters) writes it where it is not there
    yet.  `small`: its loops are neither unrolled nor widened."""
    from llvmlite import ir

    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [a.type for a in arguments]), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        if small:
            function.attributes.add("optsize")
        inner = ir.IRBuilder(function.append_basic_block())
        write(inner, function.args)
        inner.ret_void()
    builder.call(function, arguments)
