"""``tf.contrib.optimizer_v2.OptimizerV2``: the base of optimizers whose hooks are given what a step knows, its ``state``."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, init_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train.optimizer import Optimizer, sum_duplicates


class Stopped(Optimizer):
    """`stop_gradients` are tensors not to differentiate through; `scale_loss_by_num_replicas` changes nothing: there is one."""

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None,            # type: ignore[override]
                 gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                 name: str | None = None, grad_loss: Any = None, stop_gradients: Any = None,
                 scale_loss_by_num_replicas: bool = False) -> Any:
        """The operation that makes one step towards a smaller `loss`, and adds 1 to `global_step` if given."""
        pairs = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            grad_loss=grad_loss, stop_gradients=stop_gradients)
        return self._step_towards(loss, pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None,                            # type: ignore[override]
                          gate_gradients: int = Optimizer.GATE_OP, aggregation_method: Any = None,
                          grad_loss: Any = None, stop_gradients: Any = None, scale_loss_by_num_replicas: bool = False) -> list:
        """The gradients of `loss` as a list of (gradient, variable), as those of ``tf.train`` give them."""
        return self._gradients(loss, var_list, gate_gradients, aggregation_method, False, grad_loss, stop_gradients)


class State:
    """What hooks are given: the hyperparameters as tensors, and the variables of the optimizer."""

    def __init__(self, steps: _Steps, hyperparameters: dict[str, Any], variables: list):
        self._steps, self._variables, self._values = steps, variables, hyperparameters
        self._tensors: dict[tuple, Tensor] = {}

    def get_hyper(self, name: str, dtype: Any = None) -> Tensor:
        """The hyperparameter `name`, in `dtype` if one is given.  Raises KeyError if it was not set."""
        value = self._values[name]
        if (name, None) not in self._tensors:
            with init_scope():
                self._tensors[name, None] = convert_to_tensor(value() if callable(value) else value, name=name)
        if (name, dtype) not in self._tensors:
            self._tensors[name, dtype] = cast(self._tensors[name, None], dtype)
        return self._tensors[name, dtype]

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """The variable beside `var` under `slot_name`: made of zeros if it is not there."""
        return self._steps._zeros_slot(var, slot_name, optional_op_name or self._steps._name)

    def create_slot(self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """The same, made of the tensor `val`."""
        return self._steps._get_or_make_slot(var, val, slot_name, optional_op_name or self._steps._name)

    def create_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str,
                                     optional_op_name: str | None = None) -> Any:
        """The same, made by an initializer."""
        return self._steps._get_or_make_slot_with_initializer(var, initializer, shape, dtype, slot_name,
                                                              optional_op_name or self._steps._name)

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable beside `var`, or None."""
        return self._steps.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of all such variables, sorted."""
        return self._steps.get_slot_names()

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """A variable of the optimizer itself, beside the variable `colocate_with`."""
        return self._steps._create_non_slot_variable(initial_value, name, colocate_with or self._variables[0])

    def get_non_slot(self, name: str) -> Any:
        """The variable of the optimizer itself, or None."""
        return self._steps._get_non_slot_variable(name, self._variables[0].graph)


class _Steps(Optimizer):
    """Steps as those of ``tf.train``, which ask the hooks of an ``OptimizerV2``."""

    def __init__(self, hooks: OptimizerV2, use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._hooks = hooks

    def _create_slots(self, var_list: list) -> None:
        self._state = State(self, self._hooks._hyper, var_list)
        self._hooks._create_vars(var_list, self._state)

    def _prepare(self) -> None:
        self._hooks._prepare(self._state)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._hooks._apply_dense(grad, var, self._state)

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        return self._hooks._apply_sparse_duplicate_indices(grad, var, self._state)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._hooks._resource_apply_dense(grad, handle, self._state)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._hooks._resource_apply_sparse_duplicate_indices(grad, handle, indices, self._state)

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        updates = group(*update_ops)
        with control_dependencies([updates]):
            finished = self._hooks._finish(self._state)
        return group(updates if finished is None else finished, name=name_scope)


class OptimizerV2(Stopped, metaclass=abc.ABCMeta):
    """The base of own optimizers: a subclass calls ``_set_hyper`` in ``__init__`` and overrides the hooks that begin with _.

    ``_create_vars`` makes variables, by methods of `state`; ``_apply_dense`` and its kin return the operation that updates one
    variable; ``_finish`` one that goes after all of them.  `name`: that of the steps.  Raises ValueError for an empty name.
    """

    def __init__(self, use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._hyper: dict[str, Any] = {}
        self._steps = _Steps(self, use_locking, name)

    def _set_hyper(self, name: str, value: Any) -> None:
        """States a hyperparameter: a number, a tensor, or a function that gives one in each step."""
        self._hyper[name] = value

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that applies gradients, as ``tf.train.Optimizer.apply_gradients`` says."""
        return self._steps.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable that this optimizer keeps beside `var` under `name`, or None."""
        return self._steps.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots made so far, sorted."""
        return self._steps.get_slot_names()

    def variables(self) -> list:
        """All variables of this optimizer that are in the default graph, sorted by name."""
        return sorted(self._steps.variables(), key=lambda one: one.name)

    # -- for subclasses

    def _create_vars(self, var_list: list, state: State) -> None:
        """Makes the variables of the optimizer."""

    def _prepare(self, state: State) -> None:                                               # type: ignore[override]
        """What goes before the updates."""

    def _apply_dense(self, grad: Any, var: Any, state: State) -> Any:                       # type: ignore[override]
        """The operation that applies the tensor `grad` to `var`."""
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Any, handle: Any, state: State) -> Any:           # type: ignore[override]
        """The same for a resource variable."""
        raise NotImplementedError()

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any,    # type: ignore[override]
                                                 state: State) -> Any:
        values, rows = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, rows, state)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, state: State) -> Any:    # type: ignore[override]
        """The operation that applies `grad` to the rows `indices` of a resource variable, each named once."""
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any, state: State) -> Any:    # type: ignore[override]
        values, rows = sum_duplicates(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, rows, grad.dense_shape), var, state)

    def _apply_sparse(self, grad: Any, var: Any, state: State) -> Any:                      # type: ignore[override]
        """The operation that applies the IndexedSlices `grad`, each row named once, to `var`."""
        raise NotImplementedError()

    def _finish(self, state: State) -> Any:                                                 # type: ignore[override]
        """The operation that goes after all updates, or None."""
        return None
