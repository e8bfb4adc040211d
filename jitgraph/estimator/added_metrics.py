"""``tf.estimator.add_metrics``: an estimator with more metrics."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.estimator.arguments import argument_names, check_function, taken
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.modes import ModeKeys

_OFFERED = {"features", "labels", "predictions", "config"}


def add_metrics(estimator: Estimator, metric_fn: Callable) -> Estimator:
    """An estimator of the same model whose evaluations also give what a function gives: {name: (value, update)}.

    `metric_fn` takes any of features, labels, predictions and config.  Raises ValueError for other arguments, TypeError if it is no
    function.
    """
    check_function(metric_fn, "metric_fn", "{name: (value, update)}")
    others = list(set(argument_names(metric_fn)) - _OFFERED)
    if others:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {others}")

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        added = metric_fn(**taken(metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config))
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **added})

    return Estimator(model_fn, model_dir=estimator.model_dir, config=estimator.config,
                     warm_start_from=estimator._warm_start_settings)
