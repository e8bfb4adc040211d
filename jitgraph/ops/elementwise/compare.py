"""Comparison, logic, bits, and the choice between two tensors (``Select``)."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import (
    BOOL,
    COMPLEX,
    FLOATS,
    INTS,
    NOT_DIFFERENTIABLE,
    REALS,
    SIGNED_INTS,
    STRING,
    TypeSet,
    elementwise,
    op,
)
from jitgraph.declare.samples import between, draw
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.tensor import Tensor

COMPARABLE = (FLOATS + TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64) + COMPLEX + STRING
              + BOOL)


def _equality_shape(c: Any) -> Any:
    """With ``incompatible_shape_error=False`` shapes that do not broadcast are just not equal."""
    try:
        return shape_rules.broadcast(c)
    except ValueError:
        if c.attrs["incompatible_shape_error"]:
            raise
        return ()


def _equality(function: Any) -> Any:
    def lower(b, x, y, incompatible_shape_error):
        if x.dtype is dtypes.string or not incompatible_shape_error:
            return NotImplemented
        return function(x, y)

    return lower


def _equality_value(function: Any, x: Any, y: Any, incompatible_shape_error: bool) -> Any:
    try:
        return np.asarray(function(x, y), bool)
    except ValueError:
        if incompatible_shape_error:
            raise
        return np.asarray(function is np.not_equal)


def _certainly(compare: Callable[[Any, int], Any], x: Any, y: Any) -> np.ndarray:
    """What a comparison of sizes that have no number yet gives, in all runs.  Raises TypeError where that depends on the run."""
    differences = np.asarray(x.astype(object) - y.astype(object))
    if not all(isinstance(d, int) for d in differences.flat):
        raise TypeError("which of these sizes is larger depends on the run")
    return np.asarray(compare(differences, 0), bool)


_EQUALITY = "(x: T, y: T; incompatible_shape_error: bool = True) -> z: bool"


@op("Equal" + _EQUALITY, T=COMPARABLE, samples=between(0, 2, 2), shape=_equality_shape, lower=_equality(prim.eq), each=True,
    grad=NOT_DIFFERENTIABLE, reference=lambda x, y, **_: x == y, constant=constant_rules.by_value, static=True,
    symbolic=functools.partial(_certainly, np.equal))
def _equal(x, y, incompatible_shape_error):
    """Whether x and y are equal, with broadcasting."""
    return _equality_value(np.equal, x, y, incompatible_shape_error)


@op("NotEqual" + _EQUALITY, T=COMPARABLE, samples=between(0, 2, 2), shape=_equality_shape, lower=_equality(prim.ne), each=True,
    grad=NOT_DIFFERENTIABLE, reference=lambda x, y, **_: x != y, constant=constant_rules.by_value, static=True,
    symbolic=functools.partial(_certainly, np.not_equal))
def _not_equal(x, y, incompatible_shape_error):
    """Whether x and y differ, with broadcasting."""
    return _equality_value(np.not_equal, x, y, incompatible_shape_error)


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x equals y, with broadcasting: a bool tensor.  (``x == y`` compares the objects.)"""
    return _equal(x, y, name=name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Where x differs from y, with broadcasting: a bool tensor."""
    return _not_equal(x, y, name=name)


@elementwise("Less(x: T, y: T) -> z: bool", T=REALS, grad=NOT_DIFFERENTIABLE, reference=np.less, constant=constant_rules.by_value,
             symbolic=functools.partial(_certainly, np.less))
def less(x, y):
    """Where ``x < y``, with broadcasting."""
    return prim.lt(x, y)


@elementwise("LessEqual(x: T, y: T) -> z: bool", T=REALS, grad=NOT_DIFFERENTIABLE, reference=np.less_equal,
             constant=constant_rules.by_value, symbolic=functools.partial(_certainly, np.less_equal))
def less_equal(x, y):
    """Where ``x <= y``, with broadcasting."""
    return prim.le(x, y)


@elementwise("Greater(x: T, y: T) -> z: bool", T=REALS, grad=NOT_DIFFERENTIABLE, reference=np.greater,
             constant=constant_rules.by_value, symbolic=functools.partial(_certainly, np.greater))
def greater(x, y):
    """Where ``x > y``, with broadcasting."""
    return prim.gt(x, y)


@elementwise("GreaterEqual(x: T, y: T) -> z: bool", T=REALS, grad=NOT_DIFFERENTIABLE, reference=np.greater_equal,
             constant=constant_rules.by_value, symbolic=functools.partial(_certainly, np.greater_equal))
def greater_equal(x, y):
    """Where ``x >= y``, with broadcasting."""
    return prim.ge(x, y)


def _equal_shapes(rng: Any, dtype: Any) -> list:
    return [[draw(rng, shape, dtype), draw(rng, shape, dtype)] for shape in ((2, 3), (), (0, 2))]


@elementwise("ApproximateEqual(x: T, y: T; tolerance: float = 1e-5) -> z: bool", T=REALS + COMPLEX,
             grad=NOT_DIFFERENTIABLE, shape=shape_rules.merged_inputs, samples=_equal_shapes,
             reference=lambda x, y, tolerance: np.abs(x - y) <= tolerance)
def approximate_equal(x, y, tolerance, T):
    """Where ``abs(x - y) <= tolerance``."""
    real = T.real_dtype
    if real.is_integer:
        # x - y may wrap around below zero, so the larger is diminished by the smaller
        return prim.lt(prim.cast(prim.max(x, y) - prim.min(x, y), dtypes.float64), tolerance)
    distance = prim.abs(x - y)
    wide = distance if real.size > 2 else prim.cast(distance, dtypes.float32)     # as precise as the tolerance
    return prim.le(wide, tolerance)


# -- logic -------------------------------------------------------------------------------------------------------------

@elementwise("LogicalAnd(x: bool, y: bool) -> z: bool", grad=NOT_DIFFERENTIABLE, reference=np.logical_and,
             constant=constant_rules.by_value)
def logical_and(x, y):
    """Where x and y are true, with broadcasting."""
    return prim.logical_and(x, y)


@elementwise("LogicalOr(x: bool, y: bool) -> z: bool", grad=NOT_DIFFERENTIABLE, reference=np.logical_or,
             constant=constant_rules.by_value)
def logical_or(x, y):
    """Where x or y is true, with broadcasting."""
    return prim.logical_or(x, y)


@elementwise("LogicalNot(x: bool) -> y: bool", grad=NOT_DIFFERENTIABLE, reference=np.logical_not, constant=constant_rules.by_value)
def logical_not(x):
    """Where x is false."""
    return prim.logical_not(x)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Tensor:
    """Where exactly one of x and y is true."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


# -- bits --------------------------------------------------------------------------------------------------------------

@elementwise("BitwiseAnd(x: T, y: T) -> z: T", T=INTS, grad=NOT_DIFFERENTIABLE, reference=np.bitwise_and)
def bitwise_and(x, y):
    """The bits that x and y share."""
    return x & y


@elementwise("BitwiseOr(x: T, y: T) -> z: T", T=INTS, grad=NOT_DIFFERENTIABLE, reference=np.bitwise_or)
def bitwise_or(x, y):
    """The bits of x and of y."""
    return x | y


@elementwise("BitwiseXor(x: T, y: T) -> z: T", T=INTS, grad=NOT_DIFFERENTIABLE, reference=np.bitwise_xor)
def bitwise_xor(x, y):
    """The bits in which x and y differ."""
    return x ^ y


@elementwise("Invert(x: T) -> y: T", T=INTS, grad=NOT_DIFFERENTIABLE, reference=np.invert)
def invert(x):
    """Every bit flipped."""
    return prim.bit_not(x)


def _clamped(y: Any, dtype: Any) -> Any:
    """Shifts by a negative amount, or by all bits and more, have no meaning in C; TensorFlow clamps the amount."""
    return prim.min(prim.max(y, 0), dtype.size * 8 - 1)


@elementwise("LeftShift(x: T, y: T) -> z: T", T=INTS, grad=NOT_DIFFERENTIABLE,
             reference=lambda x, y: np.left_shift(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1)))
