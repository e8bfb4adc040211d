"""What of ``tf.keras`` stands without Keras's layers and is given to ``tf.layers`` and ``tf.get_variable``: initializers and
regularizers.  ``PARTS`` are the public names; what else ``tf.keras`` has is not here (see ``later``).
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.elementary import square
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables import variable_initializers as initializers


class RandomNormal(initializers.RandomNormal):
    """Normal with `mean` and `stddev`, which is 0.05 by default."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class TruncatedNormal(initializers.TruncatedNormal):
    """Normal with `mean` and `stddev` (0.05 by default), values further than two of these from the mean drawn again."""

    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(initializers.RandomUniform):
    """Uniform in [minval, maxval), which is [-0.05, 0.05) by default."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None, dtype: Any = dtypes.float32):
        super().__init__(minval, maxval, seed, dtype)


class Regularizer:
    """A function of weights that gives a scalar loss; to derive from."""

    def __call__(self, x: Any) -> Any:
        """The loss of weights `x`."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict) -> Regularizer:
        """What ``get_config`` describes."""
        return cls(**config)


class L1L2(Regularizer):
    """``l1 * sum(abs(x)) + l2 * sum(square(x))`` of weights x: a float32 scalar."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1, self.l2 = np.asarray(l1, np.float32), np.asarray(l2, np.float32)

    def __call__(self, x: Any) -> Tensor:
        """The loss of weights `x`; a constant 0 if both factors are 0."""
        if not self.l1 and not self.l2:
            return constant(0.0)
        total: Any = 0.0
        if self.l1:
            total += self.l1 * reduce_sum(absolute(x))
        if self.l2:
            total += self.l2 * reduce_sum(square(x))
        return total

    def get_config(self) -> dict[str, float]:
        """The factors, as ``from_config`` takes them."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:
    """``L1L2`` of absolute values alone."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:
    """``L1L2`` of squares alone."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """``L1L2`` of both."""
    return L1L2(l1=l1, l2=l2)


def _named(group: str, **parts: Any) -> dict[str, Any]:
    return {f"keras.{group}.{name}": part for name, part in parts.items()}


PARTS: dict[str, Any] = {
    **_named("regularizers", Regularizer=Regularizer, L1L2=L1L2, l1=l1, l2=l2, l1_l2=l1_l2),
    **_named("initializers", Initializer=initializers.Initializer, Zeros=initializers.Zeros, zeros=initializers.Zeros,
             Ones=initializers.Ones, ones=initializers.Ones, Constant=initializers.Constant, constant=initializers.Constant,
             Orthogonal=initializers.Orthogonal, orthogonal=initializers.Orthogonal, Identity=initializers.Identity,
             identity=initializers.Identity, VarianceScaling=initializers.VarianceScaling,
             glorot_uniform=initializers.GlorotUniform, glorot_normal=initializers.GlorotNormal,
             lecun_normal=initializers.lecun_normal, lecun_uniform=initializers.lecun_uniform,
             he_normal=initializers.he_normal, he_uniform=initializers.he_uniform,
             RandomNormal=RandomNormal, random_normal=RandomNormal, normal=RandomNormal,
             RandomUniform=RandomUniform, random_uniform=RandomUniform, uniform=RandomUniform,
             TruncatedNormal=TruncatedNormal, truncated_normal=TruncatedNormal)}
