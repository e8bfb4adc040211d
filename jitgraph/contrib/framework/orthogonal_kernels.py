"""Initializers for kernels of convolutions that keep the norm of what they are applied to (Xiao et al., 2018).

Formulas are those of the paper's algorithms 1 and 2; for given seeds the numbers are TensorFlow's.
"""
from __future__ import annotations

import functools
import itertools
from typing import Any

from jitgraph.facade import names
from jitgraph.graph import dtypes
from jitgraph.graph.shapes import raw_shape
from jitgraph.variables.variable_initializers import Initializer, floating

Blocks = dict[tuple[int, ...], Any]
"""A kernel: the matrix [n, n] at each place."""

_RANKS = {1: "three", 2: "four", 3: "five"}


def _call(function: str, *args: Any, **kwargs: Any) -> Any:
    return names.resolve(function)(*args, **kwargs)


class _Kernel(Initializer):
    _fields = ("gain", "seed", "dtype")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain, self.seed, self.dtype = gain, seed, floating(dtype)

    def _scaled(self, value: Any, dtype: Any) -> Any:
        return value * _call("cast", self.gain, dtype)


class ConvolutionDeltaOrthogonal(_Kernel):
    """`gain` times an orthogonal matrix at the middle of the kernel, zeros elsewhere.

    Shapes are [..., inputs, outputs] with one to three dimensions of space, and not more inputs than outputs: else ValueError.
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        dtype = self.dtype if dtype is None else dtype
        shape = [int(d) for d in raw_shape(shape)]
        if not 3 <= len(shape) <= 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        inputs, outputs = _channels(shape)
        q, r = _call("qr", _call("random_normal", [outputs, outputs], dtype=dtype, seed=self.seed), full_matrices=False)
        q = q * _call("sign", _call("diag_part", r))
        q = self._scaled(q[:inputs, :], dtype)
        return _call("scatter_nd", [[(d - 1) // 2 for d in shape[:-2]]], _call("expand_dims", q, 0), shape)


def _channels(shape: list) -> tuple[int, int]:
    inputs, outputs = shape[-2:]
    if inputs > outputs:
        raise ValueError("In_filters cannot be greater than out_filters.")
    return inputs, outputs


class _Orthogonal(_Kernel):
    """A kernel is an orthogonal matrix after a product of kernels of width two, each made of projections."""

    _rank: int

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        shape = [int(d) for d in raw_shape(shape)]
        if len(shape) != self._rank + 2:
            raise ValueError(f"The tensor to initialize must be {_RANKS[self._rank]}-dimensional")
        _channels(shape)
        if len(set(shape[:-2])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        return self._scaled(self._kernel(shape[0], *shape[-2:]), self.dtype if dtype is None else dtype)

    def _kernel(self, width: int, inputs: int, outputs: int) -> Any:
        first = self._orthogonal_matrix(outputs)[0:inputs, :]
        if width == 1:
            for _ in range(self._rank):
                first = _call("expand_dims", first, 0)
            return first
        product = self._pair(outputs)
        for _ in range(width - 2):
            product = self._convolved(product, self._pair(outputs))
        for place in itertools.product(range(width), repeat=self._rank):
            product[place] = _call("matmul", first, product[place])
        return self._stacked(product, width)

    def _pair(self, n: int) -> Blocks:
        """A kernel of width two: at each place the product of a projection per dimension, or of what is across from it."""
        projections = [self._projection(n) for _ in range(self._rank)]
        eye = _call("eye", n, dtype=self.dtype)
        return {place: functools.reduce(lambda a, b: _call("matmul", a, b),
                                        [self._part(at, p, eye) for at, p in zip(place, projections)])
                for place in itertools.product((0, 1), repeat=self._rank)}

    def _part(self, at: int, projection: Any, eye: Any) -> Any:
        return eye - projection if at else projection

    def _orthogonal_matrix(self, n: int) -> Any:
        normal = _call("random_normal", [n, n], dtype=self.dtype, seed=self._next_seed())
        q, r = _call("qr", normal)
        return q * _call("sign", _call("diag_part", r))

    def _projection(self, n: int) -> Any:
        """A symmetric [n, n] with P P = P: onto a random choice of the columns of an orthogonal matrix."""
        q = self._orthogonal_matrix(n)
        chosen = _call("cast", _call("random_normal", [n], seed=self._next_seed()) > 0, self.dtype)
        columns = _call("multiply", q, chosen)
        return _call("matmul", columns, _call("matrix_transpose", columns))

    def _next_seed(self) -> int | None:
        seed = self.seed
        if seed:
            self.seed = seed + 1
        return seed

    def _convolved(self, a: Blocks, b: Blocks) -> Blocks:
        """The kernel that does what `a` after `b` does."""
        n = next(iter(a.values())).shape.as_list()[0]
        a_width, b_width = (round(len(blocks) ** (1 / self._rank)) for blocks in (a, b))
        result = {}
        for place in itertools.product(range(a_width + b_width - 1), repeat=self._rank):
            result[place] = _call("zeros", [n, n], self.dtype)
            for left in itertools.product(*(range(min(a_width, at + 1)) for at in place)):
                right = tuple(at - one for at, one in zip(place, left))
                if max(right) < b_width:
                    result[place] = result[place] + _call("matmul", a[left], b[right])
        return result

    def _stacked(self, blocks: Blocks, width: int, place: tuple[int, ...] = ()) -> Any:
        if len(place) == self._rank:
            return blocks[place]
        return _call("stack", [self._stacked(blocks, width, (*place, at)) for at in range(width)])


class ConvolutionOrthogonal1D(_Orthogonal):
    """`gain` times an orthogonal kernel [width, inputs, outputs]; it keeps the norm of what is padded in a circle.

    Raises ValueError for other ranks, and for more inputs than outputs.  Each call takes other numbers: with a `seed`, it counts
    up.
    """

    _rank = 1


class ConvolutionOrthogonal2D(_Orthogonal):
    """`gain` times an orthogonal kernel [width, width, inputs, outputs]; see ``ConvolutionOrthogonal1D``."""

    _rank = 2


class ConvolutionOrthogonal3D(_Orthogonal):
    """`gain` times an orthogonal kernel [width, width, width, inputs, outputs]; see ``ConvolutionOrthogonal1D``."""

    _rank = 3

    def _part(self, at: int, projection: Any, eye: Any) -> Any:
        return at * projection + (1 - at) * (eye - projection)


convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
