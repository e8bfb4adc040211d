"""Estimators and optimizers with something added: ``clip_gradients_by_norm``, ``forward_features``, exports by mode."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.export_outputs import PredictOutput
from jitgraph.estimator.inputs_of_model import parsed_input
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.receivers import build_raw_supervised_input_receiver_fn
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.graph import Graph
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.clip import clip_by_global_norm
from jitgraph.ops.sparse.sparse_functions import sparse_tensor_to_dense
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.train.optimizer import Optimizer


class _Clipped(Optimizer):
    """An optimizer whose gradients together have a norm of at most `clip_norm`."""

    def __init__(self, optimizer: Optimizer, clip_norm: Any):
        super().__init__(use_locking=False, name="ClipByNorm" + optimizer.get_name())
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list:
        """Those of the optimizer, not clipped yet."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Applies the gradients, clipped."""
        gradients, variables = zip(*grads_and_vars)
        gradients = clip_by_global_norm(gradients, self._clip_norm)[0]
        return self._optimizer.apply_gradients(list(zip(gradients, variables)), global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """That of the optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer."""
        return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: Any) -> Optimizer:
    """An optimizer that scales all gradients down to a common norm of `clip_norm`, where it is larger."""
    return _Clipped(optimizer, clip_norm)


def forward_features(estimator: Estimator, keys: Any = None, sparse_default_values: dict | None = None) -> Estimator:
    """An estimator whose predictions also have the features `keys`, by default all.

    `sparse_default_values` {key: value} say which features are sparse, and with what they are filled up.  Raises TypeError if
    `keys` are no strings; ValueError, when it predicts, if there is no such feature, or a prediction of that name.
    """
    if isinstance(keys, str):
        keys = [keys]
    if keys is not None:
        if not isinstance(keys, (list, tuple)):
            raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
        for key in keys:
            if not isinstance(key, str):
                raise TypeError("All items in the given keys list should be a string. There exist an item with type: "
                                f"{type(key)}")

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if predictions is None:
            return spec
        wanted = list(features if keys is None else keys)
        _check(predictions, features, wanted)
        for key in wanted:
            predictions[key] = _dense(key, features[key], sparse_default_values or {})
        spec = spec._replace(predictions=predictions)
        for name in ("predict", DEFAULT_SERVING_SIGNATURE_DEF_KEY):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, PredictOutput):
                output.outputs.update({key: predictions[key] for key in wanted})
        return spec

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _check(predictions: Any, features: Any, wanted: list) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
    for key in wanted:
        if key not in features:
            raise ValueError(f'keys should be exist in features. Key "{key}" is not in features dict. features dict has following '
                             f"keys: {features.keys()}. Please check arguments of forward_features.")
        if key in predictions:
            raise ValueError(f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing prediction keys: "
                             f"{predictions.keys()}. Please check arguments of forward_features.")


def _dense(key: str, feature: Any, fillings: dict) -> Any:
    feature = convert_to_tensor_or_sparse_tensor(feature)
    if key in fillings:
        if not isinstance(feature, SparseTensor):
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        feature = sparse_tensor_to_dense(feature, default_value=fillings[key])
    if not isinstance(feature, Tensor):
        raise ValueError(f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted "
                         f"features, oradd key to argument `sparse_default_values`.Type of features[{key}] is {type(feature)}.")
    return feature


@deprecated("2018-12-03", "Use estimator.export_saved_model(*args, experimental_mode=...)")
def export_saved_model_for_mode(estimator: Estimator, export_dir_base: Any, input_receiver_fn: Any, assets_extra: Any = None,
                                as_text: bool = False, checkpoint_path: Any = None, mode: str = ModeKeys.PREDICT) -> bytes:
    """Writes a SavedModel of one mode; see ``tf.estimator.Estimator.export_saved_model``."""
    return estimator.export_saved_model(export_dir_base, input_receiver_fn, assets_extra=assets_extra, as_text=as_text,
                                        checkpoint_path=checkpoint_path, experimental_mode=mode)


@deprecated("2018-12-03", "Use estimator.experimental_export_all_saved_models")
def export_all_saved_models(estimator: Estimator, export_dir_base: Any, input_receiver_fn_map: dict, assets_extra: Any = None,
                            as_text: bool = False, checkpoint_path: Any = None) -> bytes:
    """Writes a SavedModel of several modes; see ``tf.estimator.Estimator.experimental_export_all_saved_models``."""
    return estimator.experimental_export_all_saved_models(export_dir_base, input_receiver_fn_map, assets_extra=assets_extra,
                                                          as_text=as_text, checkpoint_path=checkpoint_path)


def build_supervised_input_receiver_fn_from_input_fn(input_fn: Any, **input_fn_args: Any) -> Any:
    """``tf.estimator.experimental.build_raw_supervised_input_receiver_fn`` of what an input function gives."""
    with Graph().as_default():
        features, labels, _ = parsed_input(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
