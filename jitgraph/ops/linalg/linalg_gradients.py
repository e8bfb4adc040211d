"""The gradients of the ops of linear algebra.

Formulas: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
I. Murray, "Differentiation of the Cholesky decomposition" (2016); J. Townsend, "Differentiating the singular value
decomposition" (2016); H.-J. Liao et al., "Differentiable programming tensor networks" (2019), for Qr.
"""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.counting import count_nodes, counted_as, gradient_of_nodes
from jitgraph.graph.tensor import Tensor


def _matmul(a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    from jitgraph.ops.linalg.matmul import matmul

    return matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def _adjoint(a: Any) -> Tensor:
    from jitgraph.ops.arrays.matrix_parts import matrix_transpose

    return matrix_transpose(a, conjugate=True)


def _transpose(a: Any) -> Tensor:
    from jitgraph.ops.arrays.matrix_parts import matrix_transpose

    return matrix_transpose(a)


def _concat(parts: list, axis: int) -> Tensor:
    from jitgraph.ops.arrays.join import concat

    return concat(parts, axis)


def _conj(x: Tensor) -> Tensor:
    from jitgraph.ops.elementwise.complex_numbers import conj

    return conj(x)


def _eye_like(a: Tensor) -> Tensor:
    """Identity matrices of the shape of square matrices `a`."""
    return raw.MatrixSetDiag(raw.ZerosLike(a), raw.OnesLike(raw.MatrixDiagPart(a)))


def _lower(a: Any) -> Tensor:
    return raw.MatrixBandPart(a, -1, 0)


def _half_diagonal(a: Tensor) -> Tensor:
    return raw.MatrixSetDiag(a, raw.MatrixDiagPart(a) * 0.5)


def _factor(x: Tensor) -> Tensor:
    """One number per matrix, in a shape that multiplies the matrix."""
    return raw.ExpandDims(raw.ExpandDims(x, -1), -1)


@gradient_of_nodes(lambda op: 45 if op.inputs[0]._shape is None else 33)
def cholesky(op: Any, grad: Any) -> Tensor:
    """L^-H P(L^H grad) L^-1 made self-adjoint, where P takes the lower triangle and halves the diagonal."""
    factor = op.outputs[0]
    inverse_factor = raw.MatrixTriangularSolve(factor, _eye_like(factor))
    middle = _lower(_half_diagonal(_matmul(factor, grad, adjoint_a=True)))
    found = _matmul(_matmul(inverse_factor, middle, adjoint_a=True), inverse_factor)
    return (found + _adjoint(found)) * 0.5


def inverse(op: Any, grad: Any) -> Tensor:
    found = op.outputs[0]
    if op.get_attr("adjoint"):
        return -_matmul(found, _matmul(grad, found, adjoint_a=True))
    return -_matmul(found, _matmul(grad, found, adjoint_b=True), adjoint_a=True)


def determinant(op: Any, grad: Any) -> Tensor:
    count_nodes(1)
    return _factor(grad * _conj(op.outputs[0])) * raw.MatrixInverse(op.inputs[0], adjoint=True)


def log_determinant(op: Any, _: Any, grad: Any) -> Tensor:
    count_nodes(1)
    return _factor(grad) * raw.MatrixInverse(op.inputs[0], adjoint=True)


def exponential(op: Any, grad: Any) -> Tensor:
    """The upper right block of the exponential of [[A^H, grad], [0, A^H]]."""
    a = _adjoint(op.inputs[0])
    block = _concat([_concat([a, grad], -1), _concat([raw.ZerosLike(a), a], -1)], -2)
    n = raw.Shape(a)[-1]
    return raw.MatrixExponential(block)[..., :n, n:]


@gradient_of_nodes(lambda op: 155 if op.inputs[0]._shape is None else 119)
def square_root(op: Any, grad: Any) -> Tensor:
    """The solution X of ``R^H X + X R^H = grad`` for the root R, as one linear system of n*n unknowns."""
    root = _adjoint(op.outputs[0])
    eye = _eye_like(root)
    shape = raw.Shape(root)
    n, batch = shape[-1], shape[:-2]

    def kronecker(a: Tensor, b: Tensor) -> Tensor:
        product = raw.Reshape(a, _concat([batch, [n, 1, n, 1]], 0)) * raw.Reshape(b, _concat([batch, [1, n, 1, n]], 0))
        return raw.Reshape(product, _concat([batch, [n * n, n * n]], 0))

    # with the rows of X one after the other, R X is (R kron 1) X and X R is (1 kron R^T) X
    system = kronecker(root, eye) + kronecker(eye, _transpose(root))
    solved = raw.MatrixSolve(system, raw.Reshape(grad, _concat([batch, [n * n, 1]], 0)))
    return raw.Reshape(solved, shape)


def solve(op: Any, grad: Any) -> list:
    matrix, adjoint, found = op.inputs[0], op.get_attr("adjoint"), op.outputs[0]
    of_rhs = raw.MatrixSolve(matrix, grad, adjoint=not adjoint)
    of_matrix = _matmul(found, of_rhs, adjoint_b=True) if adjoint else _matmul(of_rhs, found, adjoint_b=True)
    return [-of_matrix, of_rhs]


def triangular_solve(op: Any, grad: Any) -> list:
    matrix, adjoint, found, lower = op.inputs[0], op.get_attr("adjoint"), op.outputs[0], op.get_attr("lower")
    of_rhs = raw.MatrixTriangularSolve(matrix, grad, lower=lower, adjoint=not adjoint)
    of_matrix = -(_matmul(found, of_rhs, adjoint_b=True) if adjoint else _matmul(of_rhs, found, adjoint_b=True))
    return [_lower(of_matrix) if lower else raw.MatrixBandPart(of_matrix, 0, -1), of_rhs]


def _least_squares(a: Tensor, b: Tensor, l2: Tensor, x: Tensor, grad: Any, tall: bool) -> list:
    gram = _matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    gram = gram + raw.Cast(l2, DstT=a.dtype.base_dtype) * _eye_like(gram)
    if tall:                    # x = gram^-1 a^H b
        z = raw.MatrixSolve(gram, grad)
        sum_of_products = _matmul(x, z, adjoint_b=True) + _matmul(z, x, adjoint_b=True)
        return [_matmul(b, z, adjoint_b=True) - _matmul(a, sum_of_products), _matmul(a, z)]
    w = raw.MatrixSolve(gram, b)        # x = a^H gram^-1 b
    of_b = raw.MatrixSolve(gram, _matmul(a, grad))
    rest = grad - _matmul(a, of_b, adjoint_a=True)
    return [_matmul(w, rest, adjoint_b=True) - _matmul(of_b, x, adjoint_b=True), of_b]


def least_squares(op: Any, grad: Any) -> list:
    """Raises ValueError for fast=False, for which there is none."""
    from jitgraph.control.conditionals import cond

    if not op.get_attr("fast"):
        raise ValueError("Gradient not defined for fast=False")
    a, b, l2 = op.inputs
    known = a._shape
    if known is not None and known[-1] is not None and known[-2] is not None:
        return [*_least_squares(a, b, l2, op.outputs[0], grad, known[-2] >= known[-1]), None]

    sizes = raw.Shape(a)[-2:]
    parts = cond(sizes[0] >= sizes[1], lambda: _least_squares(a, b, l2, op.outputs[0], grad, True),
                 lambda: _least_squares(a, b, l2, op.outputs[0], grad, False))
    return [*parts, None]


def qr(op: Any, of_q: Any, of_r: Any) -> Tensor:
    """Q (grad R + tril(A) R^-H) + (grad Q - Q Q^H grad Q) R^-H, where A is Q^H grad Q + R grad R^H less its adjoint.

    Where R is fed and not upper triangular, the form of the sum decides what of it is read: it is TensorFlow's.
    """
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype.name}")
    known = r._shape
    if known is None or known[-1] is None or known[-2] is None:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if known[-1] != known[-2]:
        raise NotImplementedError("QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != "
                                  "nrows.")
    qdq, rdr = _matmul(q, of_q, adjoint_a=True), _matmul(r, of_r, adjoint_b=True)
    skew_q, skew_r = qdq - _adjoint(qdq), rdr - _adjoint(rdr)

    def over_r(x: Tensor) -> Tensor:
        """x R^-H"""
        return _adjoint(raw.MatrixTriangularSolve(r, _adjoint(x), lower=False))

    within = _matmul(q, of_r + over_r(_lower(skew_q + skew_r)))
    return within + over_r(of_q - _matmul(q, qdq))


