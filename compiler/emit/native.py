"""Kernel text -> object code for this machine.

The kernel itself is an ordinary function of typed pointers, compiled with `noalias` so that LLVM knows the buffers to be
distinct.  A shell around it has the one signature that all kernels share:

    int64 kernel(int64 *buffers, int64 *sizes, int64 begin, int64 end)

`translate` writes it in LLVM's instructions; Numba does where it is chosen, and for text that the former does not know.
"""
from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..kernel import Kernel, memory_code
from ..options import DIRECT
from .cpu_features import target_features

if TYPE_CHECKING:
    from .instruction import Form


def target_key(compiler: str = DIRECT) -> dict[str, str]:
    """What object code by this compiler depends on besides the kernel's text, as named parts."""
    if compiler == DIRECT:
        return _fixed_key()
    from importlib import metadata  # takes ten milliseconds to import

    return {**_fixed_key(), "numba": metadata.version("numba")}


@functools.cache
def _fixed_key() -> dict[str, str]:
    import llvmlite

    name, features = target_features()
    return {"cpu": name, "features": digest(features.encode())[:16], "llvmlite": llvmlite.__version__,
            "emitter": _emitter_version()}


@functools.cache
def _emitter_version() -> str:
    """A hash of the sources that give names in kernels their meaning."""
    here = Path(__file__).resolve().parent
    names = ("native", "cpu_features", "vocabulary", "intrinsics", "halves", "arithmetic", "numba_compile", "tile", "turn",
             "blocks", "outline", "vectors", "words", "product_code", "winograd_code", "instruction", "translate")
    files = [*(here / f"{name}.py" for name in names),
             *sorted(here.parent.glob("elementary*.py")), *sorted(here.parent.glob("machine*.py")),
             here.parent / "winograd.py", here.parent / "winograd_matrices.py"]
    return source_digest(*files)


def source_digest(*files: Path) -> str:
    """A hash of source files."""
    return digest(b"".join(file.read_bytes() for file in files))[:16]


def digest(data: bytes) -> str:
    """The SHA-256 hash of `data`, as hexadecimal digits."""
    import hashlib  # brings OpenSSL; a program that only builds graphs does without

    return hashlib.sha256(data).hexdigest()


def target_machine(**options: Any) -> Any:
    """What LLVM makes code for, with options of `Target.create_target_machine`.  Not shared: making one takes no time, and
    threads may compile side by side."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = target_features()
    return llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features, opt=3, **options)


def compile_module(module: Any, thoroughly: bool = True) -> bytes:
    """Object code of an LLVM module that was written instruction by instruction."""
    machine = target_machine()
    return machine.emit_object(optimised(module, machine, thoroughly))


def optimised(module: Any, machine: Any = None, thoroughly: bool = True) -> Any:
    """The module as LLVM's optimiser leaves it.

    thoroughly: by its highest level.  The one below, which makes loops vector by vector as well but here unrolls none, takes two
    thirds of the time; for kernels that read and write one element after the other its code is as fast, and faster where it is the
    unrolling of short loops that keeps them from becoming vectors.
    """
    import llvmlite.binding as llvm

    machine = machine or target_machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    made = llvm.parse_assembly(str(module))
    tuning = llvm.create_pipeline_tuning_options(speed_level=3 if thoroughly else 2)
    tuning.loop_vectorization, tuning.loop_unrolling = True, thoroughly
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(made, passes)
    return made


def compile_function(source: str, name: str, codes: list[str], symbol: str, compiler: str = DIRECT,
                     forms: Iterable[Form] = ()) -> bytes:
    """Compiles one kernel text, whose buffers have these dtype codes; returns an object file that defines `symbol`.

    forms: of the instructions that the text names, see `Kernel`.
    compiler: one of `options.COMPILERS`; what "direct" does not know is left to Numba.

    Raises CompileError, with the kernel's text, if it cannot be compiled.
    """
    forms = list(forms)
    module = translated(source, name, codes, symbol, forms) if compiler == DIRECT else None
    if module is not None:
        return compile_module(module, thoroughly=decided_by_registers(forms))
    from .numba_compile import compile_by_numba

    return compile_by_numba(source, name, codes, symbol, forms)


def decided_by_registers(forms: Iterable[Form]) -> bool:
    """Whether the speed of a kernel with these forms is that of a heavy instruction, which holds much in registers."""
    return any(form.instruction().heavy for form in forms)


def translated(source: str, name: str, codes: list[str], symbol: str, forms: Iterable[Form] = ()) -> Any:
    """The module of a kernel text; None where it holds what only Numba knows."""
    from .translate import Untranslatable, translate
    from .vocabulary import names

    try:
        return translate(source, name, codes, symbol, names(forms))
    except Untranslatable:
        return None


def memory_codes(kernel: Kernel) -> list[str]:
    """The dtype codes of a kernel's buffers, in which truth values are bytes."""
    return [memory_code(p.dtype) for p in kernel.params]


def warm_up() -> None:
    """Loads all that a compilation needs."""
    compile_function("def warm(x0, sizes, begin, end):\n    for i in range(begin, end):\n        x0[i] += x0[i]\n    return 0\n",
                     "warm", ["f32"], "jg_warm")
