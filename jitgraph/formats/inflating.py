"""Compressed files as TensorFlow reads them: the first stream, as far as it goes."""
from __future__ import annotations

import io
import zlib
from typing import Any

_PIECE = 1 << 16


def decompressor(compression: str) -> Any:
    """What takes a stream of "GZIP" or "ZLIB" apart."""
    return zlib.decompressobj(zlib.MAX_WBITS + (16 if compression == "GZIP" else 0))


def inflated(file: Any, compression: str) -> io.BufferedReader:
    """A file, open for reading, read through its compression, "GZIP" or "ZLIB".

    A stream that is cut off ends where its data end, and what is behind a whole one is not read.  Reading raises zlib.error for
    data that are damaged.
    """
    return io.BufferedReader(_Inflated(file, compression), _PIECE)


class _Inflated(io.RawIOBase):
    def __init__(self, file: Any, compression: str):
        self._file = file
        self._decompressor = decompressor(compression)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data and not self._decompressor.eof:
            piece = self._decompressor.unconsumed_tail or self._file.read(_PIECE)
            if not piece:
                break
            data = self._decompressor.decompress(piece, len(buffer))
        buffer[:len(data)] = data
        return len(data)
