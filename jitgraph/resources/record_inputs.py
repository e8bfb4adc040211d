"""``tf.contrib.framework.RecordInput``: batches of records from many files in a random order."""
from __future__ import annotations

from typing import Any

from jitgraph.formats.records import TFRecordOptions
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import split
from jitgraph.ops.arrays.shape import reshape
from jitgraph.resources.record_input_ops import record_input


class RecordInput:
    """Reads TFRecord files over and over and gives their records in a random order.

    Args:
      file_pattern: patterns of files, with commas between them.
      batch_size: how many records a batch has.
      buffer_size: among how many records the next one is drawn.
      parallelism: how many files are read by turns.
      shift_ratio: by which part of the files the order of each epoch is shifted.
      seed: of the order.
      name: the node's name.
      batches: how many batches ``get_yield_op`` gives as a list; one tensor if None.
      compression_type: "", "GZIP", "ZLIB" or a TFRecordCompressionType.
    """

    def __init__(self, file_pattern: str, batch_size: int = 1, buffer_size: int = 1, parallelism: int = 1, shift_ratio: float = 0,
                 seed: int = 0, name: str | None = None, batches: int | None = None, compression_type: Any = None):
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches, self._name = batches, name
        self._attrs = {"file_pattern": file_pattern, "file_buffer_size": buffer_size, "file_parallelism": parallelism,
                       "file_shuffle_shift_ratio": shift_ratio, "batch_size": self._batch_size, "file_random_seed": seed}
        self._compression_type = compression_type

    def get_yield_op(self) -> Any:
        """A string tensor [batch_size] of the next records at each run; with `batches`, lists of scalars, one list a batch.

        Raises ValueError for another compression.  A run raises NotFoundError if no file matches, and DataLossError for
        damaged ones.
        """
        compression = TFRecordOptions.get_compression_type_string(TFRecordOptions(self._compression_type))
        records = record_input(**self._attrs, compression_type=compression, name=self._name)
        if self._batches is None:
            return records
        with name_scope(self._name):
            singles = [reshape(one, []) for one in split(records, self._batch_size, 0)]
            return [singles[k::self._batches] for k in range(self._batches)]
