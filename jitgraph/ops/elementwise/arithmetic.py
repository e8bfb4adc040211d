"""Arithmetic: sums, products, quotients, powers, and what goes with them element by element.

The module also gives the comparison, logic, cast and matmul functions a common place, as TensorFlow's ``math_ops``
does; Python's operators on tensors look them up here.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import COMPLEX, FLOATS, NOT_DIFFERENTIABLE, TypeSet, elementwise, op
from jitgraph.declare.samples import between, draw
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.composite import IndexedSlices, SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, first_of, gradient_of_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.elementwise.broadcasting import Unbroadcast, differs
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    select,
)
from jitgraph.ops.elementwise.complex_numbers import complex, complex_abs, conj, real
from jitgraph.ops.linalg.matmul import matmul

__all__ = ["abs", "add", "add_v2", "cast", "conj", "div", "div_no_nan", "divide", "equal",
           "floor_div", "floordiv", "floormod", "greater", "greater_equal", "less", "less_equal", "logical_and",
           "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "minimum", "mod", "multiply",
           "multiply_no_nan", "negative", "not_equal", "pow", "realdiv", "scalar_mul", "sign", "square",
           "squared_difference", "subtract", "truediv", "truncatediv", "truncatemod"]

_SMALL_INTS = TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_INT32_64 = TypeSet(dtypes.int32, dtypes.int64)
SUMMABLE = FLOATS + _SMALL_INTS + COMPLEX
MULTIPLIABLE = SUMMABLE + dtypes.uint16
SIGNED = FLOATS + _INT32_64 + COMPLEX


# -- sums and differences ----------------------------------------------------------------------------------------------

def _add_gradient(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y)
    return [back.to_x(grad, arrived=True), back.to_y(grad, arrived=True)]


@op("Add(x: T, y: T) -> z: T", T=SUMMABLE + dtypes.string, shape=shape_rules.broadcast, grad=_add_gradient,
    samples=between(-3, 3, 2), reference=np.add,
    lower=lambda b, x, y: NotImplemented if x.dtype is dtypes.string else x + y, constant=constant_rules.by_element, symbolic=True,
    adds=True, each=True)
def add(x, y):
    """``x + y`` with broadcasting; joins strings."""
    return np.asarray(np.add(x, y), np.asarray(x).dtype)


@elementwise("AddV2(x: T, y: T) -> z: T", T=SUMMABLE, grad=_add_gradient, reference=np.add, constant=constant_rules.by_element,
             symbolic=True, adds=True)
def add_v2(x, y):
    """``x + y`` with broadcasting."""
    return x + y


@elementwise("Sub(x: T, y: T) -> z: T", T=MULTIPLIABLE, reference=np.subtract, constant=constant_rules.by_element, symbolic=True)
def subtract(x, y):
    """``x - y`` with broadcasting."""
    return x - y


@subtract.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y)
    return [back.to_x(grad, arrived=True), back.to_y(negative(grad))]


# -- products ----------------------------------------------------------------------------------------------------------

@elementwise("Mul(x: T, y: T) -> z: T", T=MULTIPLIABLE, reference=np.multiply, constant=constant_rules.by_element, symbolic=True)
def multiply(x, y):
    """``x * y`` with broadcasting."""
    return x * y


def _count_axes_of_equal(shape):
    """Counts two shapes and their axes, once in a graph, where TensorFlow asks for them though both are `shape`."""
    if first_of(("broadcast", shape, shape)):
        count_nodes(3)


@multiply.gradient
def _(op, grad):
    x, y = op.inputs
    if x._shape is not None and x._shape == y._shape and None not in x._shape and not differs(grad, x):
        if x.dtype.base_dtype not in (dtypes.float32, dtypes.int32):
            _count_axes_of_equal(x._shape)
        return [multiply(grad, conj(y)), multiply(grad, conj(x))]
    back = Unbroadcast(x, y)
    return [back.to_x(multiply(grad, conj(y))), back.to_y(multiply(conj(x), grad))]


@elementwise("MulNoNan(x: T, y: T) -> z: T", T=FLOATS - dtypes.bfloat16 + COMPLEX,
             reference=lambda x, y: np.where(y == 0, 0, x * y))
def multiply_no_nan(x, y):
    """``x * y``, and 0 where y is 0, even if x is inf or NaN there."""
    return prim.select(prim.eq(y, 0), 0, x * y)


@multiply_no_nan.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y, sums=True)
    return [back.to_x(multiply_no_nan(grad, conj(y))), back.to_y(multiply_no_nan(conj(x), grad))]


@elementwise("Square(x: T) -> y: T", T=SIGNED, reference=np.square, constant=constant_rules.by_value, symbolic=True)
def square(x):
    """``x * x``."""
    return x * x


@square.gradient
def _(op, grad):
    x = op.inputs[0]
    return multiply(grad, multiply(conj(x), constant(2.0, x.dtype.base_dtype)))


@elementwise("SquaredDifference(x: T, y: T) -> z: T", T=SIGNED,
             reference=lambda x, y: np.conj(x - y) * (x - y))
def squared_difference(x, y, T):
    """``(x - y) * conj(x - y)`` with broadcasting."""
    difference = x - y
    return difference * (prim.conj(difference) if T.is_complex else difference)


@squared_difference.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y)
    if grad.dtype.is_complex:           # the result is real
        grad = complex(real(grad), zeros_like(real(grad)))
    twice = multiply(constant(2.0, grad.dtype.base_dtype, name="scalar"), grad)
    of_x = twice * (x - y)
    return [back.to_x(of_x), negative(back.to_y(of_x))]


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A 0-D `scalar` times a tensor or IndexedSlices.  Raises ValueError if `scalar` is not 0-D."""
    scalar = convert_to_tensor(scalar, x.dtype.base_dtype, "scalar")
    if scalar._shape is not None and scalar._shape != ():
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(multiply(scalar, x.values, name=name), x.indices, x.dense_shape)
    return multiply(scalar, x, name=name)


