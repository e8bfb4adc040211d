"""``tf.train.experimental``: loss scales, and an optimizer that multiplies the loss by one and divides the gradients by it."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.app import configuration, logs
from jitgraph.control.conditionals import cond, smart_cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.distribute.strategies import in_cross_replica_context
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.elementary import is_finite
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.variable import Variable


class LossScale(abc.ABC):
    """What a loss is multiplied by, so that gradients in float16 do not vanish; calling it gives a float32 scalar."""

    def __init__(self) -> None:
        self._weights: dict[tuple, Variable] = {}

    @abc.abstractmethod
    def __call__(self) -> Any:
        """The scale now."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """(an operation that updates the scale, whether the gradients are to be applied), for gradients that were divided."""

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        """A variable of the scale.  Raises RuntimeError if there is one of that name in the graph."""
        variable = Variable(initial_value, name=name, dtype=dtype, trainable=False, use_resource=True)
        key = (name, get_default_graph())
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        self._weights[key] = variable
        return variable

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments that make one like this."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """One with these arguments."""
        return cls(**config)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return sorted((name, one) for (name, graph), one in self._weights.items() if graph is get_default_graph())


class FixedLossScale(LossScale):
    """A scale that stays as it is.  Raises ValueError if it is no number, or below 1."""

    def __init__(self, loss_scale_value: Any):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Any:
        """The scale."""
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """(nothing to do, True)"""
        return no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        """The scale."""
        return {"loss_scale_value": self._loss_scale_value}


class DynamicLossScale(LossScale):
    """A scale that grows by `multiplier` after `increment_period` steps of finite gradients, and shrinks by it otherwise."""

    def __init__(self, initial_loss_scale: float = 2 ** 15, increment_period: int = 2000, multiplier: float = 2.0):
        super().__init__()
        self._initial, self._period, self._multiplier = float(initial_loss_scale), int(increment_period), float(multiplier)
        self._current = self._add_weight("current_loss_scale", self._initial, dtypes.float32)
        self._good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self) -> float:
        """The scale at first."""
        return self._initial

    @property
    def increment_period(self) -> int:
        """After how many steps it grows."""
        return self._period

    @property
    def multiplier(self) -> float:
        """By how much it grows and shrinks."""
        return self._multiplier

    def __call__(self) -> Any:
        """The scale now."""
        return convert_to_tensor(self._current)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """(the operation that counts the step and changes the scale, whether all gradients are finite)"""
        finite = reduce_all([reduce_all(is_finite(_values(grad))) for grad in nest.flatten(grads) if grad is not None])

        def grow() -> Any:
            larger = self._current * self._multiplier
            return group(cond(is_finite(larger), lambda: self._current.assign(larger).op, no_op), self._good_steps.assign(0))

        def after_finite() -> Any:
            return cond(self._good_steps + 1 >= self._period, grow, lambda: self._good_steps.assign_add(1).op)

        def after_others() -> Any:
            return group(self._good_steps.assign(0), self._current.assign(maximum(self._current / self._multiplier, 1)))

        return cond(finite, after_finite, after_others), finite

    def __repr__(self) -> str:
        return (f"DynamicLossScale(initial_loss_scale={self._initial}, increment_period={self._period}, "
                f"multiplier={self._multiplier})")

    def get_config(self) -> dict[str, Any]:
        """The three numbers."""
        return {"initial_loss_scale": self._initial, "increment_period": self._period, "multiplier": self._multiplier}


def _values(grad: Any) -> Any:
    return grad.values if isinstance(grad, IndexedSlices) else grad


def _scale_of(identifier: Any) -> LossScale | None:
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    if identifier == "dynamic":
        return DynamicLossScale()
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer over another, `opt`, which multiplies the loss by a scale and divides the gradients by it.

    `loss_scale`: a number, "dynamic" or a LossScale; with a dynamic one, steps whose gradients are not finite are left out.
    Raises ValueError if `opt` is no optimizer.
    """

    def __init__(self, opt: Any, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer, self._loss_scale = opt, _scale_of(loss_scale)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = Optimizer.GATE_OP,
                          aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list:
        """The gradients of the loss, by way of the scaled one."""
        scale = self._scale()
        scaled = (lambda: loss() * scale()) if callable(loss) else loss * scale()
        found = self._optimizer.compute_gradients(scaled, var_list=var_list, gate_gradients=gate_gradients,
                                                  aggregation_method=aggregation_method,
                                                  colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        factor = 1 / scale()
        return [(None if grad is None else _scaled(grad, factor), variable) for grad, variable in found]

    def _scale(self) -> Any:
        return self._loss_scale

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that applies the gradients, if they are finite, and updates a dynamic scale."""
        if in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs, name = tuple(grads_and_vars), self.get_name() if name is None else name
        update, finite = self._loss_scale.update([grad for grad, _ in pairs])
        applied = smart_cond(finite, lambda: group(self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped")), no_op)
        return group(applied, update, name=name)

    def _refuse(self, *given: Any) -> Any:
        raise RuntimeError("This function should never be called")

    _apply_sparse: Any = _refuse
    _apply_dense: Any = _refuse
    _resource_apply_sparse: Any = _refuse
    _resource_apply_dense: Any = _refuse


def _scaled(grad: Any, factor: Any) -> Any:
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """`opt` as a MixedPrecisionLossScaleOptimizer.  The dtypes of the graph stay as they are: there is no GPU to gain by float16.

    Raises ValueError if it is one already, or no optimizer.
    """
    if type(opt).__name__ == "MixedPrecisionLossScaleOptimizer":
        raise ValueError('"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
                         "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
                         "MixedPrecisionLossScaleOptimizer.")
    if not isinstance(opt, Optimizer):
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: {opt}')
    made = MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    configuration.set_optimizer_experimental_options({"auto_mixed_precision": True})
    return made


def disable_mixed_precision_graph_rewrite() -> None:
    """Says that the rewrite is not wanted any more."""
    if not configuration.get_optimizer_experimental_options().get("auto_mixed_precision"):
        logs.warning("disable_mixed_precision_graph_rewrite() called when mixed precision is already disabled.")
    configuration.set_optimizer_experimental_options({"auto_mixed_precision": False})
