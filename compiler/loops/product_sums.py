"""Sums of products over the iterations of a loop, such as the gradient of a recurrent network's weights.

    total += x.T @ y        in every iteration, x and y having few rows

is one product of all x, one below the other, and all y.  A long product costs less than many short ones, each of which
reads and writes the whole total; so a loop collects pairs, and a sub-program of its own multiplies them.
"""
from __future__ import annotations

from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

LEAST = 1 << 12         # elements of a total from which collecting is worth while


def product_in(tensor: Tensor, total: Tensor) -> Operation | None:
    """The MatMul that a loop adds to its variable `total` in each iteration, where `tensor` is the next value; None if
    it is not such a sum, or too small."""
    op = tensor.op
    if op.opdef is None or not op.opdef.adds or len(op.inputs) != 2 or op.inputs[0] is not total:
        return None
    product, shape = op.inputs[1], total._shape
    if product.op.type != "MatMul" or len(product._consumers) != 1 or product.dtype.name not in ("float32", "float64"):
        return None
    known = shape is not None and None not in shape and product._shape == shape
    return product.op if known and shape[0] * shape[1] >= LEAST else None


class ProductSum:
    """One such sum: `graph` computes from the tensors `given`, which are a total and two joined factors, the new `total`.

    `op` is the MatMul; `axes`: along which axis of each factor the terms of a product run.
    """

    def __init__(self, op: Operation) -> None:
        from jitgraph.ops.arrays.identity import placeholder
        from jitgraph.ops.elementwise.arithmetic import add
        from jitgraph.ops.linalg.matmul import matmul

        self.op, (ta, tb) = op, (op.attrs["transpose_a"], op.attrs["transpose_b"])
        self.axes = (0 if ta else 1, 1 if tb else 0)
        m, n = op.outputs[0]._shape
        self.graph = Graph()
        with self.graph.as_default():
            dtype = op.outputs[0].dtype
            self.given = [placeholder(dtype, (m, n)), placeholder(dtype, (None, m) if ta else (m, None)),
                          placeholder(dtype, (n, None) if tb else (None, n))]
            self.total = add(self.given[0], matmul(self.given[1], self.given[2], transpose_a=ta, transpose_b=tb))
