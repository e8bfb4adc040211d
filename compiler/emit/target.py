"""The part of Numba that kernels need, as a compilation target of its own.  Imported only where a kernel is really compiled.

A kernel is arithmetic on scalars and pointers.  Numba's own target would load all that Numba can do before the first
compilation (arrays, strings, dictionaries, SciPy's linear algebra), which takes longer than compiling a dozen kernels;
this one knows numbers, pointers, ranges and tuples, and the intrinsics that a kernel's text names.
"""
from __future__ import annotations

import functools
import os
import sys
from typing import Any

from . import native
from .instruction import numba_intrinsic, numba_type, type_names

if "numba" not in sys.modules:          # it looks at these when it is imported, and uses half of a 512-bit vector without
    os.environ.setdefault("NUMBA_CPU_NAME", native.target_features()[0])
    os.environ.setdefault("NUMBA_CPU_FEATURES", native.target_features()[1])

from numba.core import compiler, cpu, registry, typed_passes, types, typing, untyped_passes
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.errors import NumbaError
from numba.core.typing import templates


@functools.cache
def kernel_target() -> KernelTarget:
    """The target that all kernels are compiled for."""
    return KernelTarget("cpu")


class KernelTarget(registry.CPUTarget):
    """Numba's CPU target, reduced."""

    @functools.cached_property
    def _toplevel_typing_context(self):
        return KernelTyping(self)

    @functools.cached_property
    def _toplevel_target_context(self):
        return KernelContext(self.typing_context, self._target_name)


class KernelTyping(typing.Context):
    """Types of builtins and of intrinsics."""

    def __init__(self, target: KernelTarget):
        self.target = target
        self.intrinsics: dict = {}          # the type of each intrinsic met so far
        super().__init__()

    def _load_builtins(self):
        from numba.core.typing import builtins  # noqa: F401

        known = templates.Registry()
        known.functions = list(templates.builtin_registry.functions)
        known.globals = list(templates.builtin_registry.globals)
        # attributes that are overloads (methods of arrays, strings ...) would load the whole of Numba
        known.attributes = [a for a in templates.builtin_registry.attributes
                            if not issubclass(a, templates._OverloadAttributeTemplate)]
        self.install_registry(known)
        self._load_builtins = lambda: None

    def load_additional_registries(self):
        pass

    def resolve_value_type(self, val):
        if not hasattr(val, "_defn"):
            return super().resolve_value_type(val)
        found = self.intrinsics.get(val)
        if found is None:
            found = self.intrinsics[val] = types.Function(_template(val, self.target))
        return found


def _template(intrinsic, target: KernelTarget) -> type:
    """The typing of an intrinsic, whose definition is registered with the target as it is typed."""
    typed: dict = {}

    class Template(templates.AbstractTemplate):
        key = intrinsic

        def generic(self, args, kws):
            if args not in typed:
                found = intrinsic._defn(self.context, *args)
                if found is None:
                    return None
                signature, write = found
                typed[args] = signature
                target.target_context.insert_func_defn([(write, intrinsic, signature.args)])
            return typed[args]

    return Template


class KernelContext(cpu.CPUContext):
    """Code for builtins on numbers, pointers, ranges and tuples."""

    def load_additional_registries(self):
        from numba.core import optional  # noqa: F401
        from numba.cpython import builtins, numbers, rangeobj, tupleobj  # noqa: F401

    def post_lowering(self, mod, library):
        pass                                # Numba links its memory manager here; kernels allocate nothing


# Numba's passes without those for what kernels do not contain (closures, `with`, arrays, parallel loops ...)
PASSES: list[Any] = [
    untyped_passes.TranslateByteCode, untyped_passes.FixupArgs, untyped_passes.IRProcessing, untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference, typed_passes.PreLowerStripPhis, typed_passes.IRLegalization,
    typed_passes.NativeLowering, typed_passes.NoPythonBackend]


class KernelCompiler(compiler.CompilerBase):
    """Runs PASSES."""

    def define_pipelines(self):
        manager = PassManager("kernel")
        for one in PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


def compile_by_numba(source: str, name: str, codes: list[str], symbol: str) -> bytes:
    """Object code of a kernel text, see `native.compile_function`.  Raises CompileError if Numba refuses it."""
    library = _library(source, name, codes, symbol)
    return library._get_compiled_object() or library.codegen._tm.emit_object(library._final_module)


def _library(source: str, name: str, codes: list[str], symbol: str) -> Any:
    space: dict = {**type_names(), **{n: numba_intrinsic(i) for n, i in native.names_in(source).items() if n in source}}
    exec(compile(source, f"<jitgraph kernel {name}>", "exec"), space)
    arguments = [*(numba_type(code + "*") for code in codes), numba_type("i64*"), types.int64, types.int64]
    flags: Any = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    flags.noalias, flags.nrt, flags.error_model = True, False, "numpy"
    target = kernel_target()
    with global_compiler_lock:
        try:
            result = compiler.compile_extra(target.typing_context, target.target_context, space[name],
                                            tuple(arguments), types.int64, flags, {}, pipeline_class=KernelCompiler)
        except NumbaError as error:
            raise native.CompileError(source, error) from error
        library = result.library
        module = _shell(symbol, result.fndesc.llvm_func_name, len(arguments))
        library.enable_object_caching()
        library.add_ir_module(module)
        library._final_module.get_function(result.fndesc.llvm_func_name).linkage = "internal"
        library.finalize()
        return library


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
