"""Values kept within bounds, and the norms for it: clip_by_value, clip_by_norm, clip_by_global_norm, l2_loss."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import FLOATS, REALS
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range
from jitgraph.ops.arrays.shape import rank, size
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.precise_sum import precise_sum
from jitgraph.ops.reduce.reductions import reduce_sum


@op("L2Loss(t: T) -> output: T", T=FLOATS, shape=shape_rules.scalar,
    lower=lambda b, t: b.reduce("add", t * t, tuple(np.arange(len(t.shape))), False) * 0.5,
    reference=lambda t: np.sum(t * t) / 2)
def l2_loss(t):
    """Half the sum of the squares of all elements."""
    return precise_sum(t * t) * np.asarray(0.5, t.dtype)


@l2_loss.gradient
def _(op, grad):
    return raw.Mul(op.inputs[0], grad, name="mul")


def _like_first(c: Any) -> Any:
    for bound in c.shapes[1:]:
        shape_rules.broadcast_shapes(c.shapes[0], bound)
    return c.shapes[0]


def _lower_clip(b: Any, t: Any, low: Any, high: Any) -> Any:
    return prim.max(prim.min(t, high), low)


def _bounded_samples(rng, dtype):
    """Tensors with a lower and an upper bound."""
    return [[t, np.minimum(low, high), np.maximum(low, high)] for shapes in (((2, 3),) * 3, ((2, 3), (), ()), ((),) * 3)
            for t, low, high in [[draw(rng, shape, dtype, -5, 5) for shape in shapes]]]


@op("ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T", T=REALS, shape=_like_first,
    lower=_lower_clip, samples=_bounded_samples, reference=lambda t, low, high: np.minimum(np.maximum(t, low), high))
def _clip_by_value(t, clip_value_min, clip_value_max):
    """max(min(t, clip_value_max), clip_value_min)."""
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min).astype(t.dtype)


@_clip_by_value.gradient
def _(op, grad):
    x, low, high = op.inputs
    below, above = raw.Less(x, low), raw.Greater(x, high)
    zeros = raw.ZerosLike(grad)
    inside = raw.Select(raw.LogicalOr(below, above), zeros, grad)
    return [inside, _bound_gradient(raw.Select(below, grad, zeros), low),
            _bound_gradient(raw.Select(above, grad, zeros), high)]


def _bound_gradient(grad: Any, bound: Any) -> Any:
    axes = raw.BroadcastGradientArgs(raw.Shape(grad), raw.Shape(bound)).r1
    return raw.Reshape(raw.Sum(grad, axes), raw.Shape(bound))


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` (a tensor or IndexedSlices) with every element brought into [clip_value_min, clip_value_max].

    The bounds broadcast to the shape of `t`.
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        upper = raw.Minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(upper.shape)
        result = raw.Maximum(upper, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(result.shape)
        return IndexedSlices(result, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else result


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down so that its Euclidean norm (over `axes`, by default all) is at most `clip_norm`."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        squares = reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # the square root has no gradient at 0
        safe = where(positive, squares, ones_like(squares))
        norm = where(positive, raw.Sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        result = identity(scaled / raw.Maximum(norm, clip_norm), name=scope)
        return IndexedSlices(result, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else result


def _checked_list(t_list: Any) -> list:
    if isinstance(t_list, (list, tuple)) or hasattr(t_list, "__iter__") and not isinstance(t_list, (str, bytes, Tensor)):
        return list(t_list)
    raise TypeError("t_list should be a sequence")


def _values(t: Any, name: str) -> Any:
    return None if t is None else convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The Euclidean norm of all elements of all tensors together; None entries do not count.

    Raises TypeError if `t_list` is no sequence.
    """
    tensors = _checked_list(t_list)
    if all(t is None for t in tensors):
        return None
    with name_scope(name, "global_norm", [t for t in tensors if t is not None]):
        halves = []
        for i, t in enumerate(tensors):
            value = _values(t, f"t_{i}")
            if value is not None:
                with colocate_with(value.op):
                    halves.append(raw.L2Loss(value))
        half = reduce_sum(stack(halves))
        return raw.Sqrt(half * constant(2.0, half.dtype.base_dtype), name="global_norm")


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> tuple:
    """(list, norm): all tensors scaled down by one factor so that their joint norm is at most `clip_norm`.

    None entries stay None.  `use_norm`: the joint norm, if it is known already.  A norm that is not finite makes all
    results NaN.  Raises TypeError if `t_list` is no sequence.
    """
    tensors = _checked_list(t_list)
    norm = global_norm(tensors, name) if use_norm is None else use_norm
    given = [t for t in tensors if t is not None]
    with name_scope(name, "clip_by_global_norm", [*given, clip_norm]) as scope:
        norm = convert_to_tensor(norm)
        inverse = 1.0 / norm
        scale = clip_norm * raw.Minimum(inverse, constant(1.0, norm.dtype.base_dtype) / clip_norm)
        scale = where(raw.IsFinite(norm), scale, constant(float("nan"), norm.dtype.base_dtype))
        clipped: list = []
        for i, t in enumerate(tensors):
            value = _values(t, f"t_{i}")
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value.op):
                result = identity(value * scale, name=f"{scope}_{i}")
            clipped.append(IndexedSlices(result, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else result)
        return clipped, norm


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """`t` scaled down so that its norm divided by its number of elements is at most `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = cast(size(t), dtypes.float32)
        inverse = raw.Rsqrt(reduce_sum(t * t, range(rank(t))))
        scaled = t * clip_norm
        return identity(scaled * raw.Minimum(inverse * count, constant(1.0) / clip_norm), name=scope)
