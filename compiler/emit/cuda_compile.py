"""Kernel text -> PTX -> cubin, with neither GPU nor driver: Numba-CUDA types and lowers, NVVM writes PTX, nvJitLink
assembles it.  Everything is imported at the first use; it comes with the extra `jitgraph[cuda]`.

The entry point bears the kernel's own name and takes pointers only (see `cuda.py`), all with `noalias`: buffers of one
kernel are distinct, so loads may go through the read-only cache and be moved over stores.

NVVM may not join a product and a sum into one fma: each operation rounds as it does on the CPU, so that elementwise
results are the same on both, bit for bit.  Where fma helps, in the elementary functions, it is asked for by name.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jitgraph.installing import advice

from ..kernel import Kernel
from .compile_error import CompileError
from .cuda import launch_bounds
from .instruction import numba_type
from .native import memory_codes, source_digest

HOPPER = (9, 0)         # the compute capability that is compiled for unless another is named
NEWEST = (9, 0)         # the PTX of CUDA 13.0, which is the newest that drivers of version 580 and nvJitLink 13.0 read


class ExtraMissing(ImportError):
    """What compiles for CUDA is not installed."""


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel as object code.  `threads`: the most per block; the rest is what the assembler reports, in bytes."""

    name: str
    ptx: str
    cubin: bytes
    threads: int
    registers: int
    shared: int
    stack: int
    spilled: int


def compile_kernel(kernel: Kernel, capability: tuple[int, int] = HOPPER) -> CompiledKernel:
    """Compiles an emitted kernel for a compute capability.

    Raises ExtraMissing where jitgraph[cuda] is not installed, or parts of another toolkit are in its place, CompileError where
    the kernel does not compile.
    """
    return compile_text(kernel.source, kernel.name, argument_codes(kernel), launch_bounds(kernel), capability)


def compile_text(source: str, name: str, codes: Sequence[str], bounds: tuple[int, int],
                 capability: tuple[int, int]) -> CompiledKernel:
    """The same of a kernel's text, of which function `name` takes arguments of these types; `bounds`: see `launch_bounds`."""
    ptx = to_ptx(source, name, codes, bounds, capability)
    _check_toolkit(ptx)
    cubin, log = to_cubin(ptx, source, capability)
    return CompiledKernel(name, ptx, cubin, bounds[0], **_resources(log))


def to_ptx(source: str, name: str, codes: Sequence[str], bounds: tuple[int, int], capability: tuple[int, int] = HOPPER) -> str:
    """The PTX of a kernel's text; its entry point is `name`.  The same text gives the same PTX."""
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        library, symbol = _lowered(source, name, tuple(codes), bounds)
        (ptx,) = library.get_asm_strs(cc=capability)
    return _renamed(ptx, symbol, name)


@functools.lru_cache(maxsize=1)         # kept for devices of another kind: this takes most of the time, and is the same for all
def _lowered(source: str, name: str, codes: tuple[str, ...], bounds: tuple[int, int]) -> tuple[Any, str]:
    """(a kernel's text as LLVM's instructions, the symbol of its entry point)."""
    cuda = numba_cuda()
    from numba.core.errors import NumbaError

    from .cuda_intrinsics import namespace

    space = dict(namespace())
    exec(compile(source, f"<jitgraph kernel {name}>", "exec"), space)
    try:
        result = cuda.compiler.compile_cuda(space[name], cuda.types.void, tuple(map(numba_type, codes)),
                                            nvvm_options={"opt": 3, "fma": False}, cc=HOPPER)
    except NumbaError as error:
        raise CompileError(source, error) from error
    library, symbol = result.library, result.fndesc.llvm_func_name
    function = library.get_function(symbol)
    library._entry_name = symbol
    cuda.compiler.kernel_fixup(function, False)
    cuda.nvvm.set_launch_bounds(function, bounds)
    for argument in function.args:
        argument.add_attribute("noalias")
    return library, symbol


