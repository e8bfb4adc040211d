"""Roots of positive definite matrices by iteration (Higham, Functions of Matrices, 2008, chapters 6 and 7)."""
from __future__ import annotations

from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph.dtypes import int32
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.elementwise.arithmetic import abs, pow
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_and
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import norm
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum


def matrix_square_root(mat_a: Any, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4) -> Any:
    """The root of the matrix [n, n] by the coupled iteration of Denman and Beavers, until its error grows.

    `ridge_epsilon`: what is added to the diagonal.
    """
    identity = eye(cast(mat_a_size, int32))
    mat_a = mat_a + ridge_epsilon * identity
    size = sqrt(reduce_sum(mat_a * mat_a))

    def goes_on(i: Any, y: Any, old_y: Any, z: Any, old_z: Any, error: Any, old_error: Any) -> Any:
        return logical_and(i < iter_count, error < old_error)

    def step(i: Any, y: Any, old_y: Any, z: Any, old_z: Any, error: Any, old_error: Any) -> tuple:
        factor = 0.5 * (3.0 * identity - matmul(z, y))
        new_y, new_z = matmul(y, factor), matmul(factor, z)
        root = new_y * sqrt(size)
        residual = mat_a - matmul(root, root)
        return i + 1, new_y, y, new_z, z, sqrt(reduce_sum(residual * residual)) / size, error

    start = mat_a / size
    found = while_loop(goes_on, step, [0, start, start, identity, identity, size, size + 1.0])
    return found[2] * sqrt(size)


def matrix_inverse_pth_root(mat_g: Any, mat_g_size: Any, alpha: float, iter_count: int = 100, epsilon: float = 1e-6,
                            ridge_epsilon: float = 1e-6) -> Any:
    """The matrix [n, n] to the power of `alpha` = -1/p, p a whole number, by Newton's coupled iteration."""
    identity = eye(cast(mat_g_size, int32))
    if mat_g_size == 1:
        return pow(mat_g + ridge_epsilon, alpha)

    def goes_on(i: Any, m: Any, x: Any) -> Any:
        return logical_and(i < iter_count, reduce_max(abs(m - identity)) > epsilon)

    def step(i: Any, m: Any, x: Any) -> tuple:
        factor = (1 - alpha) * identity + alpha * m
        return i + 1, matmul(_whole_power(factor, -1.0 / alpha), m), matmul(x, factor)

    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * norm(damped))
    return while_loop(goes_on, step, [0, damped * z, identity * pow(z, -alpha)])[2]


def _whole_power(matrix: Any, p: Any) -> Any:
    """A matrix to a positive whole power, by squares."""
    assert p == int(p) and p > 0
    power = None
    while p > 0:
        if p % 2 == 1:
            power = matmul(matrix, power) if power is not None else matrix
        p //= 2
        matrix = matmul(matrix, matrix)
    return power
