"""Metrics of rankings: precision and recall of the k best predictions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, SparseTensorValue, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.weights import assert_broadcastable, broadcast_weights
from jitgraph.metrics.streaming import collected, metric_variable
from jitgraph.ops.arrays.fill import fill, ones_like, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.partition import dynamic_stitch
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import expand_dims, reshape, size
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.elementwise.arithmetic import add, div, div_no_nan, minimum, multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater_equal
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum
from jitgraph.ops.sparse.set_operations import set_difference, set_intersection, set_size
from jitgraph.ops.sparse.sparse_functions import sparse_concat, sparse_reshape, sparse_retain
from jitgraph.variables.assignments import assign_add


def _with_labels_axis(labels: Any, predictions: Any) -> Any:
    """`labels` [..., the number of labels] also where each example has one, [...]."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(equal(rank_of(predictions), size(labels.dense_shape) + 1),
                        lambda: sparse_reshape(labels, shape=concat((labels.dense_shape, (1,)), 0), name=scope),
                        lambda: labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if ranks[0] is not None and ranks[1] is not None:
            if ranks[0] == ranks[1]:
                return labels
            if ranks[0] == ranks[1] + 1:
                return expand_dims(labels, -1, name=scope)
            raise ValueError(f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}.")
        return cond(equal(rank_of(predictions), rank_of(labels) + 1), lambda: expand_dims(labels, -1, name=scope),
                    lambda: labels)


def at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    name = f"{name}_at_k" if k is None else f"{name}_at_{k:d}"            # TypeError for a tensor, which has no number yet
    return name if class_id is None else f"{name}_class{class_id:d}"


