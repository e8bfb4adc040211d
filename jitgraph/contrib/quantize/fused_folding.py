"""Folds fused batch normalizations into the weights of the layers before them."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.quantize.corrections import BatchNorm, corrections
from jitgraph.contrib.quantize.graph_matcher import GraphMatcher, OneofPattern, OpTypePattern
from jitgraph.contrib.quantize.rewiring import RerouteTensor
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.gradient_registry import RegisterGradient
from jitgraph.graph.texts import as_text
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.arrays.space import batch_to_space_nd
from jitgraph.ops.elementwise.arithmetic import add, multiply, subtract
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import rsqrt
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.convolution_functions import conv2d, depthwise_conv2d

_GRADIENT = "FoldFusedBatchNormGrad"
_ANY = "*"


@RegisterGradient(_GRADIENT)
def _of_statistics(op: Any, grad_y: Any, grad_mean: Any, grad_variance: Any, *rest: Any) -> tuple:
    """The gradient through mean and variance of a batch, which the folded graph reads."""
    x = op.inputs[0]
    n = cast(size(x) / size(grad_mean), dtypes.float32)
    of_mean = grad_mean / n
    of_variance = 2 * grad_variance * (x - op.outputs[1]) / (n - 1)
    return of_mean + of_variance, None, None, None, None


def fold_fused(graph: Any, freeze_delay: int | None) -> None:
    """Folds those that are there.  Raises ValueError for one that nobody reads."""
    for norm in _find(graph):
        scope, slash, _ = norm.layer.name.rpartition("/")
        with graph.as_default(), graph.name_scope(scope + slash):
            _fold(graph, norm, scope + slash, slash, freeze_delay)


def _fold(graph: Any, norm: BatchNorm, scope: str, slash: str, freeze_delay: int | None) -> None:
    with graph.name_scope(f"{scope}BatchNorm_Fold{slash}"):
        factor = norm.gamma * rsqrt(norm.variance + norm.op.get_attr("epsilon"))
        bias = subtract(norm.beta, norm.mean * factor, name="bias")
        scale = back = offset = None
        if norm.op.get_attr("is_training"):
            scale, back, offset = corrections("", norm, freeze_delay)
        if norm.layer.type == "DepthwiseConv2dNative":
            shape = norm.weights.get_shape().as_list()[2:]
            factor = reshape(factor, shape, name="scale_reshape")
            if scale is not None:
                scale = reshape(scale, shape, name="correction_reshape")
    weights = norm.weights if scale is None else multiply(scale, norm.weights, name="correction_mult")
    outputs = _again(norm, multiply(weights, factor, name="mul_fold"))
    if back is not None:
        outputs = multiply(back, outputs, name="post_conv_mul")
        outputs = add(outputs, offset, "correction_add")
    outputs = add(outputs, bias, name="add_fold")
    if RerouteTensor(outputs, norm.output) == 0:
        raise ValueError(f"Folding batch norms failed, {norm.output.name} had no outputs.")


def _again(norm: BatchNorm, weights: Any) -> Any:
    """The layer once more, with other weights."""
    layer, name = norm.layer, norm.layer.name.rpartition("/")[2] + "_Fold"
    if layer.type == "MatMul":
        return matmul(norm.input, weights, transpose_a=layer.get_attr("transpose_a"), transpose_b=layer.get_attr("transpose_b"),
                      name=name)
    outputs = convolved(layer, norm.input, weights, name)
    if layer.type == "DepthwiseConv2dNative" and norm.batch_to_space is not None:
        batches = layer.outputs[0].consumers()[0]
        outputs = batch_to_space_nd(outputs, batches.inputs[1], batches.inputs[2], name=batches.name.rpartition("/")[2] + "_Fold")
    return outputs


def convolved(layer: Any, inputs: Any, weights: Any, name: str) -> Any:
    """A convolution as `layer` is one, of other inputs and weights.  Raises ValueError for an operation of another type."""
    strides, padding = layer.get_attr("strides"), layer.get_attr("padding")
    padding = as_text(padding)
    if layer.type == "DepthwiseConv2dNative":
        return depthwise_conv2d(inputs, weights, strides=strides, padding=padding, name=name)
    if layer.type != "Conv2D":
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    layout = layer.get_attr("data_format")
    return conv2d(inputs, weights, strides=strides, padding=padding, use_cudnn_on_gpu=layer.get_attr("use_cudnn_on_gpu"),
                  data_format=as_text(layout), name=name)


class _Patterns:
    """What a layer with a fused batch normalization looks like, and how its averages move."""

    def __init__(self) -> None:
        kind = OpTypePattern
        self.input, self.weights, self.gamma, self.beta, self.mean, self.variance = (kind(_ANY) for _ in range(6))
        self.moving, self.decay = kind(_ANY), kind(_ANY)
        self.layer = kind("Conv2D|DepthwiseConv2dNative|MatMul", inputs=[self.input, self.weights])
        self.batch_to_space = kind("BatchToSpaceND", inputs=[self.layer, _ANY, _ANY])
        passed = kind("Identity", inputs=[OneofPattern([self.batch_to_space, self.layer])])
        outputs = OneofPattern([passed, self.layer, self.batch_to_space])
        reshaped = kind("Reshape", inputs=[outputs, _ANY])
        self.norm = kind("FusedBatchNorm|FusedBatchNormV3",
                         inputs=[OneofPattern([reshaped, outputs]), self.gamma, self.beta, self.mean, self.variance])
        self.reshaped_norm = kind("Reshape", inputs=[self.norm, _ANY])
        self.whole = GraphMatcher(OneofPattern([self.reshaped_norm, self.norm]))
        self.difference = kind("Sub", inputs=[self.moving, self.norm])
        self.move = GraphMatcher(kind("Mul", inputs=[self.difference, self.decay]))


def _find(graph: Any) -> list[BatchNorm]:
    patterns = _Patterns()
    found: dict[Any, BatchNorm] = {}
    for match in patterns.whole.match_graph(graph):
        norm = _described(graph, patterns, match)
        if norm is not None:
            found.setdefault(norm.layer, norm)
    return list(found.values())


def _described(graph: Any, patterns: _Patterns, match: Any) -> BatchNorm | None:
    layer, op = match.get_op(patterns.layer), match.get_op(patterns.norm)
    output = op.outputs[0]
    if layer.type == "MatMul":
        reshaped = match.get_op(patterns.reshaped_norm)
        if reshaped is None:
            return None
        output = reshaped.outputs[0]
    if not output.consumers():
        return None
    norm = BatchNorm(
        gamma=match.get_tensor(patterns.gamma), mean=match.get_tensor(patterns.mean), variance=match.get_tensor(patterns.variance),
        moving_mean=None, moving_variance=None, epsilon=op.get_attr("epsilon"), mean_decay=None, variance_decay=None, layer=layer,
        op=op, output=output, input=match.get_tensor(patterns.input), weights=match.get_tensor(patterns.weights),
        beta=match.get_tensor(patterns.beta), batch_to_space=match.get_op(patterns.batch_to_space))
    if op.get_attr("is_training"):
        _take_statistics(graph, patterns, norm, match.get_tensor(patterns.layer))
    return norm


def _take_statistics(graph: Any, patterns: _Patterns, norm: BatchNorm, outputs: Any) -> None:
    """Takes mean and variance of the batch, and finds their moving averages."""
    norm.op._set_attr("_gradient_op_type", _GRADIENT.encode())
    norm.mean = norm.op.outputs[1]
    scope, slash, _ = norm.op.name.rpartition("/")
    default = get_default_graph()
    with default.as_default(), default.name_scope(scope + slash):
        n = cast(size(outputs) / size(norm.mean), dtypes.float32)
        norm.variance = multiply(norm.op.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
    for match in patterns.move.match_graph(graph):
        moving, statistic = match.get_op(patterns.difference).inputs
        if statistic is norm.op.outputs[1]:
            norm.moving_mean, norm.mean_decay = moving, match.get_tensor(patterns.decay)
        if statistic is norm.op.outputs[2]:
            norm.moving_variance, norm.variance_decay = moving, match.get_tensor(patterns.decay)
