"""Weights that are multiplied by a mask, and the collections in which both are found."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def collect(mask: Any, threshold: Any, masked: Any, weights: Any) -> None:
    """Puts a mask and what belongs to it into their collections."""
    for collection, one in ((THRESHOLD_COLLECTION, threshold), (MASK_COLLECTION, mask), (MASKED_WEIGHT_COLLECTION, masked),
                            (WEIGHT_COLLECTION, weights)):
        add_to_collection(collection, one)


def weight_mask_variable(var: Any, scope: Any) -> Any:
    """The variable ``mask`` of the shape of `var`, of ones."""
    with variable_scope(scope):
        return get_variable("mask", var.get_shape(), initializer=ones_initializer(), trainable=False, dtype=var.dtype)


def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """The variable ``threshold``, a scalar of zero, of the dtype of `var`."""
    with variable_scope(scope):
        return get_variable("threshold", [], initializer=zeros_initializer(), trainable=False, dtype=var.dtype)


def apply_mask(x: Any, scope: Any = "") -> Any:
    """`x` times a mask that ``Pruning`` sets: the variables ``mask`` and ``threshold`` in `scope`."""
    mask, threshold = weight_mask_variable(x, scope), weight_threshold_variable(x, scope)
    masked = multiply(mask, x, MASKED_WEIGHT_NAME)
    if not any(one is mask for one in get_collection(MASK_COLLECTION)):
        collect(mask, threshold, masked, x)
    return masked


def get_masked_weights() -> list:
    """The products of weights and masks."""
    return get_collection(MASKED_WEIGHT_COLLECTION)


def get_masks() -> list:
    """The masks."""
    return get_collection(MASK_COLLECTION)


def get_thresholds() -> list:
    """The thresholds below which weights were masked."""
    return get_collection(THRESHOLD_COLLECTION)


def get_weights() -> list:
    """The weights that are masked."""
    return get_collection(WEIGHT_COLLECTION)


def get_weight_sparsity() -> list:
    """The part of each mask that is zero."""
    return [zero_fraction(mask) for mask in get_masks()]
