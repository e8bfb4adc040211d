"""Where the libraries of a device are that do without a GPU until they are asked for work.

They come with packages, a toolkit or a machine's image; cuda-pathfinder, which cuda-bindings needs, finds them.  Nothing is loaded
before a program for a GPU is compiled.
"""
from __future__ import annotations

import ctypes
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
