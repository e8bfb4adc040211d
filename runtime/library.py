"""The library: kernels of this process, by content address; from memory, from the store, or from the compiler.

Loading and compiling need llvmlite alone; Numba is imported only where it is chosen, and for text that `translate` does
not know.
"""
from __future__ import annotations

import ctypes
import importlib.util
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jitgraph.compiler import key, show
from jitgraph.compiler.emit import native
from jitgraph.compiler.emit.compile_error import CompileError
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.targets import CPU

from . import compile_process, store

# How object files begin: ELF, Mach-O of 64 bits, COFF for x86-64 and ARM64.
OBJECT_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\x64\x86", b"\x64\xaa")


Tell = Callable[[int, int], None]


@dataclass
class Statistics:
    """What this process compiled and what it found in the store."""

    compiled: int = 0
    compile_seconds: float = 0.0
    hits: int = 0
    misses: int = 0


Wanted = tuple[str, Kernel, dict[str, str]]     # (content address, kernel, key parts)
Missing = tuple[Kernel, dict[str, str]]


def _wanted(kernels: list[Kernel], compiler: str) -> list[Wanted]:
    parts = [CPU.parts(kernel, compiler) for kernel in kernels]
    return [(key.digest(of), kernel, of) for kernel, of in zip(kernels, parts)]


class Compilation:
    """Kernels that are compiled together: other processes take jobs from one end of the list, this one from the other.

    `missing`: what is to be compiled, by content address; `done`: what other processes have made of it."""

    def __init__(self, missing: dict[str, Missing], compiler: str) -> None:
        self.missing, self.compiler = dict(missing), compiler
        self.jobs: compile_process.Jobs = deque(self._jobs(missing))
        self.done: compile_process.Done = {}
        self.helping: list[Any] = []

    def _jobs(self, missing: dict[str, Missing]) -> list[tuple[str, dict[str, Any]]]:
        """Those that take longest last."""
        longest_last = sorted(missing.items(), key=lambda item: _length(item[1][0]))
        return [(address, {"source": kernel.source, "name": kernel.name, "codes": native.memory_codes(kernel),
                           "symbol": "jg_" + address, "compiler": self.compiler,
                           "forms": [(type(form).__name__, *form) for form in kernel.forms]})
                for address, (kernel, _) in longest_last]

    def start(self) -> bool:
        """Lets other processes take jobs; whether any does."""
        if self.jobs:
            self.helping += compile_process.HELPERS.start(self.jobs, self.done)
        return bool(self.helping)

    def go_on(self, missing: dict[str, Missing]) -> None:
        """Puts those that nobody has begun in place of what is left."""
        left = {address for address, _ in self.jobs}
        begun = self.missing.keys() - left
        self.jobs.clear()
        self.missing.update(missing)
        self.jobs.extend(self._jobs({address: one for address, one in missing.items() if address not in begun}))

    def finish(self) -> None:
        """Waits for the jobs that other processes are at."""
        compile_process.HELPERS.finish(self.helping)


def _length(kernel: Kernel) -> tuple[bool, int]:
    """For how long a kernel is compiled, beside others."""
    return native.decided_by_registers(kernel.forms), len(kernel.source)


