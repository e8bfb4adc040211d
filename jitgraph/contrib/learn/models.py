"""``tf.contrib.learn.models``: model functions of the first estimators, linear ones and recurrent ones."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.learn.old_ops import mean_squared_error_regressor, softmax_classifier
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.arrays.join import concat, stack, unstack
from jitgraph.ops.arrays.layout import reverse_sequence
from jitgraph.rnn.cells import RNNCell
from jitgraph.summary.summaries import histogram
from jitgraph.variables.variable_initializers import random_normal_initializer
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


def _layer(x: Any, y: Any, units: Any, mean: float | None, stddev: float) -> tuple[Any, Any]:
    """(weights, bias) of a linear layer, and histograms of all there is."""
    scope, dtype = get_variable_scope().name, x.dtype.base_dtype
    histogram(f"{scope}.x", x)
    histogram(f"{scope}.y", y)

    def made(name: str, shape: list) -> Any:
        initializer = None if mean is None else random_normal_initializer(mean, stddev, dtype=dtype)
        return get_variable(name, shape, initializer=initializer, dtype=dtype)

    weights, bias = made("weights", [x.get_shape()[1], units]), made("bias", [units])
    histogram(f"{scope}.weights", weights)
    histogram(f"{scope}.bias", bias)
    return weights, bias


@deprecated(None, "Consider using a class from tf.estimator.")
def linear_regression(x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0) -> tuple[Any, Any]:
    """(predictions, mean squared error) of a linear function of x [batch, n], for y [batch] or [batch, m].

    The variables are normal with `init_mean`, if it is given.
    """
    with variable_scope("linear_regression"):
        units = 1 if len(y.get_shape()) == 1 else y.get_shape()[1]
        return mean_squared_error_regressor(x, y, *_layer(x, y, units, init_mean, init_stddev))


@deprecated(None, "Consider using a tf.estimator.LinearRegressor")
def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """``linear_regression`` from zeros on."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@deprecated(None, "Consider using a class from tf.estimator.")
def logistic_regression(x: Any, y: Any, class_weight: Any = None, init_mean: float | None = None,
                        init_stddev: float = 1.0) -> tuple[Any, Any]:
    """(probabilities, cross entropy) of a linear function of x [batch, n], for y [batch, classes].

    `class_weight` [classes] multiplies the logits; by default the tensor "class_weight:0", if there is one.
    """
    with variable_scope("logistic_regression"):
        weights, bias = _layer(x, y, y.get_shape()[-1], init_mean, init_stddev)
        if not class_weight:
            try:
                class_weight = get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                class_weight = None
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


@deprecated(None, "Consider using a class from tf.estimator.LinearClassifier")
def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """``logistic_regression`` from zeros on."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _reversed(steps: list, lengths: Any) -> list:
    if lengths is None:
        return list(reversed(steps))
    found: list = unstack(reverse_sequence(stack(steps), lengths, 0, 1))
    return found


@deprecated(None, "Please consider `tf.nn.bidirectional_dynamic_rnn`.")
def bidirectional_rnn(cell_fw: Any, cell_bw: Any, inputs: Any, initial_state_fw: Any = None, initial_state_bw: Any = None,
                      dtype: Any = None, sequence_length: Any = None, scope: str | None = None) -> tuple[list, Any]:
    """(outputs [batch, both] of each step, the last states side by side) of two cells, the second from the end on.

    `inputs`: a list of [batch, n].  Raises TypeError for other cells and inputs, ValueError for none.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    static_rnn, name = resolve("nn.static_rnn"), scope or "BiRNN"
    with variable_scope(name + "_FW"):
        forward, state = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with variable_scope(name + "_BW"):
        backward, other = static_rnn(cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype, sequence_length)
    outputs = [concat([one, two], 1) for one, two in zip(forward, _reversed(backward, sequence_length))]
    return outputs, concat([state, other], 1)


_CELLS = {"rnn": "BasicRNNCell", "gru": "GRUCell", "lstm": "BasicLSTMCell"}


@deprecated(None, "Please consider tensorflow/tensor2tensor.")
def get_rnn_model(rnn_size: int, cell_type: str, num_layers: int, input_op_fn: Callable, bidirectional: bool,
                  target_predictor_fn: Callable, sequence_length: Any, initial_state: Any, attn_length: int | None,
                  attn_size: int | None, attn_vec_size: int | None) -> Callable:
    """A model function (x, y): cells run over the steps that `input_op_fn` makes of x, `target_predictor_fn` takes their state.

    `cell_type`: "rnn", "gru" or "lstm", whose states lie side by side; with `attn_length` they attend to their last outputs.
    The function raises ValueError for another type.
    """
    def cells() -> Any:
        kind = resolve(f"nn.rnn_cell.{_CELLS[cell_type]}")
        made = partial(kind, state_is_tuple=False) if cell_type == "lstm" else kind

        def one() -> Any:
            if attn_length is None:
                return made(rnn_size)
            return resolve("contrib.rnn.AttentionCellWrapper")(made(rnn_size), attn_length=attn_length, attn_size=attn_size,
                                                               attn_vec_size=attn_vec_size, state_is_tuple=False)

        return resolve("nn.rnn_cell.MultiRNNCell")([one() for _ in range(num_layers)], state_is_tuple=False)

    def rnn_estimator(x: Any, y: Any) -> Any:
        x = input_op_fn(x)
        if cell_type not in _CELLS:
            raise ValueError(f"cell_type {cell_type} is not supported. ")
        if bidirectional:
            _, encoding = bidirectional_rnn(cells(), cells(), x, dtype=dtypes.float32, sequence_length=sequence_length,
                                            initial_state_fw=initial_state, initial_state_bw=initial_state)
        else:
            _, encoding = resolve("nn.static_rnn")(cells(), x, dtype=dtypes.float32, sequence_length=sequence_length,
                                                   initial_state=initial_state)
        return target_predictor_fn(encoding, y)

    return rnn_estimator
