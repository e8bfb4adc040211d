"""The best tags of sequences, in the graph and in NumPy (Viterbi, 1967)."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.crf.chains import for_one_step
from jitgraph.contrib.crf.recursions import CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell
from jitgraph.graph import dtypes
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import reverse_sequence
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import argmax, reduce_max
from jitgraph.rnn.dynamic import dynamic_rnn


def viterbi_decode(score: Any, transition_params: Any) -> tuple:
    """(the list of best tags, their score) of one sequence: arrays `score` [steps, tags], `transition_params` [tags, tags]."""
    best = np.zeros_like(score)
    before = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for t in range(1, score.shape[0]):
        through = np.expand_dims(best[t - 1], 1) + transition_params
        best[t] = score[t] + np.max(through, 0)
        before[t] = np.argmax(through, 0)
    tags = [np.argmax(best[-1])]
    for pointers in reversed(before[1:]):
        tags.append(pointers[tags[-1]])
    tags.reverse()
    return tags, np.max(best[-1])


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple:
    """(best tags int32 [batch, steps], their scores [batch]).

    `potentials` [batch, steps, tags], `transition_params` [tags, tags], `sequence_length` int [batch].
    """
    def single() -> tuple:
        scores = squeeze(potentials, [1])
        tags = expand_dims(argmax(scores, axis=1), 1)
        best = reduce_max(scores, axis=1)
        return cast(tags, dtype=dtypes.int32), best

    def several() -> tuple:
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = squeeze(slice_of(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = slice_of(potentials, [0, 1, 0], [-1, -1, -1])
        less_one = maximum(constant(0, dtype=sequence_length.dtype), sequence_length - 1)
        pointers, last = dynamic_rnn(forward, inputs=rest, sequence_length=less_one, initial_state=first, time_major=False,
                                     dtype=dtypes.int32)
        pointers = reverse_sequence(pointers, less_one, seq_dim=1)
        backward = CrfDecodeBackwardRnnCell(potentials.shape[2].value)
        end = expand_dims(cast(argmax(last, axis=1), dtype=dtypes.int32), axis=-1)
        tags, _ = dynamic_rnn(backward, inputs=pointers, sequence_length=less_one, initial_state=end, time_major=False,
                              dtype=dtypes.int32)
        tags = concat([end, squeeze(tags, axis=[2])], axis=1)
        return reverse_sequence(tags, sequence_length, seq_dim=1), reduce_max(last, axis=1)

    return for_one_step(potentials, single, several)
