"""Estimators of ``tf.contrib.learn`` as SavedModels, and the strategies by which experiments export them."""
from __future__ import annotations

import os
from typing import Any, NamedTuple

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.layers.old_column_layers import create_feature_spec_for_parsing
from jitgraph.contrib.learn.model_ops import ModeKeys, PredictionKey, ProblemType
from jitgraph.contrib.learn.serving_inputs import InputFnOps, build_parsing_serving_input_fn
from jitgraph.contrib.meta_graph_transform.transforming import meta_graph_transform
from jitgraph.contrib.session_bundle.kept_versions import Path
from jitgraph.control.order_ops import group
from jitgraph.estimator.arguments import argument_names
from jitgraph.estimator.estimator import Estimator as CoreEstimator
from jitgraph.estimator.exporting import folder_of_now
from jitgraph.estimator.receivers import build_parsing_serving_input_receiver_fn
from jitgraph.facade.names import resolve
from jitgraph.filesystem import gfile
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.protobuf import messages
from jitgraph.resources.registered import initialize_resources, shared_resources
from jitgraph.saved_model.builder import SavedModelBuilder
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from jitgraph.saved_model.signatures import classification_signature_def, predict_signature_def, regression_signature_def
from jitgraph.train.saver import Saver
from jitgraph.variables.global_steps import create_global_step

DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
_DEFAULT_OUTPUT_ALTERNATIVE = "default_output_alternative"
_INPUT_FEATURE_KEYS = "input_feature_keys"
_STAMP_LENGTH = 10
_SWITCH = deprecated(None, "Switch to tf.estimator.Exporter and associated utilities.")


@_SWITCH
def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """({name: inputs}, features) of what a serving function gives.  Raises ValueError without features."""
    found = {DEFAULT_INPUT_ALTERNATIVE_KEY: input_ops.default_inputs} if isinstance(input_ops, InputFnOps) else {}
    if not input_ops[0]:
        raise ValueError("Features must be defined.")
    return found, input_ops[0]


@_SWITCH
def get_output_alternatives(model_fn_ops: Any, default_output_alternative_key: str | None = None) -> tuple[dict[str, Any], str]:
    """({name: (problem type, outputs)}, which of them is the default) of ModelFnOps.  Raises ValueError if none can be it."""
    found, default_key = model_fn_ops.output_alternatives, default_output_alternative_key
    if not found:
        if default_key:
            raise ValueError(f"Requested default_output_alternative: {default_key}, but available output_alternatives are: []")
        outputs = model_fn_ops.predictions
        outputs = outputs if isinstance(outputs, dict) else {PredictionKey.GENERIC: outputs}
        return {_DEFAULT_OUTPUT_ALTERNATIVE: (ProblemType.UNSPECIFIED, outputs)}, _DEFAULT_OUTPUT_ALTERNATIVE
    available = sorted(found, key=str)
    if default_key:
        if default_key in found:
            return found, default_key
        raise ValueError(f"Requested default_output_alternative: {default_key}, but available output_alternatives are: {available}")
    if len(found) == 1:
        return found, next(iter(found))
    raise ValueError(f"Please specify a default_output_alternative.  Available output_alternatives are: {available}")


@_SWITCH
def build_standardized_signature_def(input_tensors: dict[str, Any], output_tensors: dict[str, Any], problem_type: int) -> Any:
    """The SignatureDef that suits a problem, or the general one of predictions.  Raises ValueError without inputs or outputs."""
    inputs, outputs = input_tensors, output_tensors
    if not inputs:
        raise ValueError("input_tensors must be provided.")
    if not outputs:
        raise ValueError("output_tensors must be provided.")
    classes, scores = outputs.get(PredictionKey.CLASSES), outputs.get(PredictionKey.SCORES)
    if classes is not None and classes.dtype != dtypes.string:
        classes = None
    scores = outputs.get(PredictionKey.PROBABILITIES) if scores is None else scores
    alone, single = next(iter(outputs.values())), len(outputs) == 1
    if len(inputs) == 1:
        examples = next(iter(inputs.values()))
        if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION) and (
                classes is not None or scores is not None or single):
            if classes is None and scores is None:
                classes, scores = (alone, None) if alone.dtype == dtypes.string else (None, alone)
            return classification_signature_def(examples, classes, scores)
        if problem_type == ProblemType.LINEAR_REGRESSION and single:
            return regression_signature_def(examples, alone)
    return predict_signature_def(inputs, outputs)


