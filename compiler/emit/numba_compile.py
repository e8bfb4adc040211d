"""Kernel text -> object code by Numba: what `translate` does in less time.  Imported only where Numba is asked for."""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import cpu_features
from .compile_error import CompileError
from .instruction import Form, numba_intrinsic, numba_type, type_names
from .vocabulary import names

if "numba" not in sys.modules:          # it looks at these when it is imported, and uses half of a 512-bit vector without
    os.environ.setdefault("NUMBA_CPU_NAME", cpu_features.target_features()[0])
    os.environ.setdefault("NUMBA_CPU_FEATURES", cpu_features.target_features()[1])

from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target

if TYPE_CHECKING:
    from llvmlite import ir


def compile_by_numba(source: str, name: str, codes: list[str], symbol: str, forms: Iterable[Form] = ()) -> bytes:
    """Object code of a kernel text, see `native.compile_function`.  Raises CompileError if Numba refuses it."""
    library = _library(source, name, codes, symbol, forms)
    return library._get_compiled_object() or library.codegen._tm.emit_object(library._final_module)


def _library(source: str, name: str, codes: list[str], symbol: str, forms: Iterable[Form]) -> Any:
    space: dict[str, Any] = {**type_names(), **{n: numba_intrinsic(i) for n, i in names(forms).items() if n in source}}
    exec(compile(source, f"<jitgraph kernel {name}>", "exec"), space)
    arguments = [*(numba_type(code + "*") for code in codes), numba_type("i64*"), types.int64, types.int64]
    flags: Any = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    flags.noalias, flags.nrt, flags.error_model = True, False, "numpy"
    with global_compiler_lock:
        try:
            result = compiler.compile_extra(cpu_target.typing_context, cpu_target.target_context, space[name],
                                            tuple(arguments), types.int64, flags, {})
        except NumbaError as error:
            raise CompileError(source, error) from error
        library = result.library
        module = _shell(symbol, result.fndesc.llvm_func_name, len(arguments))
        library.enable_object_caching()
        library.add_ir_module(module)
        library._final_module.get_function(result.fndesc.llvm_func_name).linkage = "internal"
        library.finalize()
        return library


def _shell(symbol: str, callee: str, count: int) -> ir.Module:
    """A module with the function `symbol`, which calls Numba's function `callee` by Numba's convention."""
    from llvmlite import ir

    i64, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    pointer = i64.as_pointer()
    module = ir.Module("shell_" + symbol)
    shell = ir.Function(module, ir.FunctionType(i64, [pointer, pointer, i64, i64]), symbol)
    buffers = count - 3
    passed = [pointer] * buffers + [pointer, i64, i64]
    inner = ir.Function(module, ir.FunctionType(ir.IntType(32), [pointer, byte.as_pointer(), *passed]), callee)
    inner.attributes.add("alwaysinline")
    builder = ir.IRBuilder(shell.append_basic_block())
    value, error = builder.alloca(i64), builder.alloca(byte)
    arguments = [builder.inttoptr(builder.load(builder.gep(shell.args[0], [i64(k)])), pointer)
                 for k in range(buffers)] + list(shell.args[1:])
    builder.call(inner, [value, error, *arguments])
    builder.ret(builder.load(value))
    return module
