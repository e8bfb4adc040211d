"""Diagonals, bands and triangles of matrices."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dispatch import dispatchable
from jitgraph.graph.dtypes import COMPLEX, FLOATS, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import plain_sizes

_INDEX = TypeSet(dtypes.int32, dtypes.int64)
_DIAGONAL = FLOATS + _INDEX + COMPLEX


# -- batches of matrices -------------------------------------------------------------------------------------------

def _diag_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 1, "diagonal")
    return None if value is None else (*value, value[-1])


def _on_diagonal(b: Any, rows: Any, columns: Any) -> Any:
    return prim.eq(b.iota((rows, columns), 0, dtypes.int64), b.iota((rows, columns), 1, dtypes.int64))


def lower_matrix_diag(b: Any, diagonal: Any, elsewhere: Any = 0) -> Any:
    """Kernels of MatrixDiag: `elsewhere`, a scalar, beside the diagonals."""
    n = diagonal.shape[-1]
    return prim.select(_on_diagonal(b, n, n), b.reshape(diagonal, (*diagonal.shape, 1)), elsewhere)


def _diagonal_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (3,), dtype)], [draw(rng, (2, 3), dtype)]]


@op("MatrixDiag(diagonal: T) -> output: T", shape=_diag_shape, lower=lower_matrix_diag, samples=_diagonal_samples)
def _matrix_diag(diagonal):
    """Matrices with the given main diagonals (last axis) and zeros elsewhere."""
    n = diagonal.shape[-1]
    result = np.zeros((*diagonal.shape, n), diagonal.dtype)
    result[..., np.arange(n), np.arange(n)] = diagonal
    return result


@_matrix_diag.gradient
def _(op, grad):
    return raw.MatrixDiagPart(grad)


def _diag_part_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 2, "input")
    return None if value is None else (*value[:-2], shape_rules.smaller_size(value[-2], value[-1]))


def lower_diag_part(b: Any, x: Any, below: int = 0, right: int = 0) -> Any:
    """Kernels of MatrixDiagPart, of the diagonal `below` the main one or to its `right`.

    In a row of all elements, one after another, those of a diagonal are as far apart as a line of the matrix is long, and one.
    """
    *lead, rows, columns = x.shape
    length = shape_rules.smaller_size(rows - below, columns - right)
    if length is None:
        return NotImplemented
    row = b.reshape(x, (*lead, rows * columns))
    unit = (1,) * len(lead)
    return b.slice(row, (*[0] * len(lead), below * columns + right), (*lead, length), (*unit, columns + 1))


def _diag_part_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (3, 3), dtype)], [draw(rng, (2, 3, 4), dtype)]]


@op("MatrixDiagPart(input: T) -> diagonal: T", shape=_diag_part_shape, lower=lower_diag_part, samples=_diag_part_samples)
def _matrix_diag_part(input):
    """The main diagonals of matrices."""
    return np.diagonal(input, axis1=-2, axis2=-1).copy()


@_matrix_diag_part.gradient
def _(op, grad):
    known = op.inputs[0]._shape
    if known is not None and known[-1] is not None and known[-1] == known[-2]:
        return raw.MatrixDiag(grad)
    return raw.MatrixSetDiag(raw.ZerosLike(op.inputs[0]), grad)


def _set_diag_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 2, "input")
    diagonal = shape_rules.with_rank_at_least(c.shapes[1], 1, "diagonal")
    if diagonal is None:
        return value
    value = (*[None] * (len(diagonal) + 1),) if value is None else value
    merged = shape_rules.merge((*value[:-2], shape_rules.smaller_size(value[-2], value[-1])), tuple(diagonal))
    return (*merged[:-1], *value[-2:])


def lower_set_diag(b: Any, x: Any, diagonal: Any) -> Any:
    """Kernels of MatrixSetDiag."""
    rows, columns = x.shape[-2:]
    spread = (*diagonal.shape, 1) if not rows > columns else (*diagonal.shape[:-1], 1, diagonal.shape[-1])
    return prim.select(_on_diagonal(b, rows, columns), b.reshape(diagonal, spread), x)


@op("MatrixSetDiag(input: T, diagonal: T) -> output: T", shape=_set_diag_shape, lower=lower_set_diag,
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 4), dtype), draw(rng, (2, 3), dtype)]])
def _matrix_set_diag(input, diagonal):
    """The matrices `input` with other main diagonals."""
    n = min(input.shape[-2:])
    if diagonal.shape != (*input.shape[:-2], n):
        raise invalid(f"must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but received input shape: "
                      f"{list(input.shape)} and diagonal shape: {list(diagonal.shape)}")
    result = input.copy()
    result[..., np.arange(n), np.arange(n)] = diagonal
    return result


@_matrix_set_diag.gradient
def _(op, grad):
    diagonal = op.inputs[1]
    known = diagonal._shape
    full = op.inputs[0]._shape
    if full is None or None in full[-2:] or None in shape_rules.merge(full[:-2], None if known is None else known[:-1]):
        count_nodes(18)             # TensorFlow computes the shape of the diagonal
    blank = raw.ZerosLike(diagonal) if known is None or None in known else zeros(known, grad.dtype.base_dtype)
    return [raw.MatrixSetDiag(grad, blank), raw.MatrixDiagPart(grad)]


def _band(rows: Any, columns: Any, lower: Any, upper: Any) -> Any:
    """Which elements of a matrix lie in a band, given its distance from the diagonal."""
    return ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))


def _lower_band_part(b: Any, x: Any, num_lower: Any, num_upper: Any) -> Any:
    if num_lower.constant is None or num_upper.constant is None:
        return NotImplemented
    lower, upper = plain_sizes(num_lower.constant)[0], plain_sizes(num_upper.constant)[0]
    size = tuple(x.shape[-2:])
    if size[0] < lower or size[1] < upper:
        raise ValueError("The band is larger than the matrix.")     # which the meaning says in full
    distance = b.iota(size, 0, dtypes.int64) - b.iota(size, 1, dtypes.int64)
    inside = None
    if not lower < 0:
        inside = distance <= b.const(lower, dtypes.int64)
    if not upper < 0:
        above = -distance <= b.const(upper, dtypes.int64)
        inside = above if inside is None else prim.logical_and(inside, above)
    return x if inside is None else prim.select(inside, x, 0)


def _band_part_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, np.int64(low), np.int64(high)] for low, high in ((0, 0), (1, -1), (-1, 0), (-1, -1))]


@op("MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> band: T", Tindex=_INDEX.with_default(dtypes.int64),
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[0], 2, "input"), lower=_lower_band_part,
    samples=_band_part_samples)
def _matrix_band_part(input, num_lower, num_upper):
    """The matrices with zeros outside a band of `num_lower` diagonals below the main one and `num_upper` above it."""
    rows, columns = input.shape[-2:]
    if num_lower > rows:
        raise invalid(f"num_lower must be negative or less or equal to number of rows ({rows}) got: {num_lower}")
    if num_upper > columns:
        raise invalid(f"num_upper must be negative or less or equal to number of columns ({columns}) got: {num_upper}")
    inside = _band(np.arange(rows)[:, None], np.arange(columns), int(num_lower), int(num_upper))
    return np.where(inside, input, np.zeros((), input.dtype))


@_matrix_band_part.gradient
def _(op, grad):
    return [raw.MatrixBandPart(grad, op.inputs[1], op.inputs[2]), None, None]


# -- tensors as matrices -------------------------------------------------------------------------------------------

def _lower_diag(b: Any, diagonal: Any) -> Any:
    flat = b.reshape(diagonal, (shape_rules.product(diagonal.shape),))
    return b.reshape(lower_matrix_diag(b, flat), (*diagonal.shape, *diagonal.shape))


def _lower_tensor_diag_part(b: Any, x: Any) -> Any:
    half = tuple(x.shape[:len(x.shape) // 2])
    count = shape_rules.product(half)
    return b.reshape(lower_diag_part(b, b.reshape(x, (count, count))), half)


def _tensor_diag_shape(c: Any) -> Any:
    diagonal = shape_rules.with_rank_at_least(c.shapes[0], 1, "diagonal")
    return None if diagonal is None else (*diagonal, *diagonal)


@op("Diag(diagonal: T) -> output: T", T=_DIAGONAL, lower=_lower_diag,
    shape=_tensor_diag_shape, samples=_diagonal_samples)
def _diag(diagonal):
    """A tensor of twice the rank, with `diagonal` where both halves of the index agree and zeros elsewhere."""
    return np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@_diag.gradient
def _(op, grad):
    return raw.DiagPart(grad)


def _tensor_diag_part_shape(c: Any) -> Any:
    value = c.shapes[0]
    if value is None:
        return None
    if len(value) % 2 or not value:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(value)}")
    half = len(value) // 2
    return shape_rules.merge(tuple(value[:half]), tuple(value[half:]))


@op("DiagPart(input: T) -> diagonal: T", T=_DIAGONAL, shape=_tensor_diag_part_shape, lower=_lower_tensor_diag_part,
    samples=lambda rng, dtype: [[draw(rng, (3, 3), dtype)], [draw(rng, (2, 3, 2, 3), dtype)]])
def _diag_part(input):
    """The elements of a tensor of even rank for which both halves of the index agree."""
    half = input.shape[:input.ndim // 2]
    count = int(np.prod(half))
    return np.diagonal(input.reshape(count, count)).reshape(half).copy()


@_diag_part.gradient
def _(op, grad):
    return raw.Diag(grad)


# -- public functions ----------------------------------------------------------------------------------------------

def matrix_diag(diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
                padding_value: Any = 0) -> Any:
    """Matrices [..., n, n] with the main diagonals `diagonal` [..., n] and zeros elsewhere.

    `k`: another diagonal, or the first and last of several, which `diagonal` [..., number, length] has row by row from
    the last.  `num_rows`, `num_cols`: the sizes, as small as can be if -1.  `padding_value`: what stands elsewhere.
    """
    if not (_is(k, 0) and _is(num_rows, -1) and _is(num_cols, -1) and _is(padding_value, 0)):
        diagonal = convert_to_tensor(diagonal, name="diagonal")
        return raw.MatrixDiagV2(diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal), name=name or "diag")
    return _matrix_diag(diagonal, name=name or "diag")


@dispatchable
def matrix_diag_part(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0) -> Any:
    """The main diagonals [..., min(m, n)] of matrices [..., m, n].

    `k`: another diagonal, or the first and last of several, the shorter ones continued with `padding_value`.
    """
    if not (_is(k, 0) and _is(padding_value, 0)):
        input = convert_to_tensor(input, name="input")
        return raw.MatrixDiagPartV2(input, k, _padding(padding_value, input), name=name or "diag_part")
    return _matrix_diag_part(input, name=name or "diag_part")


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0) -> Any:
    """The matrices `input` with other main diagonals, or other diagonals `k` (a number, or the first and last)."""
    if not _is(k, 0):
        return raw.MatrixSetDiagV2(input, diagonal, k, name=name or "set_diag")
    return _matrix_set_diag(input, diagonal, name=name or "set_diag")


def _is(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number


def _padding(value: Any, like: Any) -> Any:
    if like.dtype.is_bool and isinstance(value, (int, float)):
        value = bool(value)
    return convert_to_tensor(value, like.dtype.base_dtype, name="padding_value")


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """The matrices with zeros more than `num_lower` below and `num_upper` above the diagonal; negative keeps all."""
    return _matrix_band_part(input, num_lower, num_upper, name=name)


def diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the rank with `diagonal` on its diagonal."""
    return _diag(diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor of even rank, whose two halves of the shape are equal."""
    return _diag_part(input, name=name)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The last two dimensions of `a` exchanged.  Raises ValueError if there are not two."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        known = a._shape
        if known is not None:
            if len(known) < 2:
                raise ValueError("Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: "
                                 f"{a.shape}")
            perm: Any = [*range(len(known) - 2), len(known) - 1, len(known) - 2]
        else:
            count = raw.Rank(a)
            perm = concat([raw.Range(0, count - 2, 1), [count - 1, count - 2]], 0)
        return transpose(a, perm=perm, conjugate=conjugate)


def _all_ints(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(v, (int, np.integer)) for v in values)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> Any:
    """The identity matrix [num_rows, num_columns], or a batch of them of shape `batch_shape`.

    Raises TypeError for numbers of rows and columns that are neither integers nor tensors.
    """
    with name_scope(name, default_name="eye", values=[num_rows, num_columns, batch_shape]):
        square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if square else num_columns
        shortest: Any
        if isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor):
            shortest = raw.Minimum(num_rows, num_columns)
        else:
            if not _all_ints([num_rows, num_columns]):
                raise TypeError("num_rows and num_columns must be positive integer values.")
            square, shortest = num_rows == num_columns, min(num_rows, num_columns)
        if isinstance(batch_shape, Tensor) or isinstance(shortest, Tensor):
            batch_shape = convert_to_tensor(batch_shape, name="shape", dtype=dtypes.int32)
            diagonal_shape: Any = concat((batch_shape, [shortest]), axis=0)
            full: Any = None if square else concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            diagonal_shape = [*batch_shape, shortest]
            full = [*batch_shape, num_rows, num_columns]
        diagonal = ones(diagonal_shape, dtype=as_dtype(dtype))
        if square:
            return matrix_diag(diagonal, name="diag")
        return matrix_set_diag(zeros(full, dtype=as_dtype(dtype)), diagonal, name="set_diag")
