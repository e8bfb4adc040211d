"""Readers: they take the names of files from a queue and give their records one by one."""
from __future__ import annotations

import gzip
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.formats.files import local_path, op_errors
from jitgraph.formats.records import read_records
from jitgraph.graph import errors

Record = tuple[bytes, bytes]
TakeWork = Callable[[], bytes]


class Reader:
    """A reader.  `records(work)` gives (key, value) of all records of a unit of work, mostly a file.

    `restorable`: each unit of work has one record, so that the reader can say where it stands.
    """

    def __init__(self, kind: str, name: str, records: Callable[[bytes], Iterator[Record]], restorable: bool = False):
        self.kind, self.name, self.restorable = kind, name, restorable
        self.lock = threading.Lock()
        self._open = records
        self.reset()

    def reset(self) -> None:
        """Back to the beginning: what is not read of the present unit of work is left out."""
        self.started = self.finished = self.produced = 0
        self._work = b""
        self._records: Iterator[Record] | None = None

    def check_same(self, other: Reader) -> None:
        """Raises InvalidArgumentError if a node of the same shared name describes a reader of another kind."""
        if self.kind != other.kind:
            raise errors.InvalidArgumentError(None, None, f"Shared reader '{self.name}' is a {self.kind}, not a "
                                                          f"{other.kind}")

    def read(self, take_work: TakeWork) -> Record:
        """The next record; `take_work` gives the next unit of work, or raises OutOfRangeError at the end."""
        while True:
            record = self._next(take_work)
            if record is not None:
                return record

    def read_up_to(self, count: int, take_work: TakeWork) -> list[Record]:
        """The next records of one unit of work, at least one and at most `count`."""
        if count <= 0:
            return []
        found = [self.read(take_work)]
        while len(found) < count and self._records is not None:
            record = self._next(take_work)
            if record is None:
                break
            found.append(record)
        return found

    def _next(self, take_work: TakeWork) -> Record | None:
        """The next record of the present unit of work, None if that has come to its end."""
        if self._records is None:
            self._work = take_work()
            self.started += 1
            self._records = self._open(self._work)
        try:
            record = next(self._records, None)
        except errors.OpError:
            self._records = None
            raise
        if record is not None:
            self.produced += 1
        if record is None or self.restorable:
            self._records = None
            self.finished += 1
        return record

    def state(self) -> bytes:
        """What ``restore`` takes.  Raises UnimplementedError for readers that cannot say where in a file they are."""
        from jitgraph.protobuf.messages import ReaderBaseState

        if not self.restorable:
            raise errors.UnimplementedError(None, None, "Reader SerializeState")
        return ReaderBaseState(work_started=self.started, work_finished=self.finished,
                               num_records_produced=self.produced,
                               current_work=self._work).SerializeToString(deterministic=True)

    def restore(self, state: bytes) -> None:
        """Goes back to a state.  Raises InvalidArgumentError if `state` is none."""
        from google.protobuf.message import DecodeError

        from jitgraph.protobuf.messages import ReaderBaseState

        if not self.restorable:
            raise errors.UnimplementedError(None, None, "Reader RestoreState")
        try:
            found = ReaderBaseState.FromString(state)
        except DecodeError:
            raise errors.InvalidArgumentError(None, None, f"Could not parse state for {self.kind} '{self.name}': "
                                                          f"{state.decode('latin-1')}") from None
        self.started, self.finished = found.work_started, found.work_finished
        self.produced, self._work, self._records = found.num_records_produced, found.current_work, None
        if self.finished < self.started:
            self._records = self._open(self._work)


# -- kinds of readers ----------------------------------------------------------------------------------------------

def _path(work: bytes) -> str:
    import os

    return local_path(os.fsdecode(work))


def text_lines(work: bytes, skip: int) -> Iterator[Record]:
    """The lines of a file after the first `skip`, without line ends; keys are "file:number"."""
    with op_errors(_path(work)), open(_path(work), "rb") as file:
        for number, line in enumerate(file, 1):
            if number > skip:
                yield work + b":%d" % number, line.replace(b"\r", b"").removesuffix(b"\n")


def whole_file(work: bytes) -> Iterator[Record]:
    """The contents of a file; the key is its name."""
    with op_errors(_path(work)), open(_path(work), "rb") as file:
        yield work, file.read()


def identity(work: bytes) -> Iterator[Record]:
    """The work itself."""
    yield work, work


def tf_records(work: bytes, compression: str) -> Iterator[Record]:
    """The records of a TFRecord file; keys are "file:offset"."""
    offset = 0
    for record in read_records(_path(work), compression):
        yield work + b":%d" % offset, record
        offset += len(record) + 16


def fixed_length(work: bytes, attrs: dict[str, Any]) -> Iterator[Record]:
    """Pieces of equal length between a header and a footer; keys are "file:number"."""
    length, header, footer = attrs["record_bytes"], attrs["header_bytes"], attrs["footer_bytes"]
    step = attrs["hop_bytes"] or length
    with op_errors(_path(work)), open(_path(work), "rb") as file:
        data = file.read()
    try:
        unpack: Any = {"ZLIB": zlib.decompress, "GZIP": gzip.decompress}.get(attrs.get("encoding", ""))
        data = unpack(data) if unpack else data
    except (zlib.error, OSError, EOFError) as error:
        raise errors.DataLossError(None, None, f"{_path(work)}: {error}") from None
    end = len(data) - footer
    for number, begin in enumerate(range(header, end - length + 1, step)):
        yield work + b":%d" % number, data[begin:begin + length]


def lmdb_pairs(work: bytes) -> Iterator[Record]:
    """The pairs of an LMDB database."""
    from jitgraph.formats.lmdb_files import pairs

    return pairs(_path(work))
