"""Initializers of variables: objects that are called with a shape and give the tensor of initial values.

``tf.glorot_uniform_initializer(seed=1)([784, 256])``.  Formulas and defaults are TensorFlow's, and so are the numbers
for given seeds.  Fans of a shape: rank 1: (n, n); rank 2: (rows, columns); above: the last two dimensions times the
product of the others (the receptive field of a convolution).
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.facade import names
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.shapes import raw_shape

# A normal distribution cut at two standard deviations has this one; dividing by it makes the variance what is asked.
TRUNCATED_STDDEV = 0.87962566103423978


def _call(function: str, *args: Any, **kwargs: Any) -> Any:
    return names.resolve(function)(*args, **kwargs)


def floating(dtype: Any) -> DType:
    """`dtype`, checked to be a float type.  Raises ValueError otherwise."""
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


class Initializer:
    """Base of all initializers: called as ``initializer(shape, dtype=None, partition_info=None)``."""

    _fields: tuple[str, ...] = ()

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, for ``from_config``."""
        config = {field: getattr(self, field) for field in self._fields}
        if isinstance(config.get("dtype"), DType):
            config["dtype"] = config["dtype"].name
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initializer from the arguments that ``get_config`` gave."""
        return cls(**config)


class Zeros(Initializer):
    """All zeros (empty strings, False)."""

    _fields = ("dtype",)

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return _call("zeros", shape, self.dtype if dtype is None else dtype)


class Ones(Initializer):
    """All ones."""

    _fields = ("dtype",)

    def __init__(self, dtype: Any = dtypes.float32):
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return _call("ones", shape, self.dtype if dtype is None else dtype)


class Constant(Initializer):
    """A value, or a list or array of values in row-major order; too few are continued with the last one."""

    _fields = ("value", "dtype")

    def __init__(self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray).")
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: Any = None) -> Any:
        wanted = self.dtype if dtype is None else as_dtype(dtype)
        verify = self._verify_shape if verify_shape is None else verify_shape
        return _call("constant", self.value, dtype=wanted, shape=shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Uniform in [minval, maxval); `maxval` None is 1 for floats."""

    _fields = ("minval", "maxval", "seed", "dtype")

    def __init__(self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: Any = dtypes.float32):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return _call("random_uniform", shape, self.minval, self.maxval, self.dtype if dtype is None else dtype,
                     seed=self.seed)


class _Normal(Initializer):

    _fields = ("mean", "stddev", "seed", "dtype")
    _function = "random_normal"

    def __init__(self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return _call(self._function, shape, self.mean, self.stddev, self.dtype if dtype is None else dtype,
                     seed=self.seed)


class RandomNormal(_Normal):
    """Normal with `mean` and `stddev`."""


class TruncatedNormal(_Normal):
    """Normal, values further than two standard deviations from the mean drawn again."""

    _function = "truncated_normal"


class UniformUnitScaling(Initializer):
    """Uniform within ``factor * sqrt(3 / n)``, n the product of all dimensions but the last."""

    _fields = ("factor", "seed", "dtype")

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.factor, self.seed, self.dtype = factor, seed, floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        full = partition_info.full_shape if partition_info is not None else raw_shape(shape)
        size = 1.0
        for d in raw_shape(full)[:-1]:
            size *= float(d)
        limit = math.sqrt(3 / max(1.0, size)) * self.factor
        return _call("random_uniform", shape, -limit, limit, self.dtype if dtype is None else dtype, seed=self.seed)


def fans(shape: Any) -> tuple[int, int]:
    """(fan_in, fan_out) of a shape, see the module's docstring."""
    shape = [int(d) for d in raw_shape(shape)]
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    receptive = math.prod(shape[:-2])
    return shape[-2] * receptive, shape[-1] * receptive


class Scaling:
    """The formula of variance scaling; `scale`, `mode` and `distribution` are those of ``VarianceScaling``."""

    scale: float
    mode: str
    distribution: str

    def distribution_of(self, shape: Any) -> tuple[str, float, float]:
        """("uniform", least, most) or ("normal" or "truncated_normal", mean, standard deviation) for a shape."""
        fan_in, fan_out = fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, n)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return "uniform", -limit, limit
        if self.distribution == "untruncated_normal":
            return "normal", 0.0, math.sqrt(variance)
        return "truncated_normal", 0.0, math.sqrt(variance) / TRUNCATED_STDDEV


