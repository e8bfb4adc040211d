"""AlexNet in one tower (Krizhevsky, 2014)."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import max_pool2d
from jitgraph.contrib.slim.nets import plain
from jitgraph.variables.variable_initializers import constant_initializer, truncated_normal_initializer
from jitgraph.variables.variable_scopes import variable_scope


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The arguments with which AlexNet was trained."""
    return plain.scope_of_arguments(weight_decay, constant_initializer(0.1), "VALID")


def alexnet_v2(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: float = 0.5,
               spatial_squeeze: bool = True, scope: Any = "alexnet_v2") -> tuple:
    """(logits [batch, num_classes], outputs by name) for images [batch, 224, 224, 3]."""
    with variable_scope(scope, "alexnet_v2", [inputs]) as entered:
        ends = entered.original_name_scope + "_end_points"
        with plain.collecting([ends]):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = convolution2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            for layer, channels in ((3, 384), (4, 384), (5, 256)):
                net = convolution2d(net, channels, [3, 3], scope=f"conv{layer}")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope([convolution2d], weights_initializer=truncated_normal_initializer(0.0, 0.005),
                           biases_initializer=constant_initializer(0.1)):
                net = plain.classified(net, (4096, 4096), 5, num_classes, is_training, dropout_keep_prob,
                                       biases_initializer=plain.ZEROS)
            return plain.with_end_points(net, ends, entered.name, spatial_squeeze)


alexnet_v2.default_image_size = 224     # type: ignore[attr-defined]
