"""``tf.TextLineReader``, ``tf.WholeFileReader``, ``tf.TFRecordReader``, ``tf.FixedLengthRecordReader``, ``tf.IdentityReader``.

A reader takes names of files from a queue (``tf.train.string_input_producer``) and gives their records.
"""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.formats.records import TFRecordOptions
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


class ReaderBase:
    """What all readers can do; make one of the subclasses.  `reader_ref` is the handle."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        """The handle of the reader."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether ``serialize_state`` and ``restore_state`` work."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of the next record, two string scalars.

        `queue`: a queue (or its handle) with names of files.  A run waits for the next file, and raises OutOfRangeError
        when the queue is closed and empty.
        """
        return self._op("ReaderRead")(self._reader_ref, self._queue(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of the next records, vectors of at most `num_records` strings, all of one file."""
        return self._op("ReaderReadUpTo")(self._reader_ref, self._queue(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records the reader has given, int64."""
        return self._op("ReaderNumRecordsProduced")(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files the reader has finished, int64."""
        return self._op("ReaderNumWorkUnitsCompleted")(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Where the reader stands, a string scalar.  A run raises UnimplementedError unless ``supports_serialize``."""
        return self._op("ReaderSerializeState")(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        """An operation that puts the reader back to where it stood."""
        return self._op("ReaderRestoreState")(self._reader_ref, state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        """An operation that puts the reader back to its beginning."""
        return self._op("ReaderReset")(self._reader_ref, name=name)

    def _op(self, kind: str) -> Any:
        """The op `kind` in the version of the reader's handle."""
        return getattr(raw, kind if self._of_reference else f"{kind}V2")

    def _queue(self, queue: Any) -> Any:
        """The handle of a queue in that version."""
        return raw.FakeQueue(_handle(queue)) if self._of_reference else _handle(queue)

    @property
    def _of_reference(self) -> bool:
        return self._reader_ref.dtype.base_dtype is dtypes.string


def _handle(queue: Any) -> Any:
    return queue if isinstance(queue, Tensor) else queue.queue_ref


def _container() -> str:
    return get_default_graph()._container


class WholeFileReader(ReaderBase):
    """Gives whole files: (name, contents)."""

    def __init__(self, name: str | None = None):
        super().__init__(raw.WholeFileReaderV2(container=_container(), name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives lines: ("file:number", line without its end); `skip_header_lines` at the start of a file are left out."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, container=_container(),
                                              name=name))


class FixedLengthRecordReader(ReaderBase):
    """Gives pieces of `record_bytes` bytes: ("file:number", bytes).

    `header_bytes` and `footer_bytes` of a file are left out; `hop_bytes`: from one piece to the next, if not
    `record_bytes`; `encoding`: "GZIP" or "ZLIB" for compressed files.
    """

    def __init__(self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
                 hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None):
        super().__init__(raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes, header_bytes=header_bytes or 0, footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0, encoding=encoding or "", container=_container(), name=name))


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files: ("file:offset", record); `options`: a ``tf.python_io.TFRecordOptions``."""

    def __init__(self, name: str | None = None, options: Any = None):
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(raw.TFRecordReaderV2(compression_type=compression, container=_container(), name=name))


class LMDBReader(ReaderBase):
    """Gives the pairs of LMDB databases: (key, value).  A run raises ImportError without the package ``lmdb``."""

    def __init__(self, name: str | None = None, options: Any = None):
        super().__init__(raw.LMDBReader(container=_container(), name=name))


class IdentityReader(ReaderBase):
    """Gives what the queue holds as it is: (work, work)."""

    def __init__(self, name: str | None = None):
        super().__init__(raw.IdentityReaderV2(container=_container(), name=name), supports_serialize=True)
