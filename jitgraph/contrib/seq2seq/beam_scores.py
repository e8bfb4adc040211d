"""What a step of beam search makes of the beams: their scores, and which go on (Wu and others, 2016, for the penalties)."""
from __future__ import annotations

import collections
from typing import Any

from jitgraph.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.fill import fill, one_hot, ones_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.elementwise.arithmetic import div, minimum, mod
from jitgraph.ops.elementwise.cast import cast, to_int64
from jitgraph.ops.elementwise.compare import equal, logical_not, logical_or
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.nn.softmax import log_softmax
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.tensor_arrays.tensor_array import TensorArray

BeamSearchDecoderState = collections.namedtuple(
    "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"))
"""The state of a beam search: that of the cell, log probabilities, lengths and ends of the beams [batch, beams], and what was
attended to so far, where coverage counts."""

BeamSearchDecoderOutput = collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
"""The outputs of a step of a beam search: scores, what each beam drew and from which beam it came, all [batch, beams]."""


class Beams:
    """The sizes of a search and what it scores by."""

    def __init__(self, batch_size: Any, width: int, end_token: Any, length_penalty_weight: Any, coverage_penalty_weight: Any):
        self.batch_size, self.width, self.end_token = batch_size, width, end_token
        self.length_penalty_weight, self.coverage_penalty_weight = length_penalty_weight, coverage_penalty_weight

    def step(self, time: Any, logits: Any, cell_state: Any, before: Any) -> tuple:
        """(BeamSearchDecoderOutput, next BeamSearchDecoderState) for `logits` [batch, beams, classes]."""
        not_finished = logical_not(before.finished)
        log_probs = _masked(log_softmax(logits), self.end_token, before.finished)
        totals = expand_dims(before.log_probs, 2) + log_probs
        classes = logits.shape.dims[-1].value or shape_of(logits)[-1]
        longer = one_hot(indices=fill([self.batch_size, self.width], self.end_token), depth=classes, on_value=to_int64(0),
                         off_value=to_int64(1), dtype=dtypes.int64)
        longer *= expand_dims(cast(not_finished, dtypes.int64), 2)
        lengths = longer + expand_dims(before.lengths, 2)
        attended = None
        attention = attention_probs(cell_state, self.coverage_penalty_weight)
        if attention is not None:
            attention *= expand_dims(cast(not_finished, dtypes.float32), 2)
            attended = before.accumulated_attention_probs + attention
        scores = self._scores(totals, lengths, before.finished, attended)
        time = convert_to_tensor(time, name="time")
        flat = reshape(scores, [self.batch_size, -1])
        width = convert_to_tensor(self.width, dtype=dtypes.int32, name="beam_width")
        best, words = top_k(flat, k=width)
        known = constant_value(self.batch_size)
        for found in (best, words):
            found.set_shape([known, self.width])
        chosen_probs = self.taken(words, totals, self.width * classes, [-1], "next_beam_probs")
        ids = cast(mod(words, classes, name="next_beam_word_ids"), dtypes.int32)
        parents = cast(words / classes, dtypes.int32, name="next_beam_parent_ids")
        was_finished = self.taken(parents, before.finished, self.width, [-1])
        finished = logical_or(was_finished, equal(ids, self.end_token), name="next_beam_finished")
        added = cast(logical_not(was_finished), dtypes.int64)
        new_lengths = self.taken(parents, before.lengths, self.width, [-1])
        new_lengths += added
        rows = [self.batch_size * self.width, -1]
        now_attended: Any = ()
        if attended is not None:
            now_attended = self.taken(parents, attended, self.width, rows, "next_accumulated_attention_probs")
        cell_state = nest.map_structure(lambda one: self._maybe_taken(parents, one, rows), cell_state)
        return (BeamSearchDecoderOutput(scores=best, predicted_ids=ids, parent_ids=parents),
                BeamSearchDecoderState(cell_state=cell_state, log_probs=chosen_probs, lengths=new_lengths, finished=finished,
                                       accumulated_attention_probs=now_attended))

    def _scores(self, totals: Any, lengths: Any, finished: Any, attended: Any) -> Any:
        scores = totals / cast(_length_penalty(lengths, self.length_penalty_weight), dtype=totals.dtype)
        weight = convert_to_tensor(self.coverage_penalty_weight, name="coverage_penalty_weight")
        if weight.shape.ndims != 0:
            raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
        if constant_value(weight) == 0.0:
            return scores
        if attended is None:
            raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
        attended = where(equal(attended, 0.0), ones_like(attended), attended)      # log of nothing would be -inf
        penalty = reduce_sum(log(minimum(attended, 1.0)), 2)
        penalty *= cast(finished, dtypes.float32)
        return scores + expand_dims(penalty * weight, 2)

    def _maybe_taken(self, parents: Any, one: Any, rows: list) -> Any:
        if isinstance(one, TensorArray):
            return one
        check_rank_is_known(one)
        return self.taken(parents, one, self.width, rows) if one.shape.ndims >= len(rows) else one

    def taken(self, positions: Any, one: Any, size: Any, shape: list, name: str | None = None) -> Any:
        """What stands at `positions` [batch, beams], each among the `size` of its example, in `one` seen as of `shape`."""
        with name_scope(name, "tensor_gather_helper"):
            first = expand_dims(range_of(self.batch_size) * size, 1)
            positions = reshape(positions + first, [-1])
            found = gather(reshape(one, shape), positions)
            final = shape_of(one)[:1 + len(shape)]
            known = TensorShape([constant_value(self.batch_size)]).concatenate(one.shape[1:1 + len(shape)])
            found = reshape(found, final, name="output")
            found.set_shape(known)
            return found


def check_rank_is_known(one: Any) -> None:
    """Raises ValueError for a tensor of unknown rank."""
    if one.shape.ndims is None:
        raise ValueError(f"Expected tensor ({one}) to have known rank, but ndims == None.")


def attention_probs(cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """What the attention layers of a cell state attend to, their mean if they are several; None where coverage does not count.

    Raises ValueError if it counts and no cell attends.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states = cell_state if isinstance(cell_state, tuple) and not isinstance(cell_state, AttentionWrapperState) else (cell_state,)
    found = [_mean(state.alignments) if isinstance(state.alignments, tuple) else state.alignments
             for state in states if isinstance(state, AttentionWrapperState)]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean(found)


def _mean(alignments: Any) -> Any:
    return reduce_mean(concat([expand_dims(one, -1) for one in alignments], -1), -1)


def _length_penalty(lengths: Any, weight: Any) -> Any:
    weight = convert_to_tensor(weight, name="penalty_factor")
    weight.set_shape(())
    known = constant_value(weight)
    if known is not None and known == 0:
        return 1.0
    return div((5.0 + cast(lengths, dtypes.float32)) ** weight, (5.0 + 1.0) ** weight)


def _masked(log_probs: Any, end_token: Any, finished: Any) -> Any:
    """The log probabilities, those of a finished beam all on the end token."""
    classes = shape_of(log_probs)[2]
    row = one_hot(end_token, classes, dtype=log_probs.dtype, on_value=convert_to_tensor(0.0, dtype=log_probs.dtype),
                  off_value=log_probs.dtype.min)
    rows = tile(reshape(row, [1, 1, -1]), concat([shape_of(finished), [1]], 0))
    mask = tile(expand_dims(finished, 2), [1, 1, classes])
    return where(mask, rows, log_probs)
