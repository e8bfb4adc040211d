"""Bidiagonal matrices that are like a large one (Golub and Kahan, 1965; Larsen, 1998)."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.contrib.solvers.operators import l2norm, l2normalize
from jitgraph.control.conditionals import cond
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.matrix_parts import matrix_transpose
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.random.draws import random_uniform
from jitgraph.tensor_arrays.tensor_array import TensorArray


class LanczosBidiagState(NamedTuple):
    """Vectors `u` and `v`, and the diagonals `alpha` and `beta`."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _column(array: Any, i: Any) -> Any:
    return expand_dims(array.read(i), -1)


def _with_column(array: Any, column: Any, i: Any) -> Any:
    return array.write(i, squeeze(column))


def _orthogonal_once(i: Any, basis: Any, v: Any) -> tuple:
    def step(j: Any, basis: Any, v: Any) -> tuple:
        shape, other = v.get_shape(), _column(basis, j)
        v -= matmul(other, v, adjoint_a=True) * other
        v.set_shape(shape)
        return j + 1, basis, v

    j = constant(0, dtype=dtypes.int32)
    _, _, v = while_loop(lambda j, basis, v: j < i, step, [j, basis, v])
    return l2normalize(v)


def _orthogonal(i: Any, basis: Any, v: Any) -> tuple:
    """`v` of length one and orthogonal to the first `i` of a basis, and its length; once more if it became much shorter."""
    before = l2norm(v)
    found, length = _orthogonal_once(i, basis, v)
    return cond(length < 0.7071 * before, lambda: _orthogonal_once(i, basis, v), lambda: (found, length))


def lanczos_bidiag(operator: Any, k: int, orthogonalize: bool = True, starting_vector: Any = None,
                   name: str = "lanczos_bidiag") -> LanczosBidiagState:
    """`u` [m, k + 1] and `v` [n, k] of orthogonal columns, and `alpha` and `beta` [k] with operator(v) = u B.

    B [k + 1, k] has `alpha` on its diagonal and `beta` below; the operator is of shape [m, n].  `orthogonalize`: make columns
    orthogonal to all before, which rounding else undoes; `starting_vector`: [m, 1], random if None.
    """
    def step(i: Any, state: LanczosBidiagState) -> tuple:
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.get_shape()
        r = cond(i > 0, lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: r)
        r.set_shape(shape)
        v, alpha = _orthogonal(i - 1, state.v, r) if orthogonalize else l2normalize(r)
        p = operator.apply(v) - alpha * u
        u, beta = _orthogonal(i, state.u, p) if orthogonalize else l2normalize(p)
        return i + 1, LanczosBidiagState(_with_column(state.u, u, i + 1), _with_column(state.v, v, i), state.alpha.write(i, alpha),
                                         state.beta.write(i, beta))

    def array(size: int, name: str) -> TensorArray:
        return TensorArray(dtype=operator.dtype, size=size, tensor_array_name=name, clear_after_read=False)

    with name_scope(name):
        if starting_vector is None:
            starting_vector = random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(starting_vector)
        state = LanczosBidiagState(_with_column(array(k + 1, "u"), first, 0), array(k, "v"), array(k, "alpha"), array(k, "beta"))
        _, found = while_loop(lambda i, state: i < k, step, [constant(0, dtype=dtypes.int32), state])
        return LanczosBidiagState(matrix_transpose(found.u.stack()), matrix_transpose(found.v.stack()), found.alpha.stack(),
                                  found.beta.stack())


def bidiag_matmul(matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: str = "bidiag_matmul") -> Any:
    """`matrix` [m, k + 1] times B of ``lanczos_bidiag``, or `matrix` [n, k] times its adjoint without the last column."""
    with name_scope(name):
        alpha = expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * expand_dims(beta, 0)
        beta = expand_dims(beta[:-1], 0)
        none = expand_dims(zeros(shape_of(matrix)[:1], dtype=matrix.dtype), 1)
        return matrix * alpha + concat([none, matrix[:, :-1] * beta], 1)
