"""Matrix products: MatMul, BatchMatMul, and ``tf.matmul`` over them."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.op import COMPLEX, FLOATS, TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dispatch import dispatchable
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.broadcasting import Unbroadcast
from jitgraph.ops.elementwise.complex_numbers import conj

_WORTH_FLOATS = 1 << 15         # multiplications; NumPy multiplies integers a tenth as fast
_MULTIPLIED = FLOATS + TypeSet(dtypes.int32, dtypes.int64) + COMPLEX


def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x @ y; floats of 16 bits are summed in float32 and rounded once."""
    if x.dtype.itemsize == 2:
        return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    if x.dtype.kind == "i" and x.size and y.size and x.size * y.shape[-1] >= _WORTH_FLOATS:
        largest = [max(int(array.max()), -int(array.min())) for array in (x, y)]
        if largest[0] * largest[1] * x.shape[-1] < 1 << 53:         # float64 adds such integers exactly
            return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.int64).astype(x.dtype)
    return np.matmul(x, y)


def _product_size(m: Any, k: Any, k2: Any, n: Any) -> tuple:
    shape_rules.merge_sizes(k, k2)
    return m, n


def _matmul_shape(c: Any) -> Any:
    m, k = shape_rules.with_rank(c.shapes[0], 2)
    k2, n = shape_rules.with_rank(c.shapes[1], 2)
    if c.attrs["transpose_a"]:
        m, k = k, m
    if c.attrs["transpose_b"]:
        k2, n = n, k2
    return _product_size(m, k, k2, n)


def _matrix_samples(rng, dtype):
    a, b = draw(rng, (3, 4), dtype), draw(rng, (4, 2), dtype)
    turned = [([x, y], {"transpose_a": left, "transpose_b": right})
              for x, left in ((a, False), (a.T, True)) for y, right in ((b, False), (b.T, True))]
    return [*turned, [a[:, :0], b[:0]], [a[:1], b[:, :1]], [a[:0], b]]


@op("MatMul(a: T, b: T; transpose_a: bool = False, transpose_b: bool = False) -> product: T", T=_MULTIPLIED,
    shape=_matmul_shape, samples=_matrix_samples,
    lower=lambda b, x, y, transpose_a, transpose_b: b.matmul(x, y, transpose_a, transpose_b),
    reference=lambda a, b, transpose_a, transpose_b: np.einsum("ij,jk->ik", a.T if transpose_a else a,
                                                               b.T if transpose_b else b),
    costly=True, flops=shape_rules.flops_of_products)
def _matmul(a, b, transpose_a, transpose_b):
    """The product of two matrices, either of them transposed first if asked for."""
    return product(a.T if transpose_a else a, b.T if transpose_b else b)


@_matmul.gradient
def _(op, grad):
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    return _gradients(_matmul, a, b, grad, op.attrs["transpose_a"], op.attrs["transpose_b"], "transpose_a",
                      "transpose_b", {})


def _gradients(product: Any, a: Any, b: Any, grad: Any, left: bool, right: bool, left_name: str, right_name: str,
               options: dict) -> list:
    """The gradients of ``op(a) op(b)``, where op transposes if `left` and `right` say so."""

    def times(x, y, transpose_x, transpose_y):
        return product(x, y, **{left_name: transpose_x, right_name: transpose_y}, **options)

    of_a = times(b, grad, right, True) if left else times(grad, b, False, not right)
    of_b = times(grad, a, True, left) if right else times(a, grad, not left, False)
    return [of_a, of_b]


def _batch_shape(c: Any, broadcast: bool) -> Any:
    x, y = c.shapes
    shape_rules.with_rank_at_least(x, 2)
    shape_rules.with_rank_at_least(y, 2)
    if x is None or y is None:
        return None
    m, k = x[-2:]
    k2, n = y[-2:]
    if c.attrs["adj_x"]:
        m, k = k, m
    if c.attrs["adj_y"]:
        k2, n = n, k2
    batch = shape_rules.broadcast_shapes(x[:-2], y[:-2]) if broadcast else shape_rules.merge(x[:-2], y[:-2])
    return batch + _product_size(m, k, k2, n)


def _adjoint(x: Any, wanted: bool) -> Any:
    return np.conj(np.swapaxes(x, -1, -2)) if wanted else x


def _lower_batch(b: Any, x: Any, y: Any, adj_x: bool, adj_y: bool) -> Any:
    if x.dtype.is_complex:
        x, y = (prim.conj(value) if adjoint else value for value, adjoint in ((x, adj_x), (y, adj_y)))
    return b.matmul(x, y, adj_x, adj_y)


