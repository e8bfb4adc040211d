"""Object code of kernels for a GPU: from the store, or from the compiler."""
from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from jitgraph.compiler import key
from jitgraph.compiler.emit import cuda, cuda_compile
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.targets import CUDA
from jitgraph.runtime import compile_process, store

MAGIC = b"\x7fELF"      # as cubins begin


def parts(kernel: Kernel, capability: tuple[int, int]) -> dict[str, str]:
    """What the object code of a kernel depends on."""
    return {**CUDA.parts(kernel, _versions()), "emitter": cuda_compile.emitter_version(),
            "capability": "{}.{}".format(*capability)}


def cubin(kernel: Kernel, capability: tuple[int, int]) -> bytes:
    """The object code of an emitted kernel.  Raises ExtraMissing where nothing can compile it, CompileError."""
    named = parts(kernel, capability)
    return _obtained(key.digest(named), named, kernel, capability)


def _obtained(address: str, named: dict[str, str], kernel: Kernel, capability: tuple[int, int]) -> bytes:
    stored = store.load(address)
    if stored is not None and stored[1].startswith(MAGIC):
        return stored[1]
    start = time.perf_counter()
    made = cuda_compile.compile_kernel(kernel, capability).cubin
    store.save(address, named, kernel.name, made, time.perf_counter() - start)
    return made


def cubins(kernels: Sequence[Kernel], capability: tuple[int, int]) -> list[bytes]:
    """The object code of many: those that the store lacks are compiled here and by other processes at the same time."""
    wanted: dict[str, tuple[dict[str, str], Kernel]] = {}
    addresses = []
    for kernel in kernels:
        named = parts(kernel, capability)
        addresses.append(key.digest(named))
        wanted.setdefault(addresses[-1], (named, kernel))
    missing = [address for address in wanted if not store.has(address)]
    made: dict[str, bytes] = {}
    if len(missing) >= compile_process.LEAST and compile_process.wanted() and cuda_compile.missing() is None:
        made = _compiled_together({address: wanted[address] for address in missing}, capability)
    for address in wanted:
        if address not in made:
            made[address] = _obtained(address, *wanted[address], capability)
    return [made[address] for address in addresses]


def _compiled_together(missing: dict[str, tuple[dict[str, str], Kernel]], capability: tuple[int, int]) -> dict[str, bytes]:
    """{address: object code}, which is stored, too.  Other processes begin with the longest; what they cannot compile is left."""
    jobs: deque[tuple[str, dict[str, Any]]] = deque(
        (address, {"source": kernel.source, "name": kernel.name, "codes": cuda_compile.argument_codes(kernel),
                   "bounds": cuda.launch_bounds(kernel), "capability": capability})
        for address, (_, kernel) in sorted(missing.items(), key=lambda item: len(item[1][1].source)))
    done: dict[str, tuple[bytes, float]] = {}
    helping = compile_process.HELPERS.start(jobs, done)
    made: dict[str, bytes] = {}
    while jobs and helping:
        try:
            address = jobs.popleft()[0]
        except IndexError:
            break
        made[address] = _obtained(address, *missing[address], capability)
    compile_process.HELPERS.finish(helping)
    for address, (code, seconds) in list(done.items()):
        named, kernel = missing[address]
        store.save(address, named, kernel.name, code, seconds)
        made[address] = code
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
