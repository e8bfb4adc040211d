"""CRC-32C, and the masked form in which TensorFlow's files store it."""
from __future__ import annotations

from typing import Any

import numpy as np

_MASK = 0xA282EAD8


def crc32c(data: Any, crc: int = 0) -> int:
    """The CRC-32C (Castagnoli) of `data`, bytes or a contiguous ndarray, continuing from `crc`."""
    import google_crc32c

    if isinstance(data, np.ndarray):        # any layout of elements as plain bytes, without a copy
        data = data.reshape(-1).view(np.uint8)
    elif isinstance(data, (memoryview, bytearray)):
        data = np.frombuffer(data, np.uint8)
    return google_crc32c.extend(crc, data)


def mask(crc: int) -> int:
    """`crc` as it is stored: a checksum of data that hold checksums themselves would otherwise be weak."""
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF


def unmask(masked: int) -> int:
    """The checksum behind a stored value."""
    rotated = (masked - _MASK) & 0xFFFFFFFF
    return ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The stored form of the CRC-32C of `data`."""
    return mask(crc32c(data))
