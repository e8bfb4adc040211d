"""Sources that read files: lines, records of equal length, TFRecords, and elements that were cached in a file."""
from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Unary
from jitgraph.data.source_host import Element, Run, Source, Take
from jitgraph.filesystem.systems import locate
from jitgraph.formats.files import local_path, op_errors
from jitgraph.formats.inflating import inflated
from jitgraph.formats.records import read_records
from jitgraph.graph import errors

COMPRESSIONS = ("", "GZIP", "ZLIB")


class Files(Source):
    """The records of files, one file after the other; `records(path)` gives those of one."""

    def __init__(self, names: np.ndarray, records: Callable[[str], Iterator[bytes]]):
        self.names, self.records = [os.fsdecode(name) for name in np.ravel(names).tolist()], records

    def iterate(self, run: Run) -> Take:
        names, name = iter(self.names), ""
        current: Iterator[bytes] = iter(())

        def taken() -> Element:
            nonlocal current, name
            while True:
                try:
                    record = next(current)
                except StopIteration:
                    name = next(names)
                    current = self.records(name)
                    continue
                except errors.DataLossError:
                    raise
                except errors.OpError:
                    current = self.records(name)    # a file that cannot be opened is tried again by the next call
                    raise
                array = np.empty((), object)
                array[()] = record
                return (array,)

        return taken


def _whole(path: str, compression: str) -> Any:
    """A file open for reading, unpacked."""
    system, place = locate(path)
    if compression:
        return inflated(system.open(place, "rb"), compression)
    return system.open(place, "rb")


def check_compression(compression: str) -> str:
    """Raises InvalidArgumentError for a compression that there is not."""
    if compression not in COMPRESSIONS:
        raise errors.InvalidArgumentError(None, None, "Unsupported compression_type.")
    return compression


def lines(path: str, compression: str) -> Iterator[bytes]:
    """The lines of a file without their ends, and without any carriage return, as TensorFlow reads lines."""
    with _reading(path), _whole(path, compression) as file:
        for line in file:
            text = line.replace(b"\r", b"").removesuffix(b"\n")
            if text or line.endswith(b"\n"):            # a last line must have text
                yield text


def content(path: str, compression: str) -> bytes:
    """All bytes of a file."""
    with _reading(path), _whole(path, compression) as file:
        found: bytes = file.read()
        return found


def records(path: str, compression: str) -> Iterator[bytes]:
    """The records of a TFRecord file."""
    return read_records(path, compression)


class _reading:
    """Errors of reading as those of TensorFlow."""

    def __init__(self, path: str):
        self.path, self.errors = path, op_errors(path)

    def __enter__(self) -> None:
        self.errors.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if isinstance(error, zlib.error):
            raise errors.DataLossError(None, None, f"{self.path}: {error}") from None
        return self.errors.__exit__(kind, error, trace)


def fixed_length(path: str, compression: str, header: int, length: int, footer: int) -> Iterator[bytes]:
    """Records of equal length between a header and a footer.

    If they do not fill the file, raises InvalidArgumentError, or DataLossError for a compressed file.
    """
    with _reading(path), _whole(path, compression) as file:
        if compression:
            file = io.BytesIO(file.read())
        size = file.seek(0, os.SEEK_END)
        body = size - header - footer
        # TensorFlow computes without signs: less than no bytes are a little less than 2**64, and then there are no records
        if header > size or compression and body < 0 or body % (1 << 64) % length:
            raise (errors.DataLossError if compression else errors.InvalidArgumentError)(
                None, None, f"Excess bytes in file {path}: its body has {body} bytes between a header of {header} and a "
                            f"footer of {footer}, which is not divisible by the record length, {length}")
        file.seek(header)
        for _ in range(body // length):
            yield file.read(length)


class Databases(Source):
    """The pairs of keys and values of LMDB databases, one database after the other."""

    def __init__(self, names: np.ndarray):
        self.names = [os.fsdecode(name) for name in np.ravel(names).tolist()]

    def iterate(self, run: Run) -> Take:
        from jitgraph.formats.lmdb_files import pairs

        found = (pair for name in self.names for pair in pairs(name))
        return lambda: tuple(np.array(text, object) for text in next(found))


class FileCached(Unary):
    """The elements of another source, which the first iteration that comes to its end puts into a file."""

    def __init__(self, source: Source, path: str):
        super().__init__(source)
        self.path = local_path(path)

    def iterate(self, run: Run) -> Take:
        if os.path.exists(self.path + ".cache"):
            return iter(self._read()).__next__
        lock, locked = self.path + ".lockfile", False
        take = self.source.iterate(run.at("cache"))
        found: list[Element] = []

        def release() -> None:
            nonlocal locked
            if locked:
                locked = False
                _remove(lock)

        def caching() -> Element:
            nonlocal locked
            # only by the first element: an iterator that is made anew takes the place of one that holds the lock
            if not locked:
                _make_lock(lock)
                locked = True
                run.session.at_end(release)
            try:
                element = tuple(take())
            except StopIteration:
                self._write(found)
                release()
                raise
            found.append(element)
            return element

        return caching

    def _write(self, elements: list[Element]) -> None:
        """The numbers of components and of elements and then the components, as records that hold tensors."""
        from jitgraph.formats.records import TFRecordWriter
        from jitgraph.graph.protos.tensor_proto import make_tensor_proto

        temporary = self.path + ".cache.tmp"
        width = np.array([len(elements[0]) if elements else 0, len(elements)], np.int64)
        with TFRecordWriter(temporary) as file:
            for array in (width, *(array for element in elements for array in element)):
                file.write(make_tensor_proto(array).SerializeToString())
        os.replace(temporary, self.path + ".cache")

    def _read(self) -> list[Element]:
        from google.protobuf.message import DecodeError

        from jitgraph.graph.protos.tensor_proto import to_array
        from jitgraph.protobuf.messages import TensorProto

        try:
            arrays = [np.asarray(to_array(TensorProto.FromString(record))) for record in read_records(self.path + ".cache")]
        except (DecodeError, ValueError, TypeError) as error:
            raise errors.DataLossError(None, None, f"{self.path}.cache holds no cached elements: {error}") from None
        width, *count = np.ravel(arrays[0]).tolist() if arrays else [0, -1]     # older files state no number of elements
        found = [tuple(arrays[k:k + width]) for k in range(1, len(arrays), width or 1)]
        if count and len(found) != count[0] or found and len(found[-1]) != width:
            raise errors.DataLossError(None, None, f"{self.path}.cache is cut off: delete it, and the elements are made anew")
        return found

    def size(self) -> int:
        return self.source.size()


def _make_lock(path: str) -> None:
    with op_errors(path):
        try:
            with open(path, "x"):
                pass
        except FileExistsError:
            raise errors.AlreadyExistsError(
                None, None, f"There appears to be a concurrent caching iterator running - cache lockfile already exists "
                            f"('{path}'). If you are sure no other running TF computations are using this cache prefix, "
                            "delete the lockfile and re-initialize the iterator.") from None


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
