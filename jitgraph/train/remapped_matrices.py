"""Initializers that read a matrix of a checkpoint whose rows and columns stood for the words of other vocabularies."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.files import remapping
from jitgraph.variables.variable_initializers import Zeros


class _Words(NamedTuple):
    """What rows, or columns, stand for: the first `words` words of the file `new`, then `others` places for other words.

    In the checkpoint they stood for the first `old_count` words of the file `old`, all if -1; without files they keep their
    places.
    """

    what: str
    words: int
    new: Any
    old: Any
    others: int
    old_count: int = -1

    def check(self) -> None:
        """Raises ValueError for less than no places, and if one of two files is missing."""
        if self.others < 0:
            raise ValueError(f"num_{self.what}_oov_buckets must be >= 0, but received {self.others}")
        if (self.old is None or self.old == "") != (self.new is None or self.new == ""):
            raise ValueError(f"old_{self.what}_vocab_file and new_{self.what}_vocab_file must both be specified or left "
                             f"unspecified. old_{self.what}_vocab_file='{self.old}', new_{self.what}_vocab_file='{self.new}'")

    @property
    def moved(self) -> bool:
        """Whether there are files of words."""
        return self.new is not None and self.new != ""

    def places(self, first: int, count: int) -> tuple[Any, Any]:
        """(where each word from `first` on stood, how many of them did stand there)."""
        return remapping.generate_vocab_remapping(self.new, self.old, new_vocab_offset=first, num_new_vocab=count,
                                                  old_vocab_size=self.old_count)


def load_and_remap_matrix_initializer(
        ckpt_path: Any, old_tensor_name: Any, new_row_vocab_size: int, new_col_vocab_size: int, old_row_vocab_size: int = -1,
        old_row_vocab_file: Any = None, new_row_vocab_file: Any = None, old_col_vocab_file: Any = None,
        new_col_vocab_file: Any = None, num_row_oov_buckets: int = 0, num_col_oov_buckets: int = 0, initializer: Any = None,
        max_rows_in_memory: int = -1) -> Callable:
    """An initializer that reads a float32 matrix of a checkpoint, its rows and columns in the order of other vocabularies.

    The row of a word in `new_row_vocab_file` is that of the same word in `old_row_vocab_file`; what is new, and the rows for
    words that are in no vocabulary, come from `initializer`.  So for columns.  The variable may be cut along its rows.

    Args:
      ckpt_path: the checkpoint; old_tensor_name: the name of the matrix in it.
      new_row_vocab_size, new_col_vocab_size: how many words of the new files count; without files, how many rows (the first
        ones) and columns (all).
      old_row_vocab_size: how many words of the old file of rows count, all if -1.
      old_row_vocab_file, new_row_vocab_file, old_col_vocab_file, new_col_vocab_file: files with a word a line; without them
        rows, or columns, keep their places.
      num_row_oov_buckets, num_col_oov_buckets: how many rows and columns for other words come behind them.
      initializer: called with a shape; zeros if None.
      max_rows_in_memory: how many rows of the checkpoint to read at once: all are read, whatever it is.
    The initializer's shape is [new_row_vocab_size + num_row_oov_buckets, new_col_vocab_size + num_col_oov_buckets]; called, it
    raises TypeError for another dtype and ValueError for another shape, or without any files.  Raises TypeError if
    `initializer` cannot be called.
    """
    new = Zeros() if initializer is None else initializer
    if not callable(new):
        raise TypeError(f"initializer must be callable, instead of being {new} of type {type(new)}.")
    rows = _Words("row", new_row_vocab_size, new_row_vocab_file, old_row_vocab_file, num_row_oov_buckets, old_row_vocab_size)
    columns = _Words("col", new_col_vocab_size, new_col_vocab_file, old_col_vocab_file, num_col_oov_buckets)

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        if dtype != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        _check_shape(shape, columns)
        height, first = int(shape[0]), 0 if partition_info is None else partition_info.single_offset(shape)
        if first + height > rows.words + rows.others:
            raise ValueError(f"Trying to initialize {height} additional rows after {first} rows have already been initialized, "
                             f"which would exceed expected total row count of new_row_vocab_size ({rows.words}) + "
                             f"num_row_oov_buckets ({rows.others}) = {rows.words + rows.others}.")
        if first > rows.words:
            return new(shape)       # a part with rows for other words alone
        others = min(height, max(0, first + height - rows.words))
        for axis in (rows._replace(others=others), columns):
            axis.check()
        if not (rows.moved or columns.moved):
            raise ValueError("Must provide either row or column vocab files. If no remapping is necessary, consider using "
                             "`tf.contrib.framework.init_from_checkpoint` instead.")
        value = _known(ckpt_path, old_tensor_name, rows, columns, (first, height - others), new, max_rows_in_memory)
        if others:
            value = concat([value, convert_to_tensor(new([others, columns.words]))], 0)
        if columns.others:
            value = concat([value, convert_to_tensor(new([height, columns.others]))], 1)
        return value

    return initialize


def _check_shape(shape: Any, columns: _Words) -> None:
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != columns.words + columns.others:
        raise ValueError(f"Expected 2nd dim of shape to be new_col_vocab_size ({columns.words}) + num_col_oov_buckets "
                         f"({columns.others}) = {columns.words + columns.others}, but received shape: {shape}")


def _known(checkpoint: Any, tensor_name: Any, rows: _Words, columns: _Words, part: tuple[int, int], new: Callable,
           max_rows_in_memory: int) -> Any:
    """The rows and columns that stand for words; `part` says from which row on how many."""
    first, height = part
    if rows.moved:
        row_places, rows_there = rows.places(first, height)
    else:
        row_places, rows_there = range_of(first, first + height, dtype=dtypes.int64), height
    column_places: Any = []
    columns_there: Any = columns.words
    if columns.moved:
        column_places, columns_there = columns.places(0, columns.words)
    missing = new([height * columns.words - rows_there * columns_there, 1])
    return remapping.load_and_remap_matrix(checkpoint, tensor_name, row_places, column_places, missing, num_rows=height,
                                           num_cols=columns.words, max_rows_in_memory=max_rows_in_memory)
