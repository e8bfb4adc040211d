"""``tf.contrib.learn.MetricSpec``: a metric function, and what of predictions, labels and features it is given."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.arguments import argument_names

_NAMES = {"labels": ("labels", "label", "targets", "target"), "predictions": ("predictions", "prediction", "logits", "logit"),
          "weights": ("weights", "weight")}


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", None) or str(function)


def _found(function: Any, what: str, is_required: bool) -> str | None:
    """What a function calls its labels, predictions or weights."""
    names = argument_names(function)
    matching = [name for name in _NAMES[what] if name in names]
    if len(matching) > 1:
        raise ValueError(f"Ambiguous arguments {set(matching)}, must provide only one of {set(_NAMES[what])}.")
    if not matching:
        if is_required:
            raise ValueError(f"{set(_NAMES[what])} missing from {_name_of(function)}({names}).")
        return None
    if matching[0] != what:
        logs.warning("Canonical arg %s missing from %s(%s), using %s.", what, _name_of(function), names, matching[0])
    return matching[0]


def _adapted(function: Any, needs_labels: bool, needs_weights: bool) -> Callable:
    """A function of labels, predictions and weights that calls `function` by its own names."""
    labels_name = _found(function, "labels", needs_labels)
    predictions_name = _found(function, "predictions", False)
    weights_name = _found(function, "weights", needs_weights)

    def metric_fn(_sentinel: Any = None, labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, `predictions`, and optionally `weights`.")
        named = {} if weights is None or weights_name is None else {weights_name: weights}
        if predictions_name:
            return function(**({labels_name: labels} if labels_name else {}), **{predictions_name: predictions}, **named)
        if labels_name and argument_names(function)[0] == labels_name:
            return function(labels, predictions, **named)
        return function(predictions, **({labels_name: labels} if labels_name else {}), **named)

    return metric_fn


def _one_of(what: str, given: Any, key: Any) -> Any:
    if key:
        if not isinstance(given, dict):
            raise ValueError(f"MetricSpec with {what}_key specified requires {what}s dict, got {given}.\nYou must not provide a "
                             f"{what}_key if you only have a single Tensor as {what}s.")
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if isinstance(given, dict):
        if len(given) != 1:
            raise ValueError(f"MetricSpec without specified {what}_key requires {what}s tensor or single element dict, got {given}")
        return next(iter(given.values()))
    return given


class MetricSpec:
    """A metric of one prediction and one label, weighted by a feature; keys say which where there are dicts."""

    def __init__(self, metric_fn: Any, prediction_key: Any = None, label_key: Any = None, weight_key: Any = None):
        self._name = _name_of(metric_fn)
        self.metric_fn = _adapted(metric_fn, label_key is not None, weight_key is not None)
        self.prediction_key, self.label_key, self.weight_key = prediction_key, label_key, weight_key

    def __str__(self) -> str:
        return (f"MetricSpec(metric_fn={self._name}, prediction_key={self.prediction_key}, label_key={self.label_key}, "
                f"weight_key={self.weight_key})")

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """What the metric function gives: (value, update)."""
        prediction = _one_of("prediction", predictions, self.prediction_key)
        label = _one_of("label", labels, self.label_key)
        try:
            weights = inputs[self.weight_key] if self.weight_key else None
            return self.metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            logs.error(f"Could not create metric ops for {self}, {error}.")
            raise


def metric_ops(metrics: dict | None, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """{name: (value, update)} of MetricSpecs, and of functions by name or by (name, prediction).  Raises ValueError for others."""
    one_label = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found = {}
    for name, metric in sorted((metrics or {}).items(), key=lambda item: item[0]):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        logs.warning("Please specify metrics using MetricSpec. Using bare functions or (key, fn) tuples is deprecated and support "
                     "for it will be removed on Oct 1, 2016.")
        if not isinstance(name, tuple):
            if isinstance(predictions, dict):
                raise ValueError("Metrics passed provide only name, no prediction, but predictions are dict. Metrics: "
                                 f"{metrics}, Labels: {one_label}.")
            found[name] = metric(predictions, one_label)
            continue
        if len(name) != 2:
            raise ValueError(f"Invalid metric for {metric}. It returned a tuple with len {len(name)}, expected 2.")
        if not isinstance(predictions, dict):
            raise ValueError("Metrics passed provide (name, prediction), but predictions are not dict. Metrics: "
                             f"{metrics}, Predictions: {predictions}.")
        label = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else one_label
        found[name[0]] = metric(predictions[name[1]], label)
    return found
