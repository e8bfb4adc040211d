"""Initial values from a checkpoint whose rows or columns stand for the words of another vocabulary."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from jitgraph.train.remapped_matrices import load_and_remap_matrix_initializer


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


def remapped_value(info: VocabInfo, checkpoint: str, tensor_name: str, shape: list[int], part: Any) -> Any:
    """The initial value of a matrix, or of the `part` of it that a PartitionInfo tells, as a tensor.

    Raises ValueError for shapes that the vocabulary does not fit, TypeError for an initializer that cannot be called.
    """
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    height = shape[0] if part is None else part.full_shape[0]
    if info.axis == 0:
        initialize = load_and_remap_matrix_initializer(
            checkpoint, tensor_name, info.new_vocab_size, shape[1], info.old_vocab_size, info.old_vocab, info.new_vocab,
            num_row_oov_buckets=info.num_oov_buckets, initializer=info.backup_initializer)
    else:
        initialize = load_and_remap_matrix_initializer(
            checkpoint, tensor_name, height, info.new_vocab_size, old_col_vocab_file=info.old_vocab,
            new_col_vocab_file=info.new_vocab, num_col_oov_buckets=info.num_oov_buckets, initializer=info.backup_initializer)
    return initialize(shape, partition_info=part)
