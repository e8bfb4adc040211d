"""Initializers for embeddings, biases and slots of models whose vocabularies changed since a checkpoint was written."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.train.remapped_matrices import load_and_remap_matrix_initializer
from jitgraph.variables.variable_initializers import TruncatedNormal


def load_embedding_initializer(ckpt_path: Any, embedding_tensor_name: Any, new_vocab_size: int, embedding_dim: int,
                               old_vocab_file: Any, new_vocab_file: Any, old_vocab_size: int = -1, num_oov_buckets: int = 0,
                               initializer: Any = None, max_rows_in_memory: int = -1) -> Callable:
    """An initializer that finds the rows of embeddings by their words.

    Args:
      ckpt_path: the checkpoint; embedding_tensor_name: the name of the matrix in it.
      new_vocab_size: how many words of `new_vocab_file` count; embedding_dim: the number of columns.
      old_vocab_file, new_vocab_file: files with a word a line, the checkpoint's and the variable's.
      old_vocab_size: how many words of the old file count, all if -1.
      num_oov_buckets: how many more rows stand for other words.
      initializer: makes what is new; a normal of standard deviation 1 / sqrt(embedding_dim), cut at two, if None.
      max_rows_in_memory: all rows are read at once, whatever it is.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_vocab_size, old_vocab_file, new_vocab_file,
        num_row_oov_buckets=num_oov_buckets, max_rows_in_memory=max_rows_in_memory,
        initializer=TruncatedNormal(stddev=1.0 / math.sqrt(embedding_dim)) if initializer is None else initializer)


def load_linear_multiclass_bias_initializer(
        ckpt_path: Any, bias_tensor_name: Any, new_class_vocab_size: int, old_class_vocab_file: Any, new_class_vocab_file: Any,
        num_class_oov_buckets: int = 0, initializer: Any = None, max_rows_in_memory: int = -1) -> Callable:
    """An initializer that finds the biases of classes, a matrix of one column, by the words for the classes.

    The arguments are those of ``load_embedding_initializer``; what is new is zero if `initializer` is None.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size, 1, old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file, num_row_oov_buckets=num_class_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory)


def load_variable_slot_initializer(
        ckpt_path: Any, old_tensor_name: Any, primary_partition_info: Any, new_row_vocab_size: int, new_col_vocab_size: int,
        old_row_vocab_file: Any = None, new_row_vocab_file: Any = None, old_col_vocab_file: Any = None,
        new_col_vocab_file: Any = None, num_row_oov_buckets: int = 0, num_col_oov_buckets: int = 0, initializer: Any = None,
        max_rows_in_memory: int = -1) -> Callable:
    """``load_and_remap_matrix_initializer`` for the slot of an optimizer.

    A slot is made without a word of the part of the variable that it belongs to: `primary_partition_info` tells it.
    """
    initialize = load_and_remap_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file, old_col_vocab_file=old_col_vocab_file, new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets, num_col_oov_buckets=num_col_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory)
    return lambda shape, dtype=dtypes.float32, partition_info=None: initialize(shape, dtype, primary_partition_info)
