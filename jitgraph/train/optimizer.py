"""``tf.train.Optimizer``: the base of all optimizers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group, tuple_
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices, convert_to_tensor_or_indexed_slices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import colocate_with, control_dependencies, init_scope, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.elementwise.cast import cast
from jitgraph.train import slots
from jitgraph.variables.assignments import assign_add, is_reference
from jitgraph.variables.resource_ops import assign_add_variable_op
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import trainable_variables


def variable_key(variable: Any) -> tuple:
    """What tells variables apart: their graph and name."""
    return variable.op.graph, variable.op.name


def sum_duplicates(values: Any, indices: Any) -> tuple[Any, Any]:
    """The rows of a sparse gradient with the duplicates added up, and the distinct indices."""
    unique = raw.Unique(indices)
    return raw.UnsortedSegmentSum(values, unique.idx, shape(unique.y)[0]), unique.y


class Optimizer:
    """Base class of optimizers.

    ``minimize(loss)`` is ``compute_gradients`` followed by ``apply_gradients``.  A subclass defines ``_apply_dense(grad,
    var)`` and ``_apply_sparse(grad, var)``, which return an operation or tensor, and may define ``_prepare()`` (make the
    hyperparameters), ``_create_slots(var_list)`` and ``_finish(update_ops, name_scope)``.
    """

    # a slot, so that this is the ``__base__`` of optimizers that have a class without slots beside it, see `train.one_op`
    __slots__ = ("_use_locking", "__dict__", "__weakref__")

    GATE_NONE = 0       # a gradient may be applied while others are computed
    GATE_OP = 1         # all gradients of one op are computed before any of them is used
    GATE_GRAPH = 2      # all gradients are computed before any of them is used

    def __init__(self, use_locking: bool, name: str):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict] = {}
        self._non_slots: dict[tuple, Any] = {}

    def get_name(self) -> str:
        """The name given to the constructor."""
        return self._name

    # -- minimizing ------------------------------------------------------------------------------------------------

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
                 grad_loss: Any = None) -> Any:
        """The operation that makes one step towards a smaller `loss`, and adds 1 to `global_step` if given.

        `var_list`: the variables to change, by default all trainable ones.  Raises ValueError if the loss depends on
        none of them.
        """
        # by keywords, as TensorFlow asks: classes of users override the method as (self, loss, var_list, **kwargs)
        pairs = self.compute_gradients(
            loss, var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss)
        return self._step_towards(loss, pairs, global_step, name)

    def _step_towards(self, loss: Any, pairs: list, global_step: Any, name: str | None) -> Any:
        """The operation that applies the gradients of `loss`.  Raises ValueError if there are none."""
        if not any(grad is not None for grad, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                          grad_loss: Any = None) -> list:
        """The gradients of `loss` as a list of (gradient, variable); a gradient is a Tensor, IndexedSlices or None.

        Raises TypeError for variables that are none, ValueError if there are no variables or for bad arguments.
        """
        return self._gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)

    def _gradients(self, loss: Any, var_list: Any, gate_gradients: int, aggregation_method: Any, colocate_gradients_with_ops: bool,
                   grad_loss: Any, stop_gradients: Any = None) -> list:
        """What ``compute_gradients`` gives; `stop_gradients`: tensors not to differentiate through."""
        from jitgraph.autodiff.gradients import gradients

        if callable(loss):
            loss = loss()
            if not hasattr(loss, "dtype"):
                raise TypeError(f"Can not convert a {type(loss).__name__} into a Tensor or Operation.")
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  "
                             f"Not {gate_gradients}")
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        variables = trainable_variables() if var_list is None else _flat(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        targets = [_target(v) for v in variables]
        grads = gradients(loss, targets, grad_ys=grad_loss, aggregation_method=aggregation_method,
                          gate_gradients=gate_gradients == Optimizer.GATE_OP,
                          colocate_gradients_with_ops=colocate_gradients_with_ops, stop_gradients=stop_gradients)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = tuple_(grads)
        self._assert_valid_dtypes([v for g, v in zip(grads, variables)
                                   if g is not None and v.dtype is not dtypes.resource])
        return list(zip(grads, variables))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that applies gradients, pairs as of ``compute_gradients``, and adds 1 to `global_step`.

        Raises ValueError if no variable has a gradient, TypeError for gradients that are no tensors.
        """
        pairs = [(_checked_gradient(grad), var) for grad, var in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        variables = [var for grad, var in pairs if grad is not None]
        if not variables:
            raise ValueError(f"No gradients provided for any variable: {[str(var) for _, var in pairs]}.")
        with init_scope():
            self._create_slots(variables)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, var in pairs:
                if grad is not None:
                    with name_scope("update_" + var.op.name), colocate_with(var.op):
                        updates.append(self._update(grad, var))
            done = self._finished(updates, global_step, scope)
        train_ops = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
        if done not in train_ops:
            train_ops.append(done)
        return done

    def _finished(self, updates: list, global_step: Any, scope: str) -> Any:
        if global_step is None:
            done = self._finish(updates, scope)
        else:
            with control_dependencies([self._finish(updates, "update")]), colocate_with(global_step.op):
                if is_reference(global_step):
                    done = assign_add(global_step, 1, name=scope)
                else:
                    one = convert_to_tensor(1, dtype=global_step.dtype)
                    done = assign_add_variable_op(global_step.handle, one, name=scope)
        return done.op if isinstance(done, Tensor) or hasattr(done, "_as_graph_element") else done

    def _update(self, grad: Any, var: Any) -> Any:
        """The operation that applies `grad` to `var`, and then the variable's constraint."""
        if isinstance(var, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", var)
        resource = slots.is_resource(var)
        if isinstance(grad, IndexedSlices):
            if var.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            if resource:
                return self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices)
            return self._apply_sparse_duplicate_indices(grad, var)
        done = self._resource_apply_dense(grad, var) if resource else self._apply_dense(grad, var)
        if var.constraint is None:
            return done
        with control_dependencies([done]):
            return var.assign(var.constraint(var))

    # -- slots -----------------------------------------------------------------------------------------------------

    def get_slot(self, var: Any, name: str) -> Any:
        """The variable that this optimizer keeps beside `var` under `name`, or None."""
        return self._slots.get(name, {}).get(variable_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots made so far, sorted."""
        return sorted(self._slots)

    def variables(self) -> list:
        """All variables of this optimizer that are in the default graph, sorted by name."""
        graph = get_default_graph()
        own = [v for v in self._non_slots.values() if v.op.graph is graph]
        kept = [v for by_var in self._slots.values() for v in by_var.values() if v.op.graph is graph]
        return sorted(own, key=lambda v: v.name) + sorted(kept, key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict:
        return self._slots.setdefault(slot_name, {})

    def _keep_slot(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        kept = self._slot_dict(slot_name)
        key = variable_key(var)
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        return self._keep_slot(var, slot_name, lambda: slots.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str,
                                           op_name: str) -> Any:
        return self._keep_slot(var, slot_name, lambda: slots.create_slot_with_initializer(
            var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._keep_slot(var, slot_name, lambda: slots.create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer itself, such as ``beta1_power``, beside the variable `colocate_with`."""
        key = name, colocate_with.graph
        if key not in self._non_slots:
            with get_default_graph().colocate_with(colocate_with.op):
                self._non_slots[key] = Variable(initial_value, name=name, trainable=False,
                                                use_resource=slots.is_resource(colocate_with))
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        while graph is not None and graph.outer_graph is not None:     # variables are made around all functions
            graph = graph.outer_graph
        return self._non_slots.get((name, graph))

    # -- for subclasses --------------------------------------------------------------------------------------------

    def _valid_dtypes(self) -> set:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: list) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}.")

    def _create_slots(self, var_list: list) -> None:
        """Makes the slots of all variables."""

    def _prepare(self) -> None:
        """Makes the tensors of the hyperparameters."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """The operation that applies the tensor `grad` to `var`."""
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad: Any, var: Any) -> Any:
        """As ``_apply_sparse``, for a gradient that may name rows more than once; they are added up first."""
        values, indices = sum_duplicates(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """The operation that applies the IndexedSlices `grad`, each row named once, to `var`."""
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """As ``_apply_dense``, for a resource variable."""
        raise NotImplementedError()

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        values, indices = sum_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """As ``_apply_sparse``, for a resource variable."""
        raise NotImplementedError()

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        """The operation that is done when all updates are."""
        return group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _as(self, hyperparameter: Any, like: Any) -> Any:
        """A hyperparameter in the dtype of a variable or gradient."""
        return cast(hyperparameter, like.dtype.base_dtype)


def _flat(values: Any) -> list:
    """The variables in a structure of them; of a partitioned one, its parts."""
    leaves = nest.flatten(list(values) if hasattr(values, "__next__") else values)
    return [part for leaf in leaves for part in (leaf if hasattr(leaf, "_get_variable_list") else [leaf])]



def _target(variable: Any) -> Any:
    """What the gradient is taken with respect to."""
    if slots.is_resource(variable):
        return variable.handle
    if isinstance(variable, Variable):
        return variable._ref()
    if isinstance(variable, Tensor):
        return variable
    raise TypeError(f"Argument is not a variable: {variable!r}. compute_gradients takes tf.Variables in var_list.")


def _checked_gradient(grad: Any) -> Any:
    if grad is None:
        return None
    try:
        return convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}") from None
