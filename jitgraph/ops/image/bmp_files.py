"""BMP files as TensorFlow reads them: the bytes of the pixels as they are, whatever a palette makes of them."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.invalid import invalid

_HEADER = 32                                            # so many bytes tell where the pixels are, and of what size
_ORDER = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}        # of the channels: a file has blue first


def bmp_pixels(data: bytes, channels: int) -> np.ndarray:
    """The pixels of a BMP file, uint8 [height, width, its bytes for each pixel].

    Raises InvalidArgumentError for a file that is cut off, or whose pixels are not of 1, 3 or 4 bytes, or not of `channels`
    (0: of any number).
    """
    if len(data) < _HEADER:
        raise invalid(f"Incomplete bmp content, requires at least {_HEADER} bytes to find the header size, width, height, and bpp, "
                      f"got {len(data)} bytes")
    begin, width, height = (int.from_bytes(data[at:at + 4], "little", signed=True) for at in (10, 18, 22))
    # with the two bytes behind them, as TensorFlow reads them: these are not zero for pixels that are compressed
    there = int.from_bytes(data[28:32], "little") // 8
    if channels not in (0, there):
        raise invalid(f"channels attribute {channels} does not match bits per pixel from file {there}")
    if there not in _ORDER:
        raise invalid(f"Number of channels must be 1, 3 or 4, was {there}")
    if width <= 0:
        raise invalid(f"Width must be positive, got {width}")
    if not height:
        raise invalid("Height must be nonzero")
    row = -(-width * there // 4) * 4                    # rows begin at multiples of four bytes
    last = begin + row * (abs(height) - 1) + width * there
    if not 0 <= begin <= last <= len(data):
        raise invalid(f"Incomplete bmp content, requires at least {last} bytes, got {len(data)} bytes")
    rows = np.ndarray((abs(height), width, there), np.uint8, data, begin, (row, there, 1))
    return np.ascontiguousarray((rows[::-1] if height > 0 else rows)[..., _ORDER[there]])
