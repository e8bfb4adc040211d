"""Matrices of a checkpoint for another vocabulary: rows and columns find their new places by the words that they stand for."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.formats.files import op_errors
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.ops.files.file import path_of


def _lines(filename: Any) -> list[bytes]:
    path = path_of(filename[()])
    with op_errors(path), open(path, "rb") as file:
        return [line.rstrip(b"\n") for line in file]


def _remapped(c: Any) -> list:
    for k in range(2):
        shape_rules.with_rank(c.shapes[k], 0, "filename")
    return [(c.attrs["num_new_vocab"],), ()]


@op("GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string; new_vocab_offset: int >= 0, "
    "num_new_vocab: int >= 0, old_vocab_size: int >= -1 = -1) -> remapping: int64, num_present: int32", shape=_remapped,
    stateful=True, host=True, tested_in="tests/train/test_warm_start.py: files of words")
def generate_vocab_remapping(new_vocab_file, old_vocab_file, new_vocab_offset, num_new_vocab, old_vocab_size):
    """For each word of the new vocabulary its number in the old one, -1 if it is not there; and how many are.

    The words stand in files, one a line; of the old one the first `old_vocab_size` lines count, all if -1.  Raises
    InvalidArgumentError if the new file has too few.
    """
    old = _lines(old_vocab_file)
    numbers = {word: k for k, word in enumerate(old if old_vocab_size < 0 else old[:old_vocab_size])}
    new = _lines(new_vocab_file)[new_vocab_offset:new_vocab_offset + num_new_vocab]
    if len(new) < num_new_vocab:
        raise InvalidArgumentError(None, None, "lookup table size must be larger than last new vocab entry's line: "
                                               f"{path_of(new_vocab_file[()])} has {new_vocab_offset + len(new)} lines, not "
                                               f"{new_vocab_offset + num_new_vocab}")
    found = np.array([numbers.get(word, -1) for word in new], np.int64)
    return found, np.array(np.count_nonzero(found >= 0), np.int32)


@op("LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float32; num_rows: int >= 0, num_cols: int >= 1, max_rows_in_memory: int = -1) -> "
    "output_matrix: float32", shape=lambda c: [(c.attrs["num_rows"], c.attrs["num_cols"])], stateful=True, host=True,
    tested_in="tests/train/test_warm_start.py: a checkpoint")
def load_and_remap_matrix(ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values, num_rows, num_cols,
                          max_rows_in_memory):
    """A matrix of a checkpoint, its rows and columns in a new order; where that says -1, the next of the initial values.

    Without a `col_remapping` the columns keep their places.  Raises InvalidArgumentError if sizes do not fit, or a row is
    asked for twice.
    """
    from jitgraph.formats.checkpoint import open_checkpoint

    old = open_checkpoint(ckpt_path.item().decode()).read(old_tensor_name.item().decode())
    rows = np.array(row_remapping)
    columns = np.array(col_remapping) if len(col_remapping) else np.arange(num_cols)
    for what, given, wanted, there in (("row", rows, num_rows, old.shape[0]), ("col", columns, num_cols, old.shape[1])):
        if len(given) != wanted:
            raise InvalidArgumentError(None, None, f"Size of {what}_remapping is {len(given)}, not {wanted} as num_{what}s says")
        if len(given) and given.max() >= there:
            raise InvalidArgumentError(None, None, f"{what}_remapping asks for {what} {given.max()}, but {old_tensor_name[()]!r} "
                                                   f"has {there}")
        taken = given[given >= 0]
        if len(np.unique(taken)) < len(taken):
            raise InvalidArgumentError(None, None, f"{what}_remapping asks for a {what} of the checkpoint twice")
    known = (rows >= 0)[:, None] & (columns >= 0)
    initial = np.ravel(initializing_values)
    if len(initial) != known.size - np.count_nonzero(known):
        raise InvalidArgumentError(None, None, f"{known.size - np.count_nonzero(known)} initializing_values are needed, but there "
                                               f"are {len(initial)}")
    result = np.empty((num_rows, num_cols), np.float32)
    result[known] = old[np.ix_(np.maximum(rows, 0), np.maximum(columns, 0))][known]
    result[~known] = initial
    return result
