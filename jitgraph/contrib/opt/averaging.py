"""``MovingAverageOptimizer``: an optimizer that keeps running means of what it trains."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.scopes import control_dependencies
from jitgraph.train.moving_averages import ExponentialMovingAverage
from jitgraph.train.optimizer import Optimizer
from jitgraph.train.saver import Saver
from jitgraph.variables.partitioners import PartitionedVariable
from jitgraph.variables.saveables import by_name as variables_by_name
from jitgraph.variables.variable_collections import global_variables


class MovingAverageOptimizer(Optimizer):
    """`opt`, after whose steps the running means of the variables are taken, with `average_decay`.

    `num_updates`: a step count by which the decay begins lower, see ``tf.train.ExponentialMovingAverage``; `sequential_update`:
    whether the means wait for the step.  ``swapping_saver`` saves the means in the place of the variables.
    """

    def __init__(self, opt: Any, average_decay: Any = 0.9999, num_updates: Any = None, sequential_update: bool = True):
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that applies gradients and takes the means."""
        done = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        variables = [var for grad, var in grads_and_vars if grad is not None]
        with control_dependencies([done] if self._sequential_update else []):
            averaged = self._ema.apply(variables)
        self._swapped = {}
        for var in variables:
            mean = self._ema.average(var)
            self._swapped[var.op.name] = mean.op.name
            self._swapped[mean.op.name] = var.op.name
        return group(done, averaged, name="train_with_avg")

    def _other(self, by_name: dict, name: str, var: Any) -> Any:
        other = (self._swapped or {}).get(name)
        if other is None:
            return var
        if other not in by_name:
            raise ValueError(f"Variable to swap {other} is not part of variables to save. This breaks MovingAverageOptimizer.")
        return by_name[other]

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A Saver that saves means under the names of variables, and these under the names of the means.

        Raises RuntimeError before ``apply_gradients``, ValueError if one of both is not among `var_list`.
        """
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        if var_list is None:
            var_list = global_variables()
        if not isinstance(var_list, dict):
            var_list = variables_by_name(var_list)
        by_name: dict[str, Any] = {}
        for key, value in var_list.items():
            parts = list(value) if isinstance(value, (list, PartitionedVariable)) else None
            by_name.update({key: value} if parts is None else {part.op.name: part for part in parts})
        swapped = {key: [self._other(by_name, part.op.name, part) for part in value] if isinstance(value, list)
                   else self._other(by_name, key, value) for key, value in var_list.items()}
        return Saver(swapped, name=name, **kwargs)
