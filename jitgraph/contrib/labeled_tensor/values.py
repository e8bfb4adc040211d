"""Functions that make labeled tensors, add them up, multiply them, and call others for each place of the first axis."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.labeled_tensor.axes import Axes, as_axis
from jitgraph.contrib.labeled_tensor.places import pack, squeeze, unpack
from jitgraph.contrib.labeled_tensor.tensors import LabeledTensor, convert_to_labeled_tensor, get_axis_order, identity
from jitgraph.functions.higher_order import foldl as folded
from jitgraph.functions.higher_order import map_fn as mapped
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant as constant_of
from jitgraph.ops.arrays.fill import ones_like as ones_of
from jitgraph.ops.arrays.fill import zeros_like as zeros_of
from jitgraph.ops.arrays.identity import identity as same
from jitgraph.ops.arrays.searching import where as chosen
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import squeeze as squeezed
from jitgraph.ops.checks.assertion import verify_tensor_all_finite as verified
from jitgraph.ops.elementwise.cast import cast as cast_of
from jitgraph.ops.linalg.matmul import matmul as product
from jitgraph.ops.reduce import reductions


def map_fn(fn: Callable, labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """What `fn` makes of each place of the first axis, along that axis."""
    with name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        first, *others = one.axes.values()
        parts = unpack(one)
        if one.dtype == dtypes.string:
            return pack([fn(part) for part in parts], first, name=scope)
        like = fn(parts[0])
        made = mapped(lambda tensor: fn(LabeledTensor(tensor, others)).tensor, one.tensor, dtype=like.dtype)
        return identity(LabeledTensor(made, [first, *like.axes.values()]), name=scope)


def foldl(fn: Callable, labeled_tensor: Any, initial_value: Any, name: str | None = None) -> LabeledTensor:
    """What ``fn(value so far, place)`` makes after all places of the first axis; it begins with `initial_value`."""
    with name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        one, start = convert_to_labeled_tensor(labeled_tensor), convert_to_labeled_tensor(initial_value)
        others = list(one.axes.values())[1:]
        made = folded(lambda value, place: fn(LabeledTensor(value, start.axes), LabeledTensor(place, others)).tensor, one.tensor,
                      initializer=start.tensor)
        return identity(LabeledTensor(made, start.axes), name=scope)


def _shared(a: LabeledTensor, b: LabeledTensor) -> str:
    """The axis that a product sums over."""
    if len(a.axes) > 2 or len(b.axes) > 2:
        raise NotImplementedError("matmul currently requires inputs with rank 2 or less, but inputs have ranks "
                                  f"{len(a.axes)!r} and {len(b.axes)!r}")
    if not a.axes or not b.axes:
        raise ValueError(f"matmul currently requires inputs with at least rank 1, but inputs have ranks {len(a.axes)!r} and "
                         f"{len(b.axes)!r}")
    shared = set(a.axes) & set(b.axes)
    if len(shared) > 1:
        raise NotImplementedError(f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use transpose and "
                                  "reshape to create a single shared axis to sum over.")
    if not shared:
        raise ValueError(f"there must have exactly one axis in common between input to matmul: {a.axes.keys()!r}, "
                         f"{b.axes.keys()!r}")
    found: str = shared.pop()
    if a.axes[found] != b.axes[found]:
        raise ValueError(f"axis {found!r} does not match on input arguments: {a.axes[found].value!r} vs {b.axes[found].value!r}")
    return found


def matmul(a: Any, b: Any, name: str | None = None) -> LabeledTensor:
    """The sum over the axis that both have, of products; both have one axis or two.

    Raises ValueError without such an axis or if sizes or labels differ, NotImplementedError for more axes.
    """
    with name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared, order = _shared(a, b), get_axis_order()
        axes = [axis for one in (a, b) for axis in one.axes.values() if axis.name != shared]
        if order is not None and [key for key in order if key in [axis.name for axis in axes]] != [axis.name for axis in axes]:
            a, b, axes = b, a, axes[::-1]
        single = [k for k, one in enumerate((a, b)) if len(one.axes) == 1]
        left = reshape(a.tensor, (1, -1)) if 0 in single else a.tensor
        right = reshape(b.tensor, (-1, 1)) if 1 in single else b.tensor
        made = product(left, right, transpose_a=0 not in single and list(a.axes).index(shared) == 0,
                       transpose_b=1 not in single and list(b.axes).index(shared) == 1)
        return LabeledTensor(same(squeezed(made, single) if single else made, name=scope), axes)


def define_reduce_op(op_name: str, reduce_fn: Callable) -> Callable[..., LabeledTensor]:
    """The function of labeled tensors that a function of a tensor and dimensions is."""

    def op(labeled_tensor: Any, axes: Any = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            one = convert_to_labeled_tensor(labeled_tensor)
            wanted = list(one.axes) if axes is None else [axes] if isinstance(axes, (str, tuple)) else list(axes)
            kept: dict[str, Any] = {}
            for axis in wanted:
                key, label = (axis, None) if isinstance(axis, str) else axis
                if key not in one.axes:
                    raise ValueError(f"Axis {key} not in axes {one.axes}")
                kept[key] = key if isinstance(axis, str) else (key, None if label is None else [label])
            reduced = reduce_fn(one.tensor, [k for k, key in enumerate(one.axes) if key in kept], keepdims=True)
            made = LabeledTensor(reduced, [kept.get(axis.name, axis) for axis in one.axes.values()])
            return squeeze(made, [axis for axis in wanted if isinstance(axis, str)], name=scope)

    op.__name__ = op_name
    op.__doc__ = f"``tf.{op_name}`` along axes, all by default; an axis that is a pair (name, label) stays, with that one place."
    return op


reduce_all = define_reduce_op("reduce_all", reductions.reduce_all)
reduce_any = define_reduce_op("reduce_any", reductions.reduce_any)
reduce_logsumexp = define_reduce_op("reduce_logsumexp", reductions.reduce_logsumexp)
reduce_max = define_reduce_op("reduce_max", reductions.reduce_max)
reduce_mean = define_reduce_op("reduce_mean", reductions.reduce_mean)
reduce_min = define_reduce_op("reduce_min", reductions.reduce_min)
reduce_prod = define_reduce_op("reduce_prod", reductions.reduce_prod)
reduce_sum = define_reduce_op("reduce_sum", reductions.reduce_sum)


def constant(value: Any, dtype: Any = None, axes: Any = None, name: str | None = None) -> LabeledTensor:
    """A constant; where all `axes` have a size, a value of fewer elements fills them."""
    with name_scope(name, "lt_constant", [value]) as scope:
        wanted = list(axes.values()) if isinstance(axes, Axes) else list(axes or [])
        shape = None
        if not any(isinstance(axis, str) for axis in wanted):
            wanted = [as_axis(axis) for axis in wanted]
            shape = [axis.size for axis in wanted]
        return LabeledTensor(constant_of(value, dtype=dtype, shape=shape, name=scope), wanted)


def zeros_like(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """Zeros with the same axes."""
    with name_scope(name, "lt_zeros_like", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(zeros_of(one.tensor, dtype=dtype, name=scope), one.axes)


def ones_like(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """Ones with the same axes."""
    with name_scope(name, "lt_ones_like", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(ones_of(one.tensor, dtype=dtype, name=scope), one.axes)


def cast(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """The same in another dtype."""
    with name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(cast_of(one.tensor, dtype, name=scope), one.axes)


def verify_tensor_all_finite(labeled_tensor: Any, message: str, name: str | None = None) -> LabeledTensor:
    """The same; a run raises InvalidArgumentError, with `message`, for infinities and what is no number."""
    with name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        one = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(verified(one.tensor, msg=message, name=scope), one.axes)


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> LabeledTensor:
    """The elements of `x` where the condition is true, else those of `y`.  Raises ValueError if axes differ."""
    with name_scope(name, "lt_where", [condition, x, y]) as scope:
        condition, x, y = (convert_to_labeled_tensor(one) for one in (condition, x, y))
        if not condition.axes == x.axes == y.axes:
            raise ValueError("all inputs to `where` must have equal axes")
        return LabeledTensor(chosen(condition.tensor, x.tensor, y.tensor, name=scope), x.axes)
