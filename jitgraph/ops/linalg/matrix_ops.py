"""Ops of linear algebra on batches of matrices: factorizations, inverses, determinants, solvers.

LAPACK does the work, by way of NumPy and SciPy.  Leading dimensions are a batch; float16 is computed in float32.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.ops.linalg import linalg_gradients
from jitgraph.ops.linalg.one_thread import on_one_thread

_T = TypeSet(dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)
_ALONE = 32             # rows from which a matrix is worth a call of its own
_SINGULAR = "Input is not invertible."
_SINGULAR_MATRIX = "Input matrix is not invertible."


# -- shapes, precision and batches -------------------------------------------------------------------------------------

def _square(shape: Any) -> Any:
    """`shape`, checked to be that of square matrices."""
    shape = shape_rules.with_rank_at_least(shape, 2)
    if shape is None:
        return None
    n = shape_rules.merge_sizes(shape[-2], shape[-1])
    return (*shape[:-2], n, n)


def _square_shape(c: Any) -> Any:
    return _square(c.shapes[0])


def _batch_shape(c: Any) -> Any:
    shape = _square(c.shapes[0])
    return None if shape is None else shape[:-2]


def _solution_shape(c: Any) -> Any:
    matrix = _square(c.shapes[0])
    rhs = shape_rules.with_rank_at_least(c.shapes[1], 2)
    if matrix is None or rhs is None:
        return rhs if matrix is None else (*matrix[:-1], None)
    batch = shape_rules.merge(tuple(matrix[:-2]), tuple(rhs[:-2]))
    return (*batch, shape_rules.merge_sizes(matrix[-1], rhs[-2]), rhs[-1])


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _check_square(*matrices: np.ndarray) -> None:
    for x in matrices:
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise invalid(f"Input must be a batch of square matrices, got shape {list(x.shape)}")


def _each(function: Callable, *arrays: np.ndarray) -> np.ndarray:
    """`function` of the matrices of every batch position, stacked again; arrays have the same batch."""
    batch = arrays[0].shape[:-2]
    if not batch:
        return np.asarray(function(*arrays))
    flat = [a.reshape(-1, *a.shape[-2:]) for a in arrays]
    parts = [np.asarray(function(*matrices)) for matrices in zip(*flat)]
    return np.stack(parts).reshape(*batch, *parts[0].shape)


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


# -- samples -----------------------------------------------------------------------------------------------------------

def _regular(rng: Any, shape: tuple, dtype: Any) -> np.ndarray:
    """Matrices far from singular."""
    return draw(rng, shape, dtype, -1, 1) + np.asarray(3 * np.eye(shape[-2], shape[-1]), dtype)


def _positive(rng: Any, shape: tuple, dtype: Any) -> np.ndarray:
    """Self-adjoint positive definite matrices with distinct eigenvalues."""
    n = shape[-1]
    a = _wide(draw(rng, shape, dtype, -0.5, 0.5))
    return (a @ _adjoint(a) + np.diag(np.arange(1, n + 1))).astype(dtype)


def _positive_samples(rng, dtype):
    return [[_positive(rng, shape, dtype)] for shape in ((3, 3), (2, 2, 2), (1, 1))] + [[np.zeros((0, 0), dtype)]]


def _regular_samples(rng, dtype):
    return [[_regular(rng, shape, dtype)] for shape in ((3, 3), (2, 2, 2))] + [[np.zeros((0, 0), dtype)]]


def _adjoint_samples(rng, dtype):
    return [(x, {"adjoint": adjoint}) for adjoint in (False, True) for x in _regular_samples(rng, dtype)]


def _system_samples(rng, dtype):
    pairs = [[_regular(rng, (3, 3), dtype), draw(rng, (3, 2), dtype)],
             [_regular(rng, (2, 2, 2), dtype), draw(rng, (2, 2, 1), dtype)],
             [np.zeros((0, 0), dtype), np.zeros((0, 2), dtype)]]
    return [(pair, {"adjoint": adjoint}) for adjoint in (False, True) for pair in pairs]


# -- factorizations ----------------------------------------------------------------------------------------------------

@op("Cholesky(input: T) -> output: T", T=_T, shape=_square_shape, host=True, checks=True, grad=linalg_gradients.cholesky,
    on_device=lambda b, x: b.primitive("cholesky", [x], x.shape), samples=_positive_samples,
    gradient_differs="of symmetric matrices, whose elements cannot be moved one at a time; see tests/ops/recorded",
    host_because="LAPACK's: 32 of 16 x 16 take 0.27 of TensorFlow's time, one of 512 x 512 0.13")
@on_one_thread
def cholesky(input):
    """The lower triangular L with ``L L^H = input``; only the lower triangle of the input is read."""
    _check_square(input)
    factor = np.linalg.cholesky if input.shape[-1] < _ALONE else functools.partial(_each, _cholesky_of_one)
    try:
        return factor(_wide(input)).astype(input.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise invalid("Cholesky decomposition was not successful. The input might not be valid.") from None


def _cholesky_of_one(matrix: np.ndarray) -> np.ndarray:
    """The same of one matrix by SciPy's LAPACK, which works in this thread alone: NumPy's has threads of its own, for which the
    pool's leave no core.  The transpose is what Fortran takes the matrix for, and its upper factor that of L."""
    import scipy.linalg

    upper, failed = scipy.linalg.lapack.get_lapack_funcs(("potrf",), (matrix,))[0](matrix.T, lower=0, clean=1)
    if failed:
        raise np.linalg.LinAlgError
    return upper.T


