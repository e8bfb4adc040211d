"""Initializers of TensorFlow 2: objects that are called with a shape and a dtype, float32 if none is given.

Formulas are those of ``tf.initializers``; defaults differ, and a seed other than 0 gives the same numbers in every call.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.shapes import raw_shape
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.matrix_parts import diag_part, eye, matrix_transpose
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.composite_values import sign
from jitgraph.ops.linalg.matrix_ops import qr
from jitgraph.ops.random import draws, random_stateless
from jitgraph.v2.values import constant
from jitgraph.variables.variable_initializers import Scaling, floating


class Initializer:
    """Base of all initializers: called as ``initializer(shape, dtype=float32)``."""

    _fields: tuple[str, ...] = ()

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, for ``from_config``."""
        return {field: getattr(self, field) for field in self._fields}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initializer from the arguments that ``get_config`` gave; "dtype" among them is left out."""
        config.pop("dtype", None)
        return cls(**config)


_DRAWS = {"normal": (draws.random_normal, random_stateless.stateless_random_normal),
          "uniform": (draws.random_uniform, random_stateless.stateless_random_uniform),
          "truncated_normal": (draws.truncated_normal, random_stateless.stateless_truncated_normal)}


def _drawn(kind: str, shape: Any, first: Any, second: Any, dtype: DType, seed: Any) -> Any:
    """Numbers of a distribution of `_DRAWS` with its two parameters."""
    by_graph, by_seed = _DRAWS[kind]
    return by_seed(shape, [seed, 0], first, second, dtype) if seed else by_graph(shape, first, second, dtype)


class Zeros(Initializer):
    """All zeros (empty strings, False)."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return zeros(shape, as_dtype(dtype))


class Ones(Initializer):
    """All ones.  Raises ValueError for strings."""

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype == dtypes.string:
            raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")
        return ones(shape, dtype)


class Constant(Initializer):
    """A value, or a list or array of as many values as the shape has; of their own dtype if none is given."""

    _fields = ("value",)

    def __init__(self, value: Any = 0):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray).")
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        return constant(self.value, None if dtype is None else as_dtype(dtype), shape)


class RandomUniform(Initializer):
    """Uniform in [minval, maxval), floats or integers."""

    _fields = ("minval", "maxval", "seed")

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")
        return _drawn("uniform", shape, self.minval, self.maxval, dtype, self.seed)


class RandomNormal(Initializer):
    """Normal with `mean` and `stddev`."""

    _fields = ("mean", "stddev", "seed")
    _kind = "normal"

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        return _drawn(self._kind, shape, self.mean, self.stddev, floating(dtype), self.seed)


class TruncatedNormal(RandomNormal):
    """Normal, values further than two standard deviations from the mean drawn again."""

    _kind = "truncated_normal"


class VarianceScaling(Scaling, Initializer):
    """Variance ``scale / n``, n = fan_in, fan_out or their mean (`mode`).

    `distribution`: "uniform" (limit sqrt(3 scale / n)), "truncated_normal" or "normal" (cut at two standard deviations,
    corrected), "untruncated_normal".  Raises ValueError for other modes, distributions or scales <= 0.
    """

    _fields: tuple[str, ...] = ("scale", "mode", "distribution", "seed")

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None):
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        distribution = "truncated_normal" if distribution == "normal" else distribution
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = floating(dtype)
        kind, first, second = self.distribution_of(shape)
        return _drawn(kind, shape, first, second, dtype, self.seed)


class _Glorot(VarianceScaling):

    _fields = ("seed",)
    _distribution = "uniform"

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", self._distribution, seed)


class GlorotUniform(_Glorot):
    """Uniform within sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""


class GlorotNormal(_Glorot):
    """Truncated normal of variance 2 / (fan_in + fan_out)."""

    _distribution = "truncated_normal"


class Orthogonal(Initializer):
    """`gain` times a matrix with orthonormal rows or columns (the QR of a normal matrix); rank 2 and above."""

    _fields = ("gain", "seed")

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = floating(dtype)
        sizes = [int(size) for size in raw_shape(shape)]
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        normal = _drawn("normal", [max(rows, columns), min(rows, columns)], 0.0, 1.0, dtype, self.seed)
        q, r = qr(normal, full_matrices=False)
        q = q * sign(diag_part(r))
        return self.gain * reshape(matrix_transpose(q) if rows < columns else q, sizes)


class Identity(Initializer):
    """`gain` times the identity matrix; for matrices only."""

    _fields = ("gain",)

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = dtypes.float32) -> Any:
        dtype = floating(dtype)
        sizes = raw_shape(shape)
        if len(sizes) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return self.gain * eye(*sizes, dtype=dtype)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal of variance 2 / fan_in (He et al., 2015)."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform of variance 2 / fan_in."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)
