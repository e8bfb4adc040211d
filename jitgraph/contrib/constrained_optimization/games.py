"""Constrained training as a game of two players (Cotter, Jiang and Sridharan, 2018): a model, and weights of constraints."""
from __future__ import annotations

import abc
import math
from typing import Any

from jitgraph.contrib.constrained_optimization.problems import ConstrainedOptimizer
from jitgraph.contrib.constrained_optimization.projections import (
    largest_eigenvector,
    nearest_log_stochastic_matrix,
    nearest_multipliers,
    nearest_stochastic_matrix,
)
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast, to_float
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import tensordot
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, assign_add
from jitgraph.variables.variable import Variable


class _Game(ConstrainedOptimizer):
    """An optimizer whose second player keeps a variable, its state, of which the weights of constraints are made.

    `constraint_optimizer` trains that state, `optimizer` does if it is None.
    """

    _state_name: str

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """The optimizer of the weights of constraints, or None."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any:
        """What the state begins with."""

    @abc.abstractmethod
    def _played(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        """(the loss of the model, by how much the state is to grow)."""

    @abc.abstractmethod
    def _allowed(self, state: Any) -> Any:
        """The nearest value of the state that is allowed."""

    def _minimize_constrained(self, minimization_problem: Any, global_step: Any = None, var_list: Any = None,
                              gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                              colocate_gradients_with_ops: bool = False, name: str | None = None, grad_loss: Any = None) -> Any:
        objective, constraints = minimization_problem.objective, minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        if len({one.dtype.base_dtype for one in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
        count = minimization_problem.num_constraints
        constraints, proxies = reshape(constraints, shape=(count,)), reshape(proxies, shape=(count,))
        # given as a function, the initial value does not wait for what a training step waits for
        state: Any = Variable(lambda: self._initial_state(count), trainable=False, name=self._state_name, use_resource=True)
        loss, growth = self._played(state, objective, constraints, proxies)
        pairs = self.optimizer.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        with control_dependencies(self._updates(pairs, (-growth, state))):
            if global_step is None:
                return self._projected(state, name)
            projected = self._projected(state, "project")
            with colocate_with(global_step):
                counted = assign_add(global_step, 1, name="global_step_increment")
            return group(projected, counted, name=name)

    def _updates(self, pairs: list, of_state: tuple) -> list:
        """The steps of both players."""
        if self.constraint_optimizer is None:
            return [self.optimizer.apply_gradients([*pairs, of_state], name="update")]
        with control_dependencies([gradient for gradient, _ in [*pairs, of_state] if gradient is not None]):
            return [self.optimizer.apply_gradients(pairs, name="update"),
                    self.constraint_optimizer.apply_gradients([of_state], name="optimizer_state_update")]

    def _projected(self, state: Any, name: str | None) -> Any:
        with colocate_with(state):
            return assign(state, self._allowed(state), name=name)


class AdditiveExternalRegretOptimizer(_Game):
    """Trains Lagrange multipliers of constraints beside the model: the larger a constraint, the more its multiplier grows.

    `constraint_optimizer` trains the multipliers, `optimizer` does if it is None; `maximum_multiplier_radius` bounds their sum.
    Raises ValueError for a radius below 0.
    """

    _state_name = "external_regret_optimizer_state"

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None, maximum_multiplier_radius: float | None = None):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        return zeros((num_constraints,), dtype=dtypes.float32)

    def _played(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        loss = objective + tensordot(cast(state, proxies.dtype), proxies, 1)
        return loss, cast(constraints, state.dtype)

    def _allowed(self, state: Any) -> Any:
        if self._maximum_multiplier_radius:
            return nearest_multipliers(state, self._maximum_multiplier_radius)
        return maximum(state, 0.0)


class _SwapGame(_Game):
    """The state gives a matrix [constraints + 1, constraints + 1] whose columns sum up to 1; its first row is the objective's.

    The weights of objective and constraints are its eigenvector.
    """

    _state_name = "swap_regret_optimizer_state"

    def _matrix(self, state: Any) -> Any:
        return state

    def _played(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        with_zero = concat((zeros((1,), dtype=constraints.dtype), constraints), axis=0)
        with_objective = concat((expand_dims(objective, 0), proxies), axis=0)
        weights = absolute(largest_eigenvector(self._matrix(state)))
        weights = weights / reduce_sum(weights)
        loss = tensordot(cast(weights, with_objective.dtype), with_objective, 1)
        return loss, matmul(expand_dims(cast(with_zero, weights.dtype), 1), expand_dims(weights, 0))


class AdditiveSwapRegretOptimizer(_SwapGame):
    """Trains a matrix of weights of constraints beside the model, by adding to it.

    `constraint_optimizer` trains the matrix, `optimizer` does if it is None.
    """

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        return concat((ones((1, size)), zeros((size - 1, size))), axis=0)

    def _allowed(self, state: Any) -> Any:
        return nearest_stochastic_matrix(state)


class MultiplicativeSwapRegretOptimizer(_SwapGame):
    """Trains the logarithm of a matrix of weights of constraints beside the model.

    `constraint_optimizer` trains the matrix, `optimizer` does if it is None.  Weights are at least `minimum_multiplier_radius`
    divided by the number of constraints plus 1; those of constraints begin with `initial_multiplier_radius` (the same if None)
    divided by it.  Raises ValueError for radii outside of (0, 1).
    """

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None, minimum_multiplier_radius: float = 1e-3,
                 initial_multiplier_radius: float | None = None):
        super().__init__(optimizer, constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif initial_multiplier_radius < minimum_multiplier_radius:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._minimum_multiplier_radius = minimum_multiplier_radius
        self._initial_multiplier_radius = initial_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        of_objective = math.log(1.0 - self._initial_multiplier_radius * (size - 1) / size)
        of_constraint = math.log(self._initial_multiplier_radius / size)
        return concat((constant(of_objective, dtype=dtypes.float32, shape=(1, size)),
                       constant(of_constraint, dtype=dtypes.float32, shape=(size - 1, size))), axis=0)

    def _matrix(self, state: Any) -> Any:
        return exp(state)

    def _allowed(self, state: Any) -> Any:
        lowest = log(self._minimum_multiplier_radius / to_float(state.get_shape().as_list()[0]))
        return maximum(nearest_log_stochastic_matrix(state), lowest)
