"""Learning rates that fall with the step count.

Every function takes the step as `global_step` (a number, tensor or variable) and gives a scalar tensor.
"""
from __future__ import annotations

import math
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_n_to_tensor, convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.random.draws import random_normal


def _needs_step(global_step: Any, function: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")


def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Any:
    """learning_rate * decay_rate ** (global_step / decay_steps); `staircase` rounds the quotient down."""
    _needs_step(global_step, "exponential_decay")
    with name_scope(name or "ExponentialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        base = cast(decay_rate, rate.dtype)
        p = cast(global_step, rate.dtype) / steps
        return raw.Mul(rate, raw.Pow(base, raw.Floor(p) if staircase else p), name=scope)


def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Any:
    """learning_rate * exp(-decay_rate * global_step / decay_steps); `staircase` rounds the quotient down."""
    _needs_step(global_step, "natural_exp_decay")
    base = raw.Exp(raw.Neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                       name: str | None = None) -> Any:
    """learning_rate / (1 + decay_rate * global_step / decay_steps); `staircase` rounds the quotient down."""
    _needs_step(global_step, "inverse_time_decay")
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        slope = cast(decay_rate, rate.dtype)
        p = cast(global_step, rate.dtype) / steps
        p = raw.Floor(p) if staircase else p
        one = cast(constant(1), rate.dtype)
        return raw.RealDiv(rate, raw.Add(one, raw.Mul(slope, p)), name=scope)


def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Any:
    """From `learning_rate` to `end_learning_rate` in `decay_steps`, as (1 - step / decay_steps) ** power.

    Then it stays there; with `cycle` it starts anew, the next time over twice the steps, and so on.
    """
    _needs_step(global_step, "polynomial_decay")
    with name_scope(name or "PolynomialDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        end = cast(end_learning_rate, rate.dtype)
        exponent = cast(power, rate.dtype)
        step = cast(global_step, rate.dtype)
        steps = cast(decay_steps, rate.dtype)
        if cycle:
            count_nodes(6 if isinstance(decay_steps, Tensor) else 5)            # TensorFlow has a conditional
            periods = where(raw.Equal(step, 0), constant(1.0, rate.dtype), raw.Ceil(step / decay_steps))
            steps = raw.Mul(steps, periods)
        else:
            step = raw.Minimum(step, decay_steps)
        p = step / steps
        return raw.Add(raw.Mul(rate - end, raw.Pow(1 - p, exponent)), end, name=scope)


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: str | None = None) -> Any:
    """values[0] up to and including boundaries[0], values[1] up to boundaries[1], ..., the last one beyond.

    Raises ValueError if the lengths do not fit or the dtypes differ.
    """
    limits = convert_n_to_tensor(list(boundaries))
    levels = convert_n_to_tensor(list(values))
    step, x = x, convert_to_tensor(x)
    for i, limit in enumerate(limits):
        if limit.dtype.base_dtype is not x.dtype.base_dtype:
            if limit.dtype.base_dtype is not dtypes.int32 or x.dtype.base_dtype is not dtypes.int64:
                raise ValueError(f"Boundaries ({limit.dtype.base_dtype}) must have the same dtype as x "
                                 f"({x.dtype.base_dtype}).")
            limits[i] = cast(limit, x.dtype.base_dtype)
    for level in levels[1:]:
        if level.dtype.base_dtype is not levels[0].dtype.base_dtype:
            raise ValueError("Values must have elements all with the same dtype "
                             f"({levels[0].dtype.base_dtype} vs {level.dtype.base_dtype}).")
    if len(limits) != len(levels) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name or "PiecewiseConstant"):
        x = convert_to_tensor(step)
        steps = len(limits)
        # TensorFlow nests conditionals, and asserts that one predicate holds
        with counted_as(steps * steps + 11 * steps + 25):
            result = levels[0]
            for limit, level in zip(limits, levels[1:]):
                result = where(x > limit, level, result)
        return result


def _half_cosine(fraction: Any) -> Any:
    """From 1 to 0 as the fraction goes from 0 to 1."""
    return 0.5 * (1.0 + raw.Cos(constant(math.pi, fraction.dtype) * fraction))


def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
                 name: str | None = None) -> Any:
    """From `learning_rate` down to `alpha` times that in `decay_steps`, along half a cosine (Loshchilov, 2016)."""
    _needs_step(global_step, "cosine_decay")
    with name_scope(name or "CosineDecay"):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        step = raw.Minimum(cast(global_step, rate.dtype), steps)
        return raw.Mul(rate, (1 - alpha) * _half_cosine(step / steps) + alpha)


def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0,
                          m_mul: float = 1.0, alpha: float = 0.0, name: str | None = None) -> Any:
    """``cosine_decay`` again and again: each period `t_mul` times as long, each start `m_mul` times as high."""
    _needs_step(global_step, "cosine decay restarts")
    with name_scope(name or "SGDRDecay") as scope:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        first = cast(first_decay_steps, rate.dtype)
        floor_ = cast(alpha, rate.dtype)
        longer = cast(t_mul, rate.dtype)
        lower = cast(m_mul, rate.dtype)
        done = cast(global_step, rate.dtype) / first
        restarts_even = raw.Floor(done)
        equal = raw.Equal(longer, 1.0)
        count_nodes(5)                                                          # TensorFlow has a conditional
        ratio = where(equal, longer + 1.0, longer)          # any other number than 1, where it does not count
        restarts_growing = raw.Floor(raw.Log(1.0 - done * (1.0 - ratio)) / raw.Log(ratio))
        grown = ratio ** restarts_growing
        restarts = where(equal, restarts_even, restarts_growing)
        fraction = where(equal, done - restarts_even, (done - (1.0 - grown) / (1.0 - ratio)) / grown)
        decayed = (1 - floor_) * (0.5 * lower ** restarts * (1.0 + raw.Cos(constant(math.pi, rate.dtype) * fraction)))
        return raw.Mul(rate, decayed + floor_, name=scope)


def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5,
                        alpha: float = 0.0, beta: float = 0.001, name: str | None = None) -> Any:
    """learning_rate * ((alpha + linear) * cosine + beta), both falling to 0 in `decay_steps` (Bello et al., 2017)."""
    _needs_step(global_step, "linear cosine decay")
    with name_scope(name or "LinearCosineDecay") as scope:
        return _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha, beta, None, scope)


def noisy_linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: float = 1.0,
                              variance_decay: float = 0.55, num_periods: float = 0.5, alpha: float = 0.0,
                              beta: float = 0.001, name: str | None = None) -> Any:
    """As ``linear_cosine_decay``, with noise of falling variance on the linear part (Bello et al., 2017)."""
    _needs_step(global_step, "noisy linear cosine decay")
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        return _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha, beta,
                              (initial_variance, variance_decay), scope)


def _linear_cosine(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float, alpha: float, beta: float,
                   noise: tuple | None, scope: str) -> Any:
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    dtype = rate.dtype
    steps = cast(decay_steps, dtype)
    periods, alpha, beta = cast(num_periods, dtype), cast(alpha, dtype), cast(beta, dtype)
    step = raw.Minimum(cast(global_step, dtype), steps)
    linear = (steps - step) / steps
    if noise is not None:
        variance = cast(noise[0], dtype) / raw.Pow(1.0 + step, cast(noise[1], dtype))
        linear = linear + random_normal(linear.shape, stddev=raw.Sqrt(variance), dtype=dtype)
    done = step / steps
    cosine = _half_cosine(2.0 * periods * done)
    return raw.Mul(rate, (alpha + linear) * cosine + beta, name=scope)
