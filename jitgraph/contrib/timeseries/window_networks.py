"""Networks that give the mean and the variance of a window of values, from the window before it."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.rnn.block import LSTMBlockFusedCell
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import init_scope, name_scope
from jitgraph.layers.base import Layer
from jitgraph.layers.core import Dense, Flatten
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.elementary import exp
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_initializers import glorot_uniform_initializer

_NAMES = "jitgraph.contrib.timeseries.names"


def _unique(name: str) -> str:
    """`name`, with a number behind it if this graph has it already."""
    counts: dict[str, int] = get_default_graph().per_graph(_NAMES, dict)
    counts[name] = counts.get(name, -1) + 1
    return f"{name}_{counts[name]}" if counts[name] else name


class _InNameScope(Layer):
    """A layer as TensorFlow's Keras has it: variables and nodes are named by name scopes, in the place of variable scopes."""

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """What ``call`` gives for `inputs`; makes the variables before, outside of loops."""
        with name_scope(self.name):
            if not self.built:
                self._dtype = self._dtype or inputs.dtype.base_dtype.name
                with init_scope():
                    self.build(inputs.shape)
            return self.call(inputs, *args, **kwargs)

    def add_weight(self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, *_: Any, **__: Any) -> Any:
        """A variable in the name scope of the layer."""
        dtype = as_dtype(dtype)
        initializer = initializer or glorot_uniform_initializer()
        return Variable(lambda: initializer(shape, dtype=dtype), name=name, dtype=dtype, use_resource=True)


class _Dense(_InNameScope, Dense):
    pass


class _Flatten(_InNameScope, Flatten):
    def build(self, input_shape: Any) -> None:
        """Nothing to make."""
        self.built = True


class _Network:
    """Named parts: `name` is made unique in the graph."""

    def __init__(self, name: str):
        self.name = _unique(name)

    def __call__(self, *windows: Any) -> Any:
        with name_scope(self.name):
            return self.call(*windows)

    def call(self, *windows: Any) -> Any:
        """What the network gives for what it takes."""
        raise NotImplementedError


class _Sequential(_Network):
    def __init__(self, layers: list):
        super().__init__("sequential")
        self.layers = layers

    def call(self, *windows: Any) -> Any:
        """Each layer takes what the one before gives."""
        found = windows[0]
        for layer in self.layers:
            found = layer(found)
        return found


class FlatPredictionModel(_Network):
    """Dense layers over flat windows: the mean linear in the last, the variance its exponential.

    `input_window_size` times are known before the `output_window_size` times of which `num_features` values each are predicted;
    `hidden_layer_sizes` are those of layers with relu between.  A network in the place of this one for ``ARModel`` is a function
    of both windows [batch, size, features] that returns {"mean", "covariance"}, both [batch, output_window_size, num_features].
    """

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, hidden_layer_sizes: Any = None):
        super().__init__("flat_prediction_model")
        self._input_flatten, self._output_flatten = (_Flatten(name=_unique("flatten")) for _ in range(2))
        self._hidden_layers = None
        if hidden_layer_sizes:
            self._hidden_layers = _Sequential([_Dense(size, activation=relu, name=_unique("dense")) for size in hidden_layer_sizes])
        self._mean_transform = _Dense(num_features * output_window_size, name="predicted_mean")
        self._covariance_transform = _Dense(num_features * output_window_size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, *windows: Any) -> dict:
        """{"mean", "covariance"} for the features of the known window and of the predicted one; either may have no features."""
        known, predicted = windows
        if known.shape[1].value == 0:
            activation = self._output_flatten(predicted)
        elif predicted.shape[2].value == 0:
            activation = self._input_flatten(known)
        else:
            activation = concat([self._input_flatten(known), self._output_flatten(predicted)], axis=1)
        if self._hidden_layers:
            activation = self._hidden_layers(activation)
        mean = reshape(self._mean_transform(activation), self._prediction_shape)
        return {"mean": mean, "covariance": reshape(exp(self._covariance_transform(activation)), self._prediction_shape)}


class LSTMPredictionModel(_Network):
    """A cell of `num_units` that reads the known window, and one that goes on from its state over the predicted one.

    The other arguments, and what it takes and returns, are those of ``FlatPredictionModel``.
    """

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, num_units: int = 128):
        super().__init__("lstm_prediction_model")
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = _Dense(num_features, name="mean_transform")
        self._covariance_transform = _Dense(num_features, name="covariance_transform")

    def call(self, *windows: Any) -> dict:
        """{"mean", "covariance"} for the features of the known window and of the predicted one."""
        known, predicted = (transpose(window, [1, 0, 2]) for window in windows)
        _, state = self._encoder(known, dtype=known.dtype)
        decoded, _ = self._decoder(predicted, dtype=known.dtype, initial_state=state)
        decoded = transpose(decoded, [1, 0, 2])
        mean = self._mean_transform(decoded)
        return {"mean": mean, "covariance": exp(self._covariance_transform(decoded))}
