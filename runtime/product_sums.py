"""Sums of products over the iterations of a loop, such as the gradient of a recurrent network's weights.

    total += x.T @ y        in every iteration, x and y having few rows

is one product of all x, one below the other, and all y.  A long product costs less than many short ones, each of which
reads and writes the whole total; so pairs are collected, and multiplied when they have TERMS terms or the loop ends.
"""
from __future__ import annotations

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.graph import Graph

from .memory import address_of

TERMS = 2048            # terms of a sum that are collected
LEAST = 1 << 12         # elements of a total from which collecting is worth while


def product_in(tensor, total):
    """The MatMul that a loop adds to its variable `total` in each iteration, where `tensor` is the next value; None if
    it is not such a sum, or too small."""
    op = tensor.op
    if op.type not in ("AddN", "Add", "AddV2") or len(op.inputs) != 2 or op.inputs[0] is not total:
        return None
    product, shape = op.inputs[1], total._shape
    if product.op.type != "MatMul" or len(product._consumers) != 1 or product.dtype.name not in ("float32", "float64"):
        return None
    known = shape is not None and None not in shape and product._shape == shape
    return product.op if known and shape[0] * shape[1] >= LEAST else None


class ProductSum:
    """How the pairs of one such sum are multiplied and added."""

    def __init__(self, op, state):
        from jitgraph.ops.arrays.identity import placeholder
        from jitgraph.ops.elementwise.arithmetic import add
        from jitgraph.ops.linalg.matmul import matmul

        self.op, (ta, tb) = op, (op.attrs["transpose_a"], op.attrs["transpose_b"])
        self.axes = (0 if ta else 1, 1 if tb else 0)        # along which the terms of a product run
        m, n = op.outputs[0]._shape
        graph = Graph()
        with graph.as_default():
            dtype = op.outputs[0].dtype
            given = [placeholder(dtype, (m, n)), placeholder(dtype, (None, m) if ta else (m, None)),
                     placeholder(dtype, (n, None) if tb else (None, n))]
            total = add(given[0], matmul(given[1], given[2], transpose_a=ta, transpose_b=tb))
        self.plan = state.make_plan(graph, [total], [], given, state, state.jit)

    def add(self, total, pairs):
        """`total` and the products of `pairs`, in new memory."""
        factors = [_joined(side, axis) for side, axis in zip(zip(*pairs), self.axes)]
        return self.plan.run([np.ascontiguousarray(total), *factors])[0]


def _joined(arrays, axis) -> np.ndarray:
    """The arrays one behind the other along an axis; where they lie so in memory already, that memory."""
    first = arrays[0]
    places = [address_of(a) for a in arrays]
    if axis == 0 and first.base is not None and all(
            a.base is first.base and a.shape == first.shape and a.flags.c_contiguous for a in arrays) and all(
            b - a == first.nbytes for a, b in zip(places, places[1:])):
        return np.lib.stride_tricks.as_strided(first, (len(arrays) * len(first), *first.shape[1:]), writeable=False)
    return np.concatenate(arrays, axis) if len(arrays) > 1 else np.ascontiguousarray(first)


class Sum:
    """The value of such a variable while the loop runs: a total, and pairs that are still to be added."""

    def __init__(self, product: ProductSum, total):
        self.product, self.total, self.terms = product, total, 0
        self.pairs: list[tuple] = []

    def append(self, x, y):
        """Another pair.  Raises InvalidArgumentError where the shapes do not fit."""
        terms, others = (a.shape[axis] for a, axis in zip((x, y), self.product.axes))
        if terms != others:
            raise InvalidArgumentError(None, self.product.op, "Matrix size-incompatible: In[0]: "
                                       f"{list(x.shape)}, In[1]: {list(y.shape)}")
        self.pairs.append((x, y))
        self.terms += terms
        if self.terms >= TERMS:
            self.value()

    def value(self):
        """The total, with everything added."""
        if self.pairs:
            self.total = self.product.add(self.total, self.pairs)
            self.pairs, self.terms = [], 0
        return self.total
