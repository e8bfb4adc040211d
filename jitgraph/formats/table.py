"""Sorted tables of keys and values, the container of checkpoints.

A file is data blocks, an empty meta block, an index block (last key of a data block -> its place) and a footer of 48
bytes.  In a block each key is stored as the number of bytes it shares with the key before it, and the rest; every
16th is whole, and the places of those stand at the end of the block.
"""
from __future__ import annotations

import bisect
import os
import struct
from collections.abc import Iterator

from jitgraph.formats import snappy
from jitgraph.formats.checksum import crc32c, mask, masked_crc32c
from jitgraph.formats.files import local_path
from jitgraph.graph.errors import DataLossError
from jitgraph.protobuf import varint

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_TRAILER = 5                    # compression type and checksum after each block
_BLOCK_SIZE = 262144
_RESTART_INTERVAL = 16
_NO_COMPRESSION, _SNAPPY = 0, 1

Bytes = bytes | bytearray
Handle = tuple[int, int]        # offset and size of a block in the file


class Table:
    """A table file, read block by block.

    Raises DataLossError, naming the file, for anything that does not fit; OSError if the file cannot be read.
    """

    def __init__(self, path: str):
        self.path = path = local_path(path)
        if os.path.isdir(path):
            raise self._damaged("it is a folder; a checkpoint is named by the prefix of its files")
        with open(path, "rb") as file:
            file.seek(0, 2)
            self._size = file.tell()
            if self._size < _FOOTER:
                raise self._damaged("file is too short to be an sstable")
            file.seek(self._size - _FOOTER)
            footer = file.read(_FOOTER)
        if footer[40:] != _MAGIC:
            raise self._damaged("not an sstable (bad magic number): perhaps your file is in a different file format")
        _, position = self._handle(footer, 0)
        index, _ = self._handle(footer, position)
        self._index_keys: list[bytes] = []
        self._handles: list[Handle] = []
        for key, value in self._entries(index):
            self._index_keys.append(key)
            self._handles.append(self._handle(value, 0)[0])
        self._cached: tuple[int, dict[bytes, bytes]] | None = None

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, None if it is not there."""
        number = bisect.bisect_left(self._index_keys, key)
        if number == len(self._handles):
            return None
        if self._cached is None or self._cached[0] != number:
            self._cached = number, dict(self._entries(self._handles[number]))
        return self._cached[1].get(key)

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """All keys and values in order."""
        for handle in self._handles:
            yield from self._entries(handle)

    def _damaged(self, why: str) -> DataLossError:
        return DataLossError(None, None, f"Unable to open table file {self.path}: Data loss: {why}")

    def _handle(self, data: bytes, position: int) -> tuple[Handle, int]:
        try:
            offset, position = varint.decode(data, position)
            size, position = varint.decode(data, position)
        except (IndexError, ValueError):
            raise self._damaged("bad block handle") from None
        if offset + size + _TRAILER > self._size:
            raise self._damaged(f"a block at {offset} of {size} bytes lies outside the file of {self._size}")
        return (offset, size), position

    def _block(self, handle: Handle) -> bytes:
        offset, size = handle
        with open(self.path, "rb") as file:
            file.seek(offset)
            data = file.read(size + _TRAILER)
        if len(data) != size + _TRAILER:
            raise self._damaged("truncated block read")
        kind, checksum = data[size], struct.unpack_from("<I", data, size + 1)[0]
        if masked_crc32c(data[:size + 1]) != checksum:
            raise self._damaged(f"block checksum mismatch at offset {offset}")
        if kind == _NO_COMPRESSION:
            return data[:size]
        if kind != _SNAPPY:
            raise self._damaged(f"bad block type {kind}")
        try:
            return snappy.decompress(data[:size])
        except ValueError as error:
            raise self._damaged(str(error)) from None

    def _entries(self, handle: Handle) -> Iterator[tuple[bytes, bytes]]:
        data = self._block(handle)
        try:
            restarts, = struct.unpack_from("<I", data, len(data) - 4)
            end = len(data) - 4 - 4 * restarts
            if end < 0:
                raise ValueError
            position, key = 0, b""
            while position < end:
                shared, position = varint.decode(data, position)
                unshared, position = varint.decode(data, position)
                length, position = varint.decode(data, position)
                value = position + unshared
                if shared > len(key) or value + length > end:
                    raise ValueError
                key = key[:shared] + data[position:value]
                position = value + length
                yield key, data[value:position]
        except (ValueError, IndexError, struct.error):
            raise self._damaged(f"bad entry in the block at offset {handle[0]}") from None


class _Block:
    """The contents of a block in the making."""

    def __init__(self, restart_interval: int):
        self._interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._since = 0
        self._last_key = b""
        self.entries = 0

    def add(self, key: bytes, value: Bytes) -> None:
        """Appends an entry whose key comes after all others."""
        shared = 0
        if self._since < self._interval:
            shared = common_prefix(self._last_key, key)
        else:
            self._restarts.append(len(self._data))
            self._since = 0
        rest = key[shared:]
        self._data += varint.encode(shared) + varint.encode(len(rest)) + varint.encode(len(value)) + rest
        self._data += value
        self._last_key = key
        self._since += 1
        self.entries += 1

    @property
    def size(self) -> int:
        """Bytes of the finished block."""
        return len(self._data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytearray:
        """The block, to which nothing is added any more."""
        self._data += struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))
        return self._data


def common_prefix(a: bytes, b: bytes) -> int:
    """How many bytes `a` and `b` begin with in common."""
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    return next(i for i in range(limit) if a[i] != b[i])


def separator(last: bytes, following: bytes) -> bytes:
    """A short key that is at least `last` and less than `following`."""
    shared = common_prefix(last, following)
    if shared < min(len(last), len(following)):
        byte = last[shared]
        if byte < 255 and byte + 1 < following[shared]:
            return last[:shared] + bytes([byte + 1])
    return last


def successor(key: bytes) -> bytes:
    """A short key that is at least `key`."""
    for i, byte in enumerate(key):
        if byte != 255:
            return key[:i] + bytes([byte + 1])
    return key


class TableWriter:
    """Makes a table: ``add`` in ascending order of keys, then ``finish`` gives the bytes of the file."""

    def __init__(self, block_size: int = _BLOCK_SIZE):
        self._block_size = block_size
        self._file = bytearray()
        self._block = _Block(_RESTART_INTERVAL)
        self._index = _Block(1)
        self._last: bytes | None = None
        self._waiting: Handle | None = None     # a finished block, entered in the index when the next key is known

    def add(self, key: bytes, value: Bytes) -> None:
        """Appends an entry.  Raises ValueError if `key` is not greater than the one before."""
        if self._last is not None and key <= self._last:
            raise ValueError(f"the keys of a table ascend: {key!r} after {self._last!r}")
        if self._waiting is not None and self._last is not None:
            self._add_to_index(separator(self._last, key))
        self._block.add(key, value)
        self._last = key
        if self._block.size >= self._block_size:
            self._flush()

    def _flush(self) -> None:
        self._waiting = self._write(self._block.finish())
        self._block = _Block(_RESTART_INTERVAL)

    def _add_to_index(self, key: bytes) -> None:
        assert self._waiting is not None
        self._index.add(key, varint.encode(self._waiting[0]) + varint.encode(self._waiting[1]))
        self._waiting = None

    def _write(self, block: Bytes) -> Handle:
        handle = len(self._file), len(block)
        kind = bytes([_NO_COMPRESSION])
        self._file += block
        self._file += kind + struct.pack("<I", mask(crc32c(kind, crc32c(block))))
        return handle

    def finish(self) -> Bytes:
        """The whole file."""
        if self._block.entries:
            self._flush()
        if self._waiting is not None and self._last is not None:
            self._add_to_index(successor(self._last))
        meta = self._write(_Block(1).finish())
        index = self._write(self._index.finish())
        handles = b"".join(varint.encode(number) for number in (*meta, *index))
        self._file += handles.ljust(_FOOTER - len(_MAGIC), b"\0") + _MAGIC
        return self._file
