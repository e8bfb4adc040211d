"""The nearest vector or matrix of weights that is allowed, and the eigenvector that weighs constraints."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import logical_and, not_equal
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import norm
from jitgraph.ops.reduce.reductions import reduce_any, reduce_max, reduce_sum


def _check_rank(tensor: Any, what: str, rank: int, in_words: str) -> None:
    if not tensor.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    shape = tensor.get_shape()
    if shape.ndims is None:
        raise ValueError(f"{what} must have known shape")
    if shape.ndims != rank:
        raise ValueError(f"{what} must be {in_words} dimensional (instead is {shape.ndims}-dimensional)")


def _projected(tensor: Any, dimension: int, scale_of: Callable) -> Any:
    """Shifts the elements that are not at 0 by `scale_of(tensor, which of them)`, until none more comes to 0."""

    def unfinished(iteration: Any, tensor: Any, inactive: Any, before: Any) -> Any:
        return logical_and(iteration < dimension, reduce_any(not_equal(inactive, before)))

    def step(iteration: Any, tensor: Any, inactive: Any, before: Any) -> tuple:
        iteration = iteration + 1
        tensor = tensor + scale_of(tensor, inactive) * inactive
        positive = cast(tensor > 0, tensor.dtype)
        return iteration, tensor * positive, positive, inactive

    first = constant(0)
    inactive = ones_like(tensor, dtype=tensor.dtype)
    begun = step(first, tensor, inactive, inactive)
    return while_loop(unfinished, step, loop_vars=begun, name="euclidean_projection")[1]


def nearest_multipliers(multipliers: Any, radius: float) -> Any:
    """The nearest vector of numbers that are not negative and whose sum is at most `radius`.

    Raises ValueError for tensors that are not vectors of floating-point numbers of known length.
    """
    _check_rank(multipliers, "multipliers", 1, "one")
    dimension = multipliers.get_shape().as_list()[0]
    if dimension is None:
        raise ValueError("multipliers must have fully-known shape")
    return _projected(multipliers, dimension, lambda vector, inactive: minimum(
        0.0, (radius - reduce_sum(vector)) / maximum(1.0, reduce_sum(inactive))))


def nearest_stochastic_matrix(matrix: Any) -> Any:
    """The nearest matrix of numbers that are not negative and whose columns sum up to 1.

    Raises ValueError for tensors that are not square matrices of floating-point numbers of known size.
    """
    _check_rank(matrix, "matrix", 2, "two")
    rows, columns = matrix.get_shape().as_list()
    if rows is None or columns is None:
        raise ValueError("matrix must have fully-known shape")
    if rows != columns:
        raise ValueError(f"matrix must be square (instead has shape ({rows},{columns}))")
    return _projected(matrix, rows, lambda found, inactive: (1.0 - reduce_sum(found, axis=0, keepdims=True)) / maximum(
        1.0, reduce_sum(inactive, axis=0, keepdims=True)))


def nearest_log_stochastic_matrix(log_matrix: Any) -> Any:
    """The logarithm of the matrix whose columns sum up to 1 that is nearest to exp(`log_matrix`), by Kullback-Leibler."""
    log_matrix = log_matrix - reduce_max(log_matrix, axis=0, keepdims=True)     # so that exp() does not overflow
    return log_matrix - log(reduce_sum(exp(log_matrix), axis=0, keepdims=True))


def largest_eigenvector(matrix: Any, epsilon: float = 1e-6, maximum_iterations: int = 100) -> Any:
    """The right eigenvector of the largest eigenvalue, until it changes by at most `epsilon`; see ``tf.norm``.

    Raises ValueError for matrices of integers, and for limits that are not positive.
    """
    if not matrix.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")

    def unfinished(iteration: Any, vector: Any, before: Any) -> Any:
        return logical_and(iteration < maximum_iterations, norm(vector - before) > epsilon)

    def step(iteration: Any, vector: Any, before: Any) -> tuple:
        iteration = iteration + 1
        found = matmul(matrix, expand_dims(vector, 1))[:, 0]
        return iteration, found / norm(found), vector

    first = constant(0)
    vector = ones_like(matrix[:, 0])
    vector = vector / norm(vector)
    return while_loop(unfinished, step, loop_vars=step(first, vector, vector), name="power_method")[1]
