"""``DropStaleGradientOptimizer``: gradients that are too old are left out."""
from __future__ import annotations

from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph.dtypes import float32
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less_equal
from jitgraph.summary.summaries import scalar
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable


class DropStaleGradientOptimizer(Optimizer):
    """`opt`, whose step is left out if the global step has grown by more than `staleness` since the gradients were begun.

    The variable ``stale_counter`` counts those left out; a summary shows their part of all.
    """

    def __init__(self, opt: Any, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside, begun after the global step was read."""
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(identity(loss), *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """That of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The number of steps left out so far, as a tensor; fetching it makes a step."""
        with colocate_with(global_step):
            counter = get_variable("stale_counter", [], initializer=zeros_initializer(), trainable=False)

        def accept() -> Any:
            with control_dependencies([self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)]):
                return identity(0.0)

        gradients = [grad if isinstance(grad, Tensor) else grad.op for grad, _ in grads_and_vars if grad is not None]
        with control_dependencies(gradients), colocate_with(global_step):
            staleness = reshape(global_step - self._local_step, shape=())
        done = counter.assign_add(cond(less_equal(staleness, self._staleness), accept, lambda: identity(1.0)))
        scalar("Gradient staleness percentage", counter / cast(global_step + 1, float32))
        return done