# -- quotients ---------------------------------------------------------------------------------------------------------

def _nonzero_divisor(rng, dtype):
    """Samples for ops that divide: no zero below the line, both signs above it."""
    divisors = between(1, 8, 2)(rng, dtype)
    pairs = [[draw(rng, x.shape, dtype, -9, 9), y] for x, y in divisors]
    return pairs if np.dtype(dtype).kind == "u" else pairs + [[x, -y] for x, y in pairs]


@elementwise("RealDiv(x: T, y: T) -> z: T", T=FLOATS + TypeSet(dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16,
             dtypes.int32, dtypes.int64) + COMPLEX, reference=np.true_divide, samples=_nonzero_divisor,
             constant=constant_rules.by_value)
def realdiv(x, y):
    """``x / y`` with broadcasting."""
    return x / y


def _quotient_gradient(divide):
    def gradient(op, grad):
        x, y = op.inputs
        back = Unbroadcast(x, y, sums=True)
        x, y = conj(x), conj(y)
        of_x = back.to_x(divide(grad, y))
        return [of_x, back.to_y(grad * divide(divide(negative(x), y), y))]

    return gradient


realdiv.gradient(_quotient_gradient(realdiv))


@elementwise("Div(x: T, y: T) -> z: T", T=MULTIPLIABLE, checks=True, samples=_nonzero_divisor,
             reference=lambda x, y: np.trunc(np.true_divide(x, y)) if x.dtype.kind in "iu" else np.true_divide(x, y),
             constant=constant_rules.by_value)
def _div(x, y, T):
    """``x / y`` as C divides: integers towards zero."""
    return prim.trunc_div(x, y) if T.is_integer else x / y


_div.gradient(_quotient_gradient(realdiv))


@elementwise("DivNoNan(x: T, y: T) -> z: T", T=FLOATS - dtypes.bfloat16 + COMPLEX,
             reference=lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)))
def _div_no_nan(x, y):
    """``x / y``, and 0 where y is 0."""
    zero = prim.eq(y, 0)
    return prim.select(zero, 0, x / prim.select(zero, 1, y))


_div_no_nan.gradient(_quotient_gradient(_div_no_nan))


@elementwise("FloorDiv(x: T, y: T) -> z: T", T=MULTIPLIABLE - COMPLEX, checks=True, grad=NOT_DIFFERENTIABLE,
             samples=_nonzero_divisor, reference=lambda x, y: np.floor(np.true_divide(x, y)), constant=constant_rules.by_element,
             symbolic=True)
def floor_div(x, y, T):
    """``x / y`` rounded towards minus infinity.  Integers raise InvalidArgumentError if y is 0."""
    return prim.floor_div(x, y) if T.is_integer else prim.floor(x / y)


