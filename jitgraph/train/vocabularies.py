"""Initial values from a checkpoint whose rows or columns stand for the words of another vocabulary."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.files import remapping
from jitgraph.variables.variable_initializers import Zeros


class VocabInfo(namedtuple("VocabInfo", "new_vocab new_vocab_size num_oov_buckets old_vocab old_vocab_size backup_initializer "
                                        "axis")):
    """How a variable's rows (`axis` 0) or columns (1) changed places since a checkpoint was written.

    Args:
      new_vocab: a file with a word a line, the words of the variable.
      new_vocab_size: how many of them count.
      num_oov_buckets: how many more rows stand for words that are not in it.
      old_vocab: the file with the words of the checkpoint.
      old_vocab_size: how many of them count, all if -1.
      backup_initializer: makes what is new; zeros if None.
      axis: 0 or 1.
    Raises ValueError for another axis.
    """

    __slots__ = ()

    def __new__(cls, new_vocab: Any, new_vocab_size: int, num_oov_buckets: int, old_vocab: Any, old_vocab_size: int = -1,
                backup_initializer: Any = None, axis: int = 0) -> VocabInfo:
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument are 0 and 1.  "
                             f"Provided axis: {axis}")
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer,
                               axis)


def remapped_value(info: VocabInfo, checkpoint: str, tensor_name: str, shape: list[int], offset: int) -> Any:
    """The initial value of a matrix, or of its part from row `offset` on, as a tensor.

    Raises ValueError for shapes that the vocabulary does not fit, TypeError for an initializer
    that cannot be called.
    """
    initializer = info.backup_initializer or Zeros()
    if not callable(initializer):
        raise TypeError(f"initializer must be callable, instead of being {initializer} of type {type(initializer)}.")
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if info.axis == 1:
        if shape[1] != info.new_vocab_size + info.num_oov_buckets:
            raise ValueError(f"Expected 2nd dim of shape to be new_col_vocab_size ({info.new_vocab_size}) + num_col_oov_buckets "
                             f"({info.num_oov_buckets}) = {info.new_vocab_size + info.num_oov_buckets}, but received shape: "
                             f"{shape}")
        return _remapped_columns(info, initializer, checkpoint, tensor_name, shape, offset)
    if offset + shape[0] > info.new_vocab_size + info.num_oov_buckets:
        raise ValueError(f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been initialized, "
                         f"which would exceed expected total row count of new_row_vocab_size ({info.new_vocab_size}) + "
                         f"num_row_oov_buckets ({info.num_oov_buckets}) = {info.new_vocab_size + info.num_oov_buckets}.")
    return _remapped_rows(info, initializer, checkpoint, tensor_name, shape, offset)


def _remapped_rows(info: VocabInfo, initializer: Callable, checkpoint: str, tensor_name: str, shape: list[int],
                   offset: int) -> Any:
    """Rows by the words from `offset` on, then those of other words."""
    others = min(shape[0], max(0, offset + shape[0] - info.new_vocab_size))
    count, columns = shape[0] - others, shape[1]
    if not count:
        return convert_to_tensor(initializer(shape, dtype=dtypes.float32))
    places, present = remapping.generate_vocab_remapping(
        info.new_vocab, info.old_vocab, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=info.old_vocab_size)
    value = remapping.load_and_remap_matrix(
        checkpoint, tensor_name, places, constant([], dtypes.int64),
        _initial(initializer, count * columns - present * columns), num_rows=count, num_cols=columns)
    return _joined(value, initializer, [others, columns], 0) if others else value


def _remapped_columns(info: VocabInfo, initializer: Callable, checkpoint: str, tensor_name: str, shape: list[int],
                      offset: int) -> Any:
    """Rows in their places, columns by words, then those of other words."""
    count, columns = shape[0], info.new_vocab_size
    places, present = remapping.generate_vocab_remapping(info.new_vocab, info.old_vocab, new_vocab_offset=0,
                                                         num_new_vocab=columns)
    value = remapping.load_and_remap_matrix(
        checkpoint, tensor_name, range_of(offset, offset + count, dtype=dtypes.int64), places,
        _initial(initializer, count * columns - count * present), num_rows=count, num_cols=columns)
    return _joined(value, initializer, [count, info.num_oov_buckets], 1) if info.num_oov_buckets else value


def _initial(initializer: Callable, count: Any) -> Any:
    return initializer(stack([count, 1]), dtype=dtypes.float32)


def _joined(value: Any, initializer: Callable, shape: list[int], axis: int) -> Any:
    return concat([value, initializer(shape, dtype=dtypes.float32)], axis)