def _check_toolkit(ptx: str) -> None:
    """Raises ExtraMissing for PTX of a newer toolkit: what assembles and loads it would refuse it in words that name no package."""
    written = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.MULTILINE)
    if written is not None and (int(written[1]), int(written[2])) > NEWEST:
        raise ExtraMissing(f"compiling for CUDA needs the NVVM of CUDA 13.0; one of a newer toolkit was found, which writes PTX "
                           f"{written[1]}.{written[2]}, and drivers of version 580 read {NEWEST[0]}.{NEWEST[1]}: {advice('cuda')}")


def to_cubin(ptx: str, source: str, capability: tuple[int, int] = HOPPER) -> tuple[bytes, str]:
    """(object code, the assembler's log) of PTX; `source` is shown where the assembler refuses it."""
    numba_cuda()
    from cuda.core import Linker, LinkerOptions, ObjectCode

    options = LinkerOptions(arch="sm_{}{}".format(*capability), verbose=True)
    linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=options)
    try:
        return bytes(linker.link("cubin").code), linker.get_info_log()
    except Exception as error:      # cuda.core has no common class for what a linker refuses
        raise CompileError(source, error) from error


def missing() -> str | None:
    """Why kernels cannot be compiled for CUDA here, in one sentence; None if they can."""
    from importlib import metadata, util

    try:
        found = metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        found = None
    if found is None or util.find_spec("cuda.core") is None:
        return f"compiling for CUDA needs packages that are not installed: {advice('cuda')}"
    if not found.startswith("0.30."):
        return f"compiling for CUDA needs numba-cuda 0.30, found {found}: {advice('cuda')}"
    return None


@functools.cache
def emitter_version() -> str:
    """A hash of the sources that give names in kernels their meaning."""
    here = Path(__file__).resolve().parent
    names = ("cuda_compile", "cuda_intrinsics", "cuda_halves", "halves", "intrinsics", "arithmetic", "instruction")
    return source_digest(*(here / f"{name}.py" for name in names), *sorted(here.parent.glob("elementary*.py")),
                         *sorted(here.parent.glob("machine*.py")))


@functools.cache
def numba_cuda() -> SimpleNamespace:
    """numba.cuda with the modules used here.  Raises ExtraMissing."""
    reason = missing()
    if reason:
        raise ExtraMissing(reason)
    import numpy as np

    if not hasattr(np, "row_stack"):        # numba-cuda 0.30 wants to overload it; NumPy 2.5 has dropped it
        np.row_stack = np.vstack  # noqa: NPY201
    from types import SimpleNamespace

    try:
        from numba.cuda import compiler, types
        from numba.cuda.cudadrv import nvvm
    except ImportError as error:
        raise ExtraMissing(f"compiling for CUDA needs packages that do not load here ({error}): {advice('cuda')}") from error
    return SimpleNamespace(compiler=compiler, types=types, nvvm=nvvm)


def argument_codes(kernel: Kernel) -> list[str]:
    """The types of what an emitted kernel is given: all pointers."""
    return [*(code + "*" for code in ([] if kernel.batch else memory_codes(kernel))), "i64*", "i64*"]


def _renamed(ptx: str, symbol: str, name: str) -> str:
    """PTX whose entry point has the kernel's name, without the variable that Numba declares for every function."""
    lines = [line for line in ptx.splitlines() if not line.startswith(".common .global")]
    return "\n".join(lines).replace(symbol, name) + "\n"


def _resources(log: str) -> dict[str, int]:
    """What nvJitLink's log says: registers, bytes of shared memory, of stack, and of registers spilled to it."""
    def number(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, log)), default=0)

    return {"registers": number(r"(\d+) registers"), "shared": number(r"(\d+) bytes smem"),
            "stack": max(number(r"(\d+) bytes stack frame"), number(r"(\d+) bytes lmem")),
            "spilled": number(r"(\d+) bytes spill stores")}
