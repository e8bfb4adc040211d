"""Where the libraries of a device are that do without a GPU until they are asked for work.

They come with packages, a toolkit or a machine's image; cuda-pathfinder, which cuda-bindings needs, finds them.  Nothing is loaded
before a program for a GPU is compiled.
"""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any


class NotFound(Exception):
    """A library is not installed, or does not load: a sentence that says where it was looked for."""


def loaded(name: str) -> tuple[Any, str]:
    """(the library that cuda-pathfinder calls so, its path).  Raises NotFound."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib
    except ImportError as error:
        raise NotFound(f"cuda-pathfinder is not installed ({error})") from None
    try:
        path = load_nvidia_dynamic_lib(name).abs_path
        return ctypes.CDLL(path), path
    except (RuntimeError, OSError) as error:        # what it raises where a library is not found, or of another machine
        told = str(error).strip().splitlines() or ["it gave no reason"]
        raise NotFound(f"neither among the installed packages nor in a toolkit ({told[0][:120]})") from None


def declared(library: Any, functions: Mapping[str, list[Any]], told: str, version: str) -> Any:
    """A library whose functions know the types of their arguments.  Each answers a status, whose name `told` says; `version` is
    the function for the library's number."""
    for name, types in functions.items():
        function = getattr(library, name)
        function.argtypes, function.restype = types, ctypes.c_int
    getattr(library, version).restype = ctypes.c_size_t
    getattr(library, told).argtypes, getattr(library, told).restype = [ctypes.c_int], ctypes.c_char_p
    return library


def version(number: int) -> str:
    """What a library says of itself, in words."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
