"""Residual networks with full preactivation (He and others, 2016): units are normalised and activated before they convolve."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope, arg_scope
from jitgraph.contrib.layers.arguments import last_dimension
from jitgraph.contrib.layers.batch_normalization import batch_norm
from jitgraph.contrib.layers.collected import collect_named_outputs
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.slim.nets import resnet_utils
from jitgraph.ops.elementwise.activation import relu
from jitgraph.variables.variable_scopes import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs: Any, depth: int, depth_bottleneck: int, stride: int, rate: int = 1, outputs_collections: Any = None,
               scope: Any = None) -> Any:
    """shortcut + residual: [batch, height, width, n] gives `depth` channels, `stride` times smaller."""
    with variable_scope(scope, "bottleneck_v2", [inputs]) as entered:
        before = batch_norm(inputs, activation_fn=relu, scope="preact")
        if last_dimension(inputs.get_shape(), min_rank=4) == depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = convolution2d(before, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None,
                                     scope="shortcut")
        residual = convolution2d(before, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = convolution2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, entered.name, shortcut + residual)


def _root(net: Any) -> Any:
    # the first unit normalises and activates what comes out
    with arg_scope([convolution2d], activation_fn=None, normalizer_fn=None):
        return resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")


def resnet_v2(inputs: Any, blocks: list, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
              output_stride: Any = None, include_root_block: bool = True, reuse: Any = None, scope: Any = None) -> tuple:
    """(logits [batch, 1, 1, num_classes], or features without classes, and outputs by name) of any `blocks`.

    `output_stride`: how much smaller the features are than the image at most; dilation takes the place of further strides.
    """
    return resnet_utils.network(
        inputs, blocks, bottleneck, _root, lambda net: batch_norm(net, activation_fn=relu, scope="postnorm"), num_classes,
        is_training, global_pool, output_stride, include_root_block, reuse, scope, "resnet_v2")


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A Block of `num_units` bottlenecks, of which the last has the stride."""
    return resnet_utils.bottleneck_block(bottleneck, scope, base_depth, num_units, stride)


def resnet_v2_50(inputs: Any, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
                 output_stride: Any = None, reuse: Any = None, scope: Any = "resnet_v2_50") -> tuple:
    """``resnet_v2`` of 50 layers."""
    return resnet_v2(inputs, resnet_utils.four_blocks(resnet_v2_block, (3, 4, 6, 3)), num_classes, is_training, global_pool,
                     output_stride, True, reuse, scope)


def resnet_v2_101(inputs: Any, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
                  output_stride: Any = None, reuse: Any = None, scope: Any = "resnet_v2_101") -> tuple:
    """``resnet_v2`` of 101 layers."""
    return resnet_v2(inputs, resnet_utils.four_blocks(resnet_v2_block, (3, 4, 23, 3)), num_classes, is_training,
                     global_pool, output_stride, True, reuse, scope)


def resnet_v2_152(inputs: Any, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
                  output_stride: Any = None, reuse: Any = None, scope: Any = "resnet_v2_152") -> tuple:
    """``resnet_v2`` of 152 layers."""
    return resnet_v2(inputs, resnet_utils.four_blocks(resnet_v2_block, (3, 8, 36, 3)), num_classes, is_training,
                     global_pool, output_stride, True, reuse, scope)


def resnet_v2_200(inputs: Any, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
                  output_stride: Any = None, reuse: Any = None, scope: Any = "resnet_v2_200") -> tuple:
    """``resnet_v2`` of 200 layers."""
    return resnet_v2(inputs, resnet_utils.four_blocks(resnet_v2_block, (3, 24, 36, 3)), num_classes, is_training,
                     global_pool, output_stride, True, reuse, scope)


resnet_v2.default_image_size = 224      # type: ignore[attr-defined]