@elementwise("TruncateDiv(x: T, y: T) -> z: T", T=MULTIPLIABLE - COMPLEX, checks=True, grad=NOT_DIFFERENTIABLE,
             samples=_nonzero_divisor, reference=lambda x, y: np.trunc(np.true_divide(x, y)))
def truncatediv(x, y):
    """``x / y`` rounded towards zero.  Integers raise InvalidArgumentError if y is 0."""
    return prim.trunc_div(x, y)


# -- remainders --------------------------------------------------------------------------------------------------------

@elementwise("FloorMod(x: T, y: T) -> z: T", T=_INT32_64 + FLOATS, checks=True, reference=np.mod,
             samples=_nonzero_divisor, constant=constant_rules.by_element, symbolic=True)
def floormod(x, y):
    """What ``x / y`` rounded towards minus infinity leaves; it has the sign of y."""
    return prim.floor_mod(x, y)


@floormod.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y, sums=True)
    quotient = floor_div(x, y)
    of_x = back.to_x(grad, arrived=True)
    return [of_x, back.to_y(grad * negative(quotient))]


@elementwise("TruncateMod(x: T, y: T) -> z: T", T=_INT32_64 + FLOATS, checks=True, reference=np.fmod,
             samples=_nonzero_divisor)
def truncatemod(x, y):
    """What ``x / y`` rounded towards zero leaves; it has the sign of x."""
    return prim.trunc_mod(x, y)


@truncatemod.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y)
    quotient = truncatediv(x, y)
    of_x = back.to_x(grad, arrived=True)
    return [of_x, back.to_y(grad * negative(quotient))]


@elementwise("Mod(x: T, y: T) -> z: T", T=_INT32_64 + FLOATS, checks=True, reference=np.fmod,
             samples=_nonzero_divisor)
def _mod(x, y):
    """As C computes remainders: the sign of x.  ``tf.mod`` is FloorMod."""
    return prim.trunc_mod(x, y)


mod = floormod


# -- powers and signs --------------------------------------------------------------------------------------------------

def _power_samples(rng, dtype):
    low = 0 if np.dtype(dtype).kind in "iu" else -2
    return [[draw(rng, x.shape, dtype, 0.3, 3), draw(rng, y.shape, dtype, low, 3)]
            for x, y in between(0, 1, 2)(rng, dtype)]


@elementwise("Pow(x: T, y: T) -> z: T", T=SIGNED, checks=True, reference=np.power, samples=_power_samples)
def _pow(x, y, T):
    """x to the power y, with broadcasting."""
    exponent = getattr(y, "constant", y)
    known = exponent is not None and np.ndim(exponent) == 0
    simple = _simple_power(x, exponent, T) if known else None
    return prim.pow(x, y) if simple is None else simple


def _simple_power(x: Any, exponent: Any, T: Any) -> Any:
    """x to a power that one operation or two give, those by which TensorFlow's graph optimizer replaces it; None for others."""
    if exponent == 1:
        return x * 1
    if exponent == 2:
        return x * x
    if exponent == 3:
        return x * x * x
    if T.is_integer:
        return None
    if exponent == -1:
        return 1 / x
    return prim.sqrt(x) if exponent == 0.5 else prim.rsqrt(x) if exponent == -0.5 else None


@_pow.gradient
def _(op, grad):
    x, y = op.inputs
    z = op.outputs[0]
    if x._shape is not None and x._shape == y._shape and None not in x._shape:
        _count_axes_of_equal(x._shape)
    back = Unbroadcast(x, y)
    x, y, z = conj(x), conj(y), conj(z)
    of_x = back.to_x(grad * y * _pow(x, y - 1))
    # log x where it is real, so that 0 ** y has the gradient 0 and not NaN
    safe = not_equal(x, constant(0, x.dtype.base_dtype)) if x.dtype.is_complex else greater(x, 0)
    log_x = select(safe, raw.Log(select(safe, x, ones_like(x))), zeros_like(x))
    return [of_x, back.to_y(grad * z * log_x)]


@elementwise("Neg(x: T) -> y: T", T=SIGNED, grad=lambda op, grad: negative(grad), reference=np.negative,
             constant=constant_rules.by_element, symbolic=True)
def negative(x):
    """``-x``."""
    return -x


