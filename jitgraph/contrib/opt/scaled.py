"""Optimizers of large batches and of regularisers: LARS, Adagrad with accumulators that rest."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.elementwise.compare import greater
from jitgraph.ops.linalg.products import norm
from jitgraph.train.adaptive import AdagradOptimizer
from jitgraph.train.optimizer import Optimizer


class LARSOptimizer(Optimizer):
    """Momentum with a rate for each variable, by the norms of weight and gradient (You and others, 2017).

    `eeta`: the trust coefficient; `skip_list`: parts of names of variables that have the plain rate and do not decay.  Slot:
    "momentum".  Raises ValueError if `momentum` or `weight_decay` are negative.
    """

    def __init__(self, learning_rate: Any, momentum: Any = 0.9, weight_decay: Any = 0.0001, eeta: Any = 0.001, epsilon: Any = 0.0,
                 name: str = "LARSOptimizer", skip_list: list | None = None, use_nesterov: bool = False):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov
        self._learning_rate_tensor: Any = None
        self._momentum_tensor: Any = None

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def compute_lr(self, grad: Any, var: Any) -> tuple:
        """(the rate of a variable, its gradient with the weight decay)"""
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        weight, slope = norm(var, ord=2), norm(grad, ord=2)
        trust = where(greater(weight, 0), where(
            greater(slope, 0), self._eeta * weight / (slope + self._weight_decay * weight + self._epsilon), 1.0), 1.0)
        return self._learning_rate * trust, grad + self._weight_decay * var

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        return raw.ApplyMomentum(var, self.get_slot(var, "momentum"), self._as(1.0, var), grad * rate, self._momentum,
                                 use_locking=False, use_nesterov=self._use_nesterov)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        return raw.ResourceApplyMomentum(var.handle, self.get_slot(var, "momentum").handle, self._as(1.0, var), grad * rate,
                                         self._momentum, use_locking=False, use_nesterov=self._use_nesterov)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return raw.SparseApplyMomentum(var, self.get_slot(var, "momentum"), self._as(self._learning_rate_tensor, var), grad.values,
                                       grad.indices, self._as(self._momentum_tensor, var), use_locking=self._use_locking,
                                       use_nesterov=self._use_nesterov).op

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return raw.ResourceSparseApplyMomentum(
            var.handle, self.get_slot(var, "momentum").handle, self._as(self._learning_rate_tensor, grad), grad, indices,
            self._as(self._momentum_tensor, grad), use_locking=self._use_locking, use_nesterov=self._use_nesterov)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._momentum_tensor = convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad whose accumulators rest within ``with optimizer.avoid_updating_slots():``, where regularisers are minimized."""

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = "RegAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value=initial_accumulator_value, use_locking=use_locking, name=name)

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Steps made inside leave the accumulators as they are."""
        before = self._attrs
        self._attrs = {"update_slots": False}
        try:
            yield
        finally:
            self._attrs = before
