"""Metrics that are means: of values, of errors, over classes."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.ranks import remove_squeezable_dimensions
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.streaming import collected, metric_variable, squeezed
from jitgraph.ops.arrays.counts import confusion_matrix
from jitgraph.ops.arrays.fill import ones, ones_like, zeros_like
from jitgraph.ops.arrays.matrix_parts import diag_part
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import div, div_no_nan, maximum, multiply, squared_difference, subtract
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater, less, not_equal
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.variables.assignments import assign_add, scatter_add
from jitgraph.variables.variable_scopes import variable_scope


def _added_up(values: Tensor, inputs: Tensor, total: Any, count: Any, amount: Any, collections: tuple) -> tuple:
    """(value, update) of a mean in the variables `total` and `count`, to which a run adds `values` and `amount` of `inputs`."""
    more = assign_add(total, values)
    with control_dependencies([inputs]):
        counted = assign_add(count, amount)
    value = collected(collections[0], div_no_nan(total, maximum(count, 0), name="value"))
    return value, collected(collections[1], div_no_nan(more, maximum(counted, 0), name="update_op"))


def mean(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
         name: str | None = None) -> tuple:
    """(the weighted mean of all values so far, the operation that adds `values` to them and gives the mean with them).

    Both are float32 scalars, kept in local variables "total" and "count" of a scope "mean"; they join the collections that are
    given.  `weights`: a number, or of the rank of `values` with each size equal or 1.  Raises ValueError if they do not fit.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            amount = cast(size(values), dtypes.float32)
        else:
            values, _, weights = squeezed(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values = multiply(values, weights)
            amount = reduce_sum(weights)
        return _added_up(reduce_sum(values), values, total, count, amount, (metrics_collections, updates_collections))


def mean_tensor(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                name: str | None = None) -> tuple:
    """As ``mean``, element by element: value and update have the shape of `values`, which must be known."""
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        amount = ones_like(values)
        if weights is not None:
            values, _, weights = squeezed(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            values, amount = multiply(values, weights), multiply(amount, weights)
        return _added_up(values, values, total, count, amount, (metrics_collections, updates_collections))


def accuracy(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple:
    """(how often so far `predictions` equal `labels`, the operation that adds these); see ``mean``."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    right = cast(equal(predictions, labels), dtypes.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                        updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the mean of abs(predictions - labels) so far, the operation that adds these); see ``mean``."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = absolute(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


def mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                       updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the mean of (predictions - labels) ** 2 so far, the operation that adds these); see ``mean``."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


def root_mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                            updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the root of ``mean_squared_error`` so far, the operation that adds these)."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(metrics_collections, sqrt(value)), collected(updates_collections, sqrt(update))


def mean_relative_error(labels: Any, predictions: Any, normalizer: Any, weights: Any = None, metrics_collections: Any = None,
                        updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the mean of abs(labels - predictions) / normalizer so far, 0 where that is 0, the operation that adds these)."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = where(equal(normalizer, 0.0), zeros_like(labels), div(absolute(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(labels: Any, predictions: Any, dim: int, weights: Any = None, metrics_collections: Any = None,
                         updates_collections: Any = None, name: str | None = None) -> tuple:
    """(1 - the mean so far of the products along axis `dim`, the operation that adds these); see ``mean``."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    products = reduce_sum(multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = subtract(1.0, value), subtract(1.0, update)
    return collected(metrics_collections, value), collected(updates_collections, update)


def percentage_below(values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None,
                     updates_collections: Any = None, name: str | None = None) -> tuple:
    """(which part of the values so far is below `threshold`, the operation that adds `values`); see ``mean``."""
    below = cast(less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


def _flat(tensor: Any) -> Any:
    return reshape(tensor, [-1]) if tensor.shape.ndims > 1 else tensor


def mean_per_class_accuracy(labels: Any, predictions: Any, num_classes: int, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> tuple:
    """(the mean over classes of the accuracy so far, the operation that adds these and gives that of each class)."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        each = ones([size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        right = cast(equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = cast(_flat(weights), dtypes.float32)
            right *= weights
            each *= weights
        more = scatter_add(total, labels, each)
        counted = scatter_add(count, labels, right)
        of_classes = div_no_nan(count, maximum(total, 0))
        value = collected(metrics_collections, reduce_mean(of_classes, name="mean_accuracy"))
        return value, collected(updates_collections, div_no_nan(counted, maximum(more, 0), name="update_op"))


def mean_iou(labels: Any, predictions: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the mean over classes of intersection / union so far, the operation that adds these to the confusion matrix).

    Classes that neither labels nor predictions have do not count.  The update gives the confusion matrix, float64.
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        value = collected(metrics_collections, _mean_iou(matrix))
        return value, collected(updates_collections, update)


def streaming_confusion_matrix(labels: Any, predictions: Any, num_classes: int, weights: Any = None) -> tuple:
    """(the confusion matrix so far, float64 of num_classes rows for labels and columns for predictions, the operation that adds
    these to it)."""
    matrix = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
    classes = cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    weights = None if weights is None else _flat(weights)
    found = confusion_matrix(labels, predictions, classes, weights=weights, dtype=dtypes.float64)
    return matrix, assign_add(matrix, found)


def _mean_iou(matrix: Any) -> Tensor:
    predicted = cast(reduce_sum(matrix, 0), dtypes.float32)
    labelled = cast(reduce_sum(matrix, 1), dtypes.float32)
    both = cast(diag_part(matrix), dtypes.float32)
    union = predicted + labelled - both
    classes = reduce_sum(cast(not_equal(union, 0), dtypes.float32))
    union = where(greater(union, 0), union, ones_like(union))
    ratio = div(both, union)
    return where(greater(classes, 0), reduce_sum(ratio, name="mean_iou") / classes, 0)