class Library:
    """Loads and compiles kernels; one for the process, usable from any thread."""

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.symbols: dict[str, int] = {}           # address of the machine code by content address
        self.origins: dict[str, str] = {}           # "store" or "compiled"
        self.seconds: dict[str, float] = {}         # what compiling took
        self._lock = threading.RLock()
        self._engine: Any = None            # llvmlite's, once there is something to load
        self._blas: dict[str, int] = {}
        self._kept: list[Any] = []
        self._begun: Compilation | None = None

    def begin(self, kernels: list[Kernel], compiler: str) -> None:
        """Has other processes compile what nobody compiled before of kernels that will be needed for certain, while this one is
        busy with something else.  `addresses` goes on with it."""
        if self._begun is None and compile_process.wanted():
            missing = self._missing(_wanted(kernels, compiler))
            if len(missing) >= compile_process.LEAST:
                compilation = Compilation(missing, compiler)
                if compilation.start():
                    self._begun = compilation

    def addresses(self, kernels: list[Kernel], compiler: str, tell: Tell | None = None) -> list[int]:
        """The machine code of kernels by this compiler; what nobody compiled before is compiled now, much of it by other
        processes.

        `tell(done, total)` is called now and then.
        """
        wanted = _wanted(kernels, compiler)
        if len(kernels) >= compile_process.LEAST and compile_process.wanted():
            self._compile_together(self._missing(wanted), compiler, tell)
        found = []
        for address, kernel, parts in wanted:
            found.append(self._address(address, kernel, parts, compiler))
            if tell is not None:
                tell(len(found), len(wanted))
        return found

    def _address(self, address: str, kernel: Kernel, parts: dict[str, str], compiler: str) -> int:
        return self._find(address, parts, lambda symbol: native.compile_function(
            kernel.source, kernel.name, native.memory_codes(kernel), symbol, compiler, kernel.forms))

    def _missing(self, wanted: list[Wanted]) -> dict[str, Missing]:
        """Those of which neither this process nor the store has code."""
        missing = {}
        for address, kernel, parts in wanted:
            if address not in self.symbols and address not in missing and not store.has(address):
                missing[address] = kernel, parts
        return missing

    def _compile_together(self, missing: dict[str, Missing], compiler: str, tell: Tell | None) -> None:
        """Compiles these, if they are many, here and in other processes at the same time."""
        with self._lock:
            compilation, self._begun = self._begun, None
        if compilation is None:
            if len(missing) < compile_process.LEAST:
                return
            compilation = Compilation(missing, compiler)
        else:
            compilation.go_on(missing)
        if not compilation.start():
            return
        jobs = compilation.jobs
        while jobs:
            if tell is not None:
                tell(len(missing) - len(jobs), len(missing))
            try:
                address = jobs.popleft()[0]
            except IndexError:
                break
            self._address(address, *compilation.missing[address], compiler)
        compilation.finish()
        for address, (code, seconds) in compilation.done.items():
            self._find(address, compilation.missing[address][1], lambda symbol, code=code: code)
            self.seconds[address] = seconds
        self.statistics.compile_seconds += sum(seconds for _, seconds in compilation.done.values())

    def find(self, parts: dict[str, str], build: Callable[[str], bytes]) -> int:
        """The address for key `parts`; `build(symbol)` gives object code where the store has none."""
        return self._find(key.digest(parts), parts, build)

    def _find(self, address: str, parts: dict[str, str], build: Callable[[str], bytes]) -> int:
        found = self.symbols.get(address)
        if found is not None:
            return found
        with self._lock:
            found = self.symbols.get(address)
            if found is None:
                found = self.symbols[address] = self._obtain(address, parts, build)
        return found

    def fact(self, kernel: Kernel, compiler: str) -> dict[str, Any]:
        """Where a kernel's object code came from, what it cost, and why the store did not have it."""
        parts = CPU.parts(kernel, compiler)
        address = key.digest(parts)
        seconds = self.seconds.get(address)
        reason = ""
        if seconds is not None and "cache" in show.wanted():
            reason = "not in the store: " + store.explain(parts)
        return {"origin": self.origins.get(address, ""), "compile_ms": None if seconds is None else seconds * 1e3,
                "reason": reason}

    def _obtain(self, address: str, parts: dict[str, str], build: Callable[[str], bytes]) -> int:
        stored = store.load(address)
        if stored is not None:
            loaded = self._load(stored[0]["symbol"], stored[1])
            if loaded:
                self.statistics.hits += 1
                self.origins[address] = "store"
                return loaded
        self.statistics.misses += 1
        if compile_process.wanted():
            compile_process.HELPERS.prepare()        # where one kernel is missing, more are
        symbol = "jg_" + address
        start = time.perf_counter()
        code = build(symbol)
        seconds = time.perf_counter() - start
        self.statistics.compiled += 1
        self.statistics.compile_seconds += seconds
        self.origins[address], self.seconds[address] = "compiled", seconds
        store.save(address, parts, symbol, code, seconds)
        loaded = self._load(symbol, code)
        if not loaded:                  # a call of nothing would end the process
            raise CompileError(parts["text"], RuntimeError("LLVM does not load what it compiled"))
        return loaded

    def _load(self, symbol: str, code: bytes) -> int:
        import llvmlite.binding as llvm

        if not code.startswith(OBJECT_MAGIC):       # LLVM ends the process where it is given anything else
            return 0
        if self._engine is None:
            machine = native.target_machine(jit=True, codemodel="large")
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        try:
            file = llvm.ObjectFileRef.from_data(code)
            self._engine.add_object_file(file)
            self._kept.append(file)
            self._engine.finalize_object()
            return self._engine.get_function_address(symbol)
        except RuntimeError:
            return 0

    def blas(self, code: str) -> int:
        """The address of cblas_sgemm ("f32") or cblas_dgemm ("f64") of a BLAS that nobody else uses, on one thread."""
        if not self._blas:
            blas = ctypes.CDLL(_openblas())
            blas.scipy_openblas_set_num_threads(1)
            self._blas = {c: ctypes.cast(getattr(blas, f"scipy_cblas_{c2}gemm"), ctypes.c_void_p).value
                          for c, c2 in (("f32", "s"), ("f64", "d"))}
            self._kept.append(blas)
        return self._blas[code]


def _openblas() -> str:
    """The path of OpenBLAS.  Asking the package for it would import the metadata of packages: 18 ms."""
    spec = importlib.util.find_spec("scipy_openblas32")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(place, "lib").glob("*scipy_openblas*")):
            if path.suffix in (".so", ".dylib", ".dll"):
                return str(path)
    raise RuntimeError("OpenBLAS was not found; reinstall scipy-openblas32")


LIBRARY = Library()
