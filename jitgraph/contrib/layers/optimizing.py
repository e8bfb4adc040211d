"""``optimize_loss``: from a loss to the operation that trains, with noise, multipliers and clipping of gradients."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.layers import summaries as written
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import get_collection
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.checks.check_shapes import assert_scalar
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.clip import clip_by_global_norm, global_norm
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.random.draws import truncated_normal
from jitgraph.train import adam, adaptive, gradient_descent, regularized
from jitgraph.train.moving_averages import assign_moving_average
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables import global_steps
from jitgraph.variables.variable_collections import trainable_variables
from jitgraph.variables.variable_initializers import constant_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

OPTIMIZER_CLS_NAMES: dict[str, Callable] = {
    "Adagrad": adaptive.AdagradOptimizer,
    "Adam": adam.AdamOptimizer,
    "Ftrl": regularized.FtrlOptimizer,
    "Momentum": lambda learning_rate: gradient_descent.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": adaptive.RMSPropOptimizer,
    "SGD": gradient_descent.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(loss: Any, global_step: Any, learning_rate: Any, optimizer: Any, gradient_noise_scale: float | None = None,
                  gradient_multipliers: dict | None = None, clip_gradients: Any = None,
                  learning_rate_decay_fn: Callable | None = None, update_ops: Any = None, variables: Any = None,
                  name: Any = None, summaries: Any = None, colocate_gradients_with_ops: bool = False,
                  increment_global_step: bool = True) -> Any:
    """The scalar `loss`, whose run also takes a step of training and counts it in `global_step`.

    `learning_rate`: a float, which becomes a variable, or a scalar tensor; `learning_rate_decay_fn` gives another one from
    it and the step.  `optimizer`: a name of ``OPTIMIZER_CLS_NAMES``, an Optimizer, its class, or a function of the learning
    rate that gives one.  `gradient_noise_scale` adds noise to gradients; `gradient_multipliers` multiplies those of the
    variables (or their names) that it lists; `clip_gradients` is a global norm or a function of (gradient, variable) pairs.
    `update_ops` (by default the collection UPDATE_OPS) run before.  `summaries`: which of ``OPTIMIZER_SUMMARIES`` to write.
    Raises ValueError or TypeError for anything else.
    """
    loss = convert_to_tensor(loss)
    assert_scalar(loss)
    if global_step is None:
        global_step = global_steps.get_global_step()
    else:
        global_steps.assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        updates = list(dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS))) if update_ops is None else list(update_ops)
        if updates:
            loss = with_dependencies(updates, loss)
        rate = _rate(learning_rate)
        summaries = _summaries(summaries)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                written.scalar("learning_rate", rate)
        made = _optimizer(optimizer, rate, learning_rate is not None)
        gradients = made.compute_gradients(loss, trainable_variables() if variables is None else variables,
                                           colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            gradients = _with_noise(gradients, gradient_noise_scale)
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
            if not gradients:
                raise ValueError("Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an "
                                 "improper value of gradient_multipliers.")
        of_all = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if of_all:
            written.scalar("global_norm/gradient_norm", global_norm([gradient for gradient, _ in gradients]))
        gradients = _clipped(gradients, clip_gradients)
        if "loss" in summaries:
            written.scalar("loss", loss)
        _summarize_gradients(gradients, summaries)
        if clip_gradients is not None and of_all:
            written.scalar("global_norm/clipped_gradient_norm", global_norm([gradient for gradient, _ in gradients]))
        step = made.apply_gradients(gradients, global_step=global_step if increment_global_step else None, name="train")
        return with_dependencies([step], loss)


def _rate(learning_rate: Any) -> Any:
    """The learning rate as a tensor or a variable; None if there is none."""
    if learning_rate is None or isinstance(learning_rate, Tensor) and learning_rate.get_shape().ndims == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}")
    if learning_rate < 0.0:
        raise ValueError(f"Invalid learning_rate {learning_rate}.")
    return get_variable("learning_rate", [], trainable=False, initializer=constant_initializer(learning_rate))


def _summaries(given: Any) -> list:
    if given is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for one in given:
        if one not in OPTIMIZER_SUMMARIES:
            raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {one}.")
    return list(given)


def _optimizer(given: Any, rate: Any, has_rate: bool) -> Any:
    """The optimizer that a name, a class, a function or an optimizer stands for.  Raises ValueError for anything else."""
    missing = "Learning rate is None, but should be specified if optimizer is {} ({})."
    if isinstance(given, str):
        if rate is None:
            raise ValueError(missing.format("string", given))
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {given}.")
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) and issubclass(given, Optimizer):
        if rate is None:
            raise ValueError(missing.format("class", given))
        of_class: Callable = given
        return of_class(learning_rate=rate)
    if isinstance(given, Optimizer):
        return given
    if not callable(given):
        raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer "
                         f"or function with one argument. Got {given}.")
    made = given(rate) if has_rate else given()
    if not isinstance(made, Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    return made


def _clipped(gradients: list, clip_gradients: Any) -> list:
    if isinstance(clip_gradients, float):
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in gradients], clip_gradients)
        return [(gradient, variable) for gradient, (_, variable) in zip(clipped, gradients)]
    if callable(clip_gradients):
        return list(clip_gradients(gradients))
    if clip_gradients is not None:
        raise ValueError(f"Unknown type {type(clip_gradients)} for clip_gradients")
    return gradients


def _with_noise(gradients: list, scale: float) -> list:
    noisy = []
    for gradient, variable in gradients:
        if gradient is not None:
            shape = gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.get_shape()
            gradient = gradient + truncated_normal(shape) * scale
        noisy.append((gradient, variable))
    return noisy


def _multiplied(gradients: list, multipliers: dict) -> list:
    found = []
    for gradient, variable in gradients:
        multiplier = multipliers.get(variable, multipliers.get(variable.name))
        if gradient is not None and multiplier is not None:
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(gradient.values * multiplier, gradient.indices, gradient.dense_shape)
            else:
                gradient = gradient * cast(multiplier, gradient.dtype)
        found.append((gradient, variable))
    return found


def _summarize_gradients(gradients: list, summaries: list) -> None:
    for gradient, variable in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is not None:
            name = variable.name.replace(":", "_")
            if "gradients" in summaries:
                written.histogram(f"gradients/{name}", values)
            if "gradient_norm" in summaries:
                written.scalar(f"gradient_norm/{name}", global_norm([values]))


def adaptive_clipping_fn(std_factor: float = 2.0, decay: float = 0.95, static_max_norm: float | None = None,
                         global_step: Any = None, report_summary: bool = False, epsilon: float = 1e-8,
                         name: Any = None) -> Callable:
    """A function for `clip_gradients` whose norm follows that of the gradients: mean + `std_factor` deviations of its log.

    `decay`: that of the averages of the log, smaller at the start if there is a `global_step`; `static_max_norm`: a bound
    that holds too.
    """
    def clip(grads_and_vars: list) -> list:
        norm = global_norm([gradient for gradient, _ in grads_and_vars])
        bound, mean = _adaptive_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            written.scalar("global_norm/adaptive_max_gradient_norm", bound)
        factor = where(norm < bound, ones_like(norm), exp(mean) / norm)
        if static_max_norm is not None:
            factor = minimum(static_max_norm / norm, factor)
        clipped = []
        for gradient, variable in grads_and_vars:
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
            elif gradient is not None:
                gradient = gradient * factor
            clipped.append((gradient, variable))
        return clipped

    return clip


def _adaptive_norm(norm: Any, std_factor: float, decay: Any, global_step: Any, epsilon: float, name: Any) -> tuple:
    """(the largest norm that is let through, the mean of the log of norms)"""
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = log(norm + epsilon)

        def moving(label: str, value: Any) -> Any:
            average = get_variable(label, shape=value.get_shape(), dtype=value.dtype, initializer=zeros_initializer(),
                                   trainable=False)
            return assign_moving_average(average, value, decay, zero_debias=False)

        if global_step is not None:
            steps = cast(global_step, dtypes.float32)
            decay = minimum(decay, steps / (steps + 1.0))
        mean = moving("mean", log_norm)
        variance = moving("sq_mean", square(log_norm)) - square(mean)
        return exp(mean + std_factor * sqrt(maximum(epsilon, variance))), mean
