"""From a loss to the operation that trains: ``create_train_op``, and what it does with gradients."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.layers import summaries
from jitgraph.control.order_ops import no_op, with_dependencies
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, get_collection, get_collection_ref, name_scope
from jitgraph.ops.elementwise.clip import clip_by_norm, global_norm
from jitgraph.ops.elementwise.special import check_numerics as checked_numbers
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables import global_steps
from jitgraph.variables.variable_collections import trainable_variables

USE_GLOBAL_STEP = 0
"""Stands for the global step of the graph, made if there is none."""


def with_values(gradient: Any, change: Callable) -> Any:
    """A gradient whose values went through `change`."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
    return change(gradient)


def clip_gradient_norms(gradients_to_variables: list, max_norm: float) -> list:
    """(gradient, variable) pairs, each gradient scaled down to a norm of at most `max_norm`; None stays None."""
    return [(gradient if gradient is None else with_values(gradient, lambda values: clip_by_norm(values, max_norm)), variable)
            for gradient, variable in gradients_to_variables]


def clip_gradient_norms_fn(max_norm: float) -> Callable:
    """``clip_gradient_norms`` with that norm, for `transform_grads_fn`."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars: list, gradient_multipliers: dict) -> list:
    """(gradient, variable) pairs with the gradients of the variables (or names) that a dict lists multiplied.

    Raises ValueError for anything but a list and a dict that is not empty, and for a gradient that is None.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    found = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError(f"Requested multiple of `None` gradient: the loss does not depend on {variable.op.name}.")
            factor = convert_to_tensor(gradient_multipliers[key], dtype=gradient.dtype)
            gradient = with_values(gradient, lambda values, factor=factor: values * factor)
        found.append((gradient, variable))
    return found


def summarize_gradients(grads_and_vars: list, separator: str) -> list:
    """A histogram and the norm of each gradient, named as its variable with `separator` and "gradient" after it."""
    found = []
    for gradient, variable in grads_and_vars:
        if gradient is None:
            logs.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = f"{variable.op.name}{separator}gradient"
        found += [summaries.histogram(name, values), summaries.scalar(f"{name}_norm", global_norm([values]))]
    return found


def add_gradients_summaries(grads_and_vars: list) -> list:
    """Summaries "VARIABLE_gradient" and "VARIABLE_gradient_norm" of (gradient, variable) pairs."""
    return summarize_gradients(grads_and_vars, "_")


def create_train_op(total_loss: Any, optimizer: Any, global_step: Any = USE_GLOBAL_STEP, update_ops: Any = None,
                    variables_to_train: Any = None, transform_grads_fn: Callable | None = None,
                    summarize_gradients: bool = False, gate_gradients: int = Optimizer.GATE_OP,
                    aggregation_method: Any = None, colocate_gradients_with_ops: bool = False,
                    check_numerics: bool = True) -> Any:
    """The scalar `total_loss`, whose run also takes a step of training and counts it in `global_step`.

    `update_ops` (by default the collection UPDATE_OPS) run before.  `transform_grads_fn`: a function of (gradient, variable)
    pairs.  `check_numerics`: whether a loss that is not finite is an InvalidArgumentError.  Raises AssertionError without
    variables, and for those that are not trained.
    """
    return trained(total_loss, optimizer, global_step, update_ops, variables_to_train, transform_grads_fn,
                   add_gradients_summaries if summarize_gradients else None, check_numerics,
                   gate_gradients=gate_gradients, aggregation_method=aggregation_method,
                   colocate_gradients_with_ops=colocate_gradients_with_ops)


def trained(total_loss: Any, optimizer: Any, global_step: Any, update_ops: Any, variables: Any, transform: Callable | None,
            summarize: Callable | None, check_numerics: bool, **options: Any) -> Any:
    """``create_train_op`` with any function that summarizes gradients; `options` are those of compute_gradients."""
    if global_step is USE_GLOBAL_STEP:
        global_step = global_steps.get_or_create_global_step()
    collected = list(dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS)))
    updates = collected if update_ops is None else list(dict.fromkeys(update_ops))
    if any(all(one is not update for update in updates) for one in collected):
        logs.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with control_dependencies(updates):
            barrier = no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    known = trainable_variables()
    chosen = known if variables is None else list(variables)
    for one in chosen:
        assert getattr(one, "trainable", False) or any(one is other for other in known), f"{one} is not trained"
    assert chosen, "there are no variables to train"
    gradients = optimizer.compute_gradients(total_loss, chosen, **options)
    if transform:
        gradients = transform(gradients)
    if summarize:
        with name_scope("summarize_grads"):
            summarize(gradients)
    updated = optimizer.apply_gradients(gradients, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = checked_numbers(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([updated], total_loss)
    get_collection_ref(GraphKeys.TRAIN_OP).append(train_op)
    return train_op
