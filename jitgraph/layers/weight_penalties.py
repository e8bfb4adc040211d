"""Regularizers that have a configuration: objects that give a scalar loss of weights, ``tf.keras.regularizers``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.elementary import square
from jitgraph.ops.reduce.reductions import reduce_sum


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