@op("CholeskyGrad(l: T, grad: T) -> output: T", T=TypeSet(dtypes.float16, dtypes.float32, dtypes.float64), host=True,
    shape=lambda c: shape_rules.merge(_square(c.shapes[0]), _square(c.shapes[1])),
    samples=lambda rng, dtype: [[np.tril(_positive(rng, (3, 3), dtype)), np.tril(draw(rng, (3, 3), dtype))]])
@on_one_thread
def _cholesky_grad(l, grad):
    """The gradient of Cholesky from its output `l` and the gradient of that."""
    factor, middle = _wide(l), np.tril(np.swapaxes(_wide(l), -1, -2) @ _wide(grad))
    n = np.arange(l.shape[-1])
    middle[..., n, n] *= 0.5
    inverse = np.linalg.inv(factor)
    result = np.swapaxes(inverse, -1, -2) @ middle @ inverse
    return ((result + np.swapaxes(result, -1, -2)) / 2).astype(l.dtype)


def _qr_shape(c: Any) -> Any:
    shape = shape_rules.with_rank_at_least(c.shapes[0], 2)
    if shape is None:
        return [None, None]
    m, n = shape[-2:]
    p = shape_rules.smaller_size(m, n)
    if c.attrs["full_matrices"]:
        return [(*shape[:-2], m, m), (*shape[:-2], m, n)]
    return [(*shape[:-2], m, p), (*shape[:-2], p, n)]


def _rectangles(rng, dtype):
    return [draw(rng, (3, 2), dtype), draw(rng, (2, 3, 3), dtype), draw(rng, (2, 3), dtype)]


@op("Qr(input: T; full_matrices: bool = False) -> q: T, r: T", T=_T, shape=_qr_shape, host=True, grad=linalg_gradients.qr,
    samples=lambda rng, dtype: [([x], {"full_matrices": full}) for x in _rectangles(rng, dtype)[:2]
                                for full in (False, True) if dtype.kind != "c" and not (full and x.ndim == 2)])
@on_one_thread
def qr(input, full_matrices):
    """``input = q r`` with orthonormal columns of q and upper triangular r."""
    q, r = np.linalg.qr(_wide(input), mode="complete" if full_matrices else "reduced")
    return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)


def _svd_shape(c: Any) -> Any:
    shape = shape_rules.with_rank_at_least(c.shapes[0], 2)
    if shape is None:
        return [None, (0,), (0,)] if not c.attrs["compute_uv"] else [None, None, None]
    batch, (m, n) = shape[:-2], shape[-2:]
    p = shape_rules.smaller_size(m, n)
    if not c.attrs["compute_uv"]:
        return [(*batch, p), (0,), (0,)]
    if c.attrs["full_matrices"]:
        return [(*batch, p), (*batch, m, m), (*batch, n, n)]
    return [(*batch, p), (*batch, m, p), (*batch, n, p)]