@_SWITCH
def build_all_signature_defs(input_alternatives: dict[str, Any], output_alternatives: dict[str, Any],
                             actual_default_output_alternative_key: Any) -> dict[str, Any]:
    """{name: SignatureDef} of all inputs with all outputs.  Raises ValueError without default inputs."""
    found = {f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(tensors, predicted, problem_type)
             for input_key, tensors in input_alternatives.items()
             for output_key, (problem_type, predicted) in output_alternatives.items()}
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem_type, predicted = output_alternatives[actual_default_output_alternative_key]
    found[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = build_standardized_signature_def(inputs, predicted, problem_type)
    return found


class GraphRewriteSpec(NamedTuple):
    """Under which `tags` a graph is saved, and by which `transforms` it is rewritten before."""

    tags: Any
    transforms: Any


AS_IT_IS = (GraphRewriteSpec((SERVING,), ()),)
"""The graph alone, for serving."""


def export_savedmodel(estimator: Any, checkpoint_path: str, export_dir_base: Any, serving_input_fn: Any,
                      default_output_alternative_key: str | None = None, assets_extra: dict | None = None, as_text: bool = False,
                      graph_rewrite_specs: Any = AS_IT_IS, strip_default_attrs: bool = False) -> bytes:
    """Writes a SavedModel of a checkpoint into a new folder, named by the time, in `export_dir_base`; returns its path.

    The first of `graph_rewrite_specs` has the tags of the graph as it is, the others those of graphs that are rewritten.  Raises
    ValueError for a first one with transforms.
    """
    first, *rewritten = graph_rewrite_specs
    if first.transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify no transforms.")
    folder = folder_of_now(export_dir_base)
    unfinished = os.fsdecode(get_temp_export_dir(folder))
    builder = SavedModelBuilder(unfinished)
    with Graph().as_default() as graph:
        create_global_step(graph)
        input_ops = serving_input_fn()
        inputs, features = get_input_alternatives(input_ops)
        for key in input_ops.features:
            add_to_collection(_INPUT_FEATURE_KEYS, key)
        found = estimator._call_model_fn(features, None, ModeKeys.INFER)
        outputs, default = get_output_alternatives(found, default_output_alternative_key)
        init_op = group(resolve("local_variables_initializer")(), initialize_resources(shared_resources()),
                        resolve("tables_initializer")())
        definitions = build_all_signature_defs(inputs, outputs, default)
        with resolve("Session")("") as session:
            saver = (found.scaffold.saver if found.scaffold is not None else None) or Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session, first.tags, signature_def_map=definitions, main_op=init_op, strip_default_attrs=strip_default_attrs,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS))
    _add_rewritten(builder, rewritten, inputs, outputs)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(unfinished, "assets.extra", os.fsdecode(name))
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)
    builder.save(as_text)
    gfile.Rename(unfinished, folder)
    return folder.encode()


def _add_rewritten(builder: Any, specs: Any, inputs: dict, outputs: dict) -> None:
    """Adds a graph for each of the specs, made of the one that was saved as it is."""
    fed = [tensor.name for tensors in inputs.values() for tensor in tensors.values()]
    fetched = [tensor.name for _, tensors in outputs.values() for tensor in tensors.values()]
    base = messages.MetaGraphDef()
    base.CopyFrom(builder._saved_model.meta_graphs[0])
    for spec in specs:
        builder._saved_model.meta_graphs.add().CopyFrom(meta_graph_transform(base, fed, fetched, spec.transforms, spec.tags))


