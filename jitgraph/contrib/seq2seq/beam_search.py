"""``BeamSearchDecoder``: keeps the best few sequences of each example at every step."""
from __future__ import annotations

import collections
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.contrib.seq2seq.basic_decoder import check_output_layer, layer_output_size
from jitgraph.contrib.seq2seq.beam_ops import gather_tree, gather_tree_from_array
from jitgraph.contrib.seq2seq.beam_scores import (
    Beams,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    attention_probs,
    check_rank_is_known,
)
from jitgraph.contrib.seq2seq.decoders import Decoder
from jitgraph.contrib.seq2seq.helpers import lookup_in
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size as size_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_and, logical_or
from jitgraph.ops.reduce.reductions import reduce_all, reduce_max
from jitgraph.rnn.states import assert_like_rnncell
from jitgraph.tensor_arrays.tensor_array import TensorArray

_KEEP = "Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the beam search."

FinalBeamSearchDecoderOutput = collections.namedtuple(  # type: ignore[name-match]
    "FinalBeamDecoderOutput", ["predicted_ids", "beam_search_decoder_output"])
"""What a beam search hands out: the sequences [batch, time, beams], best first, and the outputs of its steps."""


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each example of `t` [batch, ...], or of a structure of tensors, `multiplier` times: [batch * multiplier, ...].

    Raises ValueError for unknown ranks and scalars.
    """
    flat = nest.flatten(t)
    with name_scope(name, "tile_batch", flat + [multiplier]):
        return nest.map_structure(lambda one: _tiled(one, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Any:
    t = convert_to_tensor(t, name="t")
    shape = shape_of(t)
    if t.shape.ndims is None or t.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    times = [1] * (t.shape.ndims + 1)
    times[1] = multiplier
    known = t.shape[0].value
    result = tile(expand_dims(t, 1), times)
    result = reshape(result, concat(([shape[0] * multiplier], shape[1:]), 0))
    result.set_shape(TensorShape([None if known is None else known * multiplier]).concatenate(t.shape[1:]))
    return result


def _known(shape: Any) -> TensorShape:
    return as_shape(constant_value(shape)) if isinstance(shape, Tensor) else TensorShape(shape)


class BeamSearchDecoder(Decoder):
    """Keeps the `beam_width` best sequences of each example.

    `embedding`: a tensor [classes, size], or a function of ids; `start_tokens` int32 [batch]; `end_token`: an int32 scalar;
    `initial_state`: of the cell for batch * beam_width examples, see ``tile_batch``; `output_layer`: makes logits of the outputs
    of `cell`.  Scores are log probabilities, divided by ((5 + length) / 6) ** length_penalty_weight, plus
    `coverage_penalty_weight` times the logarithms of what was attended to.  `reorder_tensor_arrays`: whether TensorArrays of the
    state follow the beams.  Raises TypeError for what is no cell or layer, ValueError for other ranks.
    """

    def __init__(self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any, beam_width: int,
                 output_layer: Any = None, length_penalty_weight: Any = 0.0, coverage_penalty_weight: Any = 0.0,
                 reorder_tensor_arrays: bool = True):
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = lookup_in(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = size_of(start_tokens)
        self._initial_cell_state = nest.map_structure(self._maybe_split_batch_beams, initial_state, cell.state_size)
        self._start_tokens = tile(expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = one_hot(zeros([self._batch_size], dtype=dtypes.int32), depth=beam_width, on_value=False, off_value=True,
                                 dtype=dtypes.bool_)
        self._beams = Beams(self._batch_size, beam_width, self._end_token, length_penalty_weight, coverage_penalty_weight)

    @property
    def batch_size(self) -> Any:
        """The number of examples."""
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places."""
        return True

    @property
    def output_size(self) -> Any:
        """A number for each beam: score, class, parent."""
        one = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=one, predicted_ids=one, parent_ids=one)

    @property
    def output_dtype(self) -> Any:
        """The dtype of the state, and int32."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        size = layer_output_size(self._cell, self._output_layer)
        return BeamSearchDecoderOutput(scores=nest.map_structure(lambda _: dtype, size), predicted_ids=dtypes.int32,
                                       parent_ids=dtypes.int32)

    def initialize(self, name: str | None = None) -> tuple:
        """(all but the first beam finished, the embedded start tokens, the first state)"""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = one_hot(zeros([self._batch_size], dtype=dtypes.int32), depth=self._beam_width,
                            on_value=convert_to_tensor(0.0, dtype=dtype), off_value=convert_to_tensor(-np.inf, dtype=dtype),
                            dtype=dtype)
        attended = attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state, log_probs=log_probs, finished=self._finished,
            lengths=zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attended is None else attended)
        return self._finished, self._start_inputs, state

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple:
        """(FinalBeamSearchDecoderOutput, state) with the sequences that end in the last beams."""
        longest = cast(reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, max_sequence_lengths=longest, end_token=self._end_token)
        if self._reorder_tensor_arrays:
            final_state = final_state._replace(cell_state=nest.map_structure(
                lambda one: self._maybe_sort_array_beams(one, outputs.parent_ids, final_state.lengths), final_state.cell_state))
        return FinalBeamSearchDecoderOutput(beam_search_decoder_output=outputs, predicted_ids=ids), final_state

    def _merge_batch_beams(self, t: Any, s: Any = None) -> Any:
        """[batch, beams, ...] as [batch * beams, ...]"""
        suffix = _known(s)
        shape = shape_of(t)
        known = constant_value(self._batch_size)
        merged = reshape(t, concat(([self._batch_size * self._beam_width], shape[2:]), 0))
        merged.set_shape(TensorShape([None if known is None else known * self._beam_width]).concatenate(suffix))
        return merged

    def _split_batch_beams(self, t: Any, s: Any = None) -> Any:
        """[batch * beams, ...] as [batch, beams, ...]"""
        suffix = _known(s)
        shape = shape_of(t)
        parted = reshape(t, concat(([self._batch_size, self._beam_width], shape[1:]), 0))
        wanted = TensorShape([constant_value(self._batch_size), self._beam_width]).concatenate(suffix)
        if not parted.shape.is_compatible_with(wanted):
            raise ValueError("Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has "
                             f"shape: {parted.shape}.  We expected it to have shape (batch_size, beam_width, depth) == {wanted}.  "
                             "Perhaps you forgot to create a zero_state with batch_size=encoder_batch_size * beam_width?")
        parted.set_shape(wanted)
        return parted

    def _maybe_split_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        check_rank_is_known(t)
        return self._split_batch_beams(t, s) if t.shape.ndims >= 1 else t

    def _maybe_merge_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        check_rank_is_known(t)
        return self._merge_batch_beams(t, s) if t.shape.ndims >= 2 else t

    def _maybe_sort_array_beams(self, t: Any, parent_ids: Any, lengths: Any) -> Any:
        """The elements of a TensorArray of the state in the order of the last beams, where they are of batch and beams."""
        if not isinstance(t, TensorArray):
            return t
        shape = t.element_shape
        if shape.ndims is None or shape.ndims < 1:
            logs.warn("The TensorArray %s in the cell state is not amenable to sorting based on the beam search result. For a "
                      "TensorArray to be sorted, its elements shape must be defined and have at least a rank of 1, but saw shape: "
                      "%s", t.handle.name, shape)
            return t
        if not self._is_of_beams(shape):
            return t
        elements = t.stack()
        with control_dependencies([self._check_batch_beam(elements)]):
            return gather_tree_from_array(elements, parent_ids, lengths)

    def _is_of_beams(self, shape: TensorShape) -> bool:
        """Whether elements may be [batch * beams] or [batch, beams, ...]; warns if not."""
        batch, width = constant_value(self._batch_size), self._beam_width
        first = shape[0].value
        second = shape[1].value if (shape.ndims or 0) >= 2 else None
        if batch is None or first is None:
            return True
        if first == batch * width and (second is None or (first, second) == (batch, width)):
            return True
        logs.warn("TensorArray reordering expects elements to be reshapable to %s which is incompatible with the current shape %s. "
                  + _KEEP, TensorShape([batch, width, None]), shape)
        return False

    def _check_batch_beam(self, t: Any) -> Any:
        message = ("TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is incompatible "
                   f"with the dynamic shape of {t.name} elements. {_KEEP}")
        shape = shape_of(t)
        merged = equal(shape[1], self._batch_size * self._beam_width)
        if t.shape.ndims == 2:
            return Assert(merged, [message])
        apart = logical_and(equal(shape[1], self._batch_size), equal(shape[2], self._beam_width))
        return Assert(logical_or(merged, apart), [message])

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple:
        """(outputs, next state, next inputs, finished) of one step."""
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            cell_state = state.cell_state
            inputs = nest.map_structure(lambda one: self._merge_batch_beams(one, s=one.shape[2:]), inputs)
            cell_state = nest.map_structure(self._maybe_merge_batch_beams, cell_state, self._cell.state_size)
            outputs, following = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda one: self._split_batch_beams(one, one.shape[1:]), outputs)
            following = nest.map_structure(self._maybe_split_batch_beams, following, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            found, next_state = self._beams.step(time, outputs, following, state)
            next_inputs = cond(reduce_all(next_state.finished), lambda: self._start_inputs,
                               lambda: self._embedding_fn(found.predicted_ids))
        return found, next_state, next_inputs, next_state.finished