def _batch_samples(rng, dtype):
    x, y = draw(rng, (2, 3, 4), dtype), draw(rng, (2, 4, 2), dtype)
    lefts, rights = ((x, False), (x.swapaxes(1, 2), True)), ((y, False), (y.swapaxes(1, 2), True))
    turned = [([p, q], {"adj_x": left, "adj_y": right}) for p, left in lefts for q, right in rights]
    return [*turned, [x[:0], y[:0]], [x[:, :1], y[:, :, :1]]]


def _broadcast_batch_samples(rng, dtype):
    x, y = draw(rng, (2, 3, 4), dtype), draw(rng, (2, 4, 2), dtype)
    return [*_batch_samples(rng, dtype), [x[0], y], [x, y[:1]], [x[0], y[0]], [x[:0], y[:1]]]


_BATCH = "(x: T, y: T; adj_x: bool = False, adj_y: bool = False) -> output: T"


@op("BatchMatMul" + _BATCH, T=_MULTIPLIED, shape=lambda c: _batch_shape(c, False), lower=_lower_batch,
    samples=_batch_samples, costly=True, flops=shape_rules.flops_of_products)
def _batch_matmul(x, y, adj_x, adj_y):
    """Products of the matrices in the last two dimensions; the other dimensions are equal."""
    return product(_adjoint(x, adj_x), _adjoint(y, adj_y))


@op("BatchMatMulV2" + _BATCH, T=_MULTIPLIED, shape=lambda c: _batch_shape(c, True), lower=_lower_batch,
    samples=_broadcast_batch_samples, costly=True, flops=shape_rules.flops_of_products)
def _batch_matmul_v2(x, y, adj_x, adj_y):
    """Products of the matrices in the last two dimensions; the other dimensions broadcast."""
    return product(_adjoint(x, adj_x), _adjoint(y, adj_y))


def _batch_gradients(product: Any, op: Any, grad: Any) -> list:
    x, y = op.inputs
    adj_x, adj_y = op.attrs["adj_x"], op.attrs["adj_y"]
    return _gradients(product, x, y, grad, adj_x, adj_y, "adj_x", "adj_y", {"name": "MatMul"})


_batch_matmul.gradient(lambda op, grad: _batch_gradients(_batch_matmul, op, grad))


@_batch_matmul_v2.gradient
def _(op, grad):
    x, y = op.inputs
    of_x, of_y = _batch_gradients(_batch_matmul_v2, op, grad)
    back = Unbroadcast(x, y, inner=2)
    return [back.to_x(of_x), back.to_y(of_y)]


_SPARSE_TYPES = TypeSet(dtypes.float32, dtypes.bfloat16, default=dtypes.float32)


def _lower_sparse(b: Any, x: Any, y: Any, transpose_a: bool, transpose_b: bool, a_is_sparse: bool,
                  b_is_sparse: bool) -> Any:
    return b.matmul(b.cast(x, dtypes.float32), b.cast(y, dtypes.float32), transpose_a, transpose_b)


@op("SparseMatMul(a: Ta, b: Tb; transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False, "
    "b_is_sparse: bool = False) -> product: float32", Ta=_SPARSE_TYPES, Tb=_SPARSE_TYPES, shape=_matmul_shape,
    lower=_lower_sparse, samples=_matrix_samples)
def sparse_matmul(a, b, transpose_a, transpose_b):
    """A float32 product of matrices that may hold many zeros; the flags are hints only."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    return np.matmul(a.T if transpose_a else a, b.T if transpose_b else b)


@sparse_matmul.gradient
def _(op, grad):
    from jitgraph.ops.elementwise.cast import cast

    a, b = op.inputs
    grads = _gradients(sparse_matmul, a, b, grad, op.attrs["transpose_a"], op.attrs["transpose_b"], "transpose_a",
                       "transpose_b", {})
    return [cast(g, t.dtype.base_dtype) for g, t in zip(grads, (a, b))]


@dispatchable
def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
           adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
           name: str | None = None) -> Tensor:
    """The matrix product of a [..., m, k] and b [..., k, n]: [..., m, n]; leading dimensions broadcast.

    `transpose_a`, `adjoint_a` (and so for b) transpose, or transpose and conjugate, the last two dimensions first.
    Raises ValueError if the inner dimensions differ, a rank is below 2, or a transpose and an adjoint are asked for.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        sparse = a_is_sparse or b_is_sparse
        if not sparse and (a._shape is None or len(a._shape) > 2 or b._shape is None or len(b._shape) > 2):
            # BatchMatMul knows the adjoint only: transposing is the adjoint of the conjugate
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return _batch_matmul_v2(a, b, adj_x=adjoint_a, adj_y=adjoint_b, name=scope)
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        if sparse and a.dtype.base_dtype in _SPARSE_TYPES and b.dtype.base_dtype in _SPARSE_TYPES:
            return sparse_matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, a_is_sparse=a_is_sparse,
                                 b_is_sparse=b_is_sparse, name=scope)
        return _matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=scope)