def self_adjoint_eig(op: Any, of_e: Any, of_v: Any) -> Tensor:
    """V (diag(grad e) + F * V^H grad V) V^H with F[i, j] = 1 / (e[j] - e[i]), folded into the lower triangle."""
    if op.get_attr("compute_v"):
        e, v = op.outputs
        differences = raw.ExpandDims(e, -2) - raw.ExpandDims(e, -1)
        f = raw.MatrixSetDiag(raw.Reciprocal(differences), raw.ZerosLike(e))
        middle = raw.MatrixDiag(of_e) + f * _matmul(v, of_v, adjoint_a=True)
    else:
        v = raw.SelfAdjointEigV2(op.inputs[0], compute_v=True).v
        middle = raw.MatrixDiag(of_e)
    found = _matmul(v, _matmul(middle, v, adjoint_b=True))
    # only the lower triangle is read, each element of it for two of the matrix
    return _half_diagonal(_lower(found + _adjoint(found)))


def svd(op: Any, of_s: Any, of_u: Any, of_v: Any) -> Tensor:
    a = op.inputs[0]
    if not op.get_attr("compute_uv"):
        _, u, v = raw.Svd(a, compute_uv=True)
        return _matmul(u, _matmul(raw.MatrixDiag(of_s), v, adjoint_b=True))
    if a.dtype.is_complex:
        raise NotImplementedError("SVD gradient is not implemented for complex types and compute_uv=True.")
    known = a._shape
    if known is None or known[-1] is None or known[-2] is None:
        raise NotImplementedError("SVD gradient has not been implemented for input with unknown inner matrix shape.")
    m, n = known[-2:]
    s, u, v = op.outputs
    full = op.get_attr("full_matrices")
    if full and abs(m - n) > 1:
        raise NotImplementedError("svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True")
    with counted_as(54 if m == n else (73 if full else 62) + 2 * (m > n)):
        if full:
            u, of_u = _leading(u, of_u, min(m, n), m)
            v, of_v = _leading(v, of_v, min(m, n), n)
        return _thin_svd(s, u, v, of_s, of_u, of_v, m > n, n > m)


