"""Elementary functions of one argument: roots, exponentials, logarithms, trigonometry, rounding, and sigmoid."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import COMPLEX, FLOATS, TypeSet, elementwise
from jitgraph.declare.samples import between, draw
from jitgraph.graph import constant_rules, dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shape_rules import merged_inputs
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import add, negative, square, subtract
from jitgraph.ops.elementwise.complex_numbers import conj

_ANALYTIC = FLOATS + COMPLEX
_WITH_INTS = FLOATS + TypeSet(dtypes.int32, dtypes.int64) + COMPLEX


def _slope_samples(rng: Any, dtype: Any) -> list:
    """Samples (y, dy) for the gradient ops."""
    return [[draw(rng, y.shape, dtype, 0.2, 0.9), draw(rng, y.shape, dtype)] for y, in between(0, 1)(rng, dtype)]


def _one(like: Tensor) -> Tensor:
    return constant(1, like.dtype.base_dtype)


# -- roots and reciprocals ---------------------------------------------------------------------------------------------

@elementwise("Sqrt(x: T) -> y: T", T=_ANALYTIC, reference=np.sqrt, samples=between(0.1, 4),
             grad=lambda op, grad: _sqrt_grad(op.outputs[0], grad))
def sqrt(x):
    """The square root; NaN for negative x."""
    return prim.sqrt(x)


@elementwise("Rsqrt(x: T) -> y: T", T=_ANALYTIC, reference=lambda x: 1 / np.sqrt(x), samples=between(0.1, 4),
             grad=lambda op, grad: _rsqrt_grad(op.outputs[0], grad))
def rsqrt(x):
    """One over the square root."""
    return prim.rsqrt(x)


def _inverse(x: Any, T: Any) -> Any:
    return prim.trunc_div(x * 0 + 1, x) if T.is_integer else 1 / x


def _inverse_reference(x: Any) -> Any:
    return np.trunc(1 / x) if np.asarray(x).dtype.kind in "iu" else 1 / x


@elementwise("Reciprocal(x: T) -> y: T", T=_WITH_INTS, reference=_inverse_reference, samples=between(1, 4), checks=True,
             grad=lambda op, grad: _reciprocal_grad(op.outputs[0], grad))
def reciprocal(x, T):
    """``1 / x``."""
    return _inverse(x, T)


@elementwise("Inv(x: T) -> y: T", T=_WITH_INTS, reference=_inverse_reference, samples=between(1, 4), checks=True,
             grad=lambda op, grad: _inv_grad(op.outputs[0], grad))
def inv(x, T):
    """``1 / x`` (the older name of Reciprocal)."""
    return _inverse(x, T)


# The gradients of these are ops of their own, in terms of the result y, as graphs written by TensorFlow have them.

def _conjugate(y: Any, T: Any) -> Any:
    return prim.conj(y) if T.is_complex else y


def _unless_zero(dy: Any, product: Any) -> Any:
    """As in TensorFlow, no gradient comes out where none went in, even where the slope is infinite."""
    return prim.select(prim.eq(dy, 0), 0, product)


@elementwise("SqrtGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, reference=lambda y, dy: dy / (2 * np.conj(y)),
             samples=_slope_samples)
def _sqrt_grad(y, dy, T):
    """The gradient of sqrt, given y = sqrt(x)."""
    return _unless_zero(dy, dy * 0.5 / _conjugate(y, T))


@_sqrt_grad.gradient
def _(op, grad):
    ratio = grad / op.inputs[0]
    return [negative(conj(ratio)) * op.outputs[0], 0.5 * ratio]


@elementwise("RsqrtGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, samples=_slope_samples,
             reference=lambda y, dy: -0.5 * dy * np.conj(y) ** 3)
def _rsqrt_grad(y, dy, T):
    """The gradient of rsqrt, given y = rsqrt(x)."""
    y = _conjugate(y, T)
    return _unless_zero(dy, (dy * -0.5) * y * (y * y))


@_rsqrt_grad.gradient
def _(op, grad):
    y, dy = conj(op.inputs[0]), op.inputs[1]
    return [-1.5 * conj(grad) * dy * square(y), _rsqrt_grad(y, grad)]


def _inverse_slope(y: Any, dy: Any, T: Any) -> Any:
    y = _conjugate(y, T)
    return _unless_zero(dy, -dy * (y * y))


def _inverse_slope_gradient(slope: Any) -> Any:
    def gradient(op, grad):
        y, dy = conj(op.inputs[0]), op.inputs[1]
        return [conj(grad) * -2.0 * dy * y, slope(y, grad)]

    return gradient


@elementwise("ReciprocalGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, reference=lambda y, dy: -dy * np.conj(y) ** 2,
             samples=_slope_samples)
def _reciprocal_grad(y, dy, T):
    """The gradient of reciprocal, given y = 1 / x."""
    return _inverse_slope(y, dy, T)


@elementwise("InvGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, reference=lambda y, dy: -dy * np.conj(y) ** 2,
             samples=_slope_samples)
def _inv_grad(y, dy, T):
    """The gradient of inv, given y = 1 / x."""
    return _inverse_slope(y, dy, T)


_reciprocal_grad.gradient(_inverse_slope_gradient(_reciprocal_grad))
_inv_grad.gradient(_inverse_slope_gradient(_inv_grad))


# -- exponentials and logarithms ---------------------------------------------------------------------------------------

@elementwise("Exp(x: T) -> y: T", T=_ANALYTIC, reference=np.exp,
             grad=lambda op, grad: grad * conj(op.outputs[0]))
def exp(x):
    """e to the power x."""
    return prim.exp(x)


@elementwise("Expm1(x: T) -> y: T", T=_ANALYTIC, reference=np.expm1,
             grad=lambda op, grad: grad * exp(conj(op.inputs[0])))
def expm1(x):
    """``exp(x) - 1``, exact for small x."""
    return prim.expm1(x)


@elementwise("Log(x: T) -> y: T", T=_ANALYTIC, reference=np.log, samples=between(0.1, 4),
             grad=lambda op, grad: grad * reciprocal(conj(op.inputs[0])))
def log(x):
    """The natural logarithm; -inf at 0, NaN below."""
    return prim.log(x)


@elementwise("Log1p(x: T) -> y: T", T=_ANALYTIC, reference=np.log1p, samples=between(-0.9, 4),
             grad=lambda op, grad: grad * reciprocal(1 + conj(op.inputs[0])))
def log1p(x):
    """``log(1 + x)``, exact for small x."""
    return prim.log1p(x)


# -- circular functions ------------------------------------------------------------------------------------------------

@elementwise("Sin(x: T) -> y: T", T=_ANALYTIC, reference=np.sin,
             grad=lambda op, grad: grad * cos(conj(op.inputs[0])))
def sin(x):
    """The sine of x in radians."""
    return prim.sin(x)


@elementwise("Cos(x: T) -> y: T", T=_ANALYTIC, reference=np.cos,
             grad=lambda op, grad: negative(grad) * sin(conj(op.inputs[0])))
def cos(x):
    """The cosine of x in radians."""
    return prim.cos(x)


@elementwise("Tan(x: T) -> y: T", T=_WITH_INTS, reference=np.tan, samples=between(-1.3, 1.3),
             grad=lambda op, grad: square(reciprocal(cos(conj(op.inputs[0])))) * grad)
def tan(x):
    """The tangent of x in radians."""
    return prim.tan(x)


def _arc_slope(x: Tensor) -> Tensor:
    """The derivative of asin."""
    return reciprocal(sqrt(subtract(_one(x), square(x))))


@elementwise("Asin(x: T) -> y: T", T=_WITH_INTS, reference=np.arcsin, samples=between(-0.95, 0.95),
             grad=lambda op, grad: grad * _arc_slope(conj(op.inputs[0])))
def asin(x):
    """The angle between -pi/2 and pi/2 whose sine is x; NaN outside of [-1, 1]."""
    return prim.asin(x)


@elementwise("Acos(x: T) -> y: T", T=_WITH_INTS, reference=np.arccos, samples=between(-0.95, 0.95),
             grad=lambda op, grad: negative(grad) * _arc_slope(conj(op.inputs[0])))
def acos(x):
    """The angle between 0 and pi whose cosine is x; NaN outside of [-1, 1]."""
    return prim.acos(x)


@elementwise("Atan(x: T) -> y: T", T=_WITH_INTS, reference=np.arctan)
def atan(x):
    """The angle between -pi/2 and pi/2 whose tangent is x."""
    return prim.atan(x)


@atan.gradient
def _(op, grad):
    x = conj(op.inputs[0])
    return grad * reciprocal(add(_one(x), square(x)))


@elementwise("Atan2(y: T, x: T) -> z: T", T=FLOATS, reference=np.arctan2)
def atan2(y, x):
    """The angle of the point (x, y), from -pi to pi, with broadcasting."""
    return prim.atan2(y, x)


@atan2.gradient
@gradient_of_nodes(7)
def _(op, grad):
    from jitgraph.ops.elementwise.broadcasting import Unbroadcast

    y, x = op.inputs
    back = Unbroadcast(y, x, sums=True)
    scaled = grad / (square(x) + square(y))
    return [back.to_x(x * scaled), back.to_y(negative(y) * scaled)]


# -- hyperbolic functions ----------------------------------------------------------------------------------------------

@elementwise("Sinh(x: T) -> y: T", T=_ANALYTIC, reference=np.sinh,
             grad=lambda op, grad: grad * cosh(conj(op.inputs[0])))
def sinh(x):
    """The hyperbolic sine."""
    return prim.sinh(x)


@elementwise("Cosh(x: T) -> y: T", T=_ANALYTIC, reference=np.cosh,
             grad=lambda op, grad: grad * sinh(conj(op.inputs[0])))
def cosh(x):
    """The hyperbolic cosine."""
    return prim.cosh(x)


@elementwise("Tanh(x: T) -> y: T", T=_ANALYTIC, reference=np.tanh,
             grad=lambda op, grad: _tanh_grad(conj(op.outputs[0]), grad))
def tanh(x):
    """The hyperbolic tangent."""
    return prim.tanh(x)


@elementwise("TanhGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, samples=_slope_samples,
             reference=lambda y, dy: dy * (1 - y * y))
def _tanh_grad(y, dy):
    """The gradient of tanh, given y = tanh(x)."""
    return dy * (1.0 - y * y)


@_tanh_grad.gradient
def _(op, grad):
    y, dy = conj(op.inputs[0]), conj(op.inputs[1])
    return [grad * -2.0 * dy * y, _tanh_grad(y, grad)]


@elementwise("Asinh(x: T) -> y: T", T=_ANALYTIC, reference=np.arcsinh,
             grad=lambda op, grad: grad / cosh(conj(op.outputs[0])))
def asinh(x):
    """The inverse of sinh."""
    return prim.asinh(x)


@elementwise("Acosh(x: T) -> y: T", T=_ANALYTIC, reference=np.arccosh, samples=between(1.1, 4),
             grad=lambda op, grad: grad / sinh(conj(op.outputs[0])))
def acosh(x):
    """The inverse of cosh; NaN below 1."""
    return prim.acosh(x)


@elementwise("Atanh(x: T) -> y: T", T=_ANALYTIC, reference=np.arctanh, samples=between(-0.9, 0.9))
def atanh(x):
    """The inverse of tanh; NaN outside of [-1, 1]."""
    return prim.atanh(x)


@atanh.gradient
def _(op, grad):
    x = conj(op.inputs[0])
    return grad * reciprocal(subtract(_one(x), square(x)))


# -- sigmoid -----------------------------------------------------------------------------------------------------------

@elementwise("Sigmoid(x: T) -> y: T", T=_ANALYTIC, reference=lambda x: 1 / (1 + np.exp(-x)),
             grad=lambda op, grad: _sigmoid_grad(conj(op.outputs[0]), grad))
def sigmoid(x):
    """``1 / (1 + exp(-x))``, without overflow."""
    return prim.sigmoid(x)


@elementwise("SigmoidGrad(y: T, dy: T) -> z: T", shape=merged_inputs, T=_ANALYTIC, samples=_slope_samples,
             reference=lambda y, dy: dy * y * (1 - y))
def _sigmoid_grad(y, dy):
    """The gradient of sigmoid, given y = sigmoid(x)."""
    return dy * (y * (1.0 - y))


@_sigmoid_grad.gradient
def _(op, grad):
    y, dy = conj(op.inputs[0]), conj(op.inputs[1])
    product = grad * dy
    return [product - 2.0 * product * y, _sigmoid_grad(y, grad)]


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """``log(sigmoid(x))``, computed as ``-softplus(-x)``."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(raw.Softplus(negative(x)), name=scope)


