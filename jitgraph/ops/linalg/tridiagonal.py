"""Systems and products with tridiagonal matrices."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.matrix_parts import matrix_transpose
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.linalg import linalg_gradients

_T = TypeSet(dtypes.float64, dtypes.float32, dtypes.complex64, dtypes.complex128)


def _matrices(diagonals: np.ndarray) -> np.ndarray:
    """Full matrices from the diagonals [..., 3, n] above, on and below the main one."""
    n = diagonals.shape[-1]
    full = np.zeros((*diagonals.shape[:-2], n, n), diagonals.dtype)
    i = np.arange(n)
    full[..., i[:-1], i[1:]] = diagonals[..., 0, :-1]
    full[..., i, i] = diagonals[..., 1, :]
    full[..., i[1:], i[:-1]] = diagonals[..., 2, 1:]
    return full


def _samples(rng, dtype):
    def dominant(*batch):
        diagonals = draw(rng, (*batch, 3, 4), dtype, -1, 1)
        diagonals[..., 1, :] += 4
        return diagonals

    return [[dominant(), draw(rng, (4, 2), dtype)], [dominant(2), draw(rng, (2, 4, 1), dtype)]]


@op("TridiagonalSolve(diagonals: T, rhs: T; partial_pivoting: bool = True) -> output: T", T=_T, host=True,
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[1], 2), grad=linalg_gradients.tridiagonal_solve, samples=_samples,
    reference=lambda diagonals, rhs: np.linalg.solve(_matrices(diagonals), rhs))
def _tridiagonal_solve(diagonals, rhs, partial_pivoting):
    """The solution of systems whose matrices have the diagonals [..., 3, n]: above (last element unused), on and below
    (first unused) the main diagonal.  Raises InvalidArgumentError if an element to divide by is 0."""
    import scipy.linalg

    from jitgraph.declare.invalid import invalid

    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    bands = diagonals.copy()
    bands[..., 0, 1:], bands[..., 2, :-1] = diagonals[..., 0, :-1], diagonals[..., 2, 1:]
    bands[..., 0, 0] = bands[..., 2, -1] = 0
    result = np.empty(rhs.shape, rhs.dtype)
    try:
        for index in np.ndindex(*rhs.shape[:-2]):
            result[index] = scipy.linalg.solve_banded((1, 1), bands[index], rhs[index], check_finite=False)
    except np.linalg.LinAlgError:
        raise invalid("The first element of diagonal is zero, or the matrix is singular.") from None
    return result


def _product_samples(rng, dtype):
    return [[*(draw(rng, (*batch, 1, 4), dtype) for _ in range(3)), draw(rng, (*batch, 4, 2), dtype)]
            for batch in ((), (2,))]


@op("TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> output: T", T=_T, host=True,
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[3], 2), grad=linalg_gradients.tridiagonal_matmul,
    samples=_product_samples,
    reference=lambda superdiag, maindiag, subdiag, rhs: _matrices(
        np.concatenate([superdiag, maindiag, subdiag], -2)) @ rhs)
def _tridiagonal_matmul(superdiag, maindiag, subdiag, rhs):
    """The product of a tridiagonal matrix, given by its diagonals [..., 1, n], with `rhs` [..., n, k]."""
    above, main, below = (np.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
    result = main * rhs
    result[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return result


# -- public functions --------------------------------------------------------------------------------------------------

def _last(x: Tensor, axis: int = -1) -> Any:
    return None if x._shape is None else x._shape[axis]


def _padded(x: Tensor, n: Any, before: int, what: str) -> Tensor:
    """A diagonal beside the main one, filled up to the length of the main one."""
    length = _last(x)
    if not length or length == n:
        return x
    if length != n - 1:
        raise ValueError(f"Expected {what} to be have length {n} or {n - 1}, got {length}.")
    return raw.Pad(x, [[0, 0]] * (len(x._shape) - 1) + [[before, 1 - before]])


def _from_matrix(matrix: Tensor) -> list[Tensor]:
    n, rows = _last(matrix), _last(matrix, -2)
    if n and rows and n != rows:
        raise ValueError(f"Expected last two dimensions of diagonals to be same, got {n} and {rows}")
    n = n or rows
    if not n:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    main = raw.MatrixDiagPart(matrix)
    above, below = raw.MatrixDiagPart(matrix[..., :, 1:]), raw.MatrixDiagPart(matrix[..., 1:, :])
    return [_padded(above, n, 0, "superdiagonal"), main, _padded(below, n, 1, "subdiagonal")]


def _diagonals(diagonals: Any, diagonals_format: str) -> list[Tensor]:
    if diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals)
        return [diagonals[..., i, :] for i in range(3)]
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = (convert_to_tensor(d) for d in diagonals)
        return [_padded(above, _last(main), 0, "superdiagonal"), main, _padded(below, _last(main), 1, "subdiagonal")]
    if diagonals_format == "matrix":
        return _from_matrix(convert_to_tensor(diagonals))
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def tridiagonal_solve(diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False,
                      conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True) -> Tensor:
    """The solutions of tridiagonal systems, of the shape of `rhs` ([..., n] or [..., n, k]).

    `diagonals` is a tensor [..., 3, n] ("compact"), three tensors for the diagonal above, on and below the main one
    ("sequence"), or full matrices ("matrix").  Raises ValueError if shapes do not fit.
    """
    compact = convert_to_tensor(diagonals) if diagonals_format == "compact" else \
        raw.Pack(_diagonals(diagonals, diagonals_format), axis=-2)
    rhs = convert_to_tensor(rhs)
    rank, rhs_rank = len(compact.shape), len(rhs.shape)
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if _last(compact, -2) not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {_last(compact, -2)}")
    vectors = rhs_rank == rank - 1
    if vectors:
        rhs = raw.ExpandDims(conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    rows, unknowns = _last(compact), _last(rhs, -2)
    if rows and unknowns and rows != unknowns:
        raise ValueError("Expected number of left-hand sided and right-hand sides to be equal, got "
                         f"{rows} and {unknowns}")
    found = _tridiagonal_solve(compact, rhs, partial_pivoting=partial_pivoting, name=name)
    if vectors:
        return raw.Squeeze(found, squeeze_dims=[-1])
    return matrix_transpose(found) if transpose_rhs else found


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """The product of tridiagonal matrices, given as for ``tridiagonal_solve``, with `rhs` [..., n, k]."""
    rows = [raw.ExpandDims(d, -2) for d in _diagonals(diagonals, diagonals_format)]
    return _tridiagonal_matmul(*rows, rhs, name=name)
