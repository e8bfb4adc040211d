"""Inception v2, with batch normalisation (Ioffe and Szegedy, 2015)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import avg_pool2d
from jitgraph.contrib.layers.rearranging import dropout
from jitgraph.contrib.layers.rearranging import softmax as contrib_softmax
from jitgraph.contrib.slim.nets.inception_parts import Inception, scope_of_arguments, smaller_window, training, with_predictions
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.variables.variable_scopes import variable_scope

_LAYERS = """
    Conv2d_1a_7x7 64 /2 @1.0 separable
    MaxPool_2a_3x3 /2
    Conv2d_2b_1x1 64 @0.1
    Conv2d_2c_3x3 192
    MaxPool_3a_3x3 /2
    Mixed_3b: Conv2d_0a_1x1 64 | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 64
        | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96 | AvgPool_0a_3x3, Conv2d_0b_1x1 32 @0.1
    Mixed_3c: Conv2d_0a_1x1 64 | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 96
        | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96 | AvgPool_0a_3x3, Conv2d_0b_1x1 64 @0.1
    Mixed_4a: Conv2d_0a_1x1 128 @0.09, Conv2d_1a_3x3 160 /2 | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 96, Conv2d_1a_3x3 96 /2
        | MaxPool_1a_3x3 /2
    Mixed_4b: Conv2d_0a_1x1 224 | Conv2d_0a_1x1 64 @0.09, Conv2d_0b_3x3 96
        | Conv2d_0a_1x1 96 @0.09, Conv2d_0b_3x3 128, Conv2d_0c_3x3 128 | AvgPool_0a_3x3, Conv2d_0b_1x1 128 @0.1
    Mixed_4c: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 96 @0.09, Conv2d_0b_3x3 128
        | Conv2d_0a_1x1 96 @0.09, Conv2d_0b_3x3 128, Conv2d_0c_3x3 128 | AvgPool_0a_3x3, Conv2d_0b_1x1 128 @0.1
    Mixed_4d: Conv2d_0a_1x1 160 | Conv2d_0a_1x1 128 @0.09, Conv2d_0b_3x3 160
        | Conv2d_0a_1x1 128 @0.09, Conv2d_0b_3x3 160, Conv2d_0c_3x3 160 | AvgPool_0a_3x3, Conv2d_0b_1x1 96 @0.1
    Mixed_4e: Conv2d_0a_1x1 96 | Conv2d_0a_1x1 128 @0.09, Conv2d_0b_3x3 192
        | Conv2d_0a_1x1 160 @0.09, Conv2d_0b_3x3 192, Conv2d_0c_3x3 192 | AvgPool_0a_3x3, Conv2d_0b_1x1 96 @0.1
    Mixed_5a: Conv2d_0a_1x1 128 @0.09, Conv2d_1a_3x3 192 /2
        | Conv2d_0a_1x1 192 @0.09, Conv2d_0b_3x3 256, Conv2d_1a_3x3 256 /2 | MaxPool_1a_3x3 /2
    Mixed_5b: Conv2d_0a_1x1 352 | Conv2d_0a_1x1 192 @0.09, Conv2d_0b_3x3 320
        | Conv2d_0a_1x1 160 @0.09, Conv2d_0b_3x3 224, Conv2d_0c_3x3 224 | AvgPool_0a_3x3, Conv2d_0b_1x1 128 @0.1
    Mixed_5c: Conv2d_0a_1x1 352 | Conv2d_0a_1x1 192 @0.09, Conv2d_0b_3x3 320
        | Conv2d_0a_1x1 192 @0.09, Conv2d_0b_3x3 224, Conv2d_0c_3x3 224 | MaxPool_0a_3x3, Conv2d_0b_1x1 128 @0.1
"""


def inception_v2_base(inputs: Any, final_endpoint: str = "Mixed_5c", min_depth: int = 16, depth_multiplier: float = 1.0,
                      scope: Any = None) -> tuple:
    """(outputs, {name: outputs}) of the layers up to `final_endpoint`.

    `depth_multiplier`: by what channels are multiplied, down to `min_depth`.  Raises ValueError for a name that is not there
    and a multiplier that is not positive.
    """
    net = Inception(_LAYERS, min_depth, depth_multiplier)
    with variable_scope(scope, "InceptionV2", [inputs]):
        return net.grown(inputs, final_endpoint)


def inception_v2(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.8,
                 min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Callable = contrib_softmax,
                 spatial_squeeze: bool = True, reuse: Any = None, scope: Any = "InceptionV2") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3].

    Raises ValueError for a `depth_multiplier` that is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    with variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as entered:
        with training(is_training):
            net, end_points = inception_v2_base(inputs, scope=entered, min_depth=min_depth, depth_multiplier=depth_multiplier)
            with variable_scope("Logits"):
                window = smaller_window(net, [7, 7])
                net = avg_pool2d(net, window, padding="VALID", scope="AvgPool_1a_{}x{}".format(*window))
                net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                logits = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            end_points["Logits"] = logits
            return with_predictions(logits, end_points, prediction_fn)


inception_v2.default_image_size = 224       # type: ignore[attr-defined]


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> dict:
    """The arguments with which the net was trained."""
    return scope_of_arguments(weight_decay, batch_norm_var_collection)
