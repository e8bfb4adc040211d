"""Stacks of recurrent layers by cuDNN's equations."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.cudnn_rnn import saveables
from jitgraph.contrib.cudnn_rnn.equations import GATES, Layout, check_direction, check_input_mode, forward
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collection
from jitgraph.graph.shapes import TensorShape
from jitgraph.layers.base import Layer
from jitgraph.layers.input_spec import InputSpec
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.variables.variable_initializers import constant_initializer, glorot_uniform_initializer
from jitgraph.variables.variable_scopes import get_variable_scope


class _CudnnRNN(Layer):
    """A stack of layers over whole sequences, whose parameters are the one variable ``opaque_kernel``.

    `num_layers` layers of `num_units` units; `input_mode` and `direction` as in ``Layout``; `dropout` is the part of the
    outputs dropped between layers while training.  Raises ValueError for other words and for types that are not float.
    """

    _rnn_mode: str
    _saveable_cls: type[saveables.CudnnOpaqueParamsSaveable]
    _saveable: saveables.CudnnOpaqueParamsSaveable | None = None

    def __init__(self, num_layers: int, num_units: int, input_mode: str = "linear_input", direction: str = "unidirectional",
                 dropout: float = 0.0, seed: int | None = None, dtype: Any = dtypes.float32, kernel_initializer: Any = None,
                 bias_initializer: Any = None, name: str | None = None):
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._plain_dtype = dtype
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer
        self._layout: Layout | None = None

    num_layers = property(lambda self: self._num_layers, doc="How many layers.")
    num_units = property(lambda self: self._num_units, doc="Units of each layer and direction.")
    input_mode = property(lambda self: self._input_mode, doc="linear_input, skip_input or auto_select.")
    rnn_mode = property(lambda self: self._rnn_mode, doc="lstm, gru, rnn_tanh or rnn_relu.")
    direction = property(lambda self: self._direction, doc="unidirectional or bidirectional.")
    num_dirs = property(lambda self: 1 if self._direction == "unidirectional" else 2, doc="How many directions.")
    saveable = property(lambda self: self._saveable, doc="What has savers write the parameters as those of cells.")

    @property
    def input_size(self) -> int:
        """The depth of the inputs.  Raises ValueError before the layer is built."""
        if self._layout is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._layout.input_size

    @property
    def canonical_weight_shapes(self) -> list:
        """The shapes of the weights in ``opaque_kernel``.  Raises RuntimeError before the layer is built."""
        if self._layout is None:
            raise RuntimeError(f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known")
        return self._layout.all_weight_shapes()

    @property
    def canonical_bias_shapes(self) -> list:
        """The shapes of the biases in ``opaque_kernel``."""
        return [[self._num_units]] * (2 * GATES[self._rnn_mode] * self.num_dirs * self._num_layers)

    def build(self, input_shape: Any) -> None:
        """Makes ``opaque_kernel``.  Raises ValueError unless the inputs have three dimensions and a known depth."""
        if self.built:
            return
        shape = TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        depth = shape[-1].value
        if depth is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        self._layout = Layout(self._rnn_mode, self._num_layers, self._num_units, depth, self._input_mode, self._direction)
        self.input_spec = InputSpec(ndim=3, axes={-1: depth})
        self.kernel = self.add_variable("opaque_kernel", [self._layout.size()], initializer=self._initial)
        scope = get_variable_scope()
        if scope.reuse is not True:
            self._saveable = self._saveable_cls(
                self.kernel, self._num_layers, self._num_units, depth, self._input_mode, self._direction, scope,
                f"{self.kernel.op.name}_saveable")
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        self.built = True

    def _initial(self, shape: Any, dtype: Any = None, **_: Any) -> Any:
        """The first parameters: weights one by one by their initializer, biases by theirs."""
        assert self._layout is not None
        kind = self._plain_dtype
        weights = self._kernel_initializer or glorot_uniform_initializer(seed=self._seed, dtype=kind)
        biases = self._bias_initializer or constant_initializer(0.0, dtype=kind)
        values = [reshape(weights(one, dtype=kind), [-1]) for one in self._layout.all_weight_shapes()]
        return concat(values + [biases(one, dtype=kind) for one in self._layout.all_bias_shapes()], 0)

    def state_shape(self, batch_size: Any) -> tuple:
        """The shapes of the states: one, or two for an lstm."""
        shape = [self._num_layers * self.num_dirs, batch_size, self._num_units]
        return (shape, list(shape)) if self._rnn_mode == "lstm" else (shape,)

    def call(self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None, time_major: bool = True,
             training: bool = True) -> tuple:
        """(outputs [time, batch, units of all directions], last states (h, c) or (h,)).

        `inputs` [time, batch, depth]; `initial_state` a tuple of [layers * directions, batch, units], zeros by default;
        `sequence_lengths` int [batch].  Where `time_major` is False, the batch comes first in all of them.  Raises TypeError for
        a state that is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        inputs = convert_to_tensor(inputs, dtype=self._plain_dtype)
        turned = inputs if time_major else _turned(inputs)
        if initial_state is None:
            states = [zeros(shape, dtype=self._plain_dtype) for shape in self.state_shape(shape_of(turned)[1])]
        else:
            given = [convert_to_tensor(state, dtype=self._plain_dtype) for state in initial_state]
            states = given if time_major else [_turned(state) for state in given]
        assert self._layout is not None
        outputs, *last = forward(self._layout, turned, states[0], states[1] if len(states) > 1 else None, self.kernel,
                                 sequence_lengths, self._dropout if training else 0.0, self._seed)
        found = [state for state in last if state is not None]
        if time_major:
            return outputs, tuple(found)
        return _turned(outputs), tuple(_turned(state) for state in found)


def _turned(values: Any) -> Any:
    return transpose(values, [1, 0, 2])


class CudnnLSTM(_CudnnRNN):
    """A stack of LSTMs."""

    _rnn_mode, _saveable_cls = "lstm", saveables.CudnnLSTMSaveable


class CudnnGRU(_CudnnRNN):
    """A stack of GRUs."""

    _rnn_mode, _saveable_cls = "gru", saveables.CudnnGRUSaveable


class CudnnRNNTanh(_CudnnRNN):
    """A stack of plain recurrent layers with tanh."""

    _rnn_mode, _saveable_cls = "rnn_tanh", saveables.CudnnRNNTanhSaveable


class CudnnRNNRelu(_CudnnRNN):
    """A stack of plain recurrent layers with relu."""

    _rnn_mode, _saveable_cls = "rnn_relu", saveables.CudnnRNNReluSaveable
