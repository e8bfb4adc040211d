"""Libraries of compiled ops, which cannot be loaded: they are made for TensorFlow's own binary interface."""
from __future__ import annotations

import errno
import os
import re

from jitgraph.graph.errors import NotFoundError

CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0
_INSTEAD = "declare the op in Python with jitgraph.declare.op, or give a loop to jitgraph.kernel_func"


def _refuse(path: str) -> None:
    if not os.path.exists(path):
        raise NotFoundError(None, None, f"{path}: cannot open shared object file: No such file or directory")
    raise NotFoundError(None, None, f"{path}: is made for TensorFlow's binary interface, which is not here; {_INSTEAD}")


def load_op_library(library_filename: str) -> None:
    """Raises NotFoundError, which says what to do instead."""
    _refuse(library_filename)


def load_extension(path: str) -> None:
    """``load_op_library``, for a file that a package of contrib would bring."""
    load_op_library(path)


def load_library(library_location: str) -> None:
    """Raises FileNotFoundError if there is no such file or folder, NotFoundError if there is a library."""
    if not os.path.exists(library_location):
        raise OSError(errno.ENOENT, "The file or folder to load kernel libraries from does not exist.", library_location)
    inside = sorted(os.listdir(library_location)) if os.path.isdir(library_location) else [library_location]
    for name in inside:
        if not os.path.isdir(library_location) or re.search(r"\.so(\.\d|$)", name):
            _refuse(os.path.join(library_location, name))


def load_file_system_library(library_filename: str) -> None:
    """Raises NotFoundError: ``tf.gfile`` reaches what fsspec knows, without such a library."""
    _refuse(library_filename)


def get_include() -> str:
    """The folder in which headers would be; there are none."""
    return os.path.join(get_lib(), "include")


def get_lib() -> str:
    """The folder of this package."""
    return os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir))


def get_compile_flags() -> list[str]:
    """The flags of a compiler for those headers."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


def get_link_flags() -> list[str]:
    """The flags of a linker: none, there is no library to link with."""
    return []
