"""Products and norms over tensors: tensordot, cross, trace, norm, polyval."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import REALS, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.dispatch import dispatchable
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum

# -- tensordot ---------------------------------------------------------------------------------------------------------

def _contraction_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    """The axes of a and of b that are summed: two lists of ints, or two int32 tensors."""
    if is_tensor_like(axes):
        axes = convert_to_tensor(axes)
        known = constant_value(axes)
        if known is None:
            return cast(axes[0], dtypes.int32), cast(axes[1], dtypes.int32)
        axes = known.tolist()
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if a._shape is None:
            end = raw.Rank(a)
            return raw.Range(end - int(axes), end, 1), raw.Range(0, int(axes), 1)
        if axes > len(a._shape):
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        rank = len(a._shape)
        return list(range(rank - int(axes), rank)), list(range(int(axes)))
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    of_a, of_b = ([axis] if isinstance(axis, (int, np.integer)) else axis for axis in axes)
    if not isinstance(of_a, Tensor) and not isinstance(of_b, Tensor) and len(of_a) != len(of_b):
        raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(of_a)} != {len(of_b)}.")
    return of_a, of_b


def _as_matrix(x: Tensor, axes: Any, front: bool) -> tuple[Tensor, list | None, Any]:
    """x with the summed axes flattened into one (in front or behind), the others into the other.

    Returns also the static sizes of the others (None if not known), and their sizes as a list or tensor.
    """
    shape = x._shape
    if isinstance(axes, Tensor) and shape is not None and (known := constant_value(axes)) is not None:
        with counted_as(22):        # TensorFlow asks the graph
            return _as_matrix(x, known.tolist(), front)
    if shape is None or isinstance(axes, Tensor):
        return (*_as_matrix_unknown(x, axes, front),)
    rank = len(shape)
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is not in [{-rank}, {rank}) for tensordot of {x}")
    summed = [int(axis) % rank for axis in axes]
    others = [i for i in range(rank) if i not in summed]
    order = summed + others if front else others + summed
    if None not in shape:
        sizes = [shape[i] for i in others]
        matrix = [int(np.prod([shape[i] for i in part], dtype=np.int64)) for part in (others, summed)]
        turned = raw.Transpose(x, order, name="transpose")
        return raw.Reshape(turned, matrix[::-1] if front else matrix), sizes, sizes
    dynamic = raw.Shape(x)
    count_nodes(1)              # TensorFlow joins the axes in the graph
    free = raw.GatherV2(dynamic, np.array(others, np.int32), 0)
    parts = [raw.Prod(free, [0]), raw.Prod(raw.GatherV2(dynamic, np.array(summed, np.int32), 0), [0])]
    turned = raw.Transpose(x, order, name="transpose")
    return raw.Reshape(turned, raw.Pack(parts[::-1] if front else parts)), [shape[i] for i in others], free


def _as_matrix_unknown(x: Tensor, axes: Any, front: bool) -> tuple[Tensor, None, Tensor]:
    shape, rank = raw.Shape(x), raw.Rank(x)
    axes = convert_to_tensor(axes, dtypes.int32, "axes")
    summed = raw.FloorMod(axes + rank, rank)
    count_nodes(2)              # TensorFlow selects what to add
    others = raw.ListDiff(raw.Range(0, rank, 1), summed).out
    sizes = raw.GatherV2(shape, others, 0)
    parts = [raw.Prod(sizes, [0]), raw.Prod(raw.GatherV2(shape, summed, 0), [0])]
    order = raw.ConcatV2([summed, others] if front else [others, summed], 0)
    return raw.Reshape(raw.Transpose(x, order), raw.Pack(parts[::-1] if front else parts)), None, sizes


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over some axes of a and b: ``axes=1`` is the matrix product, 0 the outer product.

    `axes` is a number n (the last n of a with the first n of b), or two lists of axes.  The result has the other
    dimensions of a, then those of b.  Raises ValueError if the axes do not fit.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        of_a, of_b = _contraction_axes(a, axes)
        left, static_a, sizes_a = _as_matrix(a, of_a, front=False)
        right, static_b, sizes_b = _as_matrix(b, of_b, front=True)
        product = matmul(left, right)
        if isinstance(sizes_a, list) and isinstance(sizes_b, list):
            sizes: Any = np.array(sizes_a + sizes_b, np.int32)
        else:
            sizes = raw.ConcatV2([convert_to_tensor(s, dtypes.int32) for s in (sizes_a, sizes_b)], 0)
        result = raw.Reshape(product, sizes, name=scope)
        if static_a is not None and static_b is not None:
            result.set_shape(static_a + static_b)
        return result


# -- cross and trace ---------------------------------------------------------------------------------------------------

def _cross_shape(c: Any) -> Any:
    shape = shape_rules.merge(*c.shapes)
    shape_rules.with_rank_at_least(shape, 1)
    if shape is not None and shape[-1] is not None and shape[-1] != 3:
        raise ValueError(f"Dimension must be 3 but is {shape[-1]}")
    return shape


def _lower_cross(b: Any, x: Any, y: Any) -> Any:
    def part(value, index):
        begin = [0] * (len(value.shape) - 1) + [index]
        return b.slice(value, begin, [*value.shape[:-1], 1], [1] * len(value.shape))

    xs, ys = [part(x, i) for i in range(3)], [part(y, i) for i in range(3)]
    return b.concat([xs[1] * ys[2] - xs[2] * ys[1], xs[2] * ys[0] - xs[0] * ys[2], xs[0] * ys[1] - xs[1] * ys[0]],
                    len(x.shape) - 1)


@op("Cross(a: T, b: T) -> product: T", T=REALS, shape=_cross_shape, lower=_lower_cross, reference=np.cross,
    samples=lambda rng, dtype: [[draw(rng, shape, dtype), draw(rng, shape, dtype)] for shape in ((2, 3), (3,), (0, 3))])
def cross(a, b):
    """The cross product of vectors of 3 elements in the last dimension."""
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(parts, -1)


@cross.gradient
def _(op, grad):
    x, y = op.inputs
    return [cross(y, grad), cross(grad, x)]


@dispatchable
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal of the matrices in the last two dimensions."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return reduce_sum(raw.MatrixDiagPart(x, name="diag_part"), [-1], name=scope)


# -- norms -------------------------------------------------------------------------------------------------------------

_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def _check_norm(ord: Any, axis: Any, is_matrix: bool) -> None:
    if not is_matrix:
        if not (axis is None or isinstance(axis, (int, np.integer))):
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        if ord == "fro" or isinstance(ord, str) and ord != "euclidean":
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
        if not isinstance(ord, str) and ord <= 0:
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    elif ord not in _MATRIX_NORMS:
        raise ValueError(f"'ord' must be a supported matrix norm in {['euclidean', 'fro', 1, 2, np.inf]}, got {ord}")


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None, name: str | None = None,
         keep_dims: Any = None) -> Tensor:
    """The norm of vectors along `axis`, of matrices if `axis` is a pair, of all elements if it is None.

    `ord`: "euclidean", 1, 2, any positive number, np.inf for vectors; "euclidean", "fro", 1, 2, np.inf for matrices.
    Raises ValueError for others.
    """
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    if is_matrix:
        axis = tuple(axis)
        if not all(isinstance(a, (int, np.integer)) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    _check_norm(ord, axis, is_matrix)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2):
            kept = _spectral(x, axis) if is_matrix and ord == 2 else _euclidean(x, axis)
        else:
            kept = _other_norm(raw.Abs(x) if not x.dtype.is_complex else _absolute(x), ord, axis, is_matrix)
        if keepdims:
            return kept
        return raw.Squeeze(kept, squeeze_dims=_squeezed(axis))


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple:
    """(tensor divided by its norm, the norm with the reduced axes kept); see ``norm``."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        length = raw.Cast(norm(tensor, ord, axis, keepdims=True), DstT=tensor.dtype.base_dtype)
        return tensor / length, length


