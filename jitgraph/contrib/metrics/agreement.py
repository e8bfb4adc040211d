"""Covariance, correlation, agreement and distances of predictions and labels, added up over batches."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.metrics.reordered import streaming_mean
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.streaming import collected, metric_variable, squeezed
from jitgraph.ops.arrays.counts import confusion_matrix
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.matrix_parts import diag_part
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import size as size_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.arithmetic import div, div_no_nan, multiply, subtract, truediv
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less_equal
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.variable_scopes import variable_scope


def streaming_covariance(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                         updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the unbiased covariance so far, NaN below two examples; the operation that adds more).

    `weights`, of the shape of the labels or that broadcasts to it, are taken for frequencies.  The moments are joined batch by
    batch (Chan and others, 1979).
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        count, mean_prediction, mean_label, comoment = [
            metric_variable([], dtypes.float32, name=what) for what in ("count", "mean_prediction", "mean_label", "comoment")]
        if weights is None:
            batch = cast(size_of(labels), dtypes.float32)
            weighted = [predictions, labels]
        else:
            weights = broadcast_weights(weights, labels)
            batch = reduce_sum(weights)
            weighted = [multiply(one, weights) for one in (predictions, labels)]
        new_count = assign_add(count, batch)
        before = new_count - batch
        batch_means, old_means = [], []
        for values, mean in zip(weighted, (mean_prediction, mean_label)):
            of_batch = div_no_nan(reduce_sum(values), batch)
            delta = div_no_nan((of_batch - mean) * batch, new_count)
            old_means.append(assign_add(mean, delta) - delta)
            batch_means.append(of_batch)
        residuals = (predictions - batch_means[0]) * (labels - batch_means[1])
        moment = reduce_sum(residuals if weights is None else residuals * weights)
        delta = moment + (old_means[0] - batch_means[0]) * (old_means[1] - batch_means[1]) * (before * batch / new_count)
        updated = assign_add(comoment, delta)

        def covariance(what: str) -> Any:
            return where(less_equal(count, 1.0), float("nan"), truediv(comoment, count - 1), name=what)

        value = covariance("covariance")
        with control_dependencies([updated]):
            update = covariance("update_op")
    return collected(metrics_collections, value), collected(updates_collections, update)


def streaming_pearson_correlation(predictions: Any, labels: Any, weights: Any = None, metrics_collections: Any = None,
                                  updates_collections: Any = None, name: str | None = None) -> tuple:
    """(Pearson's correlation so far, the operation that adds more)."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        found = [streaming_covariance(one, other, weights=weights, name=what)
                 for one, other, what in ((predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
                                          (labels, labels, "variance_labels"))]
        value, update = [truediv(cov, multiply(sqrt(first), sqrt(second)), name=what)
                         for (cov, first, second), what in zip(zip(*found), ("pearson_r", "update_op"))]
    return collected(metrics_collections, value), collected(updates_collections, update)


def streaming_mean_cosine_distance(predictions: Any, labels: Any, dim: int, weights: Any = None, metrics_collections: Any = None,
                                   updates_collections: Any = None, name: str | None = None) -> tuple:
    """(1 - the mean of the products of unit vectors along `dim`, the operation that adds more)."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    products = reduce_sum(multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = streaming_mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = subtract(1.0, value), subtract(1.0, update)
    return collected(metrics_collections, value), collected(updates_collections, update)


def count(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
          name: str | None = None) -> tuple:
    """(how many values were seen so far, or the sum of their `weights`; the operation that adds more)."""
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = cast(size_of(values), dtypes.float32)
        else:
            values = cast(values, dtypes.float32)
            values, _, weights = squeezed(values, None, weights)
            weights = broadcast_weights(cast(weights, dtypes.float32), values)
            number = reduce_sum(weights)
        with control_dependencies([values]):
            update = assign_add(total, number)
        return collected(metrics_collections, identity(total)), collected(updates_collections, update)


def cohen_kappa(labels: Any, predictions_idx: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None,
                updates_collections: Any = None, name: str | None = None) -> tuple:
    """(Cohen's kappa of the agreement so far, float64; the operation that adds more).

    `labels`, `predictions_idx`: int numbers of classes [n] or [n, 1].  Raises ValueError for fewer than two classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = squeezed(predictions_idx, labels, weights)
        predictions_idx.shape.assert_is_compatible_with(labels.shape)
        dtype = dtypes.int64 if weights is None or weights.dtype.is_integer else dtypes.float32
        kept = [metric_variable((num_classes,), dtype, name=what) for what in ("po", "pe_row", "pe_col")]
        table = confusion_matrix(labels, predictions_idx, num_classes=num_classes, weights=weights, dtype=dtype,
                                 name="counts_in_table")
        batch = [diag_part(table), reduce_sum(table, axis=0), reduce_sum(table, axis=1)]
        updates = [assign_add(variable, more) for variable, more in zip(kept, batch)]
        value = collected(metrics_collections, _kappa(kept, "value"))
        return value, collected(updates_collections, _kappa(updates, "update_op"))


def _kappa(counts: list, name: str) -> Any:
    agreed, rows, columns = counts
    agreed, total = reduce_sum(agreed), reduce_sum(rows)
    by_chance = reduce_sum(div_no_nan(cast(rows * columns, dtypes.float64), cast(total, dtypes.float64)))
    agreed, by_chance, total = [cast(one, dtypes.float64) for one in (agreed, by_chance, total)]
    return div_no_nan(agreed - by_chance, total - by_chance, name=name)


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Which part of `predictions` equals `labels` (bool, integer or string), in this batch alone.

    Raises ValueError for labels of other dtypes, and if the dtypes differ.
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool_, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and labels "
                         f"({labels.dtype!r})")
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = cast(equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(right)
        right = multiply(right, weights)
        return div(reduce_sum(right), reduce_sum(multiply(weights, ones_like(right))))


def aggregate_metrics(*value_update_tuples: tuple) -> tuple:
    """(list of values, list of updates) of pairs (value, update).  Raises ValueError without pairs."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: dict) -> tuple:
    """({name: value}, {name: update}) of {name: (value, update)}."""
    values, updates = zip(*names_to_tuples.values())
    return dict(zip(names_to_tuples, values)), dict(zip(names_to_tuples, updates))


def contrib_confusion_matrix(labels: Any, predictions: Any, num_classes: int | None = None, dtype: Any = dtypes.int32,
                             name: str | None = None, weights: Any = None) -> Any:
    """``tf.confusion_matrix``, with its arguments in another order."""
    return confusion_matrix(labels=labels, predictions=predictions, num_classes=num_classes, dtype=dtype, name=name,
                            weights=weights)
