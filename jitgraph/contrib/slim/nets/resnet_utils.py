"""What the residual networks share: blocks of units, strides that dilation takes the place of, the root and the head."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.framework.arg_scopes import add_arg_scope, arg_scope
from jitgraph.contrib.layers import collected
from jitgraph.contrib.layers.batch_normalization import batch_norm
from jitgraph.contrib.layers.convolutional import convolution2d
from jitgraph.contrib.layers.pooling import max_pool2d
from jitgraph.contrib.layers.rearranging import softmax
from jitgraph.graph.collections import GraphKeys
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.variables.regularizers import l2_regularizer
from jitgraph.variables.variable_initializers import contrib_variance_scaling
from jitgraph.variables.variable_scopes import variable_scope


class Block(NamedTuple):
    """The units of one size: the scope, the function that makes one, and the arguments of each."""

    scope: str
    unit_fn: Callable
    args: list


def bottleneck_block(unit_fn: Callable, scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A Block of bottlenecks, of which the last has the stride."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
    return Block(scope, unit_fn, [unit] * (num_units - 1) + [{**unit, "stride": stride}])


def four_blocks(block: Callable, units: tuple) -> list[Block]:
    """The blocks of the published networks, which differ in the numbers of units."""
    return [block(f"block{k}", base_depth=32 << k, num_units=number, stride=1 if k == 4 else 2)
            for k, number in enumerate(units, start=1)]


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every `factor`-th pixel of [batch, height, width, channels]."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None) -> Any:
    """A convolution whose window is centred on each `stride`-th pixel, the first included, whatever the size of the image."""
    if stride == 1:
        return convolution2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    more = (kernel_size - 1) * rate
    before = more // 2
    inputs = pad(inputs, [[0, 0], [before, more - before], [before, more - before], [0, 0]])
    return convolution2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net: Any, blocks: list, output_stride: Any = None, outputs_collections: Any = None) -> Any:
    """The units of `blocks`, one after the other.

    When the image has become `output_stride` times smaller, dilation takes the place of further strides (Chen and others,
    2017).  Raises ValueError if the strides do not multiply to `output_stride`.
    """
    unreachable = "The target output_stride cannot be reached."
    current, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as entered:
            for number, unit in enumerate(block.args, start=1):
                if output_stride is not None and current > output_stride:
                    raise ValueError(unreachable)
                stride = unit.get("stride", 1)
                with variable_scope(f"unit_{number}", values=[net]):
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= stride
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= stride
            net = collected.collect_named_outputs(outputs_collections, entered.name, net)
    if output_stride is not None and current != output_stride:
        raise ValueError(unreachable)
    return net


def resnet_arg_scope(weight_decay: float = 0.0001, batch_norm_decay: float = 0.997, batch_norm_epsilon: float = 1e-5,
                     batch_norm_scale: bool = True) -> dict:
    """The arguments with which the residual networks were trained."""
    normalizer = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
                  "updates_collections": GraphKeys.UPDATE_OPS}
    with arg_scope([convolution2d], weights_regularizer=l2_regularizer(weight_decay),
                   weights_initializer=contrib_variance_scaling(), activation_fn=relu, normalizer_fn=batch_norm,
                   normalizer_params=normalizer), arg_scope([batch_norm], **normalizer):
        # in the paper, pooling keeps the size at the borders
        with arg_scope([max_pool2d], padding="SAME") as scope:
            return scope


def network(inputs: Any, blocks: list, unit: Callable, root: Callable, head: Callable, num_classes: int | None,
            is_training: Any, global_pool: bool, output_stride: Any, include_root_block: bool, reuse: Any, scope: Any,
            default_name: str) -> tuple:
    """(logits or features, outputs by name): `root` before the blocks, `head` after them, then pooling and classes.

    Raises ValueError for an `output_stride` that is no multiple of 4, of which the root takes as much.
    """
    with variable_scope(scope, default_name, [inputs], reuse=reuse) as entered:
        ends = entered.original_name_scope + "_end_points"
        with arg_scope([convolution2d, unit, stack_blocks_dense], outputs_collections=ends), \
                arg_scope([batch_norm], is_training=is_training):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                net = max_pool2d(root(net), [3, 3], stride=2, scope="pool1")
            net = head(stack_blocks_dense(net, blocks, output_stride))
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = collected.convert_collection_to_dict(ends)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points
