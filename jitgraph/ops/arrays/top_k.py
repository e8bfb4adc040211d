"""The largest elements: top_k, in_top_k, nth_element."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.dtypes import INDEX, REALS
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import expand_dims, plain_sizes, reshape, shape

_OUT = INDEX.with_default(dtypes.int32)


def _top_k_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 1, "input")
    if "k" in c.attrs:
        k: Any = c.attrs["k"]
    else:
        known = shape_rules.scalar_constant(c, 1, "k")
        k = plain_sizes(known)[0] if shape_rules.known(known) else None
    if k is not None and k < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {k}")
    if value is None:
        return [None, None]
    if k is not None and value[-1] is not None and value[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {value[-1]}")
    return [(*value[:-1], k)] * 2


def _top_k_value(input: np.ndarray, k: int) -> tuple:
    if k < 0 or input.shape[-1] < k:
        raise invalid(f"input must have at least k columns. Had {input.shape[-1]}, needed {k}")
    order = np.argsort(_falling(input), -1, kind="stable")[..., :k]      # ties stay in order
    return np.take_along_axis(input, order, -1), order.astype(np.int32)


def _lower_top_k(b: Any, input: Any, k: Any) -> Any:
    """A few, and all where a kernel sorts: a primitive.  Many: NumPy's sort, of the numbers or the places, whichever is used."""
    known = k if isinstance(k, int) else None if k.constant is None else plain_sizes(k.constant)[0]
    if not isinstance(known, int) or not known >= 0 or input.dtype.name == "bool":
        raise NotImplementedError
    if not input.shape[-1] >= known:
        raise invalid(f"input must have at least k columns. Had {input.shape[-1]}, needed {known}")
    if 0 < known <= b.tuning.largest or b.tuning.sorts and input.shape[-1] == known > 0:
        return b.top_k(input, known)
    shape = (*input.shape[:-1], known)
    return [b.host(functools.partial(_top_k_sorted, known), [input], shape, input.dtype),
            b.host(functools.partial(_top_k_places, known), [input], shape, dtypes.int32)]


def _top_k_sorted(k: int, input: np.ndarray) -> np.ndarray:
    return _falling(np.sort(_falling(input), -1)[..., :k]).astype(input.dtype)


def _top_k_places(k: int, input: np.ndarray) -> np.ndarray:
    return _top_k_value(input, k)[1]


def _falling(x: np.ndarray) -> np.ndarray:
    """Numbers in opposite order; NaN is the last in both, which NumPy's sorting does not know of bfloat16."""
    if x.dtype.kind == "V":
        return -x.astype(np.float32)
    return -x if x.dtype.kind == "f" else ~x


@op("TopKV2(input: T, k: int32; sorted: bool = true) -> values: T, indices: int32", T=REALS, shape=_top_k_shape,
    checks=True, lower=_lower_top_k,
    samples=lambda rng, dtype: [[draw(rng, (2, 5), dtype), np.int32(3)], [draw(rng, (4,), dtype), np.int32(1)]])
def _top_k_v2(input, k):
    """The `k` largest elements of each row (last axis) in falling order, and their positions; ties by position."""
    return _top_k_value(input, int(k))


@op("TopK(input: T; k: int >= 0, sorted: bool = true) -> values: T, indices: int32", T=REALS, shape=_top_k_shape,
    checks=True, lower=_lower_top_k,
    samples=lambda rng, dtype: [([draw(rng, (2, 5), dtype)], {"k": 3})])
def _top_k_v1(input, k):
    """As TopKV2, with `k` an attribute."""
    return _top_k_value(input, k)


@gradient_of_nodes(43)
def _top_k_gradient(op, grad, _):
    """The gradient goes to the places the values came from."""
    value, indices = op.inputs[0], op.outputs[1]
    full, picked = shape(value), shape(indices)
    columns, k = full[-1], picked[-1]
    rows = raw.FloorDiv(raw.Prod(full, 0), columns)
    flat = raw.AddV2(reshape(indices, raw.Pack([-1, k])), expand_dims(raw.Mul(raw.Range(0, rows, 1), columns), -1))
    back = raw.ScatterNd(expand_dims(reshape(flat, [-1]), -1), reshape(grad, [-1]), expand_dims(raw.Prod(full, 0), 0))
    return [reshape(back, full), *([None] * (len(op.inputs) - 1))]


_top_k_v2.gradient(_top_k_gradient)
_top_k_v1.gradient(_top_k_gradient)


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """(values, indices): the `k` largest elements along the last axis in falling order, and their positions (int32)."""
    return _top_k_v2(input, k, sorted=sorted, name=name)


