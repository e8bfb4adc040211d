"""Areas under curves: exact ones of all predictions so far, with confidence, and by histograms."""
from __future__ import annotations

import collections
import statistics
from typing import Any

from jitgraph.contrib.metrics.concatenation import streaming_concat
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.ranks import remove_squeezable_dimensions
from jitgraph.metrics.streaming import collected, metric_variable, squeezed
from jitgraph.metrics.thresholds import TINY
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.counts import histogram_fixed_width
from jitgraph.ops.arrays.fill import ones_like, zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.layout import reverse
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.searching import boolean_mask, unique, unique_with_counts, where
from jitgraph.ops.arrays.sequences import cumsum, lin_space
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size as size_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_shapes import assert_type
from jitgraph.ops.checks.check_values import assert_greater_equal, assert_less_equal
from jitgraph.ops.elementwise.arithmetic import abs as abs_of
from jitgraph.ops.elementwise.arithmetic import add, maximum, multiply, squared_difference, subtract, truediv
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater, greater_equal, less, logical_and, logical_not, logical_or
from jitgraph.ops.elementwise.composite_values import negative, sqrt, square
from jitgraph.ops.elementwise.elementary import exp, floor, log
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from jitgraph.ops.reduce.segment import segment_sum
from jitgraph.variables.assignments import scatter_add
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def _zero_or_one(labels: Any) -> list:
    return [assert_greater_equal(labels, zeros_like(labels, dtypes.int64), message="labels must be 0 or 1, at least one is <0"),
            assert_less_equal(labels, ones_like(labels, dtypes.int64), message="labels must be 0 or 1, at least one is >1")]


def _exact_area(labels: Any, predictions: Any, curve: str, weights: Any) -> Any:
    count = size_of(predictions)
    if weights is None:
        weights = ones_like(labels, dtype=dtypes.float64)
    labels, predictions, weights = squeezed(labels, predictions, weights)
    total = reduce_sum(weights)
    positive = reduce_sum(where(greater(labels, 0), weights, zeros_like(labels, dtype=dtypes.float64)))

    def area() -> Any:
        ordered, indices = top_k(predictions, k=count)
        own_labels, own_weights = gather(labels, indices), gather(weights, indices)
        counts = unique_with_counts(ordered)[2]
        nothing = zeros_like(own_labels, dtype=dtypes.float64)
        ends = cast(pad(cumsum(counts), paddings=[[1, 0]]), dtypes.int32)

        def up_to_ends(values: Any) -> Any:
            return gather(pad(cumsum(values), paddings=[[1, 0]]), ends)

        found = up_to_ends(where(greater(own_labels, 0), own_weights, nothing))
        if curve == "ROC":
            xs = truediv(up_to_ends(where(less(own_labels, 1), own_weights, nothing)), total - positive)
            ys = truediv(found, positive)
        else:
            xs = truediv(found, positive)
            ys = where(greater(ends, 0), truediv(found, up_to_ends(own_weights)), ones_like(found, dtype=dtypes.float64))
        heights = add(ys[1:], ys[:-1]) / 2.0
        return reduce_sum(multiply(heights, abs_of(subtract(xs[1:], xs[:-1]))))

    none = logical_or(equal(positive, 0), equal(positive, total))
    return cond(none, lambda: constant(0, dtypes.float64), area)


