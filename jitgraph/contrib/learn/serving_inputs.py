"""What exported models of ``tf.contrib.learn`` are asked with: ``InputFnOps`` and the functions that make one."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.graph import dtypes
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.files.parsing import parse_example


class InputFnOps(NamedTuple):
    """The features of a model, labels or None, and {name: placeholder} that the features are made of."""

    features: Any
    labels: Any
    default_inputs: Any


@deprecated(None, "Please use tf.estimator.export.build_parsing_serving_input_receiver_fn.")
def build_parsing_serving_input_fn(feature_spec: dict[str, Any], default_batch_size: int | None = None) -> Callable:
    """A function that gives the features of serialized ``tf.train.Example``s, parsed by `feature_spec`."""
    def input_fn() -> InputFnOps:
        serialized = placeholder(dtypes.string, shape=[default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(serialized, feature_spec), None, {"examples": serialized})

    return input_fn


@deprecated(None, "Please use tf.estimator.export.build_raw_serving_input_receiver_fn.")
def build_default_serving_input_fn(features: dict[str, Any], default_batch_size: int | None = None) -> Callable:
    """A function that gives placeholders, each like the feature of that name."""
    def input_fn() -> InputFnOps:
        made = {}
        for name, tensor in features.items():
            shape = TensorShape([default_batch_size, *tensor.get_shape().as_list()[1:]])
            made[name] = placeholder(tensor.dtype, shape=shape, name=tensor.op.name)
        return InputFnOps(made, None, made)

    return input_fn
