"""What of ``tf.keras`` stands without Keras's layers and is given to ``tf.layers`` and ``tf.get_variable``: initializers and
regularizers.  ``PARTS`` are the public names; what else ``tf.keras`` has is not here (see ``later``).
"""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.layers.weight_penalties import L1L2, Regularizer, l1, l1_l2, l2
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