class VarianceScaling(Scaling, Initializer):
    """Variance ``scale / n``, n = fan_in, fan_out or their mean (`mode`).

    `distribution`: "uniform" (limit sqrt(3 scale / n)), "truncated_normal" or "normal" (cut at two standard deviations,
    corrected), "untruncated_normal".  Raises ValueError for other modes, distributions or scales <= 0.
    """

    _fields: tuple[str, ...] = ("scale", "mode", "distribution", "seed", "dtype")
    _may_be_zeros = False

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
                 seed: int | None = None, dtype: Any = dtypes.float32):
        if scale < 0.0 or scale == 0.0 and not self._may_be_zeros:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {mode}")
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {distribution}")
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed, self.dtype = seed, floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        kind, first, second = self.distribution_of(partition_info.full_shape if partition_info is not None else shape)
        function = {"uniform": "random_uniform", "normal": "random_normal"}.get(kind, kind)
        return _call(function, shape, first, second, self.dtype if dtype is None else dtype, seed=self.seed)


class _NamedScaling(VarianceScaling):
    """A variance scaling with all but the seed fixed.  As in TensorFlow, only a call's dtype counts, not `dtype`."""

    _fields = ("seed", "dtype")
    _arguments: tuple[float, str, str]

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(*self._arguments, seed=seed)


class GlorotUniform(_NamedScaling):
    """Uniform within sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010); the default of ``tf.get_variable``."""

    _arguments = (1.0, "fan_avg", "uniform")


class GlorotNormal(_NamedScaling):
    """Truncated normal of variance 2 / (fan_in + fan_out)."""

    _arguments = (1.0, "fan_avg", "truncated_normal")


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


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32) -> Initializer:
    """``tf.contrib.layers.xavier_initializer``: Glorot's initializer, uniform or normal.

    Raises TypeError for a dtype that is not floating point.
    """
    return contrib_variance_scaling(1.0, "FAN_AVG", uniform, seed, dtype)


class _ScalingOfEach(VarianceScaling):
    """As TensorFlow's contrib does it: each part of a partitioned variable is scaled by its own sizes, not those of the whole."""

    _may_be_zeros = True

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return super().__call__(shape, dtype)


def contrib_variance_scaling(factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None,
                             dtype: Any = dtypes.float32) -> Initializer:
    """``tf.contrib.layers.variance_scaling_initializer``: variance factor / n; `mode` "FAN_IN", "FAN_OUT" or "FAN_AVG".

    Raises TypeError for other modes and dtypes that are not floating point, ValueError for a negative `factor`.
    """
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    if uniform:
        return _ScalingOfEach(factor, mode.lower(), "uniform", seed, dtype)
    # 1.3 makes up for the tails that are cut off, as TensorFlow's contrib rounds it
    return _ScalingOfEach(factor * 1.3 * TRUNCATED_STDDEV ** 2, mode.lower(), "truncated_normal", seed, dtype)


class Orthogonal(Initializer):
    """`gain` times a matrix with orthonormal rows or columns (the QR of a normal matrix); rank 2 and above."""

    _fields = ("gain", "seed", "dtype")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32):
        self.gain, self.seed, self.dtype = gain, seed, floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        shape = [int(d) for d in raw_shape(shape)]
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        normal = _call("random_normal", [max(rows, columns), min(rows, columns)],
                       dtype=self.dtype if dtype is None else dtype, seed=self.seed)
        q, r = _call("qr", normal, full_matrices=False)
        q = q * _call("sign", _call("diag_part", r))
        if rows < columns:
            q = _call("matrix_transpose", q)
        return self.gain * _call("reshape", q, shape)


class Identity(Initializer):
    """`gain` times the identity matrix; for matrices only."""

    _fields = ("gain", "dtype")

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32):
        self.gain, self.dtype = gain, floating(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        full = raw_shape(partition_info.full_shape if partition_info is not None else shape)
        if len(full) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        eye = _call("eye", *full, dtype=self.dtype if dtype is None else dtype)
        if partition_info is not None:
            eye = _call("slice", eye, partition_info.var_offset, shape)
        return self.gain * eye


zeros_initializer = Zeros
ones_initializer = Ones
constant_initializer = Constant
random_uniform_initializer = RandomUniform
random_normal_initializer = RandomNormal
truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling_initializer = VarianceScaling
orthogonal_initializer = Orthogonal
identity_initializer = Identity
glorot_uniform_initializer = GlorotUniform
glorot_normal_initializer = GlorotNormal