@op("Svd(input: T; compute_uv: bool = True, full_matrices: bool = False) -> s: T, u: T, v: T", T=_T, shape=_svd_shape,
    host=True, grad=linalg_gradients.svd,
    samples=lambda rng, dtype: [([x], {"compute_uv": uv}) for x in _rectangles(rng, dtype)
                                for uv in (False, True) if not (uv and dtype.kind == "c")])
@on_one_thread
def _svd(input, compute_uv, full_matrices):
    """``input = u diag(s) v^H``; u and v are empty unless compute_uv."""
    try:
        if not compute_uv:
            s = np.linalg.svd(_wide(input), compute_uv=False)
            return s.astype(input.dtype), np.zeros(0, input.dtype), np.zeros(0, input.dtype)
        u, s, adjoint = np.linalg.svd(_wide(input), full_matrices=bool(full_matrices))
    except np.linalg.LinAlgError as error:
        raise invalid(f"SVD did not converge: {error}") from None
    return s.astype(input.dtype), u.astype(input.dtype), _adjoint(adjoint).astype(input.dtype)


def _eigen_shape(c: Any) -> Any:
    shape = _square(c.shapes[0])
    values = None if shape is None else shape[:-1]
    return [values, shape if c.attrs["compute_v"] else (0,)]


@op("SelfAdjointEigV2(input: T; compute_v: bool = True) -> e: T, v: T", T=_T, shape=_eigen_shape, host=True,
    checks=True, grad=linalg_gradients.self_adjoint_eig,
    samples=lambda rng, dtype: [(x, {"compute_v": v}) for x in _positive_samples(rng, dtype) for v in (True, False)
                                if not (v and dtype.kind == "c")])
@on_one_thread
def _self_adjoint_eig(input, compute_v):
    """Eigenvalues in increasing order, and eigenvectors as columns (empty unless compute_v), from the lower triangle."""
    _check_square(input)
    try:
        if not compute_v:
            return np.linalg.eigvalsh(_wide(input)).astype(input.dtype), np.zeros(0, input.dtype)
        values, vectors = np.linalg.eigh(_wide(input))
    except np.linalg.LinAlgError:
        raise invalid("Self-adjoint eigen decomposition was not successful. The input might not be valid.") from None
    return values.astype(input.dtype), vectors.astype(input.dtype)


