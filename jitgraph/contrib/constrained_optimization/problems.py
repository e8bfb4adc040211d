"""What is minimized under constraints, and what all optimizers of such problems have."""
from __future__ import annotations

import abc
import math
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train.optimizer import Optimizer


class ConstrainedMinimizationProblem(abc.ABC):
    """An ``objective`` (a scalar tensor), and ``constraints`` (a tensor), each element of which is to be at most 0.

    Subclasses override both properties.  Where constraints have no useful gradient, ``proxy_constraints`` of the same shape are
    differentiated instead; ``pre_train_ops`` run before each step.
    """

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """The scalar tensor to minimize."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """The tensor whose elements are to be at most 0."""

    @property
    def num_constraints(self) -> int:
        """How many constraints there are.  Raises ValueError if shapes are not fully known, or differ from the proxies'."""
        shape = self.constraints.get_shape()
        proxy_shape = shape if self.proxy_constraints is None else self.proxy_constraints.get_shape()
        if not shape.is_fully_defined() or not proxy_shape.is_fully_defined():
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shape != proxy_shape:
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return math.prod(shape.as_list())

    @property
    def proxy_constraints(self) -> Any:
        """What is differentiated in place of the constraints, or None."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """A list of operations that run before each step, or None."""
        return None


class ConstrainedOptimizer(abc.ABC):
    """Trains a ConstrainedMinimizationProblem with `optimizer`, one of ``tf.train``."""

    def __init__(self, optimizer: Any):
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """The optimizer of the model."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(self, minimization_problem: Any, global_step: Any = None, var_list: Any = None,
                              gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                              colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        """The operation of one step."""

    def minimize_constrained(self, minimization_problem: Any, global_step: Any = None, var_list: Any = None,
                             gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                             colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        """The operation of one step towards a smaller objective that satisfies the constraints.

        The arguments besides `minimization_problem` are those of ``tf.train.Optimizer.minimize``.
        """
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(minimization_problem, global_step, var_list, gate_gradients, aggregation_method,
                                              colocate_gradients_with_ops, name, grad_loss)

    def minimize_unconstrained(self, minimization_problem: Any, global_step: Any = None, var_list: Any = None,
                               gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                               colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        """The operation of one step towards a smaller objective, whatever becomes of the constraints."""
        with control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(
                minimization_problem.objective, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
                aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
                grad_loss=grad_loss)

    def minimize(self, minimization_problem: Any, unconstrained_steps: Any = None, global_step: Any = None, var_list: Any = None,
                 gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                 name: str | None = None, grad_loss: Any = None) -> Any:
        """The operation of one step; the first `unconstrained_steps` by `global_step` leave constraints aside.

        Raises ValueError for `unconstrained_steps` without `global_step`.
        """
        options = (minimization_problem, global_step, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                   name, grad_loss)
        if unconstrained_steps is None:
            return self.minimize_constrained(*options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        steps = convert_to_tensor(unconstrained_steps)
        return cond(cast(global_step, steps.dtype) < steps, true_fn=lambda: self.minimize_unconstrained(*options),
                    false_fn=lambda: self.minimize_constrained(*options))