def _nth_shape(c: Any) -> Any:
    n, value = shape_rules.scalar_constant(c, 1, "n"), shape_rules.with_rank_at_least(c.shapes[0], 1, "input")
    if shape_rules.known(n) and n < 0:
        raise ValueError(f"n must be non-negative, got {n}")
    if value is None:
        return None
    if shape_rules.known(n) and isinstance(value[-1], int) and value[-1] <= n:
        raise ValueError(f"Input must have last dimension > n = {n} but is {value[-1]}")
    return tuple(value[:-1])


@op("NthElement(input: T, n: int32; reverse: bool = false) -> values: T", T=REALS, shape=_nth_shape, checks=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 5), dtype), np.int32(2)], {"reverse": reverse}) for reverse in (False, True)])
def _nth_element(input, n, reverse):
    """The element at place `n` of each row (last axis) in rising (with `reverse`, falling) order."""
    if not 0 <= n < input.shape[-1]:
        raise invalid(f"Input must have last dimension > n = {n}")
    place = input.shape[-1] - 1 - int(n) if reverse else int(n)
    return np.sort(input, -1)[..., place]


@_nth_element.gradient
def _(op, grad):
    value = op.inputs[0]
    equal = raw.Cast(raw.Equal(expand_dims(op.outputs[0], -1), value), DstT=grad.dtype.base_dtype)
    number = expand_dims(raw.Sum(equal, -1), -1)
    return [raw.Mul(raw.RealDiv(equal, number), expand_dims(grad, -1)), None]


def _in_top_k(predictions: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    rows, classes = predictions.shape
    if len(targets) != rows:
        raise invalid(f"First dimension of predictions {rows} must match length of targets {len(targets)}")
    valid = (targets >= 0) & (targets < classes)
    chosen = predictions[np.arange(rows), np.where(valid, targets, 0)]
    better = (predictions > chosen[:, None]).sum(1)
    # a row with a number that is not finite gives no answer
    return valid & np.isfinite(chosen) & np.isfinite(predictions).all(1) & (better < k)


def _lower_in_top_k(b: Any, predictions: Any, targets: Any, k: Any) -> Any:
    if not isinstance(k, int) and k.rank:
        return NotImplemented
    rows, classes = predictions.shape
    column = lambda v: b.reshape(v, (rows, 1))
    hit = prim.eq(column(b.cast(targets, dtypes.int64)), b.iota((rows, classes), 1, dtypes.int64))
    chosen = b.reduce("add", prim.select(hit, predictions, 0), [1])
    better = b.reduce("add", b.cast(predictions > column(chosen), dtypes.int32), [1])
    plain = prim.logical_and(b.reduce("and", prim.is_finite(predictions), [1]), b.reduce("or", hit, [1]))
    limit = k if isinstance(k, int) else b.cast(k, dtypes.int32)
    return prim.logical_and(plain, better < limit)


def _in_top_k_shape(c: Any) -> Any:
    predictions = shape_rules.with_rank(c.shapes[0], 2, "predictions")
    targets = shape_rules.with_rank(c.shapes[1], 1, "targets")
    return (shape_rules.merge_sizes(predictions[0], targets[0]),)


@op("InTopK(predictions: float32, targets: T; k: int) -> precision: bool", T=_OUT, shape=_in_top_k_shape,
    lower=_lower_in_top_k,
    samples=lambda rng, dtype: [([draw(rng, (3, 4), np.float32), np.array([0, 3, 1], dtype)], {"k": 2})])
def _in_top_k_v1(predictions, targets, k):
    """Whether each target class is among the `k` highest predictions of its row; ties count as in."""
    return _in_top_k(predictions, targets, k)


@op("InTopKV2(predictions: float32, targets: T, k: T) -> precision: bool", T=_OUT, shape=_in_top_k_shape,
    lower=_lower_in_top_k,
    samples=lambda rng, dtype: [[draw(rng, (3, 4), np.float32), np.array([0, 3, 1], dtype), np.array(2, dtype)]])
def _in_top_k_v2(predictions, targets, k):
    """Whether each target class is among the `k` highest predictions of its row; ties count as in."""
    return _in_top_k(predictions, targets, int(k))


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """bool [batch]: whether the class `targets` is among the `k` highest of `predictions` [batch, classes].

    Classes that tie with the k-th highest count as in.
    """
    with name_scope(name, "in_top_k"):
        return _in_top_k_v2(predictions, targets, k, name=name)
