"""Linear algebra of NumPy and SciPy on one thread, where matrices are small.

Their OpenBLAS divides matrices of 100 rows among threads that spin while they wait for one another.  On two cores that gains
nothing for 300 rows (0.63 ms to solve), and where other programs use the cores, it takes 300 ms.
"""
from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LARGE = 1024            # rows from which threads are worth it: what spins takes a core from the kernels that follow


@functools.cache
def _threads_of(package: str) -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """What gets and sets the number of threads of a package's OpenBLAS; None where that is another library."""
    folder = Path(str(sys.modules[package].__file__)).parent
    for path in [*folder.parent.glob(f"{package}.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")]:
        library = ctypes.CDLL(str(path))
        for end in ("64_", ""):
            if hasattr(library, f"scipy_openblas_set_num_threads{end}"):
                return (getattr(library, f"scipy_openblas_get_num_threads{end}"),
                        getattr(library, f"scipy_openblas_set_num_threads{end}"))
    return None


def on_one_thread(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the same function of arrays, on one thread if the first holds small matrices."""

    @functools.wraps(meaning)
    def call(*args: Any, **kwargs: Any) -> Any:
        if max(np.shape(args[0])[-2:], default=0) >= LARGE:
            return meaning(*args, **kwargs)
        found = [_threads_of(package) for package in ("numpy", "scipy") if package in sys.modules]
        before = [(change, get()) for get, change in filter(None, found)]
        for change, count in before:
            if count > 1:
                change(1)
        try:
            return meaning(*args, **kwargs)
        finally:
            for change, count in before:
                if count > 1:
                    change(count)

    return call
