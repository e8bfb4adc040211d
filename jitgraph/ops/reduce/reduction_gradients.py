"""The gradients of reductions: bringing the reduced axes back."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.counting import count_taken, counted_as, first_of, let_gradient_count
from jitgraph.graph.tensor import Tensor

_COMPUTED = 16      # nodes by which TensorFlow computes, in a run, how a gradient of a sum is repeated


def _static(op: Any) -> tuple[Any, tuple | None]:
    """The static shape of the input, and the reduced axes if they and the rank are known."""
    x, axes = op.inputs
    known = constant_value(axes)
    if known is None or x._shape is None:
        return x._shape, None
    rank = len(x._shape)
    return x._shape, tuple(dict.fromkeys(int(axis) % rank for axis in np.ravel(known)))


def _kept_shape(op: Any) -> Tensor:
    """The shape of the input with 1 in place of the reduced axes, computed at run time."""
    x, axes = op.inputs
    shape = raw.Shape(x)
    rank = raw.Size(shape)
    axes = raw.FloorMod(raw.Cast(axes, DstT="int32") + rank, rank)
    return raw.DynamicStitch([raw.Range(0, rank, 1), axes], [shape, raw.Fill(raw.Shape(axes), 1)])


def kept(op: Any, reduced: Tensor) -> Tensor:
    """A result of the reduction, or a gradient of it, with the reduced axes as size 1."""
    shape, axes = _static(op)
    if op.attrs["keep_dims"] or axes == ():
        return reduced
    if axes is None:
        return raw.Reshape(reduced, _kept_shape(op))
    if None not in shape or len(axes) == len(shape):
        return raw.Reshape(reduced, [1 if i in axes else size for i, size in enumerate(shape)])
    for axis in sorted(axes):
        reduced = raw.ExpandDims(reduced, axis)
    return reduced


def _nodes_of_spread(op: Any) -> int:
    """How many nodes TensorFlow makes of it: what it computes of shapes that are known it keeps for the whole graph."""
    shape, axes = op.inputs[0]._shape, constant_value(op.inputs[1])
    if shape is not None and axes is not None and "axes_computed" not in op.__dict__:
        if np.array_equal(axes, np.arange(len(shape))):
            return 4
        if None not in shape:                       # an empty list of axes is cast to int32
            return 21 + (np.size(axes) == 0) if first_of(("reduced", shape, tuple(np.ravel(axes)))) else 4
    return _COMPUTED + (op.inputs[1].dtype.base_dtype is dtypes.int64)


def nodes_of_mean(op: Any) -> int:
    """As above, for the gradient of a mean, which is divided by the number of elements."""
    sizes = [t._shape is not None and None not in t._shape for t in (op.inputs[0], op.outputs[0])]
    return _nodes_of_spread(op) + (2 if all(sizes) else 11)


def spread(op: Any, grad: Tensor) -> Tensor:
    """A gradient of the reduction's result, repeated to the shape of its input."""
    nodes = _nodes_of_spread(op)
    if nodes in (_COMPUTED, _COMPUTED + 1):
        count_taken(op.inputs[1])
    with counted_as(nodes):
        return _spread(op, grad)


def _spread(op: Any, grad: Tensor) -> Tensor:
    x = op.inputs[0]
    shape, axes = _static(op)
    if axes == ():
        found = raw.Identity(grad)      # TensorFlow makes a tensor of its own, which may be fed
        let_gradient_count(found, 14)
        count_taken(x, shapes=True)
        return found
    reshaped = 2 if op.attrs["keep_dims"] else 0        # TensorFlow reshapes it then, too, and its gradient back
    grad = kept(op, grad)
    if axes is None or None in shape:
        found = raw.BroadcastTo(grad, raw.Shape(x))
        if axes is not None and grad._shape is not None:
            found.set_shape([size if i in axes else size or grad._shape[i] for i, size in enumerate(shape)])
        let_gradient_count(found, 8 + reshaped)     # that of a Tile is larger
        return found
    found = raw.Tile(grad, [size if i in axes else 1 for i, size in enumerate(shape)])
    let_gradient_count(found, reshaped)
    return found


def reduced_count(op: Any) -> Any:
    """How many elements of the input make one of the result: an int if it is known, else a scalar int32 tensor."""
    shape, axes = _static(op)
    if axes is not None and all(shape[axis] is not None for axis in axes):
        if None in shape:
            count_taken(*(t for t in (op.inputs[0], op.outputs[0]) if not t.shape.is_fully_defined()), shapes=True)
        return int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    sizes = [np.array(t._shape, np.int32) if t.shape.is_fully_defined() else raw.Shape(t) for t in (op.inputs[0], op.outputs[0])]
    of_input, of_output = (raw.Prod(size, [0]) for size in sizes)
    return raw.FloorDiv(of_input, raw.Maximum(of_output, 1))


def others_product(op: Any) -> Tensor:
    """For every element of the input the product of the others with which it is multiplied.

    Not result / element, which fails at 0: the products of those before and of those behind.
    """
    x = op.inputs[0]
    _, axes = _static(op)
    if axes is not None and len(axes) == 1:
        before = raw.Cumprod(x, axes[0], exclusive=True)
        behind = raw.Cumprod(x, axes[0], exclusive=True, reverse=True)
        return _conj(before) * _conj(behind)
    return _flattened_others_product(op)


def _flattened_others_product(op: Any) -> Tensor:
    """Over several axes: they are brought to the front and flattened into one."""
    x, indices = op.inputs
    shape = raw.Shape(x)
    rank = raw.Rank(x)
    reduced = raw.FloorMod(raw.Cast(raw.Reshape(indices, [-1]), DstT="int32") + rank, rank)
    others = raw.ListDiff(raw.Range(0, rank, 1), reduced).out
    order = raw.ConcatV2([reduced, others], 0)
    fronted = raw.Transpose(x, order)
    lengths = [raw.Prod(raw.GatherV2(shape, some, 0), [0]) for some in (reduced, others)]
    flat = raw.Reshape(fronted, raw.Pack(lengths))
    before = raw.Cumprod(flat, 0, exclusive=True)
    behind = raw.Cumprod(flat, 0, exclusive=True, reverse=True)
    product = raw.Reshape(_conj(before) * _conj(behind), raw.Shape(fronted))
    return raw.Reshape(raw.Transpose(product, raw.InvertPermutation(order)), shape)


def _conj(x: Tensor) -> Tensor:
    from jitgraph.ops.elementwise.complex_numbers import conj

    return conj(x)