def _lu_matrix(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import scipy.linalg

    if not matrix.size:
        return matrix, np.arange(len(matrix))
    packed, swaps = scipy.linalg.lapack.get_lapack_funcs(("getrf",), (matrix,))[0](matrix)[:2]
    if not np.all(np.abs(np.diag(packed)) > 0):
        raise invalid(_SINGULAR)
    order = np.arange(len(matrix))
    for i, j in enumerate(swaps):
        order[i], order[j] = order[j], order[i]
    return packed, order


def _lu_shape(c: Any) -> Any:
    shape = _square(c.shapes[0])
    return [shape, None if shape is None else shape[:-1]]


@op("Lu(input: T; output_idx_type: type = int32) -> lu: T, p: output_idx_type", T=_T, host=True, checks=True,
    output_idx_type=TypeSet(dtypes.int32, dtypes.int64, default=dtypes.int32), shape=_lu_shape,
    samples=_regular_samples)
@on_one_thread
def lu(input, output_idx_type):
    """L (unit diagonal) and U in one matrix, and the permutation: row i of the product is row p[i] of the input."""
    _check_square(input)
    batch, n = input.shape[:-2], input.shape[-1]
    packed = np.empty(input.shape, input.dtype)
    order = np.empty((*batch, n), output_idx_type.as_numpy_dtype)
    for index in np.ndindex(*batch):
        packed[index], order[index] = _lu_matrix(_wide(input[index]))
    return packed, order


# -- inverses and determinants -----------------------------------------------------------------------------------------

@op("MatrixInverse(input: T; adjoint: bool = False) -> output: T", T=_T, shape=_square_shape, host=True, checks=True,
    grad=linalg_gradients.inverse, samples=_adjoint_samples)
@on_one_thread
def matrix_inverse(input, adjoint):
    """The inverse, or that of the adjoint."""
    _check_square(input)
    try:
        result = np.linalg.inv(_wide(_adjoint(input) if adjoint else input))
    except np.linalg.LinAlgError:
        raise invalid(_SINGULAR) from None
    return result.astype(input.dtype, copy=False)


@op("MatrixDeterminant(input: T) -> output: T", T=_T, shape=_batch_shape, host=True, grad=linalg_gradients.determinant,
    samples=_regular_samples,
    host_because="LAPACK's: 32 of 16 x 16 take 0.28 of TensorFlow's time, one of 256 x 256 0.91")
@on_one_thread
def matrix_determinant(input):
    """The determinant."""
    _check_square(input)
    return np.asarray(np.linalg.det(_wide(input)), input.dtype)


@op("LogMatrixDeterminant(input: T) -> sign: T, log_abs_determinant: T", T=_T, host=True,
    shape=lambda c: [_batch_shape(c)] * 2, grad=linalg_gradients.log_determinant, samples=_positive_samples)
@on_one_thread
def slogdet(input):
    """The sign (for complex matrices a number of absolute value 1) and the logarithm of the absolute determinant."""
    _check_square(input)
    sign, logarithm = np.linalg.slogdet(_wide(input))
    return np.asarray(sign, input.dtype), np.asarray(logarithm, input.dtype)


def _matrix_function(name: str) -> Callable:
    """A function of matrices of SciPy, for a batch."""

    def function(x: np.ndarray) -> np.ndarray:
        import scipy.linalg

        _check_square(x)
        if not x.size:
            return x
        of_one = getattr(scipy.linalg, name)

        def of_any(matrix: np.ndarray) -> np.ndarray:
            # infinity and NaN spread over the whole matrix, as does the logarithm of 0
            if not np.isfinite(matrix).all() or name == "logm" and np.linalg.slogdet(matrix)[0] == 0:
                return np.full_like(matrix, np.nan + 1j * np.nan if matrix.dtype.kind == "c" else np.nan)
            return of_one(matrix)

        result = _each(of_any, _wide(x))
        return (result if x.dtype.kind == "c" else np.real(result)).astype(x.dtype)

    return function


_EXPM, _SQRTM, _LOGM = (_matrix_function(name) for name in ("expm", "sqrtm", "logm"))


@op("MatrixExponential(input: T) -> output: T", T=_T, shape=_square_shape, host=True, grad=linalg_gradients.exponential,
    samples=_regular_samples)
def expm(input):
    """The exponential series of a matrix."""
    return _EXPM(input)


@op("MatrixSquareRoot(input: T) -> output: T", T=_T, shape=_square_shape, host=True, grad=linalg_gradients.square_root,
    samples=_positive_samples)
def sqrtm(input):
    """The principal square root of a matrix."""
    return _SQRTM(input)


@op("MatrixLogarithm(input: T) -> output: T", T=TypeSet(dtypes.complex64, dtypes.complex128), shape=_square_shape,
    host=True, samples=_positive_samples)
def logm(input):
    """The principal logarithm of a matrix."""
    return _LOGM(input)


# -- solvers -----------------------------------------------------------------------------------------------------------

def _check_system(matrix: np.ndarray, rhs: np.ndarray) -> None:
    _check_square(matrix)
    if rhs.ndim != matrix.ndim or rhs.shape[:-1] != matrix.shape[:-1]:
        raise invalid(f"Input matrix and rhs are incompatible: shapes {list(matrix.shape)} and {list(rhs.shape)}")


@op("MatrixSolve(matrix: T, rhs: T; adjoint: bool = False) -> output: T", T=_T, shape=_solution_shape, host=True,
    checks=True, grad=linalg_gradients.solve, samples=_system_samples)
@on_one_thread
def matrix_solve(matrix, rhs, adjoint):
    """The solution X of ``matrix X = rhs``, or of ``matrix^H X = rhs``."""
    _check_system(matrix, rhs)
    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    try:
        result = np.linalg.solve(_wide(_adjoint(matrix) if adjoint else matrix), _wide(rhs))
    except np.linalg.LinAlgError:
        raise invalid(_SINGULAR_MATRIX) from None
    return result.astype(rhs.dtype, copy=False)


@op("MatrixTriangularSolve(matrix: T, rhs: T; lower: bool = True, adjoint: bool = False) -> output: T", T=_T,
    shape=_solution_shape, host=True, checks=True, grad=linalg_gradients.triangular_solve,
    on_device=lambda b, a, x, lower, adjoint: b.primitive("triangular_solve", [a, x], x.shape, lower=lower, adjoint=adjoint),
    samples=lambda rng, dtype: [(arrays, {**attrs, "lower": lower}) for arrays, attrs in _system_samples(rng, dtype)
                                for lower in (True, False)],
    host_because="LAPACK's: 32 of 16 x 16 take 0.53 of TensorFlow's time, one of 512 x 512 0.69")
@on_one_thread
def matrix_triangular_solve(matrix, rhs, lower, adjoint):
    """The solution of a triangular system; the other triangle of the matrix is not read."""
    from scipy.linalg.lapack import get_lapack_funcs

    _check_system(matrix, rhs)
    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    if np.any(np.diagonal(matrix, axis1=-2, axis2=-1) == 0):
        raise invalid(_SINGULAR_MATRIX)
    dtype = rhs.dtype
    matrix, rhs = _wide(matrix), _wide(rhs)
    solution, = get_lapack_funcs(("trtrs",), (matrix, rhs))

    def solve(a, b):
        if a.dtype.kind == "c":
            return solution(a, b, lower=lower, trans=2 if adjoint else 0)[0]
        # LAPACK reads columns: the rows in memory are the columns of the transposed matrix, which is then not copied
        return solution(a.T, b, lower=not lower, trans=0 if adjoint else 1)[0]

    return _each(solve, matrix, rhs).astype(dtype, copy=False)


def _least_squares_shape(c: Any) -> Any:
    matrix = shape_rules.with_rank_at_least(c.shapes[0], 2)
    rhs = shape_rules.with_rank_at_least(c.shapes[1], 2)
    if matrix is None or rhs is None:
        return None
    batch = shape_rules.merge(tuple(matrix[:-2]), tuple(rhs[:-2]))
    shape_rules.merge_sizes(matrix[-2], rhs[-2])
    return (*batch, matrix[-1], rhs[-1])


def _regularized(matrix: np.ndarray, rhs: np.ndarray, l2: Any) -> np.ndarray:
    """By the normal equations of the first kind (more rows than columns) or of the second."""
    tall = matrix.shape[0] >= matrix.shape[1]
    gram = _adjoint(matrix) @ matrix if tall else matrix @ _adjoint(matrix)
    gram = gram + np.asarray(l2, gram.dtype) * np.eye(len(gram), dtype=gram.dtype)
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        raise invalid("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
                      "l2_regularizer > 0.") from None
    return np.linalg.solve(gram, _adjoint(matrix) @ rhs) if tall else _adjoint(matrix) @ np.linalg.solve(gram, rhs)


@op("MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64; fast: bool = True) -> output: T", T=_T, host=True,
    checks=True, shape=_least_squares_shape, grad=linalg_gradients.least_squares,
    samples=lambda rng, dtype: [[_regular(rng, (3, 2), dtype), draw(rng, (3, 2), dtype), np.float64(0.5)],
                                [_regular(rng, (2, 3), dtype), draw(rng, (2, 1), dtype), np.float64(0)]])
def _matrix_solve_ls(matrix, rhs, l2_regularizer, fast):
    """The least-squares solution; `fast` by the normal equations, else that of least norm by orthogonal factors."""
    import scipy.linalg

    if not rhs.size or not matrix.size:
        return np.zeros((*matrix.shape[:-2], matrix.shape[-1], rhs.shape[-1]), rhs.dtype)
    if fast:
        function: Callable = lambda a, b: _regularized(a, b, l2_regularizer)
    else:
        function = lambda a, b: scipy.linalg.lstsq(a, b, check_finite=False)[0]
    return _each(function, _wide(matrix), _wide(rhs)).astype(rhs.dtype, copy=False)
