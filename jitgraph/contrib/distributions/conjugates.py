"""Normal distributions of a mean after observations of a known scale (Murphy, 2007, section 2)."""
from __future__ import annotations

from typing import Any

from jitgraph.distributions.location_scale import Normal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt, square


def _after(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any, Any]:
    """(the mean, the variance of the mean, the variance of an observation)"""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    n = cast(n, prior.dtype)
    of_prior, of_one = square(prior.scale), square(scale)
    variance = 1.0 / (1 / of_prior + n / of_one)
    return (prior.loc / of_prior + s / of_one) * variance, variance, of_one


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the mean of normal numbers of a known `scale`, after `n` of them with the sum `s`.

    Raises TypeError if `prior` is no Normal, or of another dtype than `s`.
    """
    mean, variance, _ = _after(prior, scale, s, n)
    return Normal(loc=mean, scale=sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the next one of these numbers; see ``normal_conjugates_known_scale_posterior``."""
    mean, variance, of_one = _after(prior, scale, s, n)
    return Normal(loc=mean, scale=sqrt(variance + of_one))
