"""What a model function returns: ``tf.estimator.EstimatorSpec``."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.estimator.arguments import taken
from jitgraph.estimator.export_outputs import checked_outputs
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph import structures as nest
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.metrics.objects import Metric
from jitgraph.ops.arrays.shape import reshape
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.variables.variable import Variable

LOSS, AVERAGE_LOSS = "loss", "average_loss"


class _Spec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict
    export_outputs: Any
    training_chief_hooks: tuple
    training_hooks: tuple
    scaffold: Any
    evaluation_hooks: tuple
    prediction_hooks: tuple


class EstimatorSpec(_Spec):
    """A model in a mode: tensors to run, and hooks.

    Args:
      mode: one of ``ModeKeys``.
      predictions: a tensor or {name: tensor}; needed for PREDICT.
      loss: a scalar; needed for TRAIN and EVAL.
      train_op: one training step; needed for TRAIN.
      eval_metric_ops: {name: (value, update)} of metrics.
      export_outputs: {signature: ExportOutput}; by default the predictions.
      training_hooks, training_chief_hooks, evaluation_hooks, prediction_hooks: further hooks of the sessions.
      scaffold: a ``tf.train.Scaffold``.
    Raises ValueError for what is missing, or is from another graph, TypeError for what is of another type.
    """

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None, eval_metric_ops: Any = None,
                export_outputs: Any = None, training_chief_hooks: Any = None, training_hooks: Any = None, scaffold: Any = None,
                evaluation_hooks: Any = None, prediction_hooks: Any = None) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = checked_outputs(export_outputs, predictions)
        hooks = [_checked_hooks(some) for some in (training_hooks, evaluation_hooks, prediction_hooks, training_chief_hooks)]
        metrics = _checked_metrics(eval_metric_ops)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(cls, mode, predictions, loss, train_op, metrics, export_outputs, hooks[3], hooks[0], scaffold,
                               hooks[1], hooks[2])

    def _replace(self, **changes: Any) -> EstimatorSpec:        # type: ignore[override]
        if changes.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **changes})


def _is_dense(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable)) or hasattr(value, "handle")


def _check_tensor(value: Any, name: str) -> Any:
    if not _is_dense(value):
        raise TypeError(f"{name} must be Tensor, given: {value}")
    return value


def _check_graph(value: Any, what: str, name: str) -> None:
    if value.graph is not get_default_graph():
        raise ValueError(f'{what} with "{name}" must be from the default graph. Possible causes of this error include: \n\n1) '
                         f"{what} was created outside the context of the default graph.\n\n2) The object passed through to "
                         'EstimatorSpec was not created in the most recent call to "model_fn".')


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not (isinstance(train_op, Operation) or _is_dense(train_op)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op", train_op.name)
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    shape = _check_tensor(loss, "loss").get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(TensorShape([])):
        loss = reshape(loss, [])
    _check_graph(loss, "loss", loss.name)
    return loss


def _checked_predictions(predictions: Any, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_graph(_check_tensor(predictions, "predictions"), "prediction values", predictions.name)
        return predictions
    checked = {key: _check_tensor(value, f"predictions[{key}]") for key, value in predictions.items()}
    for key, value in checked.items():
        _check_graph(value, "prediction values", f"{key}: {value.name}")
    return checked


def _checked_hooks(hooks: Any) -> tuple:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _checked_metrics(metrics: Any) -> dict:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for value in metrics.values():
        if isinstance(value, Metric) and not value.updates:
            raise ValueError(f'Please call update_state(...) on the "{value.name}" metric')
    metrics = {key: (value.result(), value.updates[0]) if isinstance(value, Metric) else value for key, value in metrics.items()}
    for key, value in metrics.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {value} for key: {key}")
    for key, value in metrics.items():
        for part in nest.flatten(value):
            _check_graph(part, "eval_metric_ops", f"{key}: {part.name}")
    return metrics


def call_logit_fn(logit_fn: Any, features: Any, mode: str, params: Any, config: Any) -> Any:
    """What a function of features gives, called with those of mode, params and config that it takes.

    Raises ValueError if it is no tensor, or dict of tensors by strings.
    """
    found = logit_fn(features=features, **taken(logit_fn, mode=mode, params=params, config=config))
    is_dict = isinstance(found, dict) and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in found.items())
    if not is_dict and not isinstance(found, Tensor):
        raise ValueError(f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {found}")
    return found