def _squeezed(axis: Any) -> list:
    if axis is None:
        return []
    return list(axis) if isinstance(axis, tuple) else [axis]


def _absolute(x: Tensor) -> Tensor:
    from jitgraph.ops.elementwise.complex_numbers import complex_abs

    return complex_abs(x)


def _euclidean(x: Tensor, axis: Any) -> Tensor:
    total = reduce_sum(x * conj(x), list(axis) if isinstance(axis, tuple) else axis, keepdims=True)
    return raw.Sqrt(total)


def _spectral(x: Tensor, axis: tuple) -> Tensor:
    """The largest singular value of the matrices along two axes."""
    order = _matrices_last(x, axis)
    singular = raw.Svd(raw.Transpose(x, order), compute_uv=False)[0]
    size = _absolute(singular) if x.dtype.is_complex else raw.Abs(singular)
    largest = raw.ExpandDims(reduce_max(size, -1, keepdims=True), -1)
    back = raw.InvertPermutation(order) if isinstance(order, Tensor) else np.argsort(order).astype(np.int32)
    return raw.Transpose(largest, back)


def _matrices_last(x: Tensor, axis: tuple) -> Any:
    """The order of the dimensions that has two axes last: a list, or a tensor where the rank is not known."""
    count = x.shape.ndims
    if count is None:
        rank = raw.Rank(x)
        last = raw.FloorMod(np.array(axis, np.int32), rank)
        return raw.ConcatV2([raw.ListDiff(raw.Range(0, rank, 1), last)[0], last], 0)
    rows, columns = (a % count for a in axis)
    return [*(i for i in range(count) if i not in (rows, columns)), rows, columns]


def _other_norm(x: Tensor, ord: Any, axis: Any, is_matrix: bool) -> Tensor:
    """The norms of ord 1, inf and p of nonnegative x."""
    if ord == 1:
        sums = reduce_sum(x, axis[0] if is_matrix else axis, keepdims=True)
        return reduce_max(sums, axis[1], keepdims=True) if is_matrix else sums
    if ord == np.inf:
        if is_matrix:
            x = reduce_sum(x, axis[1], keepdims=True)
        return reduce_max(x, axis[0] if is_matrix else axis, keepdims=True)
    powers = reduce_sum(raw.Pow(x, ord), [axis] if axis is not None else None, keepdims=True)
    return raw.Pow(powers, 1.0 / ord)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with coefficients `coeffs` (a list, the highest power first) at x."""
    from jitgraph.ops.elementwise.arithmetic import add_v2

    with name_scope(name, "polyval", [*_flat(coeffs), x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return raw.ZerosLike(x, name=scope)
        parts = [convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        total = parts[0]
        for coefficient in parts[1:]:
            total = add_v2(coefficient, total * x, name="add")
        return total


def _flat(values: Any) -> list:
    return list(values) if isinstance(values, (list, tuple)) else [values]
