"""Checkpoints of the present format ("V2"): what their reader and writer share.

A checkpoint is named by a prefix.  ``PREFIX.index`` is a table: the key "" has the header, every other key (the name of
a tensor, or the encoded name and extents of a slice) an entry with dtype, shape and place; the bytes of the tensors
stand in ``PREFIX.data-00000-of-00001`` and so on.
"""
from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np

from jitgraph.formats.checksum import crc32c, mask, unmask
from jitgraph.formats.files import local_path
from jitgraph.formats.variants import Encoded, parsed
from jitgraph.protobuf import varint

VERSION = 1


def index_path(prefix: str) -> str:
    """The file with the table of a checkpoint."""
    return local_path(prefix) + ".index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file with the bytes of one shard."""
    return f"{local_path(prefix)}.data-{shard:05d}-of-{shards:05d}"


def data_pattern(prefix: str) -> re.Pattern[str]:
    """Matches the names of all data files of a checkpoint."""
    return re.compile(re.escape(local_path(prefix)) + r"\.data-\d{5}-of-\d{5}$")


# -- strings: lengths as varints, their checksum, then all bytes --------------------------------------------------

def _fixed_lengths(lengths: list[int]) -> bytes:
    """The lengths as checksums take them: 4 bytes each, 8 where that is too little."""
    if all(length < 1 << 32 for length in lengths):
        return struct.pack(f"<{len(lengths)}I", *lengths)
    return b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths)


def encode_strings(array: np.ndarray) -> tuple[bytes, int]:
    """The stored form of an object array of bytes, and the checksum (not masked) of its entry."""
    items = [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel().tolist()]
    lengths = [len(item) for item in items]
    crc = crc32c(_fixed_lengths(lengths))
    check = struct.pack("<I", mask(crc))
    text = b"".join(items)
    return b"".join(map(varint.encode, lengths)) + check + text, crc32c(text, crc32c(check, crc))


def decode_strings(data: bytes, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """The object array of bytes behind a stored form, and the checksum of its entry.  Raises ValueError if damaged."""
    count = int(np.prod(shape, dtype=object))
    if count > len(data):
        raise ValueError(f"{len(data)} bytes cannot hold {count} strings")
    lengths, position = [], 0
    try:
        for _ in range(count):
            length, position = varint.decode(data, position)
            lengths.append(length)
        check = data[position:position + 4]
        stored, = struct.unpack("<I", check)
    except (IndexError, struct.error):
        raise ValueError("the lengths of the strings are cut off") from None
    crc = crc32c(_fixed_lengths(lengths))
    if unmask(stored) != crc:
        raise ValueError("the checksum of the lengths of the strings does not fit")
    position += 4
    text = memoryview(data)[position:]
    if sum(lengths) != len(text):
        raise ValueError(f"the strings should have {sum(lengths)} bytes but have {len(text)}")
    items = np.empty(count, object)
    for i, length in enumerate(lengths):
        items[i] = data[position:position + length]
        position += length
    return items.reshape(shape), crc32c(text, crc32c(check, crc))


def encode_variants(array: np.ndarray) -> tuple[bytes, int]:
    """The stored form of an object array of values that can be `Encoded`, and the checksum (not masked) of its entry.

    Raises TypeError for other values.
    """
    written, crc = b"", 0
    for item in array.ravel().tolist():
        if not isinstance(item, Encoded):
            raise TypeError(f"holds a {type(item).__name__}, which cannot be saved")
        data = item.serialized()
        crc = crc32c(data, crc32c(struct.pack("<Q", len(data)), crc))
        check = struct.pack("<I", mask(crc))
        crc = crc32c(check, crc)
        written += varint.encode(len(data)) + data + check
    return written, crc


def decode_variants(data: bytes, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """The object array of `Encoded` values behind a stored form, and the checksum of its entry.  Raises ValueError if damaged."""
    items, position, crc = np.empty(int(np.prod(shape, dtype=object)), object), 0, 0
    for i in range(items.size):
        try:
            length, position = varint.decode(data, position)
            value = data[position:position + length]
            stored, = struct.unpack("<I", data[position + length:position + length + 4])
        except (IndexError, struct.error):
            raise ValueError("the values are cut off") from None
        crc = crc32c(value, crc32c(struct.pack("<Q", length), crc))
        if unmask(stored) != crc:
            raise ValueError("the checksum of a value does not fit")
        crc = crc32c(struct.pack("<I", stored), crc)
        items[i] = parsed(value)
        position += length + 4
    return items.reshape(shape), crc


def element_count(shape: Any) -> int:
    """The number of elements of a shape, exact however large."""
    count = 1
    for size in shape:
        count *= size
    return count