def _leading(u: Tensor, grad: Any, p: int, columns: int) -> tuple[Tensor, Any]:
    """The first p columns of an orthogonal matrix, with the gradient of the others moved to them."""
    if p == columns:
        return u, grad
    first, rest = u[..., :p], u[..., p:]
    return first, grad[..., :p] - _matmul(rest, _matmul(grad[..., p:], first, adjoint_a=True))


def _thin_svd(s: Tensor, u: Tensor, v: Tensor, of_s: Any, of_u: Any, of_v: Any, tall: bool, wide: bool) -> Tensor:
    squares = raw.Square(s)
    eye = raw.MatrixDiag(raw.OnesLike(s))
    gaps = raw.ExpandDims(squares, -2) - raw.ExpandDims(squares, -1) + eye
    f = raw.Reciprocal(gaps) - eye              # F[i, j] = 1 / (s[j]^2 - s[i]^2), 0 on the diagonal
    scale = raw.MatrixDiag(s)
    turned_u, turned_v = _matmul(u, of_u, adjoint_a=True), _matmul(v, of_v, adjoint_a=True)
    middle = raw.MatrixDiag(of_s) + _matmul(f * (turned_u - _adjoint(turned_u)), scale) + \
        _matmul(scale, f * (turned_v - _adjoint(turned_v)))
    found = _matmul(u, _matmul(middle, v, adjoint_b=True))
    inverse_scale = raw.MatrixDiag(raw.Reciprocal(s))
    if tall:                                    # what leaves the space of the columns of u
        outside = of_u - _matmul(u, turned_u)
        found = found + _matmul(_matmul(outside, inverse_scale), v, adjoint_b=True)
    if wide:
        outside = of_v - _matmul(v, turned_v)
        found = found + _matmul(_matmul(u, inverse_scale), outside, adjoint_b=True)
    return found


@gradient_of_nodes(lambda op: 43 if None not in (op.outputs[0]._shape or [None]) else 71)
def tridiagonal_solve(op: Any, grad: Any) -> list:
    """The right hand side is solved with the transposed matrix; the diagonals get its products with the solution."""
    diagonals, found = op.inputs[0], op.outputs[0]
    above, main, below = (diagonals[..., i, :] for i in range(3))
    transposed = _conj(raw.Pack([_shifted(below, -1), main, _shifted(above, 1)], axis=-2))
    of_rhs = raw.TridiagonalSolve(transposed, grad, partial_pivoting=op.get_attr("partial_pivoting"))
    return [-raw.Pack(_diagonal_products(of_rhs, found), axis=-2), of_rhs]


def tridiagonal_matmul(op: Any, grad: Any) -> list:
    above, main, below, rhs = op.inputs
    rows = [raw.Squeeze(d, squeeze_dims=[-2]) for d in (above, main, below)]
    products = [raw.ExpandDims(p, -2) for p in _diagonal_products(grad, rhs)]
    transposed = [raw.ExpandDims(_conj(d), -2) for d in (_shifted(rows[2], -1), rows[1], _shifted(rows[0], 1))]
    return [*products, raw.TridiagonalMatMul(*transposed, grad)]


def _shifted(x: Tensor, step: int) -> Tensor:
    """The last dimension moved by one position, a zero coming in."""
    zero = raw.ZerosLike(x[..., :1])
    return _concat([zero, x[..., :-1]], -1) if step > 0 else _concat([x[..., 1:], zero], -1)


def _diagonal_products(left: Tensor, right: Tensor) -> list[Tensor]:
    """The three diagonals of ``left right^H``: above, main and below, each as long as the main one."""
    from jitgraph.ops.reduce.reductions import reduce_sum

    def rows_moved(x: Tensor, step: int) -> Tensor:
        return _transpose(_shifted(_transpose(x), step))

    right = _conj(right)
    return [reduce_sum(left * moved, -1) for moved in (rows_moved(right, -1), right, rows_moved(right, 1))]
