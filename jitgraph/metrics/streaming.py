"""What metrics share: the local variables that they add up in, and inputs brought to shapes that fit."""
from __future__ import annotations

from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collections
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.ranks import may_end_in_1, remove_squeezable_dimensions
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.elementwise.compare import equal
from jitgraph.variables.synchronization import VariableAggregation, VariableSynchronization
from jitgraph.variables.variable import Variable


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None,
                    use_resource: bool | None = None) -> Any:
    """A variable of zeros in the collections LOCAL_VARIABLES and METRIC_VARIABLES, which is not trained."""
    return Variable(lambda: zeros(shape, dtype), trainable=False, validate_shape=validate_shape, name=name,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
                    use_resource=use_resource, synchronization=VariableSynchronization.ON_READ, aggregation=VariableAggregation.SUM)


def collected(collections: Any, value: Any) -> Any:
    """`value`, which joins `collections` if there are any."""
    if collections:
        add_to_collections(collections, value)
    return value


def squeezed(predictions: Any, labels: Any, weights: Any) -> tuple:
    """(predictions, labels, weights) of ranks that fit: a last axis of size 1 is removed, or added to weights.

    Raises ValueError if the shapes of predictions and labels do not fit otherwise.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    return predictions, labels, _weights_for(predictions, convert_to_tensor(weights))


def _weights_for(predictions: Tensor, weights: Tensor) -> Tensor:
    own, other = weights.shape.ndims, predictions.shape.ndims
    if own == 0:
        return weights
    if own is not None and other is not None:
        if own - other == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if other - own == 1 else weights
    rank = rank_of(weights)
    difference = rank - rank_of(predictions)

    def expanded() -> Tensor:
        return cond(equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    def fitted() -> Tensor:
        return cond(equal(difference, 1), lambda: squeeze(weights, [-1]) if may_end_in_1(weights) else weights, expanded)

    return cond(equal(rank, 0), lambda: weights, fitted)
