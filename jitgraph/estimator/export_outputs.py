"""What of a model a SavedModel offers: ``tf.estimator.export.PredictOutput`` and its kin, and the signatures made of them."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph.dtypes import string
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.saved_model import constants, signatures

SINGLE_FEATURE, SINGLE_RECEIVER, SINGLE_LABEL = "feature", "input", "label"
_METHODS = {constants.CLASSIFY_METHOD_NAME: "Classify", constants.REGRESS_METHOD_NAME: "Regress",
            constants.PREDICT_METHOD_NAME: "Predict", constants.SUPERVISED_TRAIN_METHOD_NAME: "Train",
            constants.SUPERVISED_EVAL_METHOD_NAME: "Eval"}
TAGS = {ModeKeys.PREDICT: [constants.SERVING], ModeKeys.TRAIN: [constants.TRAINING], ModeKeys.EVAL: [constants.EVAL]}
SIGNATURES = {ModeKeys.PREDICT: constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
               ModeKeys.TRAIN: constants.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
               ModeKeys.EVAL: constants.DEFAULT_EVAL_SIGNATURE_DEF_KEY}


class ExportOutput:
    """What a signature gives; a subclass says how it becomes a SignatureDef."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The SignatureDef from `receiver_tensors` to the outputs.  Raises ValueError for inputs that do not suit."""
        raise NotImplementedError


def _named(outputs: Any, name: str, label: str) -> dict[str, Tensor]:
    found = {}
    for key, value in (outputs if isinstance(outputs, dict) else {name: outputs}).items():
        key = "/".join(key) if isinstance(key, tuple) else key
        if not isinstance(key, str):
            raise ValueError(f"{label} output key must be a string; got {key}.")
        if not isinstance(value, Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        found[key] = value
    return found


def _examples(receiver_tensors: dict[str, Any], what: str) -> Any:
    """The one string tensor of serialized examples that a model is asked with."""
    if len(receiver_tensors) == 1:
        (examples,) = receiver_tensors.values()
        if examples.dtype.base_dtype == string:
            return examples
    raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")


class ClassificationOutput(ExportOutput):
    """Float `scores` [batch, n] and string `classes`, of all examples [batch, n] or of all classes [n]; one may be None.

    Raises ValueError for other tensors, or neither.
    """

    def __init__(self, scores: Any = None, classes: Any = None):
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype.base_dtype == string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From one string tensor to classes and scores.  Raises ValueError for other inputs."""
        return signatures.classification_signature_def(_examples(receiver_tensors, "Classification"), self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A float tensor `value`.  Raises ValueError for others."""

    def __init__(self, value: Any):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From one string tensor to the value.  Raises ValueError for other inputs."""
        return signatures.regression_signature_def(_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Tensors by name; a single one is named "output".  Raises ValueError for what is no tensor, or names that are no strings."""

    def __init__(self, outputs: Any):
        self.outputs = _named(outputs, "output", "Prediction")

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From all inputs to all outputs."""
        return signatures.predict_signature_def(receiver_tensors, self.outputs)


def _prefixed(key: str, prefix: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a model, tensors by name, None where they are not given.

    Metrics are (value, update) pairs by name.  Raises ValueError for what is no tensor, or names that are no strings.
    """

    LOSS_NAME, PREDICTIONS_NAME, METRICS_NAME = "loss", "predictions", "metrics"
    METRIC_VALUE_SUFFIX, METRIC_UPDATE_SUFFIX = "value", "update_op"

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss, self.predictions = (
            None if given is None else {_prefixed(key, name): value for key, value in _named(given, name, name).items()}
            for given, name in ((loss, self.LOSS_NAME), (predictions, self.PREDICTIONS_NAME)))
        self.metrics = None if metrics is None else _named_metrics(metrics)


class TrainOutput(_SupervisedOutput):
    __doc__ = f"""What a model gives in training.\n\n    {_SupervisedOutput.__doc__}"""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From all inputs to all of it."""
        return signatures.supervised_train_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


class EvalOutput(_SupervisedOutput):
    __doc__ = f"""What a model gives in evaluation.\n\n    {_SupervisedOutput.__doc__}"""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """From all inputs to all of it."""
        return signatures.supervised_eval_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


def _named_metrics(metrics: Any) -> dict[str, Tensor]:
    found = {}
    for key, (value, update) in (metrics if isinstance(metrics, dict) else {"metrics": metrics}).items():
        key = _prefixed("/".join(key) if isinstance(key, tuple) else key, "metrics")
        if not isinstance(value, Tensor):
            raise ValueError(f"{key} output value must be a Tensor; got {value}.")
        if not isinstance(update, (Tensor, Operation)):
            raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
        if isinstance(update, Operation):
            with control_dependencies([update]):
                update = constant([], name="metric_op_wrapper")
        found[f"{key}/value"], found[f"{key}/update_op"] = value, update
    return found


def checked_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """`export_outputs`, by default the predictions, with one for the default signature.

    Raises TypeError for what is no dict of ExportOutputs, ValueError if none of several is for the default signature.
    """
    default = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        return {default: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(value, ExportOutput) for value in export_outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    if len(export_outputs) == 1:
        export_outputs.setdefault(default, *export_outputs.values())
    elif export_outputs and default not in export_outputs:
        raise ValueError("Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming "
                         "one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY.")
    return export_outputs


def outputs_of_mode(mode: str, export_outputs: Any = None, predictions: Any = None, loss: Any = None,
                    metrics: Any = None) -> dict[str, ExportOutput]:
    """What a model exports in a mode: {signature: ExportOutput}.  Raises what ``checked_outputs`` and the outputs do."""
    if mode == ModeKeys.PREDICT:
        return checked_outputs(export_outputs, predictions)
    kind = TrainOutput if mode == ModeKeys.TRAIN else EvalOutput
    return {SIGNATURES[mode]: kind(loss, predictions, metrics)}


def signature_defs(receiver_tensors: Any, export_outputs: dict[str, ExportOutput], alternatives: Any = None,
                   serving_only: bool = True) -> dict[str, Any]:
    """{name: SignatureDef} of all outputs for the inputs, and for each of the `alternatives` {name: inputs}.

    What does not suit the inputs is left out, and said in the log.  Raises ValueError if `export_outputs` is no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    found, left_out = {}, {}
    for receiver, given in [(None, receiver_tensors), *(alternatives or {}).items()]:
        inputs = given if isinstance(given, dict) else {SINGLE_RECEIVER: given}
        for key, output in export_outputs.items():
            name = str(key or "None") if given is receiver_tensors else f"{receiver or 'None'}:{key or 'None'}"
            try:
                found[name] = output.as_signature_def(inputs)
            except ValueError as error:
                left_out[name] = str(error)
    _report(found, left_out)
    return {name: one for name, one in found.items() if signatures.is_valid_signature(one)} if serving_only else found


def _report(found: dict[str, Any], left_out: dict[str, str]) -> None:
    by_method: dict[str, list[str]] = {method: [] for method in _METHODS}
    for name, signature in found.items():
        by_method.setdefault(signature.method_name, []).append(name)
    for method, names in by_method.items():
        logs.info(f"Signatures INCLUDED in export for {_METHODS.get(method, method)}: {names if names else 'None'}")
    if left_out:
        logs.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, message in left_out.items():
            logs.info(f"'{name}' : {message}")
    if not found:
        logs.warn("Export includes no signatures!")
    elif constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in found:
        logs.warn("Export includes no default signature!")
