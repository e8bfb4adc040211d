"""What model functions of ``tf.contrib.learn`` are told and give: ModeKeys, ModelFnOps, and the keys of predictions and metrics."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.app import logs
from jitgraph.estimator.export_outputs import ClassificationOutput, PredictOutput, RegressionOutput
from jitgraph.estimator.modes import ModeKeys as CoreModes
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.graph import dtypes
from jitgraph.graph.composite import convert_to_tensor_or_sparse_tensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.operation import Operation
from jitgraph.ops.arrays.shape import reshape
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.train.hooks.run_hooks import SessionRunHook


class ModeKeys:
    """What a graph is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises ValueError for another mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class MetricKey:
    """The names of metrics; those with ``%`` take a class or a threshold."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


class ProblemType:
    """What a head solves."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _Ops(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict
    output_alternatives: Any
    training_chief_hooks: list
    training_hooks: list
    scaffold: Any
    mode: str


class ModelFnOps(_Ops):
    """What a model function gives: predictions, loss, training step and metrics, as far as its mode needs them."""

    __slots__ = ()

    def __new__(cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None, eval_metric_ops: Any = None,
                output_alternatives: Any = None, training_chief_hooks: Any = None, training_hooks: Any = None,
                scaffold: Any = None) -> ModelFnOps:
        """Raises ValueError for what is missing or not a scalar, TypeError for hooks of another class."""
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if loss is not None:
            loss = _scalar(loss)
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        if isinstance(predictions, dict):
            predictions = {key: convert_to_tensor_or_sparse_tensor(value) for key, value in predictions.items()}
        elif predictions is not None:
            predictions = convert_to_tensor_or_sparse_tensor(predictions)
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        chief_hooks, hooks = training_chief_hooks or [], training_hooks or []
        for hook in [*hooks, *chief_hooks]:
            if not isinstance(hook, SessionRunHook):
                raise TypeError("All hooks returned from model_fn must be SessionRunHook instances, got instance of "
                                f"{type(hook)}: {hook}")
        return super().__new__(cls, predictions, loss, train_op, eval_metric_ops or {}, output_alternatives, chief_hooks, hooks,
                               scaffold, mode)

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> EstimatorSpec:
        """The same as an EstimatorSpec."""
        outputs = self.output_alternatives
        if outputs:
            if len(outputs) > 1 and DEFAULT_SERVING_SIGNATURE_DEF_KEY not in outputs:
                outputs = {**outputs, DEFAULT_SERVING_SIGNATURE_DEF_KEY: outputs[default_serving_output_alternative_key]}
            outputs = {key: _exported(*value) for key, value in outputs.items()}
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != MetricKey.LOSS}
        mode = CoreModes.PREDICT if self.mode == ModeKeys.INFER else self.mode
        return EstimatorSpec(mode=mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
                             eval_metric_ops=metrics, export_outputs=outputs or None,
                             training_chief_hooks=self.training_chief_hooks, training_hooks=self.training_hooks,
                             scaffold=self.scaffold)


def _scalar(loss: Any) -> Any:
    loss = convert_to_tensor(loss)
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if shape.ndims in (None, 0) else reshape(loss, [])


def _exported(problem_type: int, predictions: dict) -> Any:
    scores = predictions.get(PredictionKey.SCORES)
    if scores is None:
        scores = predictions.get(PredictionKey.PROBABILITIES)
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores)
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = predictions.get(PredictionKey.CLASSES)
        if classes is None or classes.dtype != dtypes.string:
            logs.warning("classes is %s, Servo inference will not have class ids.", "None" if classes is None else "not string")
            classes = None
        return ClassificationOutput(scores=scores, classes=classes)
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(predictions)
    raise ValueError(f"Unknown problem_type={problem_type}")
