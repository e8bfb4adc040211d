"""TensorFlow's inner module `tensorflow.python.lib.io.file_io`: the functions of ``tf.gfile`` under yet other names."""
from __future__ import annotations

import binascii
import secrets
from typing import Any

from jitgraph.filesystem.gfile import (
    Copy,
    DeleteRecursively,
    Exists,
    GFile,
    Glob,
    IsDirectory,
    ListDirectory,
    MakeDirs,
    MkDir,
    Remove,
    Rename,
    Stat,
    Walk,
)
from jitgraph.graph import errors

FileIO, file_exists, delete_file, get_matching_files = GFile, Exists, Remove, Glob
create_dir, recursive_create_dir, copy, rename = MkDir, MakeDirs, Copy, Rename
delete_recursively, is_directory, list_directory, walk, stat = DeleteRecursively, IsDirectory, ListDirectory, Walk, Stat


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """The contents of a file, as text or, with `binary_mode`, as bytes."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Makes `file_content`, text or bytes, the contents of a file."""
    with GFile(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """As ``write_string_to_file``, all at once.  Raises AlreadyExistsError if the file is there and not `overwrite`."""
    temporary = f"{filename}.tmp{secrets.token_hex(8)}"
    write_string_to_file(temporary, contents)
    try:
        Rename(temporary, filename, overwrite)
    except errors.OpError:
        Remove(temporary)
        raise


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files hold the same bytes.  Raises NotFoundError if one is not there."""
    if Stat(filename_a).length != Stat(filename_b).length:
        return False
    return read_file_to_string(filename_a, binary_mode=True) == read_file_to_string(filename_b, binary_mode=True)


def file_crc32(filename: Any, block_size: int = 1 << 24) -> str:
    """The CRC-32 of a file, read in pieces of `block_size` bytes, as a hexadecimal number: "0x24595f7c"."""
    found = 0
    with GFile(filename, "rb") as file:
        while piece := file.read(block_size):
            found = binascii.crc32(piece, found)
    return hex(found)