def left_shift(x, y, T):
    """The bits of x moved up by y places (at least 0, less than all)."""
    return prim.shift_left(x, _clamped(y, T))


@elementwise("RightShift(x: T, y: T) -> z: T", T=INTS, grad=NOT_DIFFERENTIABLE,
             reference=lambda x, y: np.right_shift(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1)))
def right_shift(x, y, T):
    """The bits of x moved down by y places (at least 0, less than all); the sign stays."""
    return prim.shift_right(x, _clamped(y, T))


@op("PopulationCount(x: T) -> y: uint8", T=INTS, shape=shape_rules.same_as_input, grad=NOT_DIFFERENTIABLE, host=True)
def population_count(x):
    """The number of bits that are set."""
    x = np.asarray(x)
    octets = np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(*x.shape, x.dtype.itemsize)
    return np.unpackbits(octets, axis=-1).sum(-1, dtype=np.uint8)


# -- choice ------------------------------------------------------------------------------------------------------------

def _select_shape(c: Any) -> Any:
    condition, t, e = c.shapes
    result = shape_rules.merge(t, e)
    if condition is None or result is None or len(condition) == 0:
        return result
    if len(condition) == len(result) != 1:
        return shape_rules.merge(result, condition)
    if len(condition) != 1:
        raise ValueError(f"Shapes must be equal rank, but are {len(condition)} and {len(result)}: the condition is a "
                         "scalar, a vector that chooses rows, or of the shape of the other inputs")
    if not result:
        raise ValueError("Shape must be at least rank 1 but is rank 0: a vector condition chooses rows")
    rows, = shape_rules.merge(tuple(condition), tuple(result[:1]))
    return (rows, *result[1:]) if c.running else result     # a graph states no more than t and e do, as TensorFlow's


