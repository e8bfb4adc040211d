"""Estimators of ``tf.contrib.learn`` as session bundles, the form before SavedModels: ``tf.contrib.learn.utils.export``."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.framework.deprecation import deprecated, silence
from jitgraph.contrib.session_bundle import exporting
from jitgraph.contrib.session_bundle.kept_versions import largest_export_versions
from jitgraph.control.order_ops import group
from jitgraph.facade.names import resolve
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.saver import Saver
from jitgraph.variables.global_steps import create_global_step, get_global_step

_SIGNATURE = deprecated("2017-03-25", "signature_fns are deprecated. For canned Estimators they are no longer needed. For custom "
                                      "Estimators, please return output_alternatives from your model_fn via ModelFnOps.")


def _check(examples: Any) -> None:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")


def _part(predictions: Any, key: str) -> Any:
    return predictions[key] if isinstance(predictions, dict) else predictions


@_SIGNATURE
def generic_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict]:
    """(a signature "inputs" to predictions by their names, no named ones).  Raises ValueError without examples."""
    _check(examples)
    found = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return exporting.generic_signature({"inputs": examples, **found}), {}


@_SIGNATURE
def classification_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict]:
    """(a signature of classes, no named ones); `predictions` are these, or have them.  Raises ValueError without examples."""
    _check(examples)
    return exporting.classification_signature(examples, classes_tensor=_part(predictions, "classes")), {}


@_SIGNATURE
def classification_signature_fn_with_prob(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict]:
    """(a signature of scores, no named ones); `predictions` are these, or have "probabilities".

    Raises ValueError without examples.
    """
    _check(examples)
    return exporting.classification_signature(examples, scores_tensor=_part(predictions, "probabilities")), {}


@_SIGNATURE
def regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict]:
    """(a signature of a number, no named ones).  Raises ValueError without examples."""
    _check(examples)
    return exporting.regression_signature(input_tensor=examples, output_tensor=predictions), {}


@_SIGNATURE
def logistic_regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict]:
    """(a signature of the probability of yes, no named ones); `predictions` are [batch, 2], or have "probabilities".

    Raises ValueError without examples.
    """
    _check(examples)
    both = _part(predictions, "probabilities")
    shape = both.get_shape()
    if len(shape) != 2:
        logs.fatal(f"Expected predictions to have rank 2, but received predictions with rank: {len(shape)} and shape: {shape}")
    if shape[1] != 2:
        logs.fatal(f"Expected predictions to have 2nd dimension: 2, but received predictions with 2nd dimension: {shape[1]} and "
                   f"shape: {shape}. Did you mean to use regression_signature_fn or classification_signature_fn_with_prob instead?")
    return exporting.regression_signature(input_tensor=examples, output_tensor=both[:, 1]), {}


def default_input_fn(estimator: Any, examples: Any) -> Any:
    """Features like those that the estimator was fitted to, parsed from serialized Examples."""
    return estimator._get_feature_ops_from_example(examples)


@deprecated("2016-09-23", "Please use Estimator.export_savedmodel() instead.")
def export_estimator(estimator: Any, export_dir: Any, signature_fn: Any = None, input_fn: Any = default_input_fn,
                     default_batch_size: int = 1, exports_to_keep: int | None = None) -> None:
    """Writes the newest checkpoint as a session bundle; see ``export`` of estimators."""
    export_bundle(estimator, export_dir, input_fn, signature_fn=signature_fn, default_batch_size=default_batch_size,
                  exports_to_keep=exports_to_keep)


def export_bundle(estimator: Any, export_dir: Any, input_fn: Any, input_feature_key: str | None = None,
                  use_deprecated_input_fn: bool = True, signature_fn: Any = None, prediction_key: str | None = None,
                  default_batch_size: int = 1, exports_to_keep: int | None = None, checkpoint_path: Any = None) -> bytes:
    """Writes a session bundle into a new folder of `export_dir`, named by the global step; returns its path.

    `input_fn` makes features of the estimator and serialized Examples; without `use_deprecated_input_fn` it takes nothing and
    gives features and labels, and `input_feature_key` is the key of the Examples among these.  `signature_fn` gives signatures
    of Examples, features and predictions, or of the one with `prediction_key`; `exports_to_keep`: how many stay.
    Raises ValueError without an input function or anything that it gives, RuntimeError if that step has been exported.
    """
    if use_deprecated_input_fn:
        input_fn = input_fn or default_input_fn
    elif input_fn is None:
        raise ValueError("input_fn must be defined.")
    checkpoint_path = checkpoint_path or latest_checkpoint(estimator.model_dir)
    with Graph().as_default() as graph:
        create_global_step(graph)
        if use_deprecated_input_fn:
            examples = placeholder(dtypes.string, shape=[default_batch_size], name="input_example_tensor")
            features = input_fn(estimator, examples)
        else:
            features = input_fn()[0]
            examples = None if input_feature_key is None else features.pop(input_feature_key)
        if not features and examples is None:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        with silence():
            default, named = (signature_fn or generic_signature_fn)(examples, features, predictions)
            keep = None if exports_to_keep is None else largest_export_versions(exports_to_keep)
        return _write(export_dir, checkpoint_path, default, named, keep)


def _write(export_dir: Any, checkpoint_path: Any, default: Any, named: Any, keep: Any) -> bytes:
    """Restores the checkpoint into a session of the default graph, and writes both."""
    saver = next(iter(get_collection(GraphKeys.SAVERS)), None)
    if saver is None:
        saver = Saver()
        add_to_collection(GraphKeys.SAVERS, saver)
    with resolve("Session")() as session, silence():
        saver.restore(session, checkpoint_path)
        export = exporting.Exporter(saver)
        export.init(init_op=group(resolve("local_variables_initializer")(), resolve("tables_initializer")()),
                    default_graph_signature=default, named_graph_signatures=named,
                    assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS))
        found: bytes = export.export(export_dir, get_global_step(), session, exports_to_keep=keep)
        return found
