"""Percentiles of values, triangular matrices of vectors, and sums of weighted exponentials."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape, shape
from jitgraph.ops.arrays.shape import squeeze as without
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.checks.check_values import assert_greater_equal, assert_less_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_max, reduce_sum

_ROUNDED: dict[str, Callable] = {"lower": raw.Ceil, "higher": raw.Floor, "nearest": raw.Round}


def percentile(x: Any, q: Any, axis: Any = None, interpolation: str | None = None, keep_dims: bool = False,
               validate_args: bool = False, name: str | None = None) -> Tensor:
    """The value below which `q` percent (a scalar) of the values along `axis` are, all of them without it.

    `interpolation`: which of two values it is, "lower", "higher" or "nearest", in the order of the values.  Raises
    ValueError for another one, for axes that are not there, and if `axis` is not known; a run raises InvalidArgumentError
    for a `q` that is not within 0 and 100, with `validate_args`.
    """
    chosen = "nearest" if interpolation is None else interpolation
    if chosen not in _ROUNDED:
        raise ValueError(f"Argument 'interpolation' must be in {set(_ROUNDED)}.  Found {interpolation}")
    with name_scope(name or "percentile", None, [x, q]):
        x, q = convert_to_tensor(x, name="x"), cast(convert_to_tensor(q), dtypes.float64)
        if q.shape.ndims not in (None, 0):
            raise ValueError(f"Expected argument 'x' to have ndims 0.  Found tensor {q}")
        if validate_args:
            q = with_dependencies([assert_greater_equal(q, np.float64(0)), assert_less_equal(q, np.float64(100))], q)
        axes = None if axis is None else _axes(x, axis)
        rows = reshape(x, [-1]) if axes is None else _flat_at_end(x, axes)
        count = shape(rows)[-1]
        place = _ROUNDED[chosen]((cast(count, dtypes.float64) - 1.0) * (1.0 - q / 100.0))
        index = raw.Maximum(raw.Minimum(cast(place, dtypes.int32), count - 1), 0)
        found = top_k(rows, k=count)[0][..., index]
        found.set_shape(rows.shape[:-1])
        if keep_dims:
            for one in range(x.shape.ndims or 0) if axes is None else sorted(axes):
                found = expand_dims(found, one)
        return found


def _axes(x: Tensor, axis: Any) -> list[int]:
    known, rank = constant_value(convert_to_tensor(axis, name="axis")), x.shape.ndims
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {axis}")
    if not rank:
        raise ValueError(f"Expected argument 'x' to have ndims >= 1.  Found tensor {x}")
    for one in np.ravel(known):
        if one >= rank:
            raise ValueError(f"dim {one} not in the interval [0, {rank - 1}].")
        if one < -rank:
            raise ValueError(f"Negatively indexed dim {one} not in the interval [-{rank}, -1]")
    return [int(one) % rank for one in np.ravel(known)]


def _flat_at_end(x: Tensor, axes: list[int]) -> Tensor:
    """The values along `axes` as the last dimension."""
    front = [one for one in range(x.shape.ndims or 0) if one not in axes]
    turned = raw.Transpose(x, [*front, *axes])
    found = reshape(turned, concat([shape(turned)[:len(front)], [-1]], 0))
    sizes = [x.shape[one].value for one in axes]
    found.set_shape([*(x.shape[one].value for one in front), None if None in sizes else int(np.prod(sizes))])
    return found


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """A triangular matrix [..., n, n] of the n (n + 1) / 2 numbers of a vector, in a spiral.

    Raises ValueError for another number of them; if only a run knows it, that fails.
    """
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        x.shape.with_rank_at_least(1)
        count = x.shape[-1].value
        if count is None:
            size: Any = cast(sqrt(0.25 + cast(2 * shape(x)[-1], dtypes.float64)) - 0.5, dtypes.int32)
        else:
            size = int(np.sqrt(0.25 + 2.0 * count) - 0.5)
        if count is not None and size * (size + 1) != 2 * count:
            raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
        parts = [x, raw.ReverseV2(x[..., size:], [-1])] if upper else [x[..., size:], raw.ReverseV2(x, [-1])]
        square = reshape(concat(parts, -1), concat([shape(x)[:-1], [size, size]], 0))
        found = raw.MatrixBandPart(square, 0 if upper else -1, -1 if upper else 0)
        if count is not None:
            found.set_shape(x.shape[:-1].concatenate([size, size]))
        return found


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The vector of which ``fill_triangular`` makes the matrix `x`."""
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        x.shape.with_rank_at_least(2)
        known = x.shape[-1].value
        size = shape(x)[-1] if known is None else known
        first = x[..., 0, :] if upper else raw.ReverseV2(x[..., -1, :], [-1])
        rest = x[..., 1:, :] if upper else x[..., :-1, :]
        both = reshape(rest + raw.ReverseV2(rest, [-1, -2]), concat([shape(x)[:-2], [size * (size - 1)]], 0))
        found = concat([first, both[..., :size * (size - 1) // 2]], -1)
        if known is not None:
            found.set_shape(x.shape[:-2].concatenate([known * (known + 1) // 2]))
        return found


def matrix_diag_transform(matrix: Any, transform: Callable | None = None, name: str | None = None) -> Tensor:
    """A matrix whose diagonal is what `transform` gives for it."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return matrix if transform is None else raw.MatrixSetDiag(matrix, transform(raw.MatrixDiagPart(matrix)))


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Tensor:
    """The matrix with these three diagonals; what is None is 0.  Raises ValueError if all are."""
    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        for given, rows, columns in ((below, slice(-1), slice(1, None)), (diag, None, None), (above, slice(1, None), slice(-1))):
            if given is None:
                continue
            line = convert_to_tensor(given)
            if rows is None:
                parts.append(raw.MatrixDiag(line))
                continue
            zero = raw.ZerosLike(line[..., :1])
            parts.append(raw.MatrixDiag(concat([zero, line, zero], -1))[..., rows, columns])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return sum(parts[1:], parts[0])


def reduce_weighted_logsumexp(logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False, return_sign: bool = False,
                              name: str | None = None) -> Any:
    """``log(abs(sum(w exp(logx))))`` without overflow; with `return_sign` also the sign of the sum."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            found = reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (found, raw.OnesLike(found)) if return_sign else found
        w = convert_to_tensor(w, logx.dtype, "w")
        sizes = logx + raw.Log(raw.Abs(w))
        largest = reduce_max(sizes, axis=axis, keepdims=True)
        largest = raw.SelectV2(raw.IsInf(largest), raw.ZerosLike(largest), largest)
        total = reduce_sum(raw.Sign(w) * raw.Exp(sizes - largest), axis=axis, keepdims=keep_dims)
        sign = raw.Sign(total)
        found = (largest if keep_dims else without(largest, axis)) + raw.Log(sign * total)
        return (found, sign) if return_sign else found
