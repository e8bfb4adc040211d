"""What follows the linear part of a layer: a normalizer or biases, an activation, the collections of outputs."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.collected import (
    add_variable_to_collections,
    collect_named_outputs,
    get_variable_collections,
)
from jitgraph.ops.elementwise.bias import bias_add


def collect_weights(layer: Any, variables_collections: Any, weights: tuple[str, ...] = ("kernel",)) -> None:
    """Puts the variables of a layer of ``tf.layers`` into the collections of "weights" and "biases"."""
    for attribute in weights:
        add_variable_to_collections(getattr(layer, attribute), variables_collections, "weights")
    if layer.bias is not None:
        add_variable_to_collections(layer.bias, variables_collections, "biases")


def finished(outputs: Any, scope: str, activation_fn: Any, outputs_collections: Any, normalizer_fn: Any = None,
             normalizer_params: dict | None = None) -> Any:
    """`outputs` normalised, activated and collected."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope, outputs)


def with_biases(outputs: Any, channels: int, dtype: Any, initializer: Any, regularizer: Any, variables_collections: Any,
                trainable: bool, data_format: str = "NHWC") -> Any:
    """`outputs` plus the model variable ``biases`` [channels]; as they are without an initializer."""
    if initializer is None:
        return outputs
    biases = model_variable("biases", shape=[channels], dtype=dtype, initializer=initializer, regularizer=regularizer,
                            collections=get_variable_collections(variables_collections, "biases"), trainable=trainable)
    return bias_add(outputs, biases, data_format=data_format)