def _rows(condition: Any, rank: int) -> tuple:
    """The shape in which a vector that chooses rows broadcasts against tensors of `rank`."""
    return tuple(condition.shape) + (1,) * (rank - 1)


def _lower_select(b: Any, condition: Any, t: Any, e: Any) -> Any:
    if t.dtype.name in ("string", "resource", "variant"):
        return NotImplemented
    if len(condition.shape) == 1 and len(t.shape) > 1:
        condition = b.reshape(condition, _rows(condition, len(t.shape)))
    return prim.select(condition, t, e)


def _select_samples(rng, dtype):
    """A condition of the full shape, one that chooses rows, and a scalar."""
    t, e = draw(rng, (3, 2), dtype), draw(rng, (3, 2), dtype)
    full = draw(rng, (3, 2), bool)
    return [[full, t, e], [full[:, 0], t, e], [full[0, 0], t, e]]


@op("Select(condition: bool, t: T, e: T) -> output: T", shape=_select_shape, lower=_lower_select,
    samples=_select_samples, renamed={"x": "t", "y": "e"},
    reference=lambda condition, t, e: np.where(condition if condition.ndim in (0, t.ndim)
                                               else condition.reshape(-1, *[1] * (t.ndim - 1)), t, e),
    constant=constant_rules.by_value, symbolic=True, each=True)
def select(condition, t, e):
    """Elements of t where `condition` is true, of e elsewhere; a vector condition chooses rows."""
    if np.ndim(condition) == 1 and np.ndim(t) > 1:
        condition = np.reshape(condition, _rows(condition, np.ndim(t)))
    return np.where(condition, t, e)


@select.gradient
def _(op, grad):
    from jitgraph.ops.arrays.fill import zeros_like

    condition, x, _ = op.inputs
    zeros = zeros_like(x)
    return [None, select(condition, grad, zeros), select(condition, zeros, grad)]


def _lower_select_v2(b: Any, condition: Any, t: Any, e: Any) -> Any:
    return NotImplemented if t.dtype.name in ("string", "resource", "variant") else prim.select(condition, t, e)


@op("SelectV2(condition: bool, t: T, e: T) -> output: T", shape=shape_rules.broadcast, lower=_lower_select_v2,
    samples=lambda rng, dtype: [[draw(rng, c.shape, bool), t, e] for c, t, e in between(-3, 3, 3)(rng, dtype)],
    reference=np.where, symbolic=True, each=True)
def select_v2(condition, t, e):
    """Elements of t where `condition` is true, of e elsewhere; all three broadcast."""
    return np.where(condition, t, e)


@select_v2.gradient
@gradient_of_nodes(12)
def _(op, grad):
    from jitgraph.ops.arrays.constant import constant
    from jitgraph.ops.arrays.shape import shape
    from jitgraph.ops.elementwise.broadcasting import Unbroadcast

    condition, x, y = op.inputs
    zero = constant(0, grad.dtype.base_dtype, name="zeros")
    of_x, of_y = select_v2(condition, grad, zero), select_v2(condition, zero, grad)
    output = op.outputs[0]
    size = shape(output)
    return [None, *(Unbroadcast(t, output, sums=True, shape_of_y=size).to_x(g) for t, g in ((x, of_x), (y, of_y)))]


# -- packed into bits ----------------------------------------------------------------------------------------------

def _packed_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 1, "input")
    if value is None:
        return None
    if value[-1] is not None and value[-1] % 8:
        raise ValueError(f"the last dimension must be a multiple of 8, got {value[-1]}")
    return (*value[:-1], None if value[-1] is None else value[-1] // 8)


@op("CompareAndBitpack(input: T, threshold: T) -> output: uint8", T=FLOATS - dtypes.bfloat16 + SIGNED_INTS + dtypes.bool_,
    shape=_packed_shape, checks=True, samples=lambda rng, dtype: [[draw(rng, (2, 16), dtype), draw(rng, (), dtype)]])
def compare_and_bitpack(input, threshold):
    """Whether each element exceeds `threshold`, eight to a byte, the first in the highest bit."""
    if threshold.ndim or not input.ndim or input.shape[-1] % 8:
        raise invalid(f"expected a last dimension that is a multiple of 8, got {list(input.shape)}")
    return np.packbits(input > threshold, axis=-1)
