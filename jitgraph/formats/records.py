"""TFRecord files: ``tf.python_io.TFRecordWriter``, ``tf_record_iterator``.

A record is its length (8 bytes), the checksum of those, the data, and their checksum; records follow each other.  A
compressed file is one stream of GZIP or ZLIB around all of that.
"""
from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.checksum import masked_crc32c
from jitgraph.formats.files import local_path, op_errors
from jitgraph.formats.inflating import inflated
from jitgraph.formats.record_loops import whole_records
from jitgraph.graph.errors import DataLossError, FailedPreconditionError

_PIECE = 1 << 24        # bytes read at once: a length that is wrong must not ask for all memory
_HEADER = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")


class TFRecordCompressionType:
    """How a file of records is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How to read or write a file of records.

    `compression_type`: "", "GZIP", "ZLIB", a TFRecordCompressionType, or other TFRecordOptions.  `compression_level`:
    0 to 9; `window_bits`, `mem_level` and `compression_strategy` as zlib has them.  Raises ValueError for another type.
    """

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type: Any = None, flush_mode: int | None = None, input_buffer_size: int | None = None,
                 output_buffer_size: int | None = None, window_bits: int | None = None,
                 compression_level: int | None = None, compression_method: int | None = None,
                 mem_level: int | None = None, compression_strategy: int | None = None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """"", "GZIP" or "ZLIB" for whatever stands for them.  Raises ValueError for anything else."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if isinstance(options, int) and options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


class TFRecordWriter:
    """Writes a file of records; a context manager.

    Raises NotFoundError if the folder is not there, and other ``tf.errors`` that the file system gives rise to.
    """

    def __init__(self, path: Any, options: Any = None):
        self._path = path_string(path)
        kind = TFRecordOptions.get_compression_type_string(options)
        settings = options if isinstance(options, TFRecordOptions) else TFRecordOptions(kind)
        with op_errors(self._path):
            self._file: Any = open(local_path(self._path), "wb")    # noqa: SIM115  (until close)
        if kind == "GZIP":
            level = 9 if settings.compression_level is None else settings.compression_level
            self._stream: Any = gzip.GzipFile("", "wb", level, self._file, 0)
        else:
            self._stream = _Deflated(self._file, settings) if kind == "ZLIB" else self._file

    def write(self, record: bytes) -> None:
        """Appends a record.  Raises TypeError unless it is bytes, FailedPreconditionError after ``close``."""
        if not isinstance(record, bytes):
            raise TypeError(f"expected bytes, {type(record).__name__} found: a message is written as "
                            "example.SerializeToString()")
        if self._stream is None:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        with op_errors(self._path):
            self._stream.write(frame(record))

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._stream is None:
            raise FailedPreconditionError(None, None, "Writer not initialized or previously closed")
        with op_errors(self._path):
            self._stream.flush()
            self._file.flush()

    def close(self) -> None:
        """Completes the file."""
        if self._stream is not None:
            with op_errors(self._path):
                self._stream.close()
                self._file.close()
            self._stream = None

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


class _Deflated:
    """A file that is written as one ZLIB stream."""

    def __init__(self, file: Any, options: TFRecordOptions):
        self._file = file
        level = -1 if options.compression_level is None else options.compression_level
        self._compressor = zlib.compressobj(level, zlib.DEFLATED, options.window_bits or zlib.MAX_WBITS,
                                            options.mem_level or zlib.DEF_MEM_LEVEL, options.compression_strategy or 0)

    def write(self, data: bytes) -> None:
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        self._file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))

    def close(self) -> None:
        self._file.write(self._compressor.flush())


_BLOCK = 1 << 17         # bytes of a file whose records are found together


def frame(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = len(record).to_bytes(8, "little")
    return b"".join((length, _CHECKSUM.pack(masked_crc32c(length)), record, _CHECKSUM.pack(masked_crc32c(record))))


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file, one by one.

    `options`: a TFRecordOptions or compression type.  Raises NotFoundError if there is no file, and DataLossError at
    the record that is damaged or cut off; the records before it are given.  A file may end within the header of a record.
    """
    return read_records(path_string(path), TFRecordOptions.get_compression_type_string(options))


def read_records(path: str, compression: str = "") -> Iterator[bytes]:
    """The records of the file `path`; `compression` is "", "GZIP" or "ZLIB".  See ``tf_record_iterator``."""
    with op_errors(path):
        file: Any = open(local_path(path), "rb")    # noqa: SIM115  (errors of opening are told apart from those of reading)
    with file:
        stream: Any = inflated(file, compression) if compression else file
        position = 0
        in_blocks = not compression and file.seekable()
        while True:
            if in_blocks:
                for whole in whole_records(file.read(_BLOCK)):
                    position += _HEADER.size + len(whole) + _CHECKSUM.size
                    yield whole
                file.seek(position)
            try:
                record = _next(stream, position)
            except zlib.error as error:
                raise DataLossError(None, None, f"{path}: the {compression} stream is damaged: {error}") from None
            except DataLossError as error:
                raise DataLossError(None, None, f"{error.message}{_hint(path, position, compression)}") from None
            if record is None:
                return
            position += _HEADER.size + len(record) + _CHECKSUM.size
            yield record


def _next(stream: Any, position: int) -> bytes | None:
    """The record at `position`, None at the end of the file.  Raises DataLossError."""
    header = _read(stream, _HEADER.size)
    if len(header) < _HEADER.size:                      # also within one: a writer may be about to write the rest
        return None
    length, checksum = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != checksum:
        raise DataLossError(None, None, f"corrupted record at {position}")
    data = _read(stream, length)
    trailer = _read(stream, _CHECKSUM.size)
    if len(data) < length or len(trailer) < _CHECKSUM.size:
        raise DataLossError(None, None, f"truncated record at {position}")
    if masked_crc32c(data) != _CHECKSUM.unpack(trailer)[0]:
        raise DataLossError(None, None, f"corrupted record at {position + _HEADER.size}")
    return data


def _read(stream: Any, count: int) -> bytes:
    """`count` bytes, or as many as there are."""
    if count <= _PIECE:
        return stream.read(count)
    pieces = []
    while count > 0:
        piece = stream.read(min(count, _PIECE))
        if not piece:
            break
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def _hint(path: str, position: int, compression: str) -> str:
    """What a reader may have forgotten, if the very first record is wrong."""
    if position or compression:
        return ""
    with open(local_path(path), "rb") as file:
        start = file.read(2)
    if start == b"\x1f\x8b":
        return f": {path} looks like a GZIP file; read it with TFRecordOptions('GZIP')"
    if len(start) == 2 and start[0] == 0x78 and int.from_bytes(start, "big") % 31 == 0:
        return f": {path} looks like a ZLIB file; read it with TFRecordOptions('ZLIB')"
    return ""
