"""``AttentionWrapper``: a cell that attends to a memory at each step."""
from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.tensor_checks import with_same_shape
from jitgraph.contrib.seq2seq.attention import AttentionMechanism
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.layers.core import Dense
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.states import assert_like_rnncell, zero_states
from jitgraph.tensor_arrays.tensor_array import TensorArray


class AttentionWrapperState(collections.namedtuple("AttentionWrapperState", (
        "cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"))):
    """The state of an ``AttentionWrapper``: that of its cell, the last attention and alignments, the step, and the history of
    alignments, a TensorArray or ().
    """

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """The same state but for the fields given, whose tensors must have the shapes of the old ones (ValueError)."""

        def checked(old: Any, new: Any) -> Any:
            return with_same_shape(old, new) if isinstance(old, Tensor) and isinstance(new, Tensor) else new

        return nest.map_structure(checked, self, self._replace(**kwargs))


def _compute_attention(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> tuple:
    """(attention, alignments, next state of the mechanism)"""
    alignments, following = mechanism(cell_output, state=attention_state)
    context = squeeze(matmul(expand_dims(alignments, 1), mechanism.values), [1])
    if attention_layer is None:
        return context, alignments, following
    return attention_layer(concat([cell_output, context], 1)), alignments, following


def _mechanisms(given: Any) -> tuple:
    if not isinstance(given, (list, tuple)):
        if not isinstance(given, AttentionMechanism):
            raise TypeError("attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, "
                            f"saw type: {type(given).__name__}")
        return (given,)
    for one in given:
        if not isinstance(one, AttentionMechanism):
            raise TypeError("attention_mechanism must contain only instances of AttentionMechanism, saw type: "
                            f"{type(one).__name__}")
    return tuple(given)


def _as_tuple(given: Any, what: str, kind: str, mechanisms: tuple) -> tuple:
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if len(found) != len(mechanisms):
        raise ValueError(f"If provided, {what} must contain exactly one {kind} per attention_mechanism, saw: "
                         f"{len(found)} vs {len(mechanisms)}")
    return found


_NOT_MATCHING = "Non-matching batch sizes between the memory (encoder output) and "


class AttentionWrapper(RNNCell):
    """`cell`, whose inputs are joined by the attention of the step before, and whose outputs attend to a memory.

    `attention_mechanism`: an AttentionMechanism, or a list of them, whose attentions stand side by side.  The attention is what
    a layer of `attention_layer_size` units, or `attention_layer`, makes of output and context; without both it is the context.
    `alignment_history`: whether the state gathers all alignments; `cell_input_fn(inputs, attention)`: by default they are
    concatenated; `output_attention`: whether outputs are attentions or those of the cell; `initial_cell_state`: what
    ``zero_state`` begins the cell with; `attention_fn(mechanism, cell_output, state, layer)`: computes (attention, alignments,
    state).  Raises TypeError and ValueError for arguments that are not such.
    """

    def __init__(self, cell: Any, attention_mechanism: Any, attention_layer_size: Any = None, alignment_history: bool = False,
                 cell_input_fn: Callable | None = None, output_attention: bool = True, initial_cell_state: Any = None,
                 name: str | None = None, attention_layer: Any = None, attention_fn: Callable | None = None, dtype: Any = None):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        self._cell = cell
        self._attention_layers: Any = None
        self._take_layers(attention_layer_size, attention_layer)
        self._attention_fn = attention_fn or _compute_attention
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: concat([inputs, attention], -1))
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None if initial_cell_state is None else self._checked_state(initial_cell_state)

    def _take_layers(self, sizes: Any, layers: Any) -> None:
        mechanisms = self._attention_mechanisms
        depths = [mechanism.values.shape[-1].value for mechanism in mechanisms]
        if sizes is not None:
            sizes = _as_tuple(sizes, "attention_layer_size", "integer", mechanisms)
            self._attention_layers = tuple(Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                                           for size, mechanism in zip(sizes, mechanisms))
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            self._attention_layers = _as_tuple(layers, "attention_layer", "layer", mechanisms)
            self._attention_layer_size = sum(layer.compute_output_shape([None, self._cell.output_size + depth])[-1].value
                                             for layer, depth in zip(self._attention_layers, depths))
        else:
            self._attention_layer_size = sum(depths)

    def _checked_state(self, state: Any) -> Any:
        last = nest.flatten(state)[-1]
        batch_size = last.shape[0].value or shape_of(last)[0]
        message = (f"When constructing AttentionWrapper {self._base_name}: {_NOT_MATCHING}initial_cell_state.  Are you using the "
                   "BeamSearchDecoder?  You may need to tile your initial state via the tf.contrib.seq2seq.tile_batch function "
                   "with argument multiple=beam_width.")
        with control_dependencies(self._batch_size_checks(batch_size, message)):
            return nest.map_structure(lambda one: identity(one, name="check_initial_cell_state"), state)

    def _batch_size_checks(self, batch_size: Any, message: str) -> list:
        return [assert_equal(batch_size, mechanism.batch_size, message=message) for mechanism in self._attention_mechanisms]

    def _item_or_tuple(self, found: Any) -> Any:
        found = tuple(found)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Any:
        """That of the attention, or of the cell."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the parts of a state."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size, time=TensorShape([]), attention=self._attention_layer_size,
            alignments=self._item_or_tuple(one.alignments_size for one in mechanisms),
            attention_state=self._item_or_tuple(one.state_size for one in mechanisms),
            alignment_history=self._item_or_tuple(one.alignments_size if self._alignment_history else () for one in mechanisms))

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The first state: of the cell the given or the zero state, no attention.  A run raises InvalidArgumentError if
        `batch_size` is not that of the memory.
        """
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            state = self._initial_cell_state
            if state is None:
                state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (f"When calling zero_state of AttentionWrapper {self._base_name}: {_NOT_MATCHING}the requested batch size.  "
                       "Are you using the BeamSearchDecoder?  If so, make sure your encoder output has been tiled to beam_width "
                       "via tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state is batch_size * "
                       "beam_width.")
            with control_dependencies(self._batch_size_checks(batch_size, message)):
                state = nest.map_structure(lambda one: identity(one, name="checked_cell_state"), state)
            alignments = [one.initial_alignments(batch_size, dtype) for one in self._attention_mechanisms]
            return AttentionWrapperState(
                cell_state=state, time=zeros([], dtype=dtypes.int32),
                attention=zero_states(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(one.initial_state(batch_size, dtype) for one in self._attention_mechanisms),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=one.shape) if self._alignment_history else ()
                    for one in alignments))

    def call(self, inputs: Any, state: Any) -> tuple:
        """(attention or outputs of the cell, next state).  Raises TypeError if `state` is no AttentionWrapperState."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError("Expected state to be instance of AttentionWrapperState. Received type "
                            f"{type(state)} instead.")
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        batch_size = output.shape[0].value or shape_of(output)[0]
        message = (f"When applying AttentionWrapper {self.name}: {_NOT_MATCHING}the query (decoder output).  Are you using the "
                   "BeamSearchDecoder?  You may need to tile your memory input via the tf.contrib.seq2seq.tile_batch function with "
                   "argument multiple=beam_width.")
        with control_dependencies(self._batch_size_checks(batch_size, message)):
            output = identity(output, name="checked_cell_output")
        before = (state.attention_state, state.alignment_history)
        states, histories = before if self._is_multi else ([one] for one in before)
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        found = []
        for mechanism, layer, own, history in zip(self._attention_mechanisms, layers, states, histories):
            attention, alignments, following = self._attention_fn(mechanism, output, own, layer)
            found.append((attention, alignments, following,
                          history.write(state.time, alignments) if self._alignment_history else ()))
        attentions, alignments, following, histories = zip(*found)
        attention = concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1, cell_state=cell_state, attention=attention, attention_state=self._item_or_tuple(following),
            alignments=self._item_or_tuple(alignments), alignment_history=self._item_or_tuple(histories))
        return attention if self._output_attention else output, next_state
