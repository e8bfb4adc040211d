"""``tensorflow.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops``: stacks whose vector of parameters the program keeps itself."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.cudnn_rnn.equations import Layout, check_direction, check_input_mode, forward
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import reshape

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"


class _Stack:
    """`num_layers` layers of `num_units` units over inputs of depth `input_size`, with the parameters that a call is given.

    `dropout` is the part of the outputs dropped between layers while training.  Raises ValueError for other words, and for
    projections.
    """

    _rnn_mode: str

    def __init__(self, num_layers: int, num_units: int, input_size: int, input_mode: str = CUDNN_INPUT_LINEAR_MODE,
                 direction: str = CUDNN_RNN_UNIDIRECTION, dtype: Any = dtypes.float32, dropout: float = 0.0, seed: int = 0):
        check_direction(direction)
        check_input_mode(input_mode)
        self._layout = Layout(self._rnn_mode, num_layers, num_units, input_size, input_mode, direction)
        self._dtype, self._dropout, self._seed = dtype, dropout, seed

    num_layers = property(lambda self: self._layout.num_layers, doc="How many layers.")
    num_units = property(lambda self: self._layout.num_units, doc="Units of each layer and direction.")
    input_size = property(lambda self: self._layout.input_size, doc="The depth of the inputs.")
    input_mode = property(lambda self: self._layout.input_mode, doc="linear_input, skip_input or auto_select.")
    rnn_mode = property(lambda self: self._rnn_mode, doc="lstm, gru, rnn_tanh or rnn_relu.")
    direction = property(lambda self: self._layout.direction, doc="unidirectional or bidirectional.")

    def params_size(self) -> Any:
        """How many parameters the stack has, an int32 tensor."""
        return constant(self._layout.size(), dtypes.int32)

    def params_to_canonical(self, params: Any) -> tuple[list, list]:
        """(weights [units, depth], biases [units]) of a vector of parameters, one by one."""
        return self._layout.weights_and_biases(params)

    def canonical_to_params(self, weights: list, biases: list) -> Any:
        """The vector of parameters of weights and biases."""
        return concat([reshape(part, [-1]) for part in [*weights, *biases]], 0)

    def _ran(self, input_data: Any, input_h: Any, input_c: Any, params: Any, is_training: bool, sequence_lengths: Any,
             time_major: bool) -> tuple:
        given = [None if one is None else convert_to_tensor(one, self._dtype) for one in (input_data, input_h, input_c)]
        inputs, h, c = given if time_major else [None if one is None else transpose(one, [1, 0, 2]) for one in given]
        found = forward(self._layout, inputs, h, c, convert_to_tensor(params, self._dtype), sequence_lengths,
                        self._dropout if is_training else 0.0, self._seed or None)
        return found if time_major else tuple(None if one is None else transpose(one, [1, 0, 2]) for one in found)


class CudnnLSTM(_Stack):
    """A stack of LSTMs."""

    _rnn_mode = CUDNN_LSTM

    def __init__(self, num_layers: int, num_units: int, input_size: int, input_mode: str = CUDNN_INPUT_LINEAR_MODE,
                 direction: str = CUDNN_RNN_UNIDIRECTION, dtype: Any = dtypes.float32, dropout: float = 0.0, seed: int = 0,
                 num_proj: int | None = None):
        if num_proj:
            raise ValueError("num_proj is not part of jitgraph: multiply the outputs with a matrix after each layer")
        super().__init__(num_layers, num_units, input_size, input_mode, direction, dtype, dropout, seed)

    def __call__(self, input_data: Any, input_h: Any, input_c: Any, params: Any, sequence_lengths: Any = None,
                 time_major: bool = True, is_training: bool = True) -> tuple:
        """(outputs [time, batch, units of all directions], last h, last c), both [layers * directions, batch, units].

        `input_data` [time, batch, depth]; where `time_major` is False, the batch comes first in all of them; `sequence_lengths`
        int [batch].
        """
        return self._ran(input_data, input_h, input_c, params, is_training, sequence_lengths, time_major)


class _NoMemory(_Stack):
    def __call__(self, input_data: Any, input_h: Any, params: Any, sequence_lengths: Any = None, time_major: bool = True,
                 is_training: bool = True) -> tuple:
        """(outputs [time, batch, units of all directions], last h [layers * directions, batch, units]); see ``CudnnLSTM``."""
        return self._ran(input_data, input_h, None, params, is_training, sequence_lengths, time_major)[:2]


class CudnnGRU(_NoMemory):
    """A stack of GRUs."""

    _rnn_mode = CUDNN_GRU


class CudnnRNNTanh(_NoMemory):
    """A stack of plain recurrent layers with tanh."""

    _rnn_mode = CUDNN_RNN_TANH


class CudnnRNNRelu(_NoMemory):
    """A stack of plain recurrent layers with relu."""

    _rnn_mode = CUDNN_RNN_RELU
