"""What weighted alternating least squares ask of sparse matrices: products at some places, systems of equations."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op

_TESTED = "tests/contrib/factorization: matrices, indices inside of them, and weights that fit"


@op("MaskedMatmul(a: float32, b: float32, mask_indices: int64, transpose_a: bool, transpose_b: bool) -> prod_values: float32",
    shape=lambda c: (None,), host=True, dynamic=True, tested_in=_TESTED)
def masked_matmul(a, b, mask_indices, transpose_a, transpose_b):
    """Of the product of two matrices the elements at `mask_indices` [n, 2]: [n].

    Raises InvalidArgumentError if ranks or inner dimensions do not fit, or an index lies outside.
    """
    for value, rank, name in ((a, 2, "a"), (b, 2, "b"), (mask_indices, 2, "mask_indices")):
        if value.ndim != rank:
            raise invalid(f"Input {name} should be a matrix.")
    for value, name in ((transpose_a, "transpose_a"), (transpose_b, "transpose_b")):
        if value.ndim:
            raise invalid(f"Input {name} should be a scalar.")
    if mask_indices.shape[1] != 2:
        raise invalid("mask_indices should be a matrix of shape [nnz 2], where nnz is the number of non-zero elements.")
    left, right = a.T if transpose_a else a, b if transpose_b else b.T
    if left.shape[1] != right.shape[1]:
        first, second = (f"[{','.join(map(str, shape))}]" for shape in (left.shape, right.T.shape))
        raise invalid(f"Matrix shapes are incompatible: a has shape {first}, while b has shape {second}.")
    rows, columns = mask_indices.T
    _check_inside(rows, len(left), "row"), _check_inside(columns, len(right), "column")
    return np.einsum("ij,ij->i", left[rows], right[columns])


def _check_inside(indices: np.ndarray, count: int, what: str) -> None:
    outside = indices[(indices < 0) | (indices >= count)]
    if len(outside):
        raise invalid(f"An index of a {what}, {outside[0]}, lies outside of the {count} that there are.")


@op("WALSComputePartialLhsAndRhs(factors: float32, factor_weights: float32, unobserved_weights: float32, input_weights: float32, "
    "input_indices: int64, input_values: float32, entry_weights: float32, input_block_size: int64, input_is_transpose: bool) -> "
    "partial_lhs: float32, partial_rhs: float32", shape=lambda c: [(None, None, None), (None, None)], host=True, dynamic=True,
    tested_in=_TESTED)
def wals_compute_partial_lhs_and_rhs(factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values,
                                     entry_weights, input_block_size, input_is_transpose):
    """What each of `input_block_size` rows adds to both sides of its equations: [rows, k, k] and [rows, k].

    Row i of a sparse matrix has observed values v_j with weights w_j, which are `entry_weights` or products of those of its row
    and its column; with factors u_j [k] of the columns the sides are sum_j w_j u_j u_j^T and sum_j (w_j + unobserved) v_j u_j.
    Raises InvalidArgumentError where ranks and sizes do not fit.
    """
    _check_ranks(factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values, entry_weights,
                 input_block_size, input_is_transpose)
    rows, columns = input_indices.T if not input_is_transpose else input_indices.T[::-1]
    _check_inside(rows, int(input_block_size), "row"), _check_inside(columns, len(factors), "column")
    if len(entry_weights):
        weights = entry_weights
    else:
        shared = len(input_weights) == 1
        if not shared:
            _check_inside(rows, len(input_weights), "weight")
        weights = (input_weights[0] if shared else input_weights[rows]) * factor_weights[columns]
    of_columns = factors[columns]
    sides = (of_columns[:, :, None] * (of_columns * weights[:, None])[:, None, :],
             of_columns * ((weights + unobserved_weights) * input_values)[:, None])
    sums = tuple(np.zeros((int(input_block_size), *side.shape[1:]), np.float32) for side in sides)
    for total, side in zip(sums, sides):
        np.add.at(total, rows, side)
    return sums


def _check_ranks(factors: Any, factor_weights: Any, unobserved_weights: Any, input_weights: Any, input_indices: Any,
                 input_values: Any, entry_weights: Any, input_block_size: Any, input_is_transpose: Any) -> None:
    kinds = ("scalar", "vector", "matrix")
    ranks = (("factors", factors, 2), ("factor_weights", factor_weights, 1), ("unobserved_weights", unobserved_weights, 0),
             ("input_weights", input_weights, 1), ("input_indices", input_indices, 2), ("input_values", input_values, 1),
             ("entry_weights", entry_weights, 1), ("input_block_size", input_block_size, 0),
             ("input_is_transpose", input_is_transpose, 0))
    for name, value, rank in ranks:
        if value.ndim != rank:
            raise invalid(f"Input {name} should be a {kinds[rank]}.")
    if input_indices.shape[1] != 2:
        raise invalid("Input input_indices should have shape (?, 2).")
    if len(input_indices) != len(input_values):
        raise invalid("Input input_values' length should match the first dimension of Input input_indices ")
    by_entry = len(entry_weights) == len(input_values) and not len(factor_weights) and not len(input_weights)
    by_product = not len(entry_weights) and len(factor_weights) == len(factors) and len(input_weights)
    if not (by_entry or by_product):
        raise invalid("To specify the weights for observed entries, either (1) entry_weights must be set or (2) input_weights "
                      "and factor_weights must be set, but not both.")
