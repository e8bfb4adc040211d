"""Variable-length integers: seven bits a byte, low group first, the high bit says that more follow."""
from __future__ import annotations

from typing import Any

_LONGEST = 10       # bytes of a 64-bit number


def encode(value: int) -> bytes:
    """The varint of a number that is not negative."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: Any, position: int) -> tuple[int, int]:
    """The number at `position` of `data` and the position after it.

    Raises IndexError if `data` end within it, ValueError if it is longer than 64 bits.
    """
    byte = data[position]
    if byte < 128:
        return byte, position + 1
    value, shift, end = byte & 127, 7, position + _LONGEST
    while True:
        position += 1
        if position == end:
            raise ValueError("a varint is longer than 64 bits")
        byte = data[position]
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position + 1
        shift += 7
