"""``tf.contrib.estimator.SavedModelEstimator``: an estimator of the graphs in a SavedModel."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.export_outputs import TAGS
from jitgraph.estimator.modes import ModeKeys
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.estimator.warm_start import WarmStartSettings
from jitgraph.filesystem import gfile
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import get_collection, get_collection_ref
from jitgraph.graph.shapes import TensorShape
from jitgraph.saved_model import constants
from jitgraph.saved_model.loader import main_op_of, meta_graph_with_tags, parse_saved_model
from jitgraph.train.checkpoint_values import list_variables
from jitgraph.train.saver import import_meta_graph_with_return_elements
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.variables.global_steps import assert_global_step, get_global_step

_METHODS = {ModeKeys.TRAIN: constants.SUPERVISED_TRAIN_METHOD_NAME, ModeKeys.EVAL: constants.SUPERVISED_EVAL_METHOD_NAME}
_VALUE, _UPDATE = "/value", "/update_op"


class SavedModelEstimator(Estimator):
    """Trains on, evaluates and predicts by the graphs that ``experimental_export_all_saved_models`` wrote for these modes.

    Its variables begin as those of the SavedModel.  Raises ValueError for a folder that has none; the methods raise
    RuntimeError for a mode that was not exported, and ValueError for features and labels that are not those of the graph.
    """

    def __init__(self, saved_model_dir: str, model_dir: Any = None):
        checkpoint = _checkpoint_in(saved_model_dir)
        super().__init__(self._model_of, model_dir=model_dir, warm_start_from=WarmStartSettings(
            checkpoint, vars_to_warm_start=[name for name, _ in list_variables(checkpoint)]))
        self.saved_model_dir = saved_model_dir
        self._saved = parse_saved_model(saved_model_dir)
        logs.info("Checking available modes for SavedModelEstimator.")
        self._available = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if self._signature(mode) is not None]
        logs.info("Available modes for Estimator: %s", self._available)

    def _signature(self, mode: str) -> Any:
        try:
            meta = meta_graph_with_tags(self._saved, TAGS[mode])
        except RuntimeError:
            logs.warning("%s mode not found in SavedModel.", mode)
            return None
        key = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key not in meta.signature_def:
            logs.warning('Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.', mode, key)
            return None
        return meta.signature_def[key]

    def _create_and_assert_global_step(self, graph: Any) -> None:
        """The step is that of the SavedModel: another one would be restored in its place."""

    def _model_of(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._available:
            raise RuntimeError(f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the Metagraph "
                               "for this mode has been exported.")
        graph = get_default_graph()
        if get_global_step(graph) is not None:
            raise RuntimeError("Graph must not contain a global step tensor before the SavedModel is loaded. Please make sure that "
                               "the input function does not create a global step.")
        signature, meta = self._signature(mode), meta_graph_with_tags(self._saved, TAGS[mode])
        given = {key: info.name for key, info in signature.outputs.items()}
        _, found = import_meta_graph_with_return_elements(meta, input_map=_inputs(signature, features, labels),
                                                          return_elements=list(given.values()))
        scaffold = Scaffold(local_init_op=main_op_of(graph, meta, None))
        assert_global_step(get_global_step(graph))
        outputs = dict(zip(given, found))
        loss, predictions, metrics = _parts(mode, outputs, signature.method_name)
        train_ops = get_collection(constants.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        for key in (constants.ASSETS_KEY, constants.LEGACY_INIT_OP_KEY, constants.MAIN_OP_KEY, constants.TRAIN_OP_KEY):
            del get_collection_ref(key)[:]
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_ops[0] if train_ops else None,
                             eval_metric_ops=metrics, scaffold=scaffold)


def _checkpoint_in(folder: Any) -> str:
    path = os.path.join(os.fsdecode(folder), constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    if not gfile.Exists(path + ".index"):
        raise ValueError(f"Directory provided has an invalid SavedModel format: {folder}")
    return path


def _by_key(given: Any, name: str) -> dict:
    if given is None:
        return {}
    return given if isinstance(given, dict) else {name: given}


def _inputs(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """{input of the SavedModel, and as a control input: the tensor in its place}"""
    offered = {**_by_key(labels, "label"), **_by_key(features, "feature")}
    found = {}
    for key, info in signature.inputs.items():
        if key not in offered:
            raise ValueError(f'Key "{key}" not found in features or labels passed in to the model function. All required keys: '
                             f"{signature.inputs.keys()}")
        _check_alike(offered[key], info, key)
        name = info.name.partition(":")[0]
        found[name] = found[f"^{name}"] = offered[key]
    return found


def _check_alike(tensor: Any, info: Any, name: str) -> None:
    dtype, shape = dtypes.as_dtype(info.dtype), TensorShape(info.tensor_shape)
    wrong = ""
    if tensor.dtype != dtype:
        wrong += f"\n\tExpected dtype: {dtype}, Got: {tensor.dtype}"
    if not tensor.shape.is_compatible_with(shape):
        wrong += f"\n\tExpected shape: {shape}, Got: {tensor.shape}"
    if wrong:
        raise ValueError(f"Tensor shape and/or dtype validation failed for input {name}:{wrong}")


def _parts(mode: str, outputs: dict, method: str) -> tuple:
    """(loss, predictions, metrics) among the outputs of a signature."""
    if mode == ModeKeys.PREDICT:
        return None, outputs, None
    if method != _METHODS[mode]:
        raise RuntimeError(f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\tGot: {method}\n"
                           "Please ensure that the SavedModel was exported with "
                           "`tf.estimator.experimental_export_all_saved_models()`.")
    metrics = {}
    for key, value in outputs.items():
        name = key.removesuffix(_VALUE)
        if key.startswith("metrics/") and name != key and name + _UPDATE in outputs:
            metrics[name] = value, outputs[name + _UPDATE]
    predictions = {key: value for key, value in outputs.items() if key.partition("/")[0] == "predictions"}
    return outputs["loss"], predictions, metrics
