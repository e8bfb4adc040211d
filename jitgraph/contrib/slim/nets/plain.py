"""What nets without branches share: stages of convolutions, then layers over the whole image as convolutions."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import arg_scope
from jitgraph.contrib.layers import collected
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.contrib.layers.pooling import max_pool2d
from jitgraph.contrib.layers.rearranging import dropout
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.activation import relu
from jitgraph.variables.regularizers import l2_regularizer
from jitgraph.variables.variable_initializers import zeros_initializer


def scope_of_arguments(weight_decay: float, biases_initializer: Any, pool_padding: str | None = None) -> dict:
    """A scope: ReLU, penalties on weights, and convolutions that keep the size."""
    with arg_scope([convolution2d, fully_connected], activation_fn=relu, weights_regularizer=l2_regularizer(weight_decay),
                   biases_initializer=biases_initializer), arg_scope([convolution2d], padding="SAME") as scope:
        if pool_padding is None:
            return scope
        with arg_scope([max_pool2d], padding=pool_padding) as inner:
            return inner


def collecting(ends: Any) -> Any:
    """A block in which layers collect their outputs in `ends`."""
    return arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=ends)


def classified(net: Any, widths: tuple[int, int], window: int, num_classes: int, is_training: Any, keep_prob: float,
               **of_logits: Any) -> Any:
    """The layers "fc6", "fc7" and "fc8" with dropout between: convolutions of which the first covers the image."""
    net = convolution2d(net, widths[0], [window, window], padding="VALID", scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = convolution2d(net, widths[1], [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    return convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **of_logits)


def with_end_points(net: Any, ends: str, name: str, spatial_squeeze: bool) -> tuple:
    """(logits, {name: output}), the logits without the axes of the image if `spatial_squeeze`."""
    end_points = collected.convert_collection_to_dict(ends)
    if spatial_squeeze:
        net = squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[name + "/fc8"] = net
    return net, end_points


ZEROS = zeros_initializer()
