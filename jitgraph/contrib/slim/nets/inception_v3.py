"""Inception v3 (Szegedy and others, 2015)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import avg_pool2d, max_pool2d
from jitgraph.contrib.layers.rearranging import dropout
from jitgraph.contrib.layers.rearranging import softmax as contrib_softmax
from jitgraph.contrib.slim.nets.inception_parts import (
    Inception,
    scope_of_arguments,
    small_normal,
    smaller_window,
    training,
    with_predictions,
)
from jitgraph.graph.collections import GraphKeys
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.variables.variable_scopes import variable_scope

_STEM = 7
"""How many layers do not keep the size of the image."""

_LAYERS = """
    Conv2d_1a_3x3 32 /2
    Conv2d_2a_3x3 32
    Conv2d_2b_3x3 64 same
    MaxPool_3a_3x3 /2
    Conv2d_3b_1x1 80
    Conv2d_4a_3x3 192
    MaxPool_5a_3x3 /2
    Mixed_5b: Conv2d_0a_1x1 64 | Conv2d_0a_1x1 48, Conv2d_0b_5x5 64 | Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96
        | AvgPool_0a_3x3, Conv2d_0b_1x1 32
    Mixed_5c: Conv2d_0a_1x1 64 | Conv2d_0b_1x1 48, Conv_1_0c_5x5 64 | Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96
        | AvgPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_5d: Conv2d_0a_1x1 64 | Conv2d_0a_1x1 48, Conv2d_0b_5x5 64 | Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_0c_3x3 96
        | AvgPool_0a_3x3, Conv2d_0b_1x1 64
    Mixed_6a: Conv2d_1a_1x1 384 =3x3 /2 valid | Conv2d_0a_1x1 64, Conv2d_0b_3x3 96, Conv2d_1a_1x1 96 =3x3 /2 valid
        | MaxPool_1a_3x3 /2 valid
    Mixed_6b: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 128, Conv2d_0b_1x7 128, Conv2d_0c_7x1 192
        | Conv2d_0a_1x1 128, Conv2d_0b_7x1 128, Conv2d_0c_1x7 128, Conv2d_0d_7x1 128, Conv2d_0e_1x7 192
        | AvgPool_0a_3x3, Conv2d_0b_1x1 192
    Mixed_6c: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 160, Conv2d_0b_1x7 160, Conv2d_0c_7x1 192
        | Conv2d_0a_1x1 160, Conv2d_0b_7x1 160, Conv2d_0c_1x7 160, Conv2d_0d_7x1 160, Conv2d_0e_1x7 192
        | AvgPool_0a_3x3, Conv2d_0b_1x1 192
    Mixed_6d: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 160, Conv2d_0b_1x7 160, Conv2d_0c_7x1 192
        | Conv2d_0a_1x1 160, Conv2d_0b_7x1 160, Conv2d_0c_1x7 160, Conv2d_0d_7x1 160, Conv2d_0e_1x7 192
        | AvgPool_0a_3x3, Conv2d_0b_1x1 192
    Mixed_6e: Conv2d_0a_1x1 192 | Conv2d_0a_1x1 192, Conv2d_0b_1x7 192, Conv2d_0c_7x1 192
        | Conv2d_0a_1x1 192, Conv2d_0b_7x1 192, Conv2d_0c_1x7 192, Conv2d_0d_7x1 192, Conv2d_0e_1x7 192
        | AvgPool_0a_3x3, Conv2d_0b_1x1 192
    Mixed_7a: Conv2d_0a_1x1 192, Conv2d_1a_3x3 320 /2 valid
        | Conv2d_0a_1x1 192, Conv2d_0b_1x7 192, Conv2d_0c_7x1 192, Conv2d_1a_3x3 192 /2 valid | MaxPool_1a_3x3 /2 valid
    Mixed_7b: Conv2d_0a_1x1 320 | Conv2d_0a_1x1 384, ( Conv2d_0b_1x3 384 + Conv2d_0b_3x1 384 )
        | Conv2d_0a_1x1 448, Conv2d_0b_3x3 384, ( Conv2d_0c_1x3 384 + Conv2d_0d_3x1 384 ) | AvgPool_0a_3x3, Conv2d_0b_1x1 192
    Mixed_7c: Conv2d_0a_1x1 320 | Conv2d_0a_1x1 384, ( Conv2d_0b_1x3 384 + Conv2d_0c_3x1 384 )
        | Conv2d_0a_1x1 448, Conv2d_0b_3x3 384, ( Conv2d_0c_1x3 384 + Conv2d_0d_3x1 384 ) | AvgPool_0a_3x3, Conv2d_0b_1x1 192
"""


def inception_v3_base(inputs: Any, final_endpoint: str = "Mixed_7c", min_depth: int = 16, depth_multiplier: float = 1.0,
                      scope: Any = None) -> tuple:
    """(outputs, {name: outputs}) of the layers up to `final_endpoint`; see ``inception_v2_base``."""
    net = Inception(_LAYERS, min_depth, depth_multiplier)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return net.grown(inputs, final_endpoint, _STEM, padding="VALID")


def inception_v3(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.8,
                 min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Callable = contrib_softmax,
                 spatial_squeeze: bool = True, reuse: Any = None, scope: Any = "InceptionV3") -> tuple:
    """(logits [batch, num_classes], outputs by name, with "AuxLogits") for images [batch, 299, 299, 3].

    Raises ValueError for a `depth_multiplier` that is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    depth = Inception("", min_depth, depth_multiplier).depth
    with variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as entered:
        with training(is_training):
            net, end_points = inception_v3_base(inputs, scope=entered, min_depth=min_depth, depth_multiplier=depth_multiplier)
            with arg_scope([convolution2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
                end_points["AuxLogits"] = _aside(end_points["Mixed_6e"], num_classes, depth, spatial_squeeze)
            with variable_scope("Logits"):
                window = smaller_window(net, [8, 8])
                net = avg_pool2d(net, window, padding="VALID", scope="AvgPool_1a_{}x{}".format(*window))
                net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                end_points["PreLogits"] = net
                logits = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            end_points["Logits"] = logits
            return with_predictions(logits, end_points, prediction_fn)


def _aside(net: Any, num_classes: int, depth: Callable, spatial_squeeze: bool) -> Any:
    """The logits that a layer before the end is trained by."""
    with variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = convolution2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        window = smaller_window(net, [5, 5])
        net = convolution2d(net, depth(768), window, weights_initializer=small_normal(0.01), padding="VALID",
                            scope="Conv2d_2a_{}x{}".format(*window))
        net = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                            weights_initializer=small_normal(0.001), scope="Conv2d_2b_1x1")
        return squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


inception_v3.default_image_size = 299       # type: ignore[attr-defined]


def inception_v3_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars",
                           batch_norm_decay: float = 0.9997, batch_norm_epsilon: float = 0.001,
                           updates_collections: Any = GraphKeys.UPDATE_OPS, use_fused_batchnorm: bool = True) -> dict:
    """The arguments with which the net was trained."""
    return scope_of_arguments(weight_decay, batch_norm_var_collection, decay=batch_norm_decay, epsilon=batch_norm_epsilon,
                              updates_collections=updates_collections, fused=use_fused_batchnorm)