def _only(ids: Any, class_id: Any) -> Any:
    """The classes `ids` of each example, without all but one class."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, equal(ids.values, class_id))
    sizes = shape_of(ids, out_type=dtypes.int64)
    last = reshape(size(sizes) - 1, [1])
    one = _reduced_shape(sizes, last)
    found = set_intersection(fill(one, cast(class_id, dtypes.int64)), ids)
    return SparseTensor(found.indices, found.values, sizes)


def _reduced_shape(sizes: Tensor, axes: Tensor) -> Tensor:
    """`sizes` with 1 at `axes`."""
    sizes, axes = cast(sizes, dtypes.int32), cast(axes, dtypes.int32)
    rank = size(sizes)
    axes = (axes + rank) % rank
    return dynamic_stitch([range_of(rank), axes], [sizes, fill(shape_of(axes), 1)])


def _matched(operation: Callable, labels: Any, predictions: Any, class_id: Any, weights: Any) -> Tensor:
    """For each example the number of classes in what `operation` makes of the sets of predictions and labels, weighed."""
    if class_id is not None:
        labels, predictions = _only(labels, class_id), _only(predictions, class_id)
    found = cast(set_size(operation(predictions, labels)), dtypes.float64)
    if weights is not None:
        with control_dependencies((assert_broadcastable(weights, found),)):
            found = multiply(found, cast(weights, dtypes.float64))
    return found


_OPERATIONS: dict[str, Callable] = {
    "true_positive": set_intersection,
    "false_positive": lambda predictions, labels: set_difference(predictions, labels, aminusb=True),
    "false_negative": lambda predictions, labels: set_difference(predictions, labels, aminusb=False),
}


def _streaming(kind: str, labels: Any, predictions: Any, k: int | None, class_id: Any, weights: Any) -> tuple:
    """(the variable of the number of classes that are of a kind, the operation that adds these)"""
    with name_scope(None, at_k_name(kind, k, class_id), (predictions, labels, weights)) as scope:
        with name_scope(None, kind + "s", (predictions, labels, weights)):
            found = _matched(_OPERATIONS[kind], labels, predictions, class_id, weights)
        if weights is None:
            count_nodes(3)      # TensorFlow does not know the rank of what sets give, and asks the run for the axes
        total = cast(reduce_sum(found), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, assign_add(variable, total, name="update")


def _at_top_k(measure: str, wrong: str, labels: Any, predictions: Any, k: int | None, class_id: Any, weights: Any,
              metrics_collections: Any, updates_collections: Any, name: str | None) -> tuple:
    with name_scope(name, at_k_name(measure, k, class_id), (predictions, labels, weights)) as scope:
        labels = _with_labels_axis(labels, predictions)
        chosen = cast(predictions, dtypes.int64)
        right, more_right = _streaming("true_positive", labels, chosen, k, class_id, weights)
        missed, more_missed = _streaming(wrong, labels, chosen, k, class_id, weights)
        value = collected(metrics_collections, div(right, add(right, missed), name=scope))
        update = div(more_right, add(more_right, more_missed), name="update")
        return value, collected(updates_collections, update)


def precision_at_top_k(labels: Any, predictions_idx: Any, k: int | None = None, class_id: int | None = None,
                       weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                       name: str | None = None) -> tuple:
    """(which part of the predicted classes is right so far, the operation that adds these); float64 scalars.

    `labels`: int64 numbers of classes, [..., how many], [...] for one each, or sparse; `predictions_idx` [..., k].  `class_id`
    asks for one class alone.  `weights`: a number, or [...].
    """
    return _at_top_k("precision", "false_positive", labels, predictions_idx, k, class_id, weights, metrics_collections,
                     updates_collections, name)


def recall_at_top_k(labels: Any, predictions_idx: Any, k: int | None = None, class_id: int | None = None,
                    weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                    name: str | None = None) -> tuple:
    """(which part of the labels is among the predicted classes so far, the operation that adds these).

    The arguments are those of ``precision_at_top_k``.
    """
    return _at_top_k("recall", "false_negative", labels, predictions_idx, k, class_id, weights, metrics_collections,
                     updates_collections, name)


def precision_at_k(labels: Any, predictions: Any, k: int, class_id: int | None = None, weights: Any = None,
                   metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple:
    """``precision_at_top_k`` of the k classes with the largest `predictions` [..., classes]."""
    with name_scope(name, at_k_name("precision", k, class_id), (predictions, labels, weights)) as scope:
        _, chosen = top_k(predictions, k)
        return precision_at_top_k(labels, chosen, k, class_id, weights, metrics_collections, updates_collections, scope)


def recall_at_k(labels: Any, predictions: Any, k: int, class_id: int | None = None, weights: Any = None,
                metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple:
    """``recall_at_top_k`` of the k classes with the largest `predictions` [..., classes]."""
    with name_scope(name, at_k_name("recall", k, class_id), (predictions, labels, weights)) as scope:
        _, chosen = top_k(predictions, k)
        return recall_at_top_k(labels, chosen, k, class_id, weights, metrics_collections, updates_collections, scope)


sparse_precision_at_k = precision_at_k


def average_precision_at_k(labels: Any, predictions: Any, k: int, weights: Any = None, metrics_collections: Any = None,
                           updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the mean so far of the average precision at 1 to k, the operation that adds these); float64 scalars.

    `labels`: int64 numbers of classes, [..., how many], [...] for one each, or sparse; `predictions` [..., classes].
    Raises ValueError for a k below 1.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, at_k_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, chosen = top_k(predictions, k)
        labels = _without_unknown(labels, cast(shape_of(predictions)[-1], dtypes.int64))
        if weights is None:
            count_nodes(3)      # TensorFlow does not know the rank of labels out of a conditional, and asks the run for it
        return average_precision_at_top_k(labels, chosen, weights, metrics_collections, updates_collections, scope)


sparse_average_precision_at_k = average_precision_at_k


def _without_unknown(labels: Any, classes: Tensor) -> Any:
    """`labels`, -1 where they are no class."""
    is_sparse = isinstance(labels, (SparseTensor, SparseTensorValue))
    values = labels.values if is_sparse else labels

    def cleaned() -> Any:
        found = where_v2(greater_equal(values, classes), -1 * ones_like(values), values)
        return type(labels)(labels.indices, found, labels.dense_shape) if is_sparse else found

    return cond(greater_equal(reduce_max(values), classes), cleaned, lambda: labels)


def average_precision_at_top_k(labels: Any, predictions_idx: Tensor, weights: Any = None, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple:
    """``average_precision_at_k`` of the classes `predictions_idx` [..., k], best first."""
    with name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        average = _average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(cast(weights, dtypes.float64), average)
            average = multiply(average, weights)
        with name_scope(None, "max", (average,)) as max_scope:
            most = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                amount = cast(size(average, name="batch_max"), dtypes.float64)
            else:
                amount = reduce_sum(weights, name="batch_max")
            more = assign_add(most, amount, name="update")
        with name_scope(None, "total", (average,)) as total_scope:
            total = metric_variable([], dtypes.float64, name=total_scope)
            added = assign_add(total, reduce_sum(average, name="batch_total"), name="update")
        value = collected(metrics_collections, div_no_nan(total, most, name="mean"))
        return value, collected(updates_collections, div_no_nan(added, more, name=scope))


def _average_precision(labels: Any, chosen: Tensor) -> Tensor:
    """For each example the mean, over its labels, of the precision at the place where each was predicted."""
    with name_scope(None, "average_precision", (chosen, labels)) as scope:
        chosen = cast(chosen, dtypes.int64, name="predictions_idx")
        if chosen.shape.ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = chosen.shape.as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = _with_labels_axis(labels, chosen)
        each = expand_dims(chosen, -1, name="predictions_idx_per_k")
        labels_each = _repeated(labels, k, "labels_per_k")
        with name_scope("relevant_per_k", "true_positives", (each, labels_each, None)):
            relevant = _matched(set_intersection, labels_each, each, None, None)
        right = cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = cumsum(ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = div(cast(right, dtypes.float64), cast(retrieved, dtypes.float64), name="precision_per_k")
        precision = multiply(precision, cast(relevant, dtypes.float64), name="relevant_precision_per_k")
        total = reduce_sum(precision, axis=(-1,), name="precision_sum")
        return div(total, cast(_relevant(labels, k), dtypes.float64), name=scope)


def _repeated(tensor: Any, multiple: int, name: str) -> Any:
    """`tensor` `multiple` times along a new axis before the last."""
    with name_scope(name, "expand_and_tile", (tensor, multiple, -1)) as scope:
        if isinstance(tensor, SparseTensor):
            last = reshape(size(tensor.dense_shape) + -1, [1])
            shape = concat((slice_of(tensor.dense_shape, [0], last), [1], slice_of(tensor.dense_shape, last, [-1])), 0,
                           name="expanded_shape")
            expanded = sparse_reshape(tensor, shape=shape, name="expand")
            return expanded if multiple == 1 else sparse_concat(-2, [expanded] * multiple, name=scope)
        expanded = expand_dims(tensor, -2, name="expand")
        if multiple == 1:
            return expanded
        ones = ones_like(shape_of(tensor))
        return tile(expanded, concat((ones[:-1], (multiple,), ones[-1:]), 0, name="multiples"), name=scope)


def _relevant(labels: Any, k: int) -> Tensor:
    """How many of an example's labels k predictions can hold."""
    with name_scope(None, "num_relevant", (labels,)) as scope:
        if isinstance(labels, SparseTensor):
            return minimum(set_size(labels), k, name=scope)
        count = reduce_sum(where_v2(greater_equal(labels, 0), ones_like(labels), zeros_like(labels)), axis=-1)
        return minimum(count, k, name=scope)
