"""Covariance matrices: positive definite by how they are made, clipped, side by side, with a prior."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.shapes import Dimension, TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import (
    diag,
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
    matrix_transpose,
)
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.activation import softsign
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import matrix_determinant
from jitgraph.ops.reduce.reductions import reduce_max
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable

_FIRST_OFF_DIAGONAL = -5.0


def clip_covariance(covariance_matrix: Any, maximum_variance_ratio: float, minimum_variance: float) -> Any:
    """[..., n, n] with variances of at least `minimum_variance`, and at least the largest over `maximum_variance_ratio`."""
    diagonal = matrix_diag_part(covariance_matrix)
    largest = reduce_max(diagonal, axis=-1, keepdims=True)
    clipped = maximum(diagonal, largest / maximum_variance_ratio)
    return matrix_set_diag(covariance_matrix, maximum(clipped, minimum_variance))


def block_diagonal(matrices: list, dtype: Any = dtypes.float32, name: str = "block_diagonal") -> Any:
    """Matrices [..., n_i, m_i] along the diagonal of one [..., sum of n_i, sum of m_i]."""
    matrices = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    rows, columns, batch = Dimension(0), Dimension(0), TensorShape(None)
    for matrix in matrices:
        known = matrix.shape.with_rank_at_least(2)
        batch = batch.merge_with(known[:-2])
        rows += known[-2]
        columns += known[-1]
    width = add_n([shape_of(matrix)[-1] for matrix in matrices])
    blocks = []
    place: Any = 0
    for matrix in matrices:
        size = shape_of(matrix)
        before = place
        place += size[-1]
        after = width - place
        blocks.append(pad(matrix, concat([zeros([rank(matrix) - 1, 2], dtypes.int32), [(before, after)]], axis=0)))
    blocked = concat(blocks, -2, name=name)
    blocked.set_shape(batch.concatenate((rows, columns)))
    return blocked


def make_toeplitz_matrix(inputs: Any, name: str | None = None) -> Any:
    """The symmetric matrix of blocks whose block (i, j) is ``inputs[|i - j|]``; `inputs` [blocks, size, size]."""
    blocks, size = shape_of(inputs)[0], shape_of(inputs)[1]
    whole = size * blocks
    lags = reshape(range_of(blocks), [1, -1])
    found = gather(inputs, absolute(lags - transpose(lags)))
    return identity(reshape(transpose(found, [0, 2, 1, 3]), [whole, whole]), name=name)


def sign_magnitude_positive_definite(raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0) -> Any:
    """A positive definite matrix [..., n, n] for any `raw` [..., n, n]: transpose(c) . c, with c upper triangular.

    c[i, i] = exp((raw[i, i] + overall_scale) / 2), and for i < j c[i, j] = softsign(raw[j, i]) * exp((raw[i, j] +
    off_diagonal_scale + overall_scale) / 2): the lower triangle of `raw` gives signs, the rest logarithms.
    """
    raw = convert_to_tensor(raw)
    diagonal = matrix_diag_part(raw)

    def of_rank(tensor: Any, wanted: Any) -> Any:
        tensor = convert_to_tensor(tensor, dtype=raw.dtype.base_dtype)
        return reshape(tensor, concat([shape_of(tensor), ones([wanted - rank(tensor)], dtype=wanted.dtype)], axis=0))

    magnitudes = exp((raw + of_rank(off_diagonal_scale, rank(raw)) + of_rank(overall_scale, rank(raw))) / 2.0)
    signed = magnitudes * softsign(matrix_transpose(raw))
    signed.set_shape(raw.shape)
    factor = matrix_set_diag(matrix_band_part(signed, 0, -1), exp((diagonal + of_rank(overall_scale, rank(diagonal))) / 2.0))
    return matmul(factor, factor, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> Any:
    """Positive definite matrices [..., n, n], by learned weights, of vectors [..., m]."""
    combined = fully_connected(input_vectors, matrix_size ** 2 + 2, activation_fn=None)
    return sign_magnitude_positive_definite(
        reshape(combined[..., :-2], concat([shape_of(combined)[:-1], [matrix_size, matrix_size]], 0)),
        off_diagonal_scale=combined[..., -2], overall_scale=combined[..., -1])


def variable_covariance_matrix(size: int, name: str, dtype: Any, initial_diagonal_values: Any = None,
                               initial_overall_scale_log: Any = 0.0) -> Any:
    """A positive definite matrix [size, size] of three variables, named after `name`.

    It begins with `initial_diagonal_values` (None: ones) times exp(`initial_overall_scale_log`) on its diagonal.
    """
    values = get_variable(name + "_pre_transform", dtype=dtype, shape=[size, size], initializer=zeros_initializer())
    if initial_diagonal_values is not None:
        values += matrix_diag(log(initial_diagonal_values))
    off_diagonal = get_variable(name + "_off_diagonal_scale", dtype=dtype, initializer=constant(_FIRST_OFF_DIAGONAL, dtype=dtype))
    overall = convert_to_tensor(initial_overall_scale_log, dtype=dtype) + get_variable(
        name + "_overall_scale", dtype=dtype, shape=[], initializer=zeros_initializer())
    return identity(sign_magnitude_positive_definite(values, off_diagonal, overall), name=name)


def log_noninformative_covariance_prior(covariance: Any) -> Any:
    """The log of Jeffreys' prior of a covariance matrix [n, n], up to a constant: log(det) * -(n + 1) / 2."""
    covariance += diag(1e-8 * ones([shape_of(covariance)[0]], covariance.dtype))
    power = -(cast(shape_of(covariance)[0] + 1, covariance.dtype) / 2.0)
    return power * log(matrix_determinant(covariance))
