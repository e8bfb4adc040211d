"""What the modes of estimators and of Keras are called in SavedModels: ``tensorflow.python.saved_model.model_utils``."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from jitgraph.estimator import exporting
from jitgraph.estimator.export_outputs import (
    SIGNATURES,
    SINGLE_FEATURE,
    SINGLE_LABEL,
    SINGLE_RECEIVER,
    TAGS,
    ExportOutput,
    checked_outputs,
    outputs_of_mode,
    signature_defs,
)
from jitgraph.estimator.modes import ModeKeys as EstimatorModeKeys

SINGLE_FEATURE_DEFAULT_NAME, SINGLE_RECEIVER_DEFAULT_NAME, SINGLE_LABEL_DEFAULT_NAME = (SINGLE_FEATURE, SINGLE_RECEIVER,
                                                                                        SINGLE_LABEL)
MAX_DIRECTORY_CREATION_ATTEMPTS = exporting.ATTEMPTS


class KerasModeKeys:
    """The modes as Keras calls them: training, evaluation, prediction."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def is_predict(mode: Any) -> bool:
    """Whether that is the mode of predictions, of Keras or of estimators."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: Any) -> bool:
    """Whether that is the mode of evaluation, of Keras or of estimators."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: Any) -> bool:
    """Whether that is the mode of training, of Keras or of estimators."""
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


def _of_keras(mode: Any) -> str:
    for asks, name in ((is_train, KerasModeKeys.TRAIN), (is_eval, KerasModeKeys.TEST), (is_predict, KerasModeKeys.PREDICT)):
        if asks(mode):
            return name
    raise ValueError(f"Invalid mode key: {mode}.")


class ModeKeyMap(Mapping):
    """What belongs to each mode, under its name in Keras and that of estimators.

    Raises ValueError where two names of one mode are given, and for what is no mode, also when one is asked for.
    """

    def __init__(self, **kwargs: Any):
        self._names, self._found = list(kwargs), {_of_keras(name): value for name, value in kwargs.items()}
        if len(self._found) < len(self._names):
            raise ValueError(f"Error creating ModeKeyMap. Multiple keys/values found for one mode: {self._names}.")

    def __getitem__(self, mode: Any) -> Any:
        return self._found[_of_keras(mode)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _by_names_of_keras(found: dict[str, Any]) -> ModeKeyMap:
    return ModeKeyMap(**{_of_keras(mode): value for mode, value in found.items()})


EXPORT_TAG_MAP = _by_names_of_keras(TAGS)
SIGNATURE_KEY_MAP = _by_names_of_keras(SIGNATURES)


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """`export_outputs`, by default the predictions, with one for the default signature.

    Raises TypeError for what is no dict of ExportOutputs, ValueError if none of several is for the default signature.
    """
    return checked_outputs(export_outputs, predictions)


def export_outputs_for_mode(mode: Any, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None,
                            metrics: Any = None) -> dict[str, ExportOutput]:
    """{signature: ExportOutput} of a mode: `serving_export_outputs` or predictions, a TrainOutput or an EvalOutput.

    Raises ValueError for what is no mode, and what ``get_export_outputs`` raises.
    """
    of_estimators = {_of_keras(name): name for name in SIGNATURES}[_of_keras(mode)]
    return outputs_of_mode(of_estimators, serving_export_outputs, predictions, loss, metrics)


def build_all_signature_defs(receiver_tensors: Any, export_outputs: dict[str, ExportOutput],
                             receiver_tensors_alternatives: Any = None, serving_only: bool = True) -> dict[str, Any]:
    """{name: SignatureDef} of all outputs for the inputs, and for each of the alternatives {name: inputs}.

    What does not suit the inputs is left out, and said in the log; with `serving_only` also what serves no requests.
    Raises ValueError if `export_outputs` is no dict.
    """
    return signature_defs(receiver_tensors, export_outputs, receiver_tensors_alternatives, serving_only)


def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """The path of a folder in `export_dir_base` named by the seconds since 1970, which is not there yet.

    Raises RuntimeError where ten such names are taken.
    """
    return os.fsencode(exporting.folder_of_now(export_dir_base))


def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """The path of the folder beside that one whose name begins with "temp-"; name bytes are written as Python shows them."""
    folder, name = os.path.split(timestamped_export_dir)
    return os.path.join(os.fsencode(folder), f"temp-{name!s}".encode())
