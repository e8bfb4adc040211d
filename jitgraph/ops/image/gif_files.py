"""GIF files as TensorFlow reads them: each frame painted over the one before it.

It knows no transparent color and no disposal, which are what a browser, and Pillow, make of a file; so Pillow decodes the
indices of each frame alone, as a file of its own.
"""
from __future__ import annotations

import io
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid

_IMAGE, _EXTENSION, _END = 0x2C, 0x21, 0x3B
_INTERLACED = 0x40


class _Damaged(Exception):
    """What is wrong with a file."""


class _Frame:
    """Where a frame lies, its colors [colors, 3], and the indices of its pixels [height, width]."""

    def __init__(self, left: int, top: int, colors: np.ndarray | None, indices: np.ndarray):
        self.left, self.top, self.colors, self.indices = left, top, colors, indices


class _Reader:
    """Takes a file apart from its beginning."""

    def __init__(self, data: bytes, place: int = 0):
        self.data, self.place = data, place

    def take(self, size: int) -> bytes:
        found = self.data[self.place:self.place + size]
        if len(found) < size:
            raise _Damaged("failed to slurp gif file: Failed to read from given file")
        self.place += size
        return found

    def numbers(self, count: int) -> list[int]:
        return np.frombuffer(self.take(2 * count), "<u2").tolist()

    def colors(self, flags: int) -> np.ndarray | None:
        """The table of colors that flags announce."""
        if not flags & 0x80:
            return None
        return np.frombuffer(self.take(3 << (flags & 7) + 1), np.uint8).reshape(-1, 3)

    def blocks(self) -> bytes:
        """Blocks of data as they stand, to the empty one that ends them."""
        begin = self.place
        while True:
            size = self.take(1)[0]
            if not size:
                return self.data[begin:self.place]
            self.take(size)


def gif_frames(data: bytes, pillow: Any) -> np.ndarray:
    """The frames of a GIF file, uint8 [frames, height, width, 3]; as large as the largest frame.

    Raises InvalidArgumentError for a file that is damaged, has no frame, or whose first frame is smaller than a later one.
    """
    try:
        frames = _frames(data, pillow)
        height, width = (max(frame.indices.shape[axis] for frame in frames) for axis in (0, 1))
        out = np.empty((len(frames), height, width, 3), np.uint8)
        for k, frame in enumerate(frames):
            _paint(out, k, frame)
    except _Damaged as error:
        raise invalid(f"Invalid GIF data (size {len(data)}), {error}") from None
    return out


def _paint(out: np.ndarray, k: int, frame: _Frame) -> None:
    """Frame `k` over the one before it."""
    height, width = out.shape[1:3]
    if frame.left or frame.top or frame.indices.shape != (height, width):
        if not k:
            raise _Damaged("the first frame does not fill the canvas")
        out[k] = out[k - 1]
    if frame.colors is None:
        raise _Damaged(f"missing color map for frame {k}")
    indices = frame.indices[:max(height - frame.top, 0), :max(width - frame.left, 0)]
    if indices.size and indices.max() >= len(frame.colors):
        raise _Damaged(f"found color index {indices.max()} outside of color map range {len(frame.colors)}")
    out[k, frame.top:frame.top + len(indices), frame.left:frame.left + indices.shape[1]] = frame.colors[indices]


def _frames(data: bytes, pillow: Any) -> list[_Frame]:
    if len(data) < 13:
        raise _Damaged("failed to open gif file: No screen descriptor detected")
    file, found = _Reader(data, 13), []
    shared = file.colors(data[10])
    while True:
        kind = file.take(1)[0]
        if kind == _IMAGE:
            found.append(_frame(file, shared, pillow))
        elif kind == _EXTENSION:
            file.take(1)
            file.blocks()
        elif kind == _END:
            break
        else:
            raise _Damaged("failed to slurp gif file: Wrong record type detected")
    if not found:
        raise _Damaged("failed to slurp gif file: No Image Descriptor detected")
    return found


def _frame(file: _Reader, shared: np.ndarray | None, pillow: Any) -> _Frame:
    left, top, width, height = file.numbers(4)
    flags = file.take(1)[0]
    own = file.colors(flags)
    pixels = file.take(1) + file.blocks()
    if not width or not height:
        raise _Damaged("failed to slurp gif file: Unknown error")
    # with a gray for each index Pillow gives the indices themselves
    size = np.array([width, height], "<u2").tobytes()
    grays = np.repeat(np.arange(256, dtype=np.uint8), 3).tobytes()
    alone = b"".join([b"GIF89a", size, b"\xf7\0\0", grays, b",\0\0\0\0", size, bytes([flags & _INTERLACED]), pixels, b";"])
    try:
        image = pillow.open(io.BytesIO(alone), formats=("GIF",))
        indices = np.asarray(image)
    except (OSError, ValueError, EOFError, SyntaxError):
        raise _Damaged("failed to slurp gif file: Image EOF detected before image complete") from None
    return _Frame(left, top, shared if own is None else own, indices)