class _Strategy(NamedTuple):
    name: str
    export_fn: Any
    strip_default_attrs: Any


class ExportStrategy(_Strategy):
    """A function of an estimator and a folder that exports it, and what it is called."""

    @deprecated(None, "Please switch to tf.estimator.train_and_evaluate, and use tf.estimator.Exporter.")
    def __new__(cls, name: str, export_fn: Any, strip_default_attrs: Any = None) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator: Any, export_path: Any, checkpoint_path: Any = None, eval_result: Any = None) -> Any:
        """What the function gives, called with those of the arguments that it takes.

        Raises ValueError for one that takes results and no checkpoint.
        """
        names = argument_names(self.export_fn)
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        offered = {"checkpoint_path": checkpoint_path, "eval_result": eval_result, "strip_default_attrs": self.strip_default_attrs}
        return self.export_fn(estimator, export_path, **{key: value for key, value in offered.items() if key in names})


def _exports(folder: Any) -> list[Path]:
    names = (os.fsdecode(name).rstrip("/") for name in gfile.ListDirectory(folder))
    return sorted(Path(os.path.join(os.fsdecode(folder), name), int(name)) for name in names
                  if len(name) == _STAMP_LENGTH and name.isdigit())


@_SWITCH
def get_most_recent_export(export_dir_base: Any) -> Path | None:
    """The newest export in a folder, with the time as its number; None if there is none."""
    return next(reversed(_exports(export_dir_base)), None)


@_SWITCH
def get_timestamped_export_dir(export_dir_base: Any) -> bytes:
    """A folder that is not there, named by the seconds since 1970.  Raises RuntimeError if ten are there."""
    return folder_of_now(export_dir_base).encode()


@_SWITCH
def get_temp_export_dir(timestamped_export_dir: Any) -> bytes:
    """Where an export is written before it is complete."""
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


@_SWITCH
def garbage_collect_exports(export_dir_base: Any, exports_to_keep: int | None) -> None:
    """Deletes the oldest exports in a folder but `exports_to_keep`; none if it is None."""
    if exports_to_keep is not None:
        for path, _ in _exports(export_dir_base)[:-exports_to_keep or None]:
            gfile.DeleteRecursively(path)


@_SWITCH
def make_export_strategy(serving_input_fn: Any, default_output_alternative_key: str | None = None, assets_extra: Any = None,
                         as_text: bool = False, exports_to_keep: int | None = 5, strip_default_attrs: Any = None) -> ExportStrategy:
    """A strategy that writes SavedModels and keeps the newest `exports_to_keep`."""
    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None, strip_default_attrs: Any = False) -> bytes:
        more = {}
        if not isinstance(estimator, CoreEstimator):
            more["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError("default_output_alternative_key is not supported in core Estimator. Given: "
                             f"{default_output_alternative_key}")
        found: bytes = estimator.export_savedmodel(export_dir_base, serving_input_fn, assets_extra=assets_extra, as_text=as_text,
                                                   checkpoint_path=checkpoint_path, strip_default_attrs=bool(strip_default_attrs),
                                                   **more)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return found

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


@deprecated(None, "Use tf.estimator.export.build_parsing_serving_input_receiver_fn")
def make_parsing_export_strategy(feature_columns: Any, default_output_alternative_key: str | None = None, assets_extra: Any = None,
                                 as_text: bool = False, exports_to_keep: int | None = 5, target_core: bool = False,
                                 strip_default_attrs: Any = None) -> ExportStrategy:
    """``make_export_strategy`` for models that are asked with serialized ``tf.train.Example``s."""
    spec = create_feature_spec_for_parsing(feature_columns)
    make = build_parsing_serving_input_receiver_fn if target_core else build_parsing_serving_input_fn
    return make_export_strategy(make(spec), default_output_alternative_key, assets_extra, as_text, exports_to_keep,
                                strip_default_attrs)

