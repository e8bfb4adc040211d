"""Steps that are larger where gradient and momentum agree in sign (Bello and others, 2017), and how that fades."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.elementwise.arithmetic import maximum, minimum, mod
from jitgraph.ops.elementwise.arithmetic import pow as pow_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.elementwise.composite_values import sign
from jitgraph.ops.elementwise.elementary import cos
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, scatter_sub


class _SignOptimizer(Optimizer):
    """What both optimizers share: a running mean "m" of the gradient, and the decay of the signs."""

    _kind: str

    def __init__(self, learning_rate: Any, constants: dict[str, Any], beta: Any, sign_decay_fn: Callable | None,
                 use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._given = {"learning_rate": learning_rate, "beta": beta, **constants}
        self._tensors: dict[str, Any] = {}
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As of ``tf.train.Optimizer``.  Raises ValueError if the signs decay and there is no `global_step`."""
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self) -> None:
        self._tensors = {name: convert_to_tensor(value, name=name) for name, value in self._given.items()}
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _hyperparameters(self, var: Any) -> list:
        _, beta, constant = self._tensors
        tensors = (self._tensors["learning_rate"], self._tensors[constant], self._sign_decay_t, self._tensors[beta])
        return [self._as(one, var) for one in tensors]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return getattr(raw, f"Apply{self._kind}")(var, self.get_slot(var, "m"), *self._hyperparameters(var), grad,
                                                  use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return getattr(raw, f"ResourceApply{self._kind}")(var.handle, self.get_slot(var, "m").handle,
                                                          *self._hyperparameters(var), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        lr, constant, decay, beta = self._hyperparameters(var)
        m = self.get_slot(var, "m")
        m_t = assign(m, m * beta + grad * (1 - beta), use_locking=self._use_locking)
        agree = gather(sign(m_t), grad.indices) * sign(grad.values)
        factor = self._factor(constant, decay * agree)
        step = scatter_sub(var, grad.indices, lr * factor * grad.values, use_locking=self._use_locking)
        return group(step, m_t)

    def _factor(self, constant: Any, agree: Any) -> Any:
        raise NotImplementedError


class AddSignOptimizer(_SignOptimizer):
    """var -= learning_rate * (alpha + decay * sign(gradient) * sign(m)) * gradient.

    `sign_decay_fn`: the decay as a function of the global step, by default 1.  Slot: "m".
    """

    _kind = "AddSign"

    def __init__(self, learning_rate: Any = 0.1, alpha: Any = 1.0, beta: Any = 0.9, sign_decay_fn: Callable | None = None,
                 use_locking: bool = False, name: str = "AddSignOptimizer"):
        super().__init__(learning_rate, {"alpha": alpha}, beta, sign_decay_fn, use_locking, name)

    def _factor(self, constant: Any, agree: Any) -> Any:
        return constant + agree


class PowerSignOptimizer(_SignOptimizer):
    """var -= learning_rate * base ** (decay * sign(gradient) * sign(m)) * gradient; as ``AddSignOptimizer`` otherwise."""

    _kind = "PowerSign"

    def __init__(self, learning_rate: Any = 0.1, base: float = math.e, beta: Any = 0.9, sign_decay_fn: Callable | None = None,
                 use_locking: bool = False, name: str = "PowerSignOptimizer"):
        super().__init__(learning_rate, {"logbase": math.log(base)}, beta, sign_decay_fn, use_locking, name)

    def _factor(self, constant: Any, agree: Any) -> Any:
        return pow_of(cast(math.e, agree.dtype.base_dtype), constant * agree)


def get_linear_decay_fn(decay_steps: int) -> Callable:
    """A function of the global step that falls from 1 to 0 over `decay_steps`; it raises ValueError for None."""
    def linear_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for linear_decay.")
        step = minimum(global_step, decay_steps)
        remaining = cast(decay_steps, dtypes.int32) - cast(step, dtypes.int32)
        return maximum(0.0, cast(remaining, dtypes.float32) / cast(decay_steps, dtypes.float32))

    return linear_decay_fn


def _half_cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + cos(constant(math.pi) * fraction))


def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None) -> Callable:
    """A function of the global step that follows `num_periods` of a cosine over `decay_steps`, 0 after the part `zero_after`."""
    def cosine_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        step = minimum(global_step, decay_steps)
        fraction = 2.0 * num_periods * (cast(step, dtypes.float32) / cast(decay_steps, dtypes.float32))
        decayed = _half_cosine(fraction)
        return decayed if zero_after is None else where(greater_equal(fraction, 2 * zero_after), 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps: int, num_periods: int = 1, zero_after: float | None = None) -> Callable:
    """A function of the global step that falls by half a cosine `num_periods` times, 0 after `zero_after` of them."""
    def restart_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        step = minimum(global_step, decay_steps)
        within = mod(num_periods * cast(step, dtypes.float32), decay_steps)
        decayed = _half_cosine(within / cast(decay_steps, dtypes.float32))
        if zero_after is None:
            return decayed
        periods = cast(num_periods * step, dtypes.float32) / cast(decay_steps, dtypes.float32)
        return where(greater_equal(periods, zero_after), 0.0, decayed)

    return restart_decay_fn
