"""``BasicDecoder``: a cell whose next inputs a helper chooses."""
from __future__ import annotations

import collections
from typing import Any

from jitgraph.contrib.seq2seq.decoders import Decoder
from jitgraph.contrib.seq2seq.helpers import Helper
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.base import Layer
from jitgraph.rnn.states import assert_like_rnncell


class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """The outputs of a step: ``rnn_output``, those of the cell and its layer, and ``sample_id``, what the helper drew."""


def layer_output_size(cell: Any, output_layer: Any) -> Any:
    """The size of what `output_layer`, which may be None, makes of the outputs of `cell`; without the batch."""
    size = cell.output_size
    if output_layer is None:
        return size
    shape = output_layer.compute_output_shape(nest.map_structure(lambda one: TensorShape([None]).concatenate(one), size))
    return nest.map_structure(lambda one: one[1:], shape)


def check_output_layer(output_layer: Any) -> None:
    """Raises TypeError for what is neither None nor a layer."""
    if output_layer is not None and not isinstance(output_layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


class BasicDecoder(Decoder):
    """`cell`, begun with `initial_state`, whose outputs go through `output_layer` to `helper`, which draws the next inputs.

    Raises TypeError for what is no cell, no Helper or no layer.
    """

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """That of the helper."""
        return self._helper.batch_size

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The sizes of outputs and samples."""
        return BasicDecoderOutput(layer_output_size(self._cell, self._output_layer), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of outputs (that of the state) and samples."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        size = layer_output_size(self._cell, self._output_layer)
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, size), self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple:
        """(finished, first inputs) of the helper, and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple:
        """(outputs, next state, next inputs, finished) of one step."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, following = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            drawn = self._helper.sample(time=time, outputs=outputs, state=following)
            finished, next_inputs, following = self._helper.next_inputs(time=time, outputs=outputs, state=following,
                                                                       sample_ids=drawn)
        return BasicDecoderOutput(outputs, drawn), following, next_inputs, finished
