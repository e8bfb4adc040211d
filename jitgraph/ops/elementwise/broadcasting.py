"""Gradients under broadcasting: summing back to the shape that an input had before it was stretched."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import INDEX, NOT_DIFFERENTIABLE, op
from jitgraph.graph.constant_value import folded_shape
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_taken, counted_as, first_of, let_axes_be_computed, let_gradient_count, let_not_measure


def reduced_axes(first: Any, second: Any) -> tuple[list[int], list[int]]:
    """For each of two shapes the axes of their common shape along which it has size 1 or is missing.

    Both lists are empty if the shapes are equal.  Sizes may be symbolic.  Raises ValueError if they do not broadcast.
    """
    first, second = list(first), list(second)
    rank = max(len(first), len(second))
    if len(first) == len(second) and all(m is n or m == n for m, n in zip(first, second)):
        return [], []
    wide = [[1] * (rank - len(shape)) + shape for shape in (first, second)]
    of_first, of_second = [], []
    for axis, (m, n) in enumerate(zip(*wide)):
        if m is not n and m != n and m != 1 and n != 1:
            raise ValueError(f"Incompatible shapes: {first} vs. {second}")
        if m == 1:
            of_first.append(axis)
        if n == 1:
            of_second.append(axis)
    return of_first, of_second


def _two_vectors(c: Any) -> list:
    first, second = c.constant(0), c.constant(1)
    if first is None or second is None or any(size is None for size in (*first.ravel(), *second.ravel())):
        return [(None,), (None,)]
    return [(len(axes),) for axes in reduced_axes(first.tolist(), second.tolist())]


def _as_constants(b: Any, s0: Any, s1: Any) -> Any:
    if s0.constant is None or s1.constant is None:
        return NotImplemented
    dtype = s0.dtype.as_numpy_dtype
    return tuple(b.const(np.array(axes, dtype), s0.dtype)
                 for axes in reduced_axes(np.ravel(s0.constant).tolist(), np.ravel(s1.constant).tolist()))


@op("BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T", T=INDEX, shape=_two_vectors, lower=_as_constants,
    grad=NOT_DIFFERENTIABLE, dynamic=True,
    samples=lambda rng, dtype: [[np.array([2, 3, 1], dtype), np.array([3, 4], dtype)],
                                [np.array([], dtype), np.array([5], dtype)]], symbolic=True)
def broadcast_gradient_args(s0, s1):
    """The axes over which the gradients of ``x op y`` are summed, from the shapes `s0` of x and `s1` of y."""
    try:
        axes = reduced_axes(s0.tolist(), s1.tolist())
    except ValueError as error:
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, str(error)) from None
    return tuple(np.array(a, s0.dtype) for a in axes)


def _stretched_axes(own: Any, other: Any) -> list[int] | None:
    """The axes over which a gradient is summed to get back from the common shape to `own`; None if not known yet."""
    if own is None or other is None:
        return None
    lead = max(0, len(other) - len(own))
    stretched = lead > 0
    for position, size in enumerate(own):
        index = position + len(other) - len(own)
        beside = other[index] if index >= 0 else 1
        if size is None and beside != 1:
            return None                 # it may turn out to be 1
        stretched = stretched or size == 1 and beside != 1
    # as TensorFlow's, with those that have size 1 on both sides
    return [*range(lead), *(lead + i for i, size in enumerate(own) if size == 1)] if stretched else []


def _is_known(tensor: Any) -> bool:
    return tensor._shape is not None and None not in tensor._shape


def differs(grad: Any, tensor: Any) -> bool:
    """Whether a gradient is known to have another shape than what it is the gradient of."""
    return _is_known(tensor) and getattr(grad, "_shape", None) is not None and _is_known(grad) and grad._shape != tensor._shape


class Unbroadcast:
    """How a gradient of the shape of ``x op y`` goes back to the shapes of x and y.

    Where the static shapes tell, this needs a Sum and a Reshape for an input that was stretched, and nothing for another;
    else ``BroadcastGradientArgs`` finds the axes at run time.  The last `inner` dimensions do not broadcast.
    """

    __slots__ = ("_tensors", "_shape_of_y", "_inner", "_sums", "_found")

    def __init__(self, x: Any, y: Any, inner: int = 0, sums: bool = False, shape_of_y: Any = None):
        """`sums`: whether TensorFlow's gradient has a Sum and a Reshape whatever the shapes, which counts for default seeds.
        `shape_of_y`: the shape of y, where it is there already."""
        self._tensors = x, y
        self._shape_of_y = shape_of_y
        self._inner, self._sums = inner, sums
        self._found: Any = None
        with counted_as(self._nodes_of_axes()):
            self._look()

    def _nodes_of_axes(self) -> int:
        """Two shapes and BroadcastGradientArgs; for shapes that are known, once in a graph."""
        shapes = tuple(t._shape for t in self._tensors)
        if self._sums:
            return 3
        if self._agree():
            return 0
        if self._inner:
            return 11                   # with the outer part of each shape
        return 0 if self._are_known() and not first_of(("broadcast", *shapes)) else 3

    def _are_known(self) -> bool:
        return all(map(_is_known, self._tensors))

    def _agree(self) -> bool:
        first, second = (t._shape for t in self._tensors)
        return first is not None and first == second and None not in first

    def _look(self) -> None:
        x, y, inner = *self._tensors, self._inner
        if any(self._axes(which) is None for which in (0, 1)):
            shapes = self._shape_of(x), self._shape_of(y)
            outer = [shape[:-inner] for shape in shapes] if inner else shapes
            self._found = shapes, broadcast_gradient_args(*outer)
        elif x.op.graph.building_function and not self._are_known():
            count_taken(*(t for t in self._tensors if not ((self._sums or self._inner) and _is_known(t))), shapes=True)

    def _shape_of(self, tensor: Any) -> Any:
        """A constant where the shape is known, if TensorFlow's gradient takes one: a loop would keep the shape of each round."""
        from jitgraph.ops.arrays.shape import shape

        if tensor is self._tensors[1] and self._shape_of_y is not None:
            return self._shape_of_y
        return shape(tensor) if self._sums or self._inner else raw.Shape(tensor)

    def _axes(self, which: int) -> list[int] | None:
        shapes = [t._shape if t._shape is None or not self._inner else t._shape[:-self._inner] for t in self._tensors]
        return _stretched_axes(shapes[which], shapes[1 - which])

    def _back(self, grad: Any, which: int, arrived: bool) -> Any:
        nodes = self._nodes(which)
        with counted_as(nodes):
            found = self._summed(grad, which)
            if differs(found, self._tensors[which]):    # a gradient of shape [1] for a scalar, which TensorFlow's Reshape takes
                return raw.Reshape(found, list(self._tensors[which]._shape))
            if nodes and found is grad:
                found = raw.Identity(grad) if arrived else grad
                let_gradient_count(found, 18)           # that of a Sum over computed axes, and of a Reshape
            if nodes and not _is_known(found):
                found.set_shape(folded_shape(self._tensors[which]))     # as far as TensorFlow's Reshape may know it
            return found

    def _nodes(self, which: int) -> int:
        """A Sum and a Reshape unless the static shapes say that there is nothing to sum; with their constants if they do."""
        if self._agree() and not self._sums:
            return 0
        if self._inner or self._sums or not self._are_known():
            return 2
        return 4 if self._axes(which) else 0

    def _summed(self, grad: Any, which: int) -> Any:
        axes = self._axes(which)
        if axes is None:
            shapes, found = self._found
            return raw.Reshape(raw.Sum(grad, found[which]), shapes[which])
        shape = self._tensors[which]._shape
        if not axes:
            return grad
        grad = convert_to_tensor(grad)      # of IndexedSlices: only whole tensors can be summed up
        if grad._shape == shape and None not in shape:
            return grad
        total = raw.Sum(grad, axes)
        if self._nodes(which) == 2:
            let_axes_be_computed(total)
        if None not in shape:
            return raw.Reshape(total, list(shape))
        if 1 in shape:
            return raw.Reshape(total, let_not_measure(raw.Shape(self._tensors[which])))
        let_gradient_count(total, 2)            # that of a Reshape
        return total

    def to_x(self, grad: Any, arrived: bool = False) -> Any:
        """`grad` in the shape of x.

        `arrived`: the gradient of the result itself.  Where TensorFlow makes another tensor of it, so does this, since what
        is fed for the one is not fed for the other.
        """
        return self._back(grad, 0, arrived)

    def to_y(self, grad: Any, arrived: bool = False) -> Any:
        """`grad` in the shape of y."""
        return self._back(grad, 1, arrived)
