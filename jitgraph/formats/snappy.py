"""Reading blocks compressed with Snappy, as V1 checkpoints may hold them.

A block is the length of the data as a varint, then elements: a tag byte, whose low two bits tell a literal (0) from a
copy of earlier output with a 1, 2 or 4 byte offset (1, 2, 3).
"""
from __future__ import annotations

from jitgraph.protobuf import varint


def decompress(data: bytes) -> bytes:
    """The data of a Snappy block.  Raises ValueError if it is damaged."""
    try:
        length, position = varint.decode(data, 0)
        out = bytearray()
        end = len(data)
        while position < end:
            position = _element(data, position, out)
            if len(out) > length:
                break
    except IndexError:
        raise ValueError("a Snappy block ends too early") from None
    if len(out) != length:
        raise ValueError(f"a Snappy block of {length} bytes gave {len(out)}")
    return bytes(out)


def _element(data: bytes, position: int, out: bytearray) -> int:
    """Appends what the element at `position` means to `out`; returns the position after it."""
    tag = data[position]
    kind, position = tag & 3, position + 1
    if kind == 0:
        size = (tag >> 2) + 1
        if size > 60:
            width = size - 60
            size = _number(data, position, width) + 1
            position += width
        if position + size > len(data):
            raise IndexError
        out += data[position:position + size]
        return position + size
    if kind == 1:
        size, offset = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[position]
        position += 1
    else:
        width = 2 if kind == 2 else 4
        size, offset = (tag >> 2) + 1, _number(data, position, width)
        position += width
    _copy(out, offset, size)
    return position


def _number(data: bytes, position: int, width: int) -> int:
    if position + width > len(data):
        raise IndexError
    return int.from_bytes(data[position:position + width], "little")


def _copy(out: bytearray, offset: int, size: int) -> None:
    """Repeats `size` bytes from `offset` before the end; they may overlap what is being written."""
    start = len(out) - offset
    if offset == 0 or start < 0:
        raise ValueError("a Snappy block copies from before its beginning")
    if offset >= size:
        out += out[start:start + size]
    else:
        pattern = bytes(out[start:])
        out += (pattern * (size // offset + 1))[:size]
