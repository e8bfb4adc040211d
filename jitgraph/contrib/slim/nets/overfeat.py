"""OverFeat, the fast model (Sermanet and others, 2013)."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import max_pool2d
from jitgraph.contrib.slim.nets import plain
from jitgraph.variables.variable_initializers import constant_initializer, truncated_normal_initializer
from jitgraph.variables.variable_scopes import variable_scope


def overfeat_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The arguments with which OverFeat was trained."""
    return plain.scope_of_arguments(weight_decay, plain.ZEROS, "VALID")


def overfeat(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.5,
             spatial_squeeze: bool = True, scope: Any = "overfeat") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 231, 231, 3]."""
    with variable_scope(scope, "overfeat", [inputs]) as entered:
        ends = entered.name + "_end_points"
        with plain.collecting(ends):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = convolution2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            for layer, channels in ((3, 512), (4, 1024), (5, 1024)):
                net = convolution2d(net, channels, [3, 3], scope=f"conv{layer}")
            net = max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope([convolution2d], weights_initializer=truncated_normal_initializer(0.0, 0.005),
                           biases_initializer=constant_initializer(0.1)):
                net = plain.classified(net, (3072, 4096), 6, num_classes, is_training, dropout_keep_prob,
                                       biases_initializer=plain.ZEROS)
            return plain.with_end_points(net, ends, entered.name, spatial_squeeze)


overfeat.default_image_size = 231       # type: ignore[attr-defined]
