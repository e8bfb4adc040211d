"""Gradient descent and momentum."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.train.one_op import OneOp
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import scatter_sub


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate * gradient.  `learning_rate`: a number, tensor, or function without arguments."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw.ApplyGradientDescent(var, self._as(self._learning_rate_tensor, var), grad,
                                        use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw.ResourceApplyGradientDescent(handle.handle, self._as(self._learning_rate_tensor, grad), grad,
                                                use_locking=self._use_locking)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        delta = IndexedSlices(grad.values * self._as(self._learning_rate_tensor, var), grad.indices, grad.dense_shape)
        return scatter_sub(var, delta.indices, delta.values, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        rate = self._learning_rate
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * (
            rate if isinstance(rate, float) else self._as(self._learning_rate_tensor, grad)))


class MomentumOptimizer(OneOp, Optimizer):
    """accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.

    `use_nesterov` evaluates the gradient ahead, in the form of Sutskever et al., 2013.  Slot: "momentum".
    """

    _step = "Momentum"
    _slot_inputs = {"accum": "momentum"}

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
                 use_nesterov: bool = False):
        super().__init__(use_locking, name, {"lr": ("learning_rate", learning_rate), "momentum": ("momentum", momentum)},
                         use_nesterov=use_nesterov)
