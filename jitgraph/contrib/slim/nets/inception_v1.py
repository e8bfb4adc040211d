"""Inception v1, GoogLeNet (Szegedy and others, 2014)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.layers.pooling import avg_pool2d
from jitgraph.contrib.layers.rearranging import dropout
from jitgraph.contrib.layers.rearranging import softmax as contrib_softmax
from jitgraph.contrib.slim.nets.inception_parts import Inception, scope_of_arguments, small_normal, training, with_predictions
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.variables.variable_scopes import variable_scope

_LAYERS = """
    Conv2d_1a_7x7 64 /2
    MaxPool_2a_3x3 /2
    Conv2d_2b_1x1 64
    Conv2d_2c_3x3 192
    MaxPool_3a_3x3 /2
    Mixed_3b: Conv2d_0a_1x1 64 | Conv2d_0a_1x1 96, Conv2d_0b_3x3 128 | Conv2d_0a_1x1 16, Conv2d_0b_3x3 32
        | MaxPool_0a_3x3, Conv2d_0b_1x1 32
    Mixed_3c: Conv2d_0a_1x1 128 | Conv2d_0a_1x1 128, Conv2d_0b_3x3 192 | Conv2d_0a_1x1 32, Conv2d_0b_3x3 96
        | MaxPool_0a_3x3, Conv2d_0b_1x1 64
    MaxPool_4a_3x3 /2
    Mixed_4b: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 96, Conv2d_0b_3x3 208 | Conv2d_0a_1x1 16, Conv2d_0b_3x3 48
        | MaxPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_4c: Conv2d_0a_1x1 160 | Conv2d_0a_1x1 112, Conv2d_0b_3x3 224 | Conv2d_0a_1x1 24, Conv2d_0b_3x3 64
        | MaxPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_4d: Conv2d_0a_1x1 128 | Conv2d_0a_1x1 128, Conv2d_0b_3x3 256 | Conv2d_0a_1x1 24, Conv2d_0b_3x3 64
        | MaxPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_4e: Conv2d_0a_1x1 112 | Conv2d_0a_1x1 144, Conv2d_0b_3x3 288 | Conv2d_0a_1x1 32, Conv2d_0b_3x3 64
        | MaxPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_4f: Conv2d_0a_1x1 256 | Conv2d_0a_1x1 160, Conv2d_0b_3x3 320 | Conv2d_0a_1x1 32, Conv2d_0b_3x3 128
        | MaxPool_0a_3x3, Conv2d_0b_1x1 128
    MaxPool_5a_2x2 /2
    Mixed_5b: Conv2d_0a_1x1 256 | Conv2d_0a_1x1 160, Conv2d_0b_3x3 320 | Conv2d_0a_1x1 32, Conv2d_0a_3x3 128
        | MaxPool_0a_3x3, Conv2d_0b_1x1 128
    Mixed_5c: Conv2d_0a_1x1 384 | Conv2d_0a_1x1 192, Conv2d_0b_3x3 384 | Conv2d_0a_1x1 48, Conv2d_0b_3x3 128
        | MaxPool_0a_3x3, Conv2d_0b_1x1 128
"""


def inception_v1_base(inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1") -> tuple:
    """(outputs, {name: outputs}) of the layers up to `final_endpoint`.  Raises ValueError for a name that is not there."""
    with variable_scope(scope, "InceptionV1", [inputs]), arg_scope([convolution2d, fully_connected],
                                                                   weights_initializer=small_normal(0.01)):
        return Inception(_LAYERS).grown(inputs, final_endpoint)


def inception_v1(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.8,
                 prediction_fn: Callable = contrib_softmax, spatial_squeeze: bool = True, reuse: Any = None,
                 scope: Any = "InceptionV1") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3]."""
    with variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as entered, training(is_training):
        net, end_points = inception_v1_base(inputs, scope=entered)
        with variable_scope("Logits"):
            net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            net = dropout(net, dropout_keep_prob, scope="Dropout_0b")
            logits = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_0c_1x1")
            if spatial_squeeze:
                logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            end_points["Logits"] = logits
            return with_predictions(logits, end_points, prediction_fn)


inception_v1.default_image_size = 224       # type: ignore[attr-defined]


def inception_v1_arg_scope(weight_decay: float = 0.00004, use_batch_norm: bool = True,
                           batch_norm_var_collection: str = "moving_vars") -> dict:
    """The arguments with which the net was trained."""
    return scope_of_arguments(weight_decay, batch_norm_var_collection, use_batch_norm)
