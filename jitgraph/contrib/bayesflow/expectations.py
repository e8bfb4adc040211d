"""``tf.contrib.bayesflow.monte_carlo``: means of functions of random variables, of samples."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.reduce.reductions import reduce_max, reduce_mean


def expectation_importance_sampler(f: Callable, log_p: Callable, sampling_dist_q: Any, z: Any = None, n: Any = None,
                                   seed: Any = None, name: str = "expectation_importance_sampler") -> Tensor:
    """The mean of f under the density p: that of ``f(z) p(z) / q(z)`` over samples z of `sampling_dist_q`, or `n` new ones.

    Computed by logarithms of the positive and the negative part.  Raises ValueError unless one of `z` and `n` is given.
    """
    q = sampling_dist_q
    with name_scope(name, values=[z, n]):
        z = _samples(q, z, n, seed)
        log_p_z, log_q_z = log_p(z), q.log_prob(z)
        f_z = f(z)
        positive = log(relu(f_z) + 1.0)
        negative = log(relu(-1.0 * f_z) + 1.0)
        positive, negative = (_log_mean_exp(part + log_p_z - log_q_z) for part in (positive, negative))
    return exp(positive) - exp(negative)


def expectation_importance_sampler_logspace(log_f: Callable, log_p: Callable, sampling_dist_q: Any, z: Any = None, n: Any = None,
                                            seed: Any = None, name: str = "expectation_importance_sampler_logspace") -> Tensor:
    """The logarithm of the mean of ``exp(log_f)`` under the density p; see ``expectation_importance_sampler``."""
    q = sampling_dist_q
    with name_scope(name, values=[z, n]):
        z = _samples(q, z, n, seed)
        return _log_mean_exp(log_f(z) + log_p(z) - q.log_prob(z))


def _log_mean_exp(values: Tensor) -> Tensor:
    """``log(mean(exp(values)))`` along the first dimension, without overflow."""
    center = stop_gradient(reduce_max(values, axis=[0]))
    centered = exp(values - center)
    return log(reduce_mean(centered, axis=[0])) + center


def expectation(f: Callable, samples: Any, log_prob: Callable | None = None, use_reparametrization: bool = True, axis: Any = 0,
                keep_dims: bool = False, name: str | None = None) -> Tensor:
    """The mean of ``f(samples)`` along `axis`.

    Gradients go through the samples, or without `use_reparametrization` through `log_prob` (the score function; Mohamed and
    others, 2019).  Raises ValueError if `f`, or then `log_prob`, is no function.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        x = stop_gradient(samples)
        log_p = log_prob(x)
        value = f(x)
        value += stop_gradient(value) * (log_p - stop_gradient(log_p))
        return reduce_mean(value, axis=axis, keepdims=keep_dims)


def _samples(distribution: Any, z: Any, n: Any, seed: Any) -> Tensor:
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
        return distribution.sample(n, seed=seed) if z is None else convert_to_tensor(z, name="z")
