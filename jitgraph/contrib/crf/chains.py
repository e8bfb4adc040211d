"""Scores and likelihoods of tags under a linear chain (Lafferty and others, 2001)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.crf.recursions import CrfForwardRnnCell
from jitgraph.control.conditionals import smart_cond
from jitgraph.graph import dtypes
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import fill, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less_equal
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_sum
from jitgraph.rnn.dynamic import dynamic_rnn
from jitgraph.variables.variable_scopes import get_variable


def for_one_step(inputs: Any, single: Callable, several: Callable) -> Any:
    """What `single` gives if the sequences `inputs` [batch, steps, ...] have one step, else what `several` gives."""
    return smart_cond(pred=equal(inputs.shape[1].value or shape_of(inputs)[1], 1), true_fn=single, false_fn=several)


def none_where_empty(values: Any, sequence_lengths: Any) -> Any:
    """`values` [batch], 0 for sequences without steps."""
    return where(less_equal(sequence_lengths, 0), zeros_like(values), values)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The scores [batch] of the tags `tag_indices` int [batch, steps]: unary and binary potentials, added up.

    `inputs` [batch, steps, tags]: the unary potentials; `transition_params` [tags, tags]: the binary ones.
    """
    def single() -> Any:
        rows = reshape(range_of(shape_of(inputs, out_type=tag_indices.dtype)[0], dtype=tag_indices.dtype), [-1, 1])
        return none_where_empty(gather_nd(squeeze(inputs, [1]), concat([rows, tag_indices], axis=1)), sequence_lengths)

    def several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return for_one_step(inputs, single, several)


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm [batch] of the sum over all tags that `tag_bitmap` bool [batch, steps, tags] allows."""
    def allowed() -> Any:
        return where(tag_bitmap, inputs, fill(shape_of(inputs), float("-inf")))

    return for_one_step(inputs, lambda: reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
                        lambda: crf_log_norm(inputs=allowed(), sequence_lengths=sequence_lengths,
                                             transition_params=transition_params))


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm [batch] of the sum over all tags of the exponentials of their scores."""
    first = squeeze(slice_of(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def single() -> Any:
        return none_where_empty(reduce_logsumexp(first, [1]), sequence_lengths)

    def several() -> Any:
        rest = slice_of(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        less_one = maximum(constant(0, dtype=sequence_lengths.dtype), sequence_lengths - 1)
        _, alphas = dynamic_rnn(cell=cell, inputs=rest, sequence_length=less_one, initial_state=first, dtype=dtypes.float32)
        return none_where_empty(reduce_logsumexp(alphas, [1]), sequence_lengths)

    return for_one_step(inputs, single, several)


def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None) -> tuple:
    """(log-likelihoods [batch] of `tag_indices` int [batch, steps], the binary potentials [tags, tags])

    `inputs` [batch, steps, tags]; without `transition_params` the variable ``transitions`` is taken.
    """
    tags = inputs.shape[2].value
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def _mask(tag_indices: Any, sequence_lengths: Any) -> Any:
    return sequence_mask(sequence_lengths, maxlen=shape_of(tag_indices)[1], dtype=dtypes.float32)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sums [batch] of the unary potentials of the tags."""
    batch_size, steps, tags = shape_of(inputs)[0], shape_of(inputs)[1], shape_of(inputs)[2]
    flat = reshape(inputs, [-1])
    offsets = expand_dims(range_of(batch_size) * steps * tags, 1)
    offsets += expand_dims(range_of(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = cast(offsets, dtypes.int64)
    scores = reshape(gather(flat, reshape(offsets + tag_indices, [-1])), [batch_size, steps])
    return reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sums [batch] of the binary potentials of neighbouring tags."""
    tags = transition_params.shape[0].value
    count = shape_of(tag_indices)[1] - 1
    from_tags = slice_of(tag_indices, [0, 0], [-1, count])
    to_tags = slice_of(tag_indices, [0, 1], [-1, count])
    flat_indices = from_tags * tags + to_tags
    scores = gather(reshape(transition_params, [-1]), flat_indices)
    mask = slice_of(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return reduce_sum(scores * mask, 1)
