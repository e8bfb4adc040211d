"""The divergences of Kullback and Leibler between pairs of classes, and ``cross_entropy`` by them."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.compare import logical_not
from jitgraph.ops.elementwise.elementary import is_nan
from jitgraph.ops.reduce.reductions import reduce_any

_DIVERGENCES: dict[tuple[type, type], Callable] = {}


def _registered(of: type, to: type) -> Callable | None:
    """The function registered for the nearest bases of two classes, by the sum of the steps to them."""
    found = [(i + j, i, _DIVERGENCES[a, b]) for i, a in enumerate(inspect.getmro(of)) for j, b in enumerate(inspect.getmro(to))
             if (a, b) in _DIVERGENCES]
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def kl_divergence(distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """The mean under `distribution_a` of ``distribution_a.log_prob - distribution_b.log_prob``, for each of the batch.

    It is computed by the function that ``RegisterKL`` has for the classes, or for the nearest of their bases.  Without
    `allow_nan_stats`, a NaN is an InvalidArgumentError when the graph runs.  Raises NotImplementedError if there is no function.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError("No KL(distribution_a || distribution_b) registered for distribution_a "
                                  f"type {type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}")
    with name_scope("KullbackLeibler"):
        divergence = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        divergence = identity(divergence, name="kl")
        with control_dependencies([Assert(logical_not(reduce_any(is_nan(divergence))), [
                f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
                "(and was called with allow_nan_stats=False). Values:", divergence])]):
            return identity(divergence, name="checked_kl")


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """The entropy of `ref` and its divergence to `other`."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


class RegisterKL:
    """Decorator: ``@RegisterKL(Normal, Normal)`` before the function (a, b, name=None) -> divergences of the batch."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable) -> Callable:
        """Registers `kl_fn`.  Raises TypeError if it is no function, ValueError if there is one for these classes."""
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            raise ValueError(f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been registered to: "
                             f"{_DIVERGENCES[self._key]}")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