# -- rounding and kinds of numbers -------------------------------------------------------------------------------------

def _no_slope(op: Any, grad: Any) -> Any:
    """Steps are flat: no gradient passes."""
    return None


@elementwise("Floor(x: T) -> y: T", T=FLOATS, grad=_no_slope, reference=np.floor, constant=constant_rules.by_value)
def floor(x):
    """The largest whole number that is not larger than x."""
    return prim.floor(x)


@elementwise("Ceil(x: T) -> y: T", T=FLOATS, grad=_no_slope, reference=np.ceil, constant=constant_rules.by_value)
def ceil(x):
    """The smallest whole number that is not smaller than x."""
    return prim.ceil(x)


@elementwise("Rint(x: T) -> y: T", T=FLOATS, grad=_no_slope, reference=np.rint)
def rint(x):
    """The nearest whole number; halves to the even one."""
    return prim.rint(x)


@elementwise("Round(x: T) -> y: T", T=_WITH_INTS, grad=_no_slope, reference=np.round, constant=constant_rules.by_value)
def _round(x, T):
    """The nearest whole number; halves to the even one."""
    if T.is_complex:
        return prim.complex(prim.rint(prim.real(x)), prim.rint(prim.imag(x)))
    return x if T.is_integer else prim.rint(x)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, halves to the even one; integers as they are."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else _round(x, name=name)


@elementwise("IsNan(x: T) -> y: bool", T=FLOATS, reference=np.isnan)
def is_nan(x):
    """Where x is not a number."""
    return prim.is_nan(x)


@elementwise("IsInf(x: T) -> y: bool", T=FLOATS, reference=np.isinf)
def is_inf(x):
    """Where x is infinite."""
    return prim.is_inf(x)


@elementwise("IsFinite(x: T) -> y: bool", T=FLOATS, reference=np.isfinite)
def is_finite(x):
    """Where x is neither infinite nor NaN."""
    return prim.is_finite(x)