def streaming_dynamic_auc(labels: Any, predictions: Any, curve: str = "ROC", metrics_collections: Any = (),
                          updates_collections: Any = (), name: str | None = None, weights: Any = None) -> tuple:
    """(the exact area under the curve of all predictions so far, float64; the operation that adds more).

    `labels` 0 or 1; `curve` "ROC" or "PR".  Keeps all predictions.  Raises ValueError for other curves.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels = reshape(cast(labels, dtypes.int64), [-1])
        with control_dependencies(_zero_or_one(labels)):
            all_predictions, more_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, more_labels = streaming_concat(labels, name="concat_labels")
            updates, all_weights = [more_labels, more_predictions], None
            if weights is not None:
                weights = reshape(cast(weights, dtypes.float64), [-1])
                all_weights, more_weights = streaming_concat(weights, name="concat_weights")
                updates.append(more_weights)
            update = group(*updates)
            area = _exact_area(all_labels, all_predictions, curve, all_weights)
            collected(updates_collections, update)
            return collected(metrics_collections, area), update


AucData = collections.namedtuple("AucData", ["auc", "lower", "upper"])
"""An area under a curve, and the bounds of a confidence interval around it."""


def _placements(ordered: Any, labels: Any, weights: Any) -> Any:
    """For each example which part of the weight of the other class is ranked below it, half of that of equals included."""
    segments = unique(ordered)[1]
    is_true = cast(labels, dtypes.float32)
    is_false = 1.0 - is_true
    of_true, of_false = weights * is_true, weights * is_false
    below_true, below_false = segment_sum(of_false, segments), segment_sum(of_true, segments)
    sums = [cumsum(one, exclusive=True) for one in (below_true, below_false)]
    parts = [(total + one / 2.0) / (reduce_sum(one) + TINY) for total, one in zip(sums, (below_true, below_false))]
    found = [gather(part, segments) for part in parts]
    return found[0] * is_true + found[1] * is_false


def _with_confidence(labels: Any, predictions: Any, weights: Any, alpha: float, logit_transformation: bool,
                     is_valid: Any) -> AucData:
    """The area and its interval by placement values (Pepe and Cai, 2004)."""
    count = size_of(predictions, out_type=dtypes.int32)
    totals = [reduce_sum(cast(1 - labels, weights.dtype) * weights), reduce_sum(cast(labels, weights.dtype) * weights)]
    ordered, indices = (reverse(one, axis=zeros(1, dtypes.int32)) for one in top_k(predictions, k=count, sorted=True))
    labels, weights = gather(labels, indices), gather(weights, indices)
    placements = _placements(ordered, labels, weights)
    of_class = [cast(1 - labels, weights.dtype), cast(labels, weights.dtype)]
    values, own = [placements * one for one in of_class], [weights * one for one in of_class]
    areas = [reduce_sum(own[0] * (1.0 - values[0])) / (totals[0] + TINY), reduce_sum(own[1] * values[1]) / (totals[1] + TINY)]
    area = where(less(totals[0], totals[1]), areas[1], areas[0])
    spreads = [reduce_sum(own[0] * square(1.0 - values[0] - areas[0])) / (totals[0] - 1.0 + TINY),
               reduce_sum(own[1] * squared_difference(values[1], areas[1])) / (totals[1] - 1.0 + TINY)]
    error = sqrt(spreads[0] / (totals[0] + TINY) + spreads[1] / (totals[1] + TINY))
    z = statistics.NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if logit_transformation:
        estimate = log(area / (1.0 - area + TINY))
        error = error / (area * (1.0 - area + TINY))
        bounds = [1.0 / (1.0 + exp(negative(estimate + side * error)) + TINY) for side in (z, -z)]
    else:
        bounds = [area + side * error for side in (z, -z)]
    certain = logical_or(equal(area, ones_like(area)), equal(area, zeros_like(area)))
    lower, upper = (where(certain, area, bound) for bound in bounds)
    return AucData(*cond(is_valid, lambda: [area, lower, upper], lambda: [constant(0.0)] * 3))


def auc_with_confidence_intervals(labels: Any, predictions: Any, weights: Any = None, alpha: float = 0.95,
                                  logit_transformation: bool = True, metrics_collections: Any = (),
                                  updates_collections: Any = (), name: str | None = None) -> tuple:
    """((auc, lower, upper) of all predictions so far, the operation that adds more): bounds of confidence `alpha`.

    `labels` 0 or 1.  Zeros where a batch has labels of one class alone, or weights below 1 in all.  Raises ValueError for an
    `alpha` outside of (0, 1).
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = ones_like(predictions)
    with variable_scope(name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        total = reduce_sum(weights)
        weights = reshape(weights, [-1])
        predictions = reshape(cast(predictions, dtypes.float64), [-1])
        labels = reshape(cast(labels, dtypes.int64), [-1])
        with control_dependencies(_zero_or_one(labels)):
            (all_predictions, more_predictions), (all_labels, more_labels), (all_weights, more_weights) = [
                streaming_concat(values, name=f"concat_{what}")
                for values, what in ((predictions, "preds"), (labels, "labels"), (weights, "weights"))]
            both = logical_and(equal(reduce_min(labels), 0), equal(reduce_max(labels), 1))
            enough = greater_equal(total, 1.0)

            def added() -> Any:
                with control_dependencies([more_labels, more_predictions, more_weights]):
                    return no_op()

            update = cond(enough, added, no_op)
            area = _with_confidence(all_labels, all_predictions, all_weights, alpha, logit_transformation,
                                    logical_and(both, enough))
            collected(updates_collections, update)
            return collected(metrics_collections, area), update


PrecisionRecallData = collections.namedtuple("PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"])
"""Counts, precisions and recalls at thresholds."""


