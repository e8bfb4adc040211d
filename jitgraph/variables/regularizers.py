"""Regularizers of weights (``tf.contrib.layers``): functions of a tensor that give a scalar loss, or None."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collection, get_collection, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.reduce.reductions import reduce_sum

Regularizer = Callable[[Any], Any]


def _checked(scale: Any) -> float:
    """`scale` if it is a float that is not negative.  Raises ValueError otherwise."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, float) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
    return scale


def _nothing(_: Any) -> None:
    return None


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """scale * sum(abs(weights)).  A scale of 0.0 gives None; raises ValueError for integers and negative scales."""
    if _checked(scale) == 0.0:
        return _nothing

    def l1(weights: Any, name: str | None = None) -> Any:
        with name_scope(scope, "l1_regularizer", [weights]) as node:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return raw.Mul(factor, reduce_sum(raw.Abs(weights)), name=node)

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """scale * sum(weights ** 2) / 2.  A scale of 0.0 gives None; raises ValueError for integers and negative scales."""
    if _checked(scale) == 0.0:
        return _nothing

    def l2(weights: Any) -> Any:
        with name_scope(scope, "l2_regularizer", [weights]) as node:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return raw.Mul(factor, raw.L2Loss(weights), name=node)

    return l2


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer | None:
    """The sum of ``l1_regularizer(scale_l1)`` and ``l2_regularizer(scale_l2)``."""
    scope = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(_checked(scale_l1)), l2_regularizer(_checked(scale_l2))], scope=scope)


def sum_regularizer(regularizer_list: list, scope: str | None = None) -> Regularizer | None:
    """The sum of several regularizers (None entries do not count); None if there is none."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def total(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as node:
            terms = [term for term in (r(weights) for r in regularizers) if term is not None]
            return add_n(terms, name=node) if terms else None

    return total


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of `regularizer` over weights (the collection "weights" by default), which joins the regularization losses.

    Raises ValueError without weights, or if a regularizer gives no scalar.
    """
    weights = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights) as node:
        penalties = [constant(0.0) if p is None else p for p in (regularizer(w) for w in weights)]
        for penalty in penalties:
            if penalty.shape.ndims != 0:
                raise ValueError(f"regularizer must return a scalar Tensor instead of a Tensor with rank "
                                 f"{penalty.shape.ndims}.")
        total = add_n(penalties, name=node)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
