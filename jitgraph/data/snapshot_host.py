"""Snapshots: the elements that a dataset gave, in files of a folder, from which the next program takes them.

The folder has one for each dataset, named by a hash of its graph, with ``snapshot.metadata`` and, in a folder of the run that
wrote them, files of elements: of each the number of its bytes, as 8 bytes, and a SnapshotRecord.
"""
from __future__ import annotations

import gzip
import hashlib
import os
import random
import re
import struct
import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.data import recipes
from jitgraph.data.simple_host import Same
from jitgraph.data.source_host import Element, Run, Source, Take, passed
from jitgraph.filesystem.file_io import atomic_write_string_to_file
from jitgraph.filesystem.systems import locate
from jitgraph.graph import errors

_LENGTH = struct.Struct("<Q")
_DAY, _SHARD = 86400, 10 << 30
_COUNTED = re.compile(rb"_\d+")         # what sets the names of functions apart that are traced again


class Snapshot(Same):
    """The elements of a dataset: from a snapshot that is whole, else from the dataset, which then makes one.

    `expiry`: after how many seconds a snapshot that somebody else began counts as given up; `shard`: how many bytes go into
    a file.  Raises InvalidArgumentError for a compression other than "" and "GZIP".
    """

    def __init__(self, source: Source, path: str, compression: str, prefixes: tuple[str, str], shard: int, expiry: int):
        super().__init__(source)
        if compression not in ("", "GZIP"):
            raise errors.InvalidArgumentError(None, None, "compression must be either '' or 'GZIP'.")
        self.path, self.compression, self.prefixes = path, compression, prefixes
        self.shard, self.expiry = _SHARD if shard < 0 else shard, _DAY if expiry < 0 else expiry

    def iterate(self, run: Run) -> Take:
        folder = os.path.join(self.path, _hash(self.source))
        known = _metadata(folder)
        if known is not None and known.finalized:
            return self._read(os.path.join(self.prefixes[0] + folder, known.run_id)).__next__
        take = self.source.iterate(run.at("snapshot"))
        if known is not None and known.creation_timestamp >= (time.time() - self.expiry) * 1e6:
            return take         # another iteration is writing
        return self._writing(run, folder, take)

    def resume(self, run: Run, count: int) -> Take:
        take = self.iterate(run)
        passed(take, count)
        return take

    # -- writing

    def _writing(self, run: Run, folder: str, take: Take) -> Take:
        from jitgraph.protobuf import messages

        known = messages.SnapshotMetadataRecord(
            graph_hash=os.path.basename(folder), run_id=f"{random.getrandbits(64):x}", creation_timestamp=int(time.time() * 1e6))
        _write_metadata(folder, known)
        files = _Shards(os.path.join(self.prefixes[1] + folder, known.run_id), self.compression, self.shard)
        run.session.at_end(files.close)

        def taken() -> Element:
            try:
                element: Element = tuple(take())
            except StopIteration:
                files.close()
                known.finalized = True
                _write_metadata(folder, known)
                raise
            files.add(_packed(element))
            return element

        return taken

    # -- reading

    def _read(self, folder: str) -> Iterator[Element]:
        system, place = locate(folder)
        for name in sorted(system.children(place)):
            with system.open(os.path.join(place, name), "rb") as plain:
                file: Any = gzip.GzipFile(fileobj=plain) if self.compression else plain
                while record := _record(file):
                    yield record


class _Shards:
    """The files of a snapshot in the making: 00000000.snapshot, and so on."""

    def __init__(self, folder: str, compression: str, size: int):
        self.system, self.folder = locate(folder)
        self.system.make_directories(self.folder)
        self.compression, self.size = compression, size
        self.number, self.written = 0, 0
        self.files: list[Any] = []          # what is written to, and the file below it if that is another

    def add(self, record: bytes) -> None:
        if not self.files or self.written > self.size:
            self.close()
            file = self.system.open(os.path.join(self.folder, f"{self.number:08d}.snapshot"), "wb")
            self.files = [gzip.GzipFile(fileobj=file, mode="wb"), file] if self.compression else [file]
            self.number, self.written = self.number + 1, 0
        self.files[0].write(_LENGTH.pack(len(record)) + record)
        self.written += len(record)

    def close(self) -> None:
        for file in self.files:
            file.close()


def _packed(element: Element) -> bytes:
    from jitgraph.graph.dtypes import as_dtype
    from jitgraph.graph.protos.tensor_proto import from_array, with_content
    from jitgraph.protobuf import messages

    tensors = [from_array(array) if array.dtype == object else with_content(array, as_dtype(array.dtype)) for array in element]
    packed: bytes = messages.SnapshotRecord(tensor=tensors).SerializeToString()
    return packed


def _record(file: Any) -> Element | None:
    """The next element of a file, None at its end.  Raises DataLossError for what is none."""
    from google.protobuf.message import DecodeError

    from jitgraph.graph.protos.tensor_proto import to_array
    from jitgraph.protobuf import messages

    try:
        head = file.read(_LENGTH.size)
        if not head:
            return None
        size, = _LENGTH.unpack(head)
        body = file.read(size)
        if len(body) < size:
            raise errors.DataLossError(None, None, f"a snapshot's record of {size} bytes ends after {len(body)}")
        return tuple(np.asarray(to_array(tensor)) for tensor in messages.SnapshotRecord.FromString(body).tensor)
    except (OSError, EOFError, zlib.error) as error:
        raise errors.DataLossError(None, None, f"inflate() failed: {error}") from None
    except (DecodeError, ValueError, TypeError, struct.error, OverflowError, MemoryError) as error:
        raise errors.DataLossError(None, None, f"a snapshot holds no elements: {error}") from None


def _hash(source: Source) -> str:
    """A name for what a dataset computes: that of its graph, whatever its functions happen to be called."""
    text = _COUNTED.sub(b"", recipes.written(source).SerializeToString(deterministic=True))
    return hashlib.sha256(text).hexdigest()[:16]


def _metadata(folder: str) -> Any:
    """What is known of the snapshot in a folder, None if there is none."""
    from google.protobuf.message import DecodeError

    from jitgraph.protobuf import messages

    system, place = locate(os.path.join(folder, "snapshot.metadata"))
    if not system.exists(place):
        return None
    with system.open(place, "rb") as file:
        content = file.read()
    try:
        return messages.SnapshotMetadataRecord.FromString(content[_LENGTH.size:])
    except DecodeError:
        raise errors.DataLossError(None, None, f"{place} does not describe a snapshot") from None


def _write_metadata(folder: str, known: Any) -> None:
    record = known.SerializeToString()
    system, place = locate(folder)
    system.make_directories(place)
    atomic_write_string_to_file(os.path.join(folder, "snapshot.metadata"), _LENGTH.pack(len(record)) + record)