@elementwise("Abs(x: T) -> y: T", T=FLOATS + TypeSet(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
             grad=lambda op, grad: grad * sign(op.inputs[0]), reference=np.abs, constant=constant_rules.by_value)
def _abs(x):
    """The absolute value of x."""
    return prim.abs(x)


@elementwise("Sign(x: T) -> y: T", T=SIGNED, reference=np.sign, constant=constant_rules.by_value)
def sign(x, T):
    """-1, 0 or 1 by the sign of x, 0 for NaN; ``x / abs(x)`` for complex x other than 0."""
    return prim.select(prim.is_nan(x), 0.0, prim.sign(x)) if T.is_floating else prim.sign(x)


@sign.gradient
@gradient_of_nodes(3)
def _(op, grad):
    return zeros_like(op.inputs[0])


# -- the larger and the smaller ----------------------------------------------------------------------------------------

def _choice_gradient(compare):
    """Ties go to x, as in TensorFlow."""

    @gradient_of_nodes(13)
    def gradient(op, grad):
        x, y = op.inputs
        back = Unbroadcast(x, y, sums=True)
        zeros = raw.Fill(raw.Shape(grad), constant(0, grad.dtype.base_dtype))       # which no gradient flows to
        chosen = compare(x, y)
        of_x = back.to_x(select(chosen, grad, zeros))
        return [of_x, back.to_y(select(chosen, zeros, grad))]

    return gradient


@elementwise("Maximum(x: T, y: T) -> z: T", T=FLOATS + _INT32_64, grad=_choice_gradient(greater_equal),
             reference=np.maximum, constant=constant_rules.by_element, symbolic=True)
def maximum(x, y):
    """The larger of x and y, with broadcasting; x if one is NaN."""
    return prim.select(prim.lt(x, y), y, x)


@elementwise("Minimum(x: T, y: T) -> z: T", T=FLOATS + _INT32_64, grad=_choice_gradient(less_equal),
             reference=np.minimum, constant=constant_rules.by_element, symbolic=True)
def minimum(x, y):
    """The smaller of x and y, with broadcasting; x if one is NaN."""
    return prim.select(prim.lt(y, x), y, x)


# -- public functions over these ops -----------------------------------------------------------------------------------

def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value of a tensor (for complex ones a real tensor) or of a SparseTensor's values."""
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, abs(x.values, name), x.dense_shape)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return complex_abs(x, name=scope) if x.dtype.is_complex else _abs(x, name=scope)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power y, with broadcasting.  A negative power of an integer raises InvalidArgumentError at run time."""
    with name_scope(name, "Pow", [x]) as scope:
        return _pow(x, y, name=scope)


# the dtype in which integers are divided exactly enough
_DIVIDED_AS = {dtypes.uint8: dtypes.float32, dtypes.int8: dtypes.float32, dtypes.uint16: dtypes.float32,
               dtypes.int16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64}


def _same_dtypes(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, x.dtype.base_dtype, "y")
    return x, y


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` as Python 3 divides: int8 and int16 are cast to float32, int32 and int64 to float64.

    Raises TypeError if the dtypes differ.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        base = x.dtype.base_dtype
        if base is not y.dtype.base_dtype:
            raise TypeError(f"x and y must have the same dtype, got {x.dtype!r} != {y.dtype!r}")
        if base.is_integer:
            wide = _DIVIDED_AS.get(base)
            if wide is None:
                raise TypeError(f"Invalid dtype {x.dtype!r} in __truediv__.")
            x, y = cast(x, wide), cast(y, wide)
        return realdiv(x, y, name=scope)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``, see ``truediv``; integers give floats."""
    if name is not None:
        return _named_division(x, y, name)
    if not isinstance(x, Tensor) and not hasattr(x, "_as_graph_element") and isinstance(y, Tensor):
        x = convert_to_tensor(x, y.dtype.base_dtype)
    return x / y


def _named_division(x: Any, y: Any, name: str) -> Tensor:
    with name_scope(name, "divide", [x, y]) as scope:
        x, y = _same_dtypes(x, y)
        return truediv(x, y, name=scope)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` as Python 2 divides: integers towards minus infinity.  Raises TypeError if the dtypes differ."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype.base_dtype, "y")
        if x.dtype.is_floating or x.dtype.is_complex:
            return realdiv(x, y, name=scope)
        return floor_div(x, y, name=scope)


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``, and 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x, y = _same_dtypes(x, y)
        return _div_no_nan(x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` rounded towards minus infinity, in the dtype of x."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return floor_div(x, y, name=scope)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """``1 / x``, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return _div_no_nan(constant(1.0, x.dtype.base_dtype, name="one"), x, name=scope)