def precision_recall_at_equal_thresholds(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int | None = None,
                                         use_locking: bool | None = None, name: str | None = None) -> tuple:
    """(PrecisionRecallData at `num_thresholds` (201) thresholds equally far apart in [0, 1], the operation that adds more).

    `labels` bool; its cost does not grow with the number of thresholds.  A run raises InvalidArgumentError for predictions
    outside of [0, 1].
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    assert_type(labels, dtypes.bool_)
    inside = "predictions must be in [0, 1]"
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        with control_dependencies([
                assert_greater_equal(predictions, cast(0.0, dtype=predictions.dtype), message=inside),
                assert_less_equal(predictions, cast(1.0, dtype=predictions.dtype), message=inside)]):
            predictions, labels, weights = squeezed(predictions, labels, weights)
        is_true, weights = cast(labels, dtypes.float64), cast(weights, dtypes.float64)
        of_true, of_false = is_true * weights, (1.0 - is_true) * weights
        predictions, of_true, of_false = [reshape(one, [-1]) for one in (predictions, of_true, of_false)]
        buckets = cast(floor(predictions * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            kept = [metric_variable([count], dtypes.float64, name=f"{kind}_buckets") for kind in ("tp", "fp")]
        with name_scope("update_op"):
            updates = [scatter_add(variable, buckets, values, use_locking=use_locking is None or use_locking)
                       for variable, values in zip(kept, (of_true, of_false))]
        tp, fp = [cumsum(variable, reverse=True, name=kind) for variable, kind in zip(kept, ("tp", "fp"))]
        tn, fn = fp[0] - fp, tp[0] - tp
        tiny = convert_to_tensor(1e-7, dtype=dtypes.float64)
        precision, recall = tp / maximum(tiny, tp + fp), tp / maximum(tiny, tp + fn)
        found = [cast(one, predictions.dtype) for one in (tp, fp, tn, fn, precision, recall, lin_space(0.0, 1.0, count))]
        return PrecisionRecallData(*found), group(*updates)


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple:
    with name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels = convert_to_tensor(labels, name="boolean_labels")
        scores = convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool_:
            raise ValueError(f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype}")
        if check_shape:
            checks = [Assert(equal(1, rank_of(one)), [f"Argument {what} should have rank 1.  Found: ", one.name, shape_of(one)])
                      for one, what in ((labels, "boolean_labels"), (scores, "scores"))]
            with control_dependencies(checks):
                return labels, scores
        return labels, scores


def auc_using_histogram(boolean_labels: Any, scores: Any, score_range: Any, nbins: int = 100, collections: Any = None,
                        check_shape: bool = True, name: str | None = None) -> tuple:
    """(the area under the ROC curve by histograms of `nbins` bins within `score_range`, the operation that adds more).

    `boolean_labels` bool [n], `scores` [n].  Raises ValueError for labels that are no bools.
    """
    kept = [GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        boolean_labels, scores = _checked(boolean_labels, scores, check_shape)
        with variable_scope(None, "make_auc_histograms", [boolean_labels, scores, nbins]):
            counts = [histogram_fixed_width(boolean_mask(scores, mask), score_range, nbins=nbins, dtype=dtypes.int64, name=name)
                      for mask, name in ((boolean_labels, "hist_true"), (logical_not(boolean_labels), "hist_false"))]
        with variable_scope(None, "hist_accumulate", counts):
            totals = [get_variable(name, shape=[nbins], dtype=counts[0].dtype, initializer=zeros_initializer(), collections=kept,
                                   trainable=False) for name in ("hist_true_acc", "hist_false_acc")]
            update = group(*[total.assign_add(count) for total, count in zip(totals, counts)], name="update_op")
        return _area_of_histograms(totals, nbins), update


def _area_of_histograms(totals: list, nbins: int) -> Any:
    normed = [truediv(one, reduce_sum(one)) for one in totals]
    dy, dx = [reverse(one, [0], name=name) for one, name in zip(normed, ("delta_y_t", "delta_x_t"))]
    dy, dx = cast(dy, dtypes.float32), cast(dx, dtypes.float32)
    y = cumsum(dy)
    return add(dx[0] * y[0] / 2.0, reduce_sum(dx[1:] * (y[1:] + y[:nbins - 1]) / 2.0), name="auc")
