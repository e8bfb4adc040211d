"""Metrics of probabilities that become bools at thresholds: counts, precision and recall at each, the area under a curve."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app.logs import warning
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.weights import broadcast_weights
from jitgraph.metrics.streaming import collected, metric_variable, squeezed
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_greater_equal, assert_less_equal
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import div, div_no_nan, maximum, minimum, multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater, logical_and, logical_not
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.reduce.reductions import argmax, argmin, reduce_min, reduce_sum
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.variable_scopes import variable_scope

TINY = 1e-7
COUNTS = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}


def checked_counts(labels: Any, predictions: Any, thresholds: list, weights: Any = None, kinds: tuple = tuple(COUNTS),
                   kept: dict | None = None) -> tuple:
    """``counts_at`` of predictions that a run refuses with InvalidArgumentError if they are outside of [0, 1]."""
    inside = "predictions must be in [0, 1]"
    with control_dependencies([
            assert_greater_equal(predictions, cast(0.0, predictions.dtype), message=inside),
            assert_less_equal(predictions, cast(1.0, predictions.dtype), message=inside)]):
        predictions, labels, weights = squeezed(cast(predictions, dtypes.float32), cast(labels, dtypes.bool_), weights)
    return counts_at(labels, predictions, thresholds, weights, kinds, kept)


def counts_at(labels: Any, predictions: Any, thresholds: list, weights: Any = None, kinds: tuple = tuple(COUNTS),
              kept: dict | None = None) -> tuple:
    """({kind: variable}, {kind: update}) of the counts at each of `thresholds`, for the `kinds` "tp", "fn", "tn", "fp".

    The inputs are of shapes that fit.  `kept`: the variables, where there are some already.
    """
    number = len(thresholds)
    column = reshape(predictions, [-1, 1])
    row = reshape(cast(labels, dtypes.bool_), [1, -1])
    count = column.shape[0].value
    count = shape_of(column)[0] if count is None else count
    levels = tile(expand_dims(constant(thresholds), [1]), stack([1, count]))
    predicted = greater(tile(transpose(column), [number, 1]), levels)
    not_predicted = logical_not(predicted) if "fn" in kinds or "tn" in kinds else None
    labelled = tile(row, [number, 1])
    not_labelled = logical_not(labelled) if "fp" in kinds or "tn" in kinds else None
    if weights is not None:
        weights = broadcast_weights(cast(weights, dtypes.float32), predictions)
        weights = tile(reshape(weights, [1, -1]), [number, 1])
        levels.shape.assert_is_compatible_with(weights.shape)
    pairs = {"tp": (labelled, predicted), "fn": (labelled, not_predicted), "tn": (not_labelled, not_predicted),
             "fp": (not_labelled, predicted)}
    values, updates = {}, {}
    for kind in [kind for kind in pairs if kind in kinds]:
        values[kind] = kept[kind] if kept else metric_variable([number], dtypes.float32, name=COUNTS[kind])
        held = cast(logical_and(*pairs[kind]), dtypes.float32)
        if weights is not None:
            held *= weights
        updates[kind] = assign_add(values[kind], reduce_sum(held, 1))
    return values, updates


def spread(number: int, last: float = 1.0 + TINY) -> list[float]:
    """`number` thresholds from below 0 to `last`, equally far apart."""
    return [0.0 - TINY, *((k + 1) * 1.0 / (number - 1) for k in range(number - 2)), last]


def _at_thresholds(kind: str, labels: Any, predictions: Any, thresholds: list, weights: Any, metrics_collections: Any,
                   updates_collections: Any, name: str | None) -> tuple:
    with variable_scope(name, COUNTS[kind], (predictions, labels, weights)):
        values, updates = checked_counts(labels, predictions, thresholds, weights, (kind,))
        value = collected(metrics_collections, identity(values[kind]))
        return value, collected(updates_collections, updates[kind])


def true_positives_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                                 metrics_collections: Any = None, updates_collections: Any = None,
                                 name: str | None = None) -> tuple:
    """(the weight so far of true labels predicted above each threshold, the operation that adds these).

    `predictions` in [0, 1] (a run raises InvalidArgumentError for others); both are float32, [the number of thresholds].
    """
    return _at_thresholds("tp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def true_negatives_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                                 metrics_collections: Any = None, updates_collections: Any = None,
                                 name: str | None = None) -> tuple:
    """(the weight so far of false labels not predicted above each threshold, the operation that adds these)."""
    return _at_thresholds("tn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def false_positives_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                                  metrics_collections: Any = None, updates_collections: Any = None,
                                  name: str | None = None) -> tuple:
    """(the weight so far of false labels predicted above each threshold, the operation that adds these)."""
    return _at_thresholds("fp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def false_negatives_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                                  metrics_collections: Any = None, updates_collections: Any = None,
                                  name: str | None = None) -> tuple:
    """(the weight so far of true labels not predicted above each threshold, the operation that adds these)."""
    return _at_thresholds("fn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def _measured(of_counts: Callable, values: dict, updates: dict, metrics_collections: Any, updates_collections: Any) -> tuple:
    """(what `of_counts` makes of the variables, what it makes of their updates)"""
    value = collected(metrics_collections, of_counts(values, "value"))
    return value, collected(updates_collections, of_counts(updates, "update_op"))


def precision_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> tuple:
    """(which part of the predictions above each threshold is right so far, the operation that adds these)."""
    with variable_scope(name, "precision_at_thresholds", (predictions, labels, weights)):
        values, updates = checked_counts(labels, predictions, thresholds, weights, ("tp", "fp"))
        return _measured(lambda c, name: div(c["tp"], TINY + c["tp"] + c["fp"], name="precision_" + name), values, updates,
                         metrics_collections, updates_collections)


def recall_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                         metrics_collections: Any = None, updates_collections: Any = None,
                         name: str | None = None) -> tuple:
    """(which part of the true labels is predicted above each threshold so far, the operation that adds these)."""
    with variable_scope(name, "recall_at_thresholds", (predictions, labels, weights)):
        values, updates = checked_counts(labels, predictions, thresholds, weights, ("tp", "fn"))
        return _measured(lambda c, name: div(c["tp"], TINY + c["tp"] + c["fn"], name="recall_" + name), values, updates,
                         metrics_collections, updates_collections)


def auc(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200, metrics_collections: Any = None,
        updates_collections: Any = None, curve: str = "ROC", name: str | None = None,
        summation_method: str = "trapezoidal", thresholds: list | None = None) -> tuple:
    """(the area so far under the curve of `num_thresholds` thresholds, or of those given; the operation that adds these).

    `curve`: "ROC" or "PR" (precision over recall).  `summation_method`: "trapezoidal", "careful_interpolation" (better for "PR"),
    "minoring" or "majoring".  `predictions` in [0, 1].  Raises ValueError for other curves and methods.
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        levels = spread(num_thresholds) if thresholds is None else [0.0 - TINY, *sorted(thresholds), 1.0 + TINY]
        values, updates = checked_counts(labels, predictions, levels, weights)
        last = len(levels) - 1

        def area(counts: dict, name: str) -> Tensor:
            if curve == "PR" and summation_method == "careful_interpolation":
                return interpolated_area(counts["tp"], counts["fp"], counts["fn"], last)
            if curve == "PR" and summation_method == "trapezoidal":
                warning("Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                        '"careful_interpolation" instead.')
            return _area(counts, curve, summation_method, last, name)

        return _measured(area, values, updates, metrics_collections, updates_collections)


def _area(counts: dict, curve: str, method: str, last: int, name: str) -> Tensor:
    tp, fn, tn, fp = [counts[kind] for kind in ("tp", "fn", "tn", "fp")]
    epsilon = 1.0e-6
    recalled = div(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = div(fp, fp + tn + epsilon), recalled
    else:
        precise = div(tp + epsilon, tp + fp + epsilon)
        x, y = recalled, precise
    if method not in ("trapezoidal", "careful_interpolation", "minoring", "majoring"):
        raise ValueError(f"Invalid summation_method: {method}")
    width = x[:last] - x[1:]
    if method == "minoring":
        height = minimum(y[:last], y[1:])
    elif method == "majoring":
        height = maximum(y[:last], y[1:])
    else:
        height = (y[:last] + y[1:]) / 2.0
    return reduce_sum(multiply(width, height), name=name)


def interpolated_area(tp: Tensor, fp: Tensor, fn: Tensor, last: int) -> Tensor:
    """The area under precision over recall, counts interpolated between thresholds (Davis and Goadrich, 2006)."""
    more = tp[:last] - tp[1:]
    p = tp + fp
    slope = div_no_nan(more, maximum(p[:last] - p[1:], 0), name="prec_slope")
    intercept = tp[1:] - multiply(slope, p[1:])
    ratio = where(logical_and(p[:last] > 0, p[1:] > 0),
                  div_no_nan(p[:last], maximum(p[1:], 0), name="recall_relative_ratio"), ones_like(p[1:]))
    parts = div_no_nan(slope * (more + intercept * log(ratio)), maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
    return reduce_sum(parts, name="interpolate_pr_auc")


def sensitivity_at_specificity(labels: Any, predictions: Any, specificity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the sensitivity so far at the threshold whose specificity is nearest to that given, the operation that adds these).

    Raises ValueError for a specificity outside of [0, 1].
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = checked_counts(labels, predictions, spread(num_thresholds), weights)

        def sensitivity(counts: dict, name: str) -> Tensor:
            tp, fn, tn, fp = [counts[kind] for kind in ("tp", "fn", "tn", "fp")]
            found = div(tn, tn + fp + TINY)
            at = cast(argmin(absolute(found - specificity), 0), dtypes.int32)
            return div(tp[at], tp[at] + fn[at] + TINY, name)

        return _measured(sensitivity, values, updates, metrics_collections, updates_collections)


def specificity_at_sensitivity(labels: Any, predictions: Any, sensitivity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> tuple:
    """(the specificity so far at the last threshold whose sensitivity is nearest to that given, the operation that adds these).

    Raises ValueError for a sensitivity outside of [0, 1].
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        values, updates = checked_counts(labels, predictions, spread(num_thresholds, 1.0 - TINY), weights)

        def specificity(counts: dict, name: str) -> Tensor:
            tp, fn, tn, fp = [counts[kind] for kind in ("tp", "fn", "tn", "fp")]
            found = div(tp, tp + fn + TINY)
            nearest = reduce_min(absolute(found - sensitivity))
            places = cumsum(cast(equal(absolute(found - sensitivity), nearest), dtypes.int64))
            at = cast(argmax(places, 0), dtypes.int32)          # the first place of the largest sum: the last of the nearest
            return div(tn[at], tn[at] + fp[at] + TINY, name)

        return _measured(specificity, values, updates, metrics_collections, updates_collections)
