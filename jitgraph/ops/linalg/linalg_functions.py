"""Functions of linear algebra written in ops: least squares, eigenvalues, pseudo-inverse, logarithm of the determinant."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.dispatch import dispatchable
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.matrix_parts import eye, matrix_transpose
from jitgraph.ops.elementwise.complex_numbers import real
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky
from jitgraph.ops.linalg.matrix_ops import matrix_triangular_solve as _triangular_solve
from jitgraph.ops.linalg.products import norm
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum

_L2_CACHE = 256000              # bytes; the least-squares op serves large batches of small matrices better


def _sizes(matrix: Tensor) -> tuple[Any, Any]:
    """The static numbers of rows and columns."""
    return (None, None) if matrix._shape is None else tuple(matrix._shape[-2:])


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The solution X of ``A X = rhs`` from the Cholesky factor `chol` of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        half = _triangular_solve(chol, rhs, adjoint=False, lower=True)
        return _triangular_solve(chol, half, adjoint=True, lower=True)


def _gram_factor(matrix: Tensor, l2_regularizer: Any, first_kind: bool) -> Tensor:
    """The Cholesky factor of ``A^H A + l2`` (first kind) or ``A A^H + l2``."""
    gram = matmul(matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind)
    if isinstance(l2_regularizer, Tensor) or l2_regularizer != 0:
        sizes = raw.Shape(matrix)
        identity = eye(sizes[-1 if first_kind else -2], batch_shape=sizes[:-2], dtype=matrix.dtype)
        gram = gram + l2_regularizer * identity
    return cholesky(gram)


def _normal_equations(matrix: Tensor, rhs: Any, l2_regularizer: Any, tall: bool) -> Tensor:
    factor = _gram_factor(matrix, l2_regularizer, first_kind=tall)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _many_small(matrix: Tensor) -> bool:
    known = matrix._shape
    if known is None or None in known:
        return False
    batch = int(np.prod(known[:-2]))
    return batch * known[-1] * known[-2] * matrix.dtype.size > _L2_CACHE and batch > min(known[-2:])


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True,
                    name: str | None = None) -> Tensor:
    """The least-squares solution X [..., n, k] of ``matrix X = rhs`` for `matrix` [..., m, n] and `rhs` [..., m, k].

    `fast` solves the normal equations, with `l2_regularizer` times the squared norm of X added to what is minimised;
    otherwise the solution of least norm is found by orthogonal factors, which also works for matrices of low rank.
    Raises NotImplementedError for complex128 with a regularizer.
    """
    from jitgraph.control.conditionals import cond

    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype.base_dtype == dtypes.complex128 and not isinstance(l2_regularizer, Tensor) and l2_regularizer != 0:
        raise NotImplementedError("matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to "
                                  "poor accuracy.")
    if not fast or _many_small(matrix):
        return raw.MatrixSolveLs(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        rows, columns = _sizes(matrix)
        if rows is not None and columns is not None:
            return _normal_equations(matrix, rhs, l2_regularizer, rows >= columns)

        sizes = raw.Shape(matrix)[-2:]
        return cond(sizes[0] >= sizes[1], lambda: _normal_equations(matrix, rhs, l2_regularizer, True),
                    lambda: _normal_equations(matrix, rhs, l2_regularizer, False))


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(e, v): the eigenvalues [..., n] of self-adjoint matrices in increasing order, eigenvectors as columns of v."""
    values, vectors = raw.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues [..., n] of self-adjoint matrices in increasing order."""
    return raw.SelfAdjointEigV2(tensor, compute_v=False, name=name)[0]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v) with ``tensor = u diag(s) v^H``, singular values in decreasing order; only s unless `compute_uv`.

    The shapes are [..., p], [..., m, p] and [..., n, p] with p = min(m, n); with `full_matrices` u and v are square.
    """
    s, u, v = raw.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)


def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponential of square matrices [..., n, n]: of the numbers that the exponential series takes, for matrices."""
    x = convert_to_tensor(input)
    kind, known = x.dtype.base_dtype, x.shape.is_fully_defined()
    # TensorFlow computes it by nodes: more for double precision, which needs a longer series
    nodes = (298 if kind in (dtypes.float64, dtypes.complex128) else 177) + kind.is_complex + 7 * (not known)
    with counted_as(nodes):
        return raw.MatrixExponential(x, name=name)


@dispatchable
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of self-adjoint positive definite matrices, by their Cholesky factors."""
    with name_scope(name, "logdet", [matrix]):
        factor = cholesky(matrix)
        return 2.0 * reduce_sum(raw.Log(real(raw.MatrixDiagPart(factor))), axis=[-1])


@dispatchable
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The matrices transposed and conjugated."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def matvec(a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
           b_is_sparse: bool = False, name: str | None = None) -> Tensor:
    """The products of matrices `a` [..., m, n] with vectors `b` [..., n]."""
    with name_scope(name, "MatVec", [a, b]) as scope:
        column = raw.ExpandDims(b, -1)
        product = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse,
                         b_is_sparse=b_is_sparse)
        return raw.Squeeze(product, squeeze_dims=[-1], name=scope)


def _checked_matrix(a: Tensor, validate_args: bool) -> Tensor:
    from jitgraph.ops.checks.check_shapes import assert_rank_at_least

    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a._shape is not None:
        if len(a._shape) < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {len(a._shape)}).")
        return a
    if not validate_args:
        return a

    check = assert_rank_at_least(a, rank=2, message="Input `a` must have at least 2 dimensions.")
    with control_dependencies([check]):
        return raw.Identity(a)


def _largest_size(a: Tensor) -> Any:
    rows, columns = _sizes(a)
    if rows is not None and columns is not None:
        return float(max(rows, columns))
    return raw.Cast(reduce_max(raw.Shape(a)[-2:]), DstT=a.dtype.base_dtype)


def _epsilon(a: Tensor) -> float:
    return float(np.finfo(a.dtype.as_numpy_dtype).eps)


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values exceed `tol` (by default the machine epsilon times the larger size times the largest)."""
    with name_scope(name, "matrix_rank", [a, tol]):
        a = _checked_matrix(convert_to_tensor(a, name="a"), validate_args)
        s = svd(a, compute_uv=False)
        if tol is None:
            tol = _epsilon(a) * _largest_size(a) * reduce_max(s, -1, keepdims=True)
        return reduce_sum(raw.Cast(s > tol, DstT=dtypes.int32), -1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverse [..., n, m] of matrices [..., m, n].

    Singular values up to `rcond` (10 times the larger size times the machine epsilon) times the largest count as 0.
    """
    with name_scope(name, "pinv", [a, rcond]):
        a = _checked_matrix(convert_to_tensor(a, name="a"), validate_args)
        kind = a.dtype.base_dtype
        if rcond is None:
            rcond = 10.0 * _largest_size(a) * _epsilon(a)
        rcond = convert_to_tensor(rcond, kind, name="rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = raw.ExpandDims(rcond * reduce_max(s, -1), -1)
        # an infinite singular value gives 0 when divided by, also in the gradient
        s = raw.SelectV2(s > cutoff, s, np.array(np.inf, kind.as_numpy_dtype))
        found = matmul(v / raw.ExpandDims(s, -2), u, adjoint_b=True)
        if a._shape is not None:
            found.set_shape([*a._shape[:-2], a._shape[-1], a._shape[-2]])
        return found


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(tensor / norm, norm) with the norm of ``tf.norm`` along `axis`, its axes kept."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        length = raw.Cast(norm(tensor, ord, axis, keepdims=True), DstT=tensor.dtype.base_dtype)
        return tensor / length, length
