"""Powers of matrices, their sums, and products of many matrices with one."""
from __future__ import annotations

from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.functions.higher_order import scan
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.ops.arrays.fill import ones, ones_like, zeros, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.matrix_parts import diag, eye
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_any


def power_sums_tensor(array_size: Any, power_matrix: Any, multiplier: Any) -> Any:
    """The sums [array_size + 1, n, n] whose k-th is that of A^i . B . transpose(A^i) over i < k.

    A is `power_matrix`, B is `multiplier`; the first sum is 0, the second B.
    """
    array_size = cast(array_size, dtypes.int32)
    power_matrix = convert_to_tensor(power_matrix)
    identity_matrix = eye(shape_of(power_matrix)[0], dtype=power_matrix.dtype)
    identity_matrix.set_shape(power_matrix.shape)
    powers = scan(lambda power, _: matmul(power, power_matrix), range_of(array_size - 1), initializer=identity_matrix)
    summed = cumsum(concat([expand_dims(multiplier, 0), matmul(batch_times_matrix(powers, multiplier), powers, adjoint_b=True)], 0))
    return concat([expand_dims(zeros_like(multiplier), 0), summed], 0)


def matrix_to_powers(matrix: Any, powers: Any) -> Any:
    """`matrix` [n, n] to each of the `powers`: [powers, n, n]."""
    return batch_matrix_pow(tile(expand_dims(matrix, 0), [size(powers), 1, 1]), powers)


def batch_matrix_pow(matrices: Any, powers: Any) -> Any:
    """Each of the `matrices` [batch, n, n] to its own integer power [batch], by repeated squaring."""
    def goes_on(base: Any, left: Any, accumulated: Any) -> Any:
        return reduce_any(greater(left, ones_like(left)))

    def step(base: Any, left: Any, accumulated: Any) -> tuple:
        even = equal(left % 2, zeros(shape_of(left), dtypes.int32))
        multiplied = where(even, accumulated, matmul(accumulated, base))
        squared = matmul(base, base)
        unfinished = greater(left, 1)
        halved = left - left % 2
        halved //= 2
        accumulated = where(unfinished, multiplied, accumulated)
        base = where(unfinished, squared, base)
        left = where(unfinished, halved, left)
        return base, left, accumulated

    matrices = convert_to_tensor(matrices)
    powers = cast(powers, dtypes.int32)
    one = expand_dims(diag(ones([shape_of(matrices)[1]], dtype=matrices.dtype)), 0)
    first = tile(one, [shape_of(matrices)[0], 1, 1])
    base, left, accumulated = while_loop(goes_on, step, [matrices, powers, first])
    return where(equal(left, zeros_like(left, dtype=dtypes.int32)), first, matmul(base, accumulated))


def batch_times_matrix(batch: Any, matrix: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    """Each of the matrices `batch` [batch, n, m] times `matrix` [m, p]; `adj_x` and `adj_y` transpose them before."""
    batch, matrix = convert_to_tensor(batch), convert_to_tensor(matrix)
    if batch.shape.ndims != 3 or matrix.shape.ndims != 2:
        raise AssertionError(f"batch_times_matrix takes [batch, n, m] and [m, p]: got shapes {batch.shape} and {matrix.shape}")
    if adj_x:
        batch = transpose(batch, [0, 2, 1])
    count, rows = batch.shape[0].value, batch.shape[1].value
    sizes = shape_of(batch)
    count = sizes[0] if count is None else count
    rows = sizes[1] if rows is None else rows
    axis = 0 if adj_y else 1
    flat = reshape(batch, [-1, sizes[2]])
    columns = matrix.shape[axis].value
    columns = shape_of(matrix)[axis] if columns is None else columns
    return reshape(matmul(flat, matrix, adjoint_b=adj_y), [count, rows, columns])


def matrix_times_batch(matrix: Any, batch: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    """`matrix` times each of the matrices `batch`."""
    return transpose(batch_times_matrix(batch, matrix, adj_x=not adj_y, adj_y=not adj_x), [0, 2, 1])
