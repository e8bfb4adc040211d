"""How much arithmetic an operation is, by the formulas that TensorFlow 1.15 registers; None where shapes are not known."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

_BY_INPUT = {"Reciprocal": 1, "Square": 1, "Rsqrt": 2, "Log": 1, "Neg": 1, "AssignSub": 1, "AssignAdd": 1, "Softmax": 5}
_BY_OUTPUT = dict.fromkeys("""
    Add Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal NotEqual BiasAdd""".split(), 1)
_BY_OUTPUT |= {"RsqrtGrad": 4, "SquaredDifference": 2}
_REDUCTIONS = {"Mean": 1, "Sum": 0, "ArgMax": 0, "ArgMin": 0, "BiasAddGrad": 0}


class Unknown(ValueError):
    """A shape is not known, or the formula does not hold for the order of dimensions."""


def flops_of(op: Any) -> int:
    """The arithmetic of an operation, 0 for types without a formula.  Raises Unknown."""
    kind = op.type
    if kind in _BY_INPUT:
        return _elements(op.inputs[0]) * _BY_INPUT[kind]
    if kind in _BY_OUTPUT:
        return _elements(op.outputs[0]) * _BY_OUTPUT[kind]
    if kind in _REDUCTIONS:
        return _elements(op.inputs[0]) + _elements(op.outputs[0]) * (_REDUCTIONS[kind] - 1)
    formula = _FORMULAS.get(kind)
    return 0 if formula is None else int(formula(op))


def has_formula(op_type: str) -> bool:
    """Whether the arithmetic of operations of this type is counted."""
    return any(op_type in one for one in (_BY_INPUT, _BY_OUTPUT, _REDUCTIONS, _FORMULAS))


def _shape(tensor: Any) -> list[int]:
    shape = tensor.shape
    if not shape.is_fully_defined():
        raise Unknown(tensor.name)
    return shape.as_list()


def _elements(tensor: Any) -> int:
    return math.prod(_shape(tensor))


def _channels_last(op: Any) -> None:
    if op.get_attr("data_format") != b"NHWC":
        raise Unknown("Only NHWC format is supported in flops computations")


def _product(op: Any) -> int:
    inner = _shape(op.inputs[0])
    return 2 * inner[-2 if op.get_attr("transpose_a") else -1] * _elements(op.outputs[0])


def _batch_product(op: Any) -> int:
    inner = _shape(op.inputs[0])
    return 2 * inner[-2 if op.get_attr("adj_x") else -1] * _elements(op.outputs[0])


def _convolution(op: Any) -> int:
    *window, inputs, _ = _shape(op.inputs[1])
    return _elements(op.outputs[0]) * inputs * math.prod(window) * 2


def _depthwise(op: Any) -> int:
    return _elements(op.outputs[0]) * math.prod(_shape(op.inputs[1])[:2]) * 2


def _dilation(op: Any) -> int:
    return _elements(op.outputs[0]) * math.prod(_shape(op.inputs[1])[:2]) * 2


def _window(op: Any) -> int:
    _channels_last(op)
    return math.prod(op.get_attr("ksize"))


def _of_convolution(op: Any, image: Any, kernel: Any) -> float:
    _channels_last(op)
    strides = op.get_attr("strides")
    return 2 * _elements(image) * _elements(kernel) / (_shape(image)[-1] * strides[1] * strides[2])


_FORMULAS: dict[str, Callable] = {
    "L2Loss": lambda op: _elements(op.inputs[0]) * 3 - 1,
    "AddN": lambda op: _elements(op.inputs[0]) * (len(op.inputs) - 1),
    "MatMul": _product, "BatchMatMul": _batch_product, "Conv2D": _convolution, "Conv3D": _convolution,
    "DepthwiseConv2dNative": _depthwise, "Dilation2D": _dilation,
    "AvgPool": lambda op: _window(op) * _elements(op.outputs[0]),
    "MaxPool": lambda op: _window(op) * _elements(op.outputs[0]),
    "AvgPoolGrad": lambda op: _window(op) * _elements(op.inputs[1]) * 2,
    "MaxPoolGrad": lambda op: (_window(op) + 1) * _elements(op.inputs[1]),
    "Conv2DBackpropInput": lambda op: _of_convolution(op, op.outputs[0], op.inputs[1]),
    "Conv2DBackpropFilter": lambda op: _of_convolution(op, op.inputs[0], op.outputs[0]),
}
