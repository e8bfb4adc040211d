"""Kernels, strides and padding of the nodes of a GraphDef."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.graph.protos.tensor_proto import make_ndarray

_POINTWISE = frozenset("""Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm Identity Log Mul Pow RealDiv Relu Relu6
                       Round Rsqrt Softplus Sub VariableV2 LRN GreaterEqual""".split())
_CONVOLUTIONS, _POOLS = ("Conv2D", "DepthwiseConv2dNative"), ("MaxPool", "MaxPoolV2", "AvgPool")


def _array(name_to_node: Any, name: str) -> np.ndarray:
    return make_ndarray(name_to_node[name].attr["value"].tensor)


def _strides(node: Any, name_to_node: Any) -> tuple:
    if node.op == "MaxPoolV2":
        if not node.input[2].endswith("/strides"):
            raise ValueError("Strides name does not end with '/strides'")
        found = _array(name_to_node, node.input[2])
        return found[2], found[1]
    found = node.attr["strides"].list.i
    return found[2], found[1]


def _conv_kernel(node: Any, name_to_node: Any) -> tuple:
    name = node.input[1]
    if not name.endswith("/read"):
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    weights = name_to_node[name.removesuffix("/read")]
    if weights.op not in ("VariableV2", "Const"):
        raise ValueError(f"Weight layer {weights.name} is not of type VariableV2 or Const: {weights.op}")
    dims = (weights.attr["shape"].shape if weights.op == "VariableV2" else weights.attr["value"].tensor.tensor_shape).dim
    if len(dims) != 4:
        raise ValueError(f"Weight layer {weights.name} does not have rank 4. Instead, it has: {len(dims)}")
    return dims[1].size, dims[0].size


def _pool_kernel(node: Any, name_to_node: Any) -> tuple:
    if node.op == "MaxPoolV2":
        if not node.input[1].endswith("/ksize"):
            raise ValueError("Kernel size name does not end with '/ksize'")
        sizes = _array(name_to_node, node.input[1])
    else:
        sizes = node.attr["ksize"].list.i
    for axis, which in ((0, "first"), (3, "last")):
        if sizes[axis] != 1:
            raise ValueError(f"pool ksize for {which} dim is not 1")
    return sizes[2], sizes[1]


def _padded(node: Any, kernel: int, stride: int, size: int | None) -> tuple:
    """(the padding along an axis, of it that before the first element); None where they depend on the unknown `size`"""
    kind = node.attr["padding"].s
    if kind in ("VALID", b"VALID"):
        return 0, 0
    if kind not in ("SAME", b"SAME"):
        raise ValueError(f"Invalid padding operation {kind}")
    if size is not None:
        total = max(kernel - (size % stride or stride), 0)
        return total, total // 2
    if kernel == 1:
        return 0, 0
    if stride == 1:
        return kernel - 1, (kernel - 1) // 2
    if stride == 2 and kernel % 2 == 0:
        return None, (kernel - 1) // 2
    logs.warning("Padding depends on input size, which means that the effective padding may be different depending on the input "
                 "image dimensionality. In this case, alignment check will be skipped. If you know the input resolution, please "
                 "set it.")
    return None, None


def _pad_layer(node: Any, name_to_node: Any) -> tuple:
    name = node.input[1]
    if not name.endswith("/paddings"):
        raise ValueError("Padding layer name does not end with '/paddings'")
    if name_to_node[name].op != "Const":
        raise ValueError("Padding op is not Const")
    found = _array(name_to_node, name)
    for axis, which in ((0, "first"), (3, "last")):
        if found[axis].any():
            raise ValueError(f"padding is not zero for {which} tensor dim")
    return found[2].sum(), found[2][0], found[1].sum(), found[1][0]


def get_layer_params(node: Any, name_to_node: Any, input_resolution: Any = None, force: bool = False) -> tuple:
    """(kernel, kernel, stride, stride, padding, padding, whole padding, whole padding) of a NodeDef, each along x and y.

    `input_resolution`: [height, width] of what it reads, if known.  `force`: all None for an operation that is not known; else
    ValueError is raised.
    """
    height, width = (None, None) if input_resolution is None else input_resolution
    if node.op in _CONVOLUTIONS + _POOLS:
        stride_x, stride_y = _strides(node, name_to_node)
        kernel_x, kernel_y = (_conv_kernel if node.op in _CONVOLUTIONS else _pool_kernel)(node, name_to_node)
        total_x, padding_x = _padded(node, kernel_x, stride_x, width)
        total_y, padding_y = _padded(node, kernel_y, stride_y, height)
        return kernel_x, kernel_y, stride_x, stride_y, padding_x, padding_y, total_x, total_y
    if node.op == "Pad":
        total_x, padding_x, total_y, padding_y = _pad_layer(node, name_to_node)
        return 1, 1, 1, 1, padding_x, padding_y, total_x, total_y
    if node.op in _POINTWISE:
        return 1, 1, 1, 1, 0, 0, 0, 0
    if not force:
        raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
    return (None,) * 8
