"""Kernel text -> object code, through Numba and without its wrappers.

The kernel itself is an ordinary function of typed pointers, compiled with `noalias` so that LLVM knows the buffers to be
distinct.  A shell around it, written with llvmlite, has the one signature that all kernels share:

    int64 kernel(int64 *buffers, int64 *sizes, int64 begin, int64 end)
"""
from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

SIGNATURE = "int64(int64* buffers, int64* sizes, int64 begin, int64 end)"


def target_features() -> tuple[str, str]:
    """(CPU name, feature string) that kernels are compiled for: the host's, with 512-bit vectors where it has them."""
    import llvmlite.binding as llvm

    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    text = features.flatten()
    if features.get("avx512f"):
        text += ",-prefer-256-bit"
    return name, text


@functools.cache
def vector_bytes() -> int:
    """Bytes in a vector register of the machine that kernels are compiled for."""
    features = set(target_features()[1].split(","))
    return 64 if "+avx512f" in features else 32 if "+avx" in features else 16


@functools.cache
def vector_registers() -> int:
    """How many vector registers that machine has."""
    import platform

    return 32 if vector_bytes() == 64 or platform.machine().lower() in ("aarch64", "arm64") else 16


@functools.cache
def target_key() -> dict[str, str]:
    """What object code depends on besides the kernel's text, as named parts."""
    from importlib import metadata

    import llvmlite

    name, features = target_features()
    return {"cpu": name, "features": hashlib.sha256(features.encode()).hexdigest()[:16],
            "llvmlite": llvmlite.__version__, "numba": metadata.version("numba"), "emitter": _emitter_version()}


@functools.cache
def _emitter_version() -> str:
    """A hash of the sources that give names in kernels their meaning."""
    here = Path(__file__).resolve().parent
    names = ("native", "intrinsics", "arithmetic", "target", "tile", "turn", "blocks", "outline", "vectors", "words",
             "product_code")
    files = [*(here / f"{name}.py" for name in names),
             *sorted(here.parent.glob("elementary*.py")), *sorted(here.parent.glob("machine*.py"))]
    return source_digest(*files)


def source_digest(*files: Path) -> str:
    """A hash of source files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def import_numba():
    """Numba's CPU target, told about 512-bit vectors before its first import where that is still possible."""
    import sys

    if "numba" not in sys.modules:
        name, features = target_features()
        os.environ.setdefault("NUMBA_CPU_NAME", name)
        os.environ.setdefault("NUMBA_CPU_FEATURES", features)
    from .target import kernel_target

    return kernel_target()


def compile_module(module: Any) -> bytes:
    """Object code of an LLVM module that was written instruction by instruction."""
    target = import_numba()
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        library = target.target_context.codegen().create_library(module.name)
        library.enable_object_caching()
        library.add_ir_module(module)
        library.finalize()
        return _object_code(library)


def _object_code(library: Any) -> bytes:
    return library._get_compiled_object() or library.codegen._tm.emit_object(library._final_module)


def compile_function(source: str, name: str, arguments, symbol: str, filename: str) -> bytes:
    """Compiles one function of `source` and returns an object file that defines `symbol`.

    `arguments` are Numba types: pointers, which the symbol unpacks from its `buffers` argument, and then sizes, begin and
    end.  Raises CompileError, with the kernel's text, if Numba refuses it.
    """
    return _object_code(compile_library(source, name, arguments, symbol, filename))


def compile_library(source: str, name: str, arguments, symbol: str, filename: str) -> Any:
    """The same as a Numba code library, which also shows what LLVM made of it (`get_llvm_str`, `get_asm_str`)."""
    target = import_numba()
    from numba.core import compiler, types
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.errors import NumbaError

    from . import product_code, tile
    from .intrinsics import namespace
    from .target import KernelCompiler

    space = {**namespace(), **tile.named_in(source), **product_code.named_in(source)}
    exec(compile(source, filename, "exec"), space)
    flags: Any = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    flags.noalias, flags.nrt, flags.error_model = True, False, "numpy"
    with global_compiler_lock:
        try:
            result = compiler.compile_extra(target.typing_context, target.target_context, space[name],
                                            tuple(arguments), types.int64, flags, {}, pipeline_class=KernelCompiler)
        except NumbaError as error:
            raise CompileError(source, error) from error
        library = result.library
        module = _shell(symbol, result.fndesc.llvm_func_name, len(arguments))
        library.add_ir_module(module)
        library._final_module.get_function(result.fndesc.llvm_func_name).linkage = "internal"
        library.finalize()
        return library


class CompileError(RuntimeError):
    """A kernel that could not be compiled: an internal error of jitgraph, reported with the kernel's text."""

    def __init__(self, source, error):
        reason = str(error).strip().splitlines()
        super().__init__("jitgraph made a kernel that does not compile; please report it with this text.\n"
                         + source + "\n" + "\n".join(reason[:6]))


def _shell(symbol: str, callee: str, count: int):
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


def kernel_types(kernel):
    """Numba types of a kernel's arguments."""
    return pointer_types([p.dtype for p in kernel.params])


def pointer_types(codes):
    """Numba types of the arguments of a kernel with buffers of these element types."""
    import_numba()
    from numba.core import types

    known = {"f32": types.float32, "f64": types.float64, "i8": types.int8, "i16": types.int16, "i32": types.int32,
             "i64": types.int64, "u8": types.uint8, "u16": types.uint16, "u32": types.uint32, "u64": types.uint64,
             "b1": types.uint8}
    return [*(types.CPointer(known[c]) for c in codes), types.CPointer(types.int64), types.int64, types.int64]


def warm_up():
    """Loads all that a compilation needs."""
    compile_function("def warm(x0, sizes, begin, end):\n    for i in range(begin, end):\n        x0[i] += x0[i]\n    return 0\n",
                     "warm", pointer_types(["f32"]), "jg_warm", "<jitgraph>")
