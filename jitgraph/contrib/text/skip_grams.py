"""Pairs of tokens near each other, for embeddings of words (Mikolov et al., 2013)."""
from __future__ import annotations

import csv
from typing import Any

from jitgraph.contrib.text.skip_gram_ops import skip_gram_generate_candidates
from jitgraph.filesystem.gfile import GFile
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.seeds import get_seed
from jitgraph.ops.arrays.searching import boolean_mask
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal, less_equal, logical_and, not_equal
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.random.draws import random_uniform
from jitgraph.resources.tables import HashTable, InitializableLookupTableBase, TextFileInitializer
from jitgraph.train.batching import batch


def skip_gram_sample(input_tensor: Any, min_skips: Any = 1, max_skips: Any = 5, start: Any = 0, limit: Any = -1,
                     emit_self_as_target: Any = False, vocab_freq_table: Any = None, vocab_min_count: Any = None,
                     vocab_subsampling: float | None = None, corpus_size: Any = None, batch_size: int | None = None,
                     batch_capacity: int | None = None, seed: int | None = None, name: str | None = None) -> Any:
    """(tokens, labels), vectors: each token of a vector with those at most a random number, `min_skips` to `max_skips`, away.

    `start` and `limit`: the part of the vector; `emit_self_as_target`: each also with itself; `vocab_freq_table`: a table of
    counts, of which tokens that it has not, or below `vocab_min_count`, are left out, and those that are frequent in a text of
    `corpus_size` at random by a threshold `vocab_subsampling`; `batch_size`: batches of a queue of `batch_capacity`.  Raises
    ValueError for arguments that do not go together.
    """
    if vocab_freq_table is None and (vocab_min_count, vocab_subsampling, corpus_size) != (None, None, None):
        raise ValueError(f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, vocab_subsampling="
                         f"{vocab_subsampling}, or corpus_size={corpus_size} is not None. These settings are useless without a "
                         "vocab_freq_table.")
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both must be provided in "
                         "order for subsampling to work.")
    with name_scope(name, "skip_gram_sample", values=[input_tensor, min_skips, max_skips, start, limit]):
        if vocab_freq_table is not None:
            input_tensor = _frequent(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        seed1, seed2 = get_seed(seed)
        tokens, labels = skip_gram_generate_candidates(input_tensor, min_skips, max_skips, start, limit, emit_self_as_target,
                                                       seed=seed1 or 0, seed2=seed2 or 0)
        if batch_size is not None and batch_size > 0:
            capacity = batch_capacity if batch_capacity is not None and batch_capacity > 0 else 100 * batch_size
            return batch([tokens, labels], batch_size, capacity=capacity, enqueue_many=True)
        return tokens, labels


def _frequent(tokens: Any, table: Any, min_count: Any, subsampling: float | None, corpus_size: Any, seed: int | None) -> Any:
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError("vocab_freq_table must be a subclass of InitializableLookupTableBase (such as HashTable) instead of type "
                         f"{type(table)}.")
    with name_scope("filter_vocab", values=[table, tokens, min_count]):
        counts = table.lookup(tokens)
        kept = not_equal(counts, table.default_value)
        if min_count is not None:
            kept = logical_and(kept, greater_equal(counts, cast(min_count, counts.dtype)))
        tokens, counts = boolean_mask(tokens, kept), boolean_mask(counts, kept)
    if not subsampling:
        return tokens
    if not 0 <= subsampling <= 1:
        raise ValueError(f"Invalid vocab_subsampling={subsampling} - it should be within range [0, 1].")
    with name_scope("subsample_vocab", values=[tokens, counts, subsampling]):
        size, counts = cast(corpus_size, dtypes.float64), cast(counts, dtypes.float64)
        part = cast(subsampling, dtypes.float64)
        probability = (sqrt(counts / (part * size)) + 1.0) * (part * size / counts)
        drawn = random_uniform(shape_of(counts), minval=0, maxval=1, dtype=dtypes.float64, seed=seed)
        return boolean_mask(tokens, less_equal(drawn, probability))


def skip_gram_sample_with_text_vocab(input_tensor: Any, vocab_freq_file: str, vocab_token_index: int = 0,
                                     vocab_token_dtype: Any = dtypes.string, vocab_freq_index: int = 1,
                                     vocab_freq_dtype: Any = dtypes.float64, vocab_delimiter: str = ",",
                                     vocab_min_count: Any = 0, vocab_subsampling: float | None = None, corpus_size: Any = None,
                                     min_skips: Any = 1, max_skips: Any = 5, start: Any = 0, limit: Any = -1,
                                     emit_self_as_target: Any = False, batch_size: int | None = None,
                                     batch_capacity: int | None = None, seed: int | None = None, name: str | None = None) -> Any:
    """``skip_gram_sample`` with the counts of a file: a line for each token, columns parted by `vocab_delimiter`.

    `vocab_token_index` and `vocab_freq_index`: the columns of tokens and of counts; `corpus_size`: the sum of counts if None.
    Raises ValueError for columns that are not there, counts below zero, and a `corpus_size` below their sum.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be >= 0.")
    if vocab_token_index == vocab_freq_index:
        raise ValueError(f"vocab_token_index and vocab_freq_index should be different, but are both {vocab_token_index}.")
    total, lines = 0.0, 0
    with GFile(vocab_freq_file, mode="r") as file:
        for row in csv.reader(file, delimiter=vocab_delimiter):
            if max(vocab_token_index, vocab_freq_index) >= len(row):
                raise ValueError(f"Row in vocab file only has {len(row)} columns, so vocab_token_index={vocab_token_index} or "
                                 f"vocab_freq_index={vocab_freq_index} is out of bounds. Row content: {row}")
            lines += 1
            count = vocab_freq_dtype.as_numpy_dtype(row[vocab_freq_index])
            if count < 0:
                raise ValueError(f"Row in vocab file has negative frequency of {count}. Row content: {row}")
            total += count
    if not corpus_size:
        corpus_size = total
    elif total - corpus_size > 1e-6:
        raise ValueError(f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the frequency counts "
                         f"({total}) of `vocab_freq_file` ({vocab_freq_file}).")
    table = HashTable(TextFileInitializer(filename=vocab_freq_file, key_dtype=vocab_token_dtype, key_index=vocab_token_index,
                                          value_dtype=vocab_freq_dtype, value_index=vocab_freq_index, vocab_size=lines,
                                          delimiter=vocab_delimiter), default_value=-1)
    return skip_gram_sample(input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, table, vocab_min_count,
                            vocab_subsampling, None if vocab_subsampling is None else corpus_size, batch_size, batch_capacity, seed,
                            name)
