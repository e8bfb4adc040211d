"""Optimizers with L1 and L2 in their step: Ftrl and the proximal ones."""
from __future__ import annotations

from typing import Any

from jitgraph.train.one_op import OneOp
from jitgraph.train.optimizer import Optimizer


class FtrlOptimizer(OneOp, Optimizer):
    """Follow the regularized leader (McMahan et al., 2013).  Slots: "accum", "linear".

    Raises ValueError for negative strengths or accumulators and positive `learning_rate_power`.
    """

    _slot_inputs = {"accum": "accum", "linear": "linear"}

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "Ftrl", accum_name: str | None = None,
                 linear_name: str | None = None, l2_shrinkage_regularization_strength: float = 0.0):
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        for what, value in (("initial_accumulator_value", initial_accumulator_value),
                            ("l1_regularization_strength", l1_regularization_strength),
                            ("l2_regularization_strength", l2_regularization_strength),
                            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)):
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        super().__init__(use_locking, name, {
            "lr": ("learning_rate", learning_rate), "l1": ("l1_regularization_strength", l1_regularization_strength),
            "l2": ("l2_regularization_strength", l2_regularization_strength),
            "l2_shrinkage": ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
            "lr_power": ("learning_rate_power", learning_rate_power)})
        self._step = "FtrlV2" if l2_shrinkage_regularization_strength > 0.0 else "Ftrl"
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accum", self._accum_name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)


class ProximalGradientDescentOptimizer(OneOp, Optimizer):
    """A gradient step, then the proximal step for L1 and L2 (Duchi and Singer, 2009)."""

    _step = "ProximalGradientDescent"

    def __init__(self, learning_rate: Any, l1_regularization_strength: float = 0.0,
                 l2_regularization_strength: float = 0.0, use_locking: bool = False,
                 name: str = "ProximalGradientDescent"):
        super().__init__(use_locking, name, {
            "alpha": ("learning_rate", learning_rate), "l1": ("l1_regularization_strength", l1_regularization_strength),
            "l2": ("l2_regularization_strength", l2_regularization_strength)})


class ProximalAdagradOptimizer(OneOp, Optimizer):
    """An Adagrad step, then the proximal step for L1 and L2 (Duchi and Singer, 2009).  Slot: "accumulator".

    Raises ValueError if `initial_accumulator_value` is not positive.
    """

    _step = "ProximalAdagrad"
    _slot_inputs = {"accum": "accumulator"}

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = "ProximalAdagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name, {
            "lr": ("learning_rate", learning_rate), "l1": ("l1_regularization_strength", l1_regularization_strength),
            "l2": ("l2_regularization_strength", l2_regularization_strength)})
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accumulator")
