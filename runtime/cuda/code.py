"""Object code of kernels for a GPU: from the store, or from the compiler."""
from __future__ import annotations

import functools
import time

from jitgraph.compiler import key
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.targets import CUDA
from jitgraph.runtime import store

MAGIC = b"\x7fELF"      # as cubins begin


def parts(kernel: Kernel, capability: tuple[int, int]) -> dict[str, str]:
    """What the object code of a kernel depends on."""
    return {**CUDA.parts(kernel, _versions()), "emitter": cuda_compile.emitter_version(),
            "capability": "{}.{}".format(*capability)}


def cubin(kernel: Kernel, capability: tuple[int, int]) -> bytes:
    """The object code of an emitted kernel.  Raises ExtraMissing where nothing can compile it, CompileError."""
    named = parts(kernel, capability)
    address = key.digest(named)
    stored = store.load(address)
    if stored is not None and stored[1].startswith(MAGIC):
        return stored[1]
    start = time.perf_counter()
    made = cuda_compile.compile_kernel(kernel, capability).cubin
    store.save(address, named, kernel.name, made, time.perf_counter() - start)
    return made


@functools.cache
def _versions() -> str:
    """The versions of what compiles."""
    from importlib import metadata

    found = []
    for package in ("numba-cuda", "numba", "llvmlite", "nvidia-nvvm", "nvidia-nvjitlink"):
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)
