"""Deep models that say in collections what goes into them and what columns make of it, as integrated gradients need it."""
from __future__ import annotations

import pickle
from typing import Any

from jitgraph.estimator.canned.classification import head_for
from jitgraph.estimator.canned.deep import deep_model_function
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.feature_column.column import make_parse_example_spec
from jitgraph.formats.collection_protos import any_message
from jitgraph.graph.composite import convert_to_tensor_or_indexed_slices
from jitgraph.graph.scopes import add_to_collection
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.activation import relu
from jitgraph.saved_model.signatures import build_tensor_info


class LayerAnnotationsCollectionNames:
    """The collections; "annotatons" is how TensorFlow spells it."""

    UNPROCESSED_FEATURES = "layer_annotations/unprocessed_features"
    PROCESSED_FEATURES = "layer_annotatons/processed_features"
    FEATURE_COLUMNS = "layer_annotations/feature_columns"

    @classmethod
    def keys(cls, collection_name: str) -> str:
        """Where the names of its members stand."""
        return f"{collection_name}/keys"

    @classmethod
    def values(cls, collection_name: str) -> str:
        """Where its members stand, as messages TensorInfo in messages Any."""
        return f"{collection_name}/values"


def _add(collection: str, key: str, tensor: Any) -> None:
    message = any_message()()
    message.Pack(build_tensor_info(tensor))
    add_to_collection(LayerAnnotationsCollectionNames.keys(collection), key)
    add_to_collection(LayerAnnotationsCollectionNames.values(collection), message)


def serialize_feature_column(feature_column: Any) -> bytes:
    """A column as Python's pickle writes it.  Raises what pickle raises for one made with a function that has no name."""
    return pickle.dumps(feature_column)


def _note(features: Any, feature_columns: Any, made: dict[Any, Any]) -> None:
    """Adds features as they are read, the columns, and what each of these makes of them, to their collections."""
    names = LayerAnnotationsCollectionNames
    for key in make_parse_example_spec(feature_columns):
        _add(names.UNPROCESSED_FEATURES, key, convert_to_tensor_or_indexed_slices(features[key]))
    for column in feature_columns:
        add_to_collection(names.FEATURE_COLUMNS, serialize_feature_column(column))
    for column, tensor in made.items():
        _add(names.PROCESSED_FEATURES, column.name, tensor)


_SAID = """The collections of ``LayerAnnotationsCollectionNames`` get members where one of the columns shares its embedding with
    others: layers make what the other columns give, and TensorFlow notes nothing there either.  Checkpoints are those of the
    model without annotations, so that one of these can be exported with them.  Arguments and errors are those of"""


def DNNClassifierWithLayerAnnotations(
        hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
        label_vocabulary: Any = None, optimizer: Any = "Adagrad", activation_fn: Any = relu, dropout: float | None = None,
        input_layer_partitioner: Any = None, config: Any = None, warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM) -> Estimator:
    head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
    return Estimator(deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
                                         input_layer_partitioner, note=_note),
                     model_dir=model_dir, config=config, warm_start_from=warm_start_from)


def DNNRegressorWithLayerAnnotations(
        hidden_units: Any, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1, weight_column: Any = None,
        optimizer: Any = "Adagrad", activation_fn: Any = relu, dropout: float | None = None, input_layer_partitioner: Any = None,
        config: Any = None, warm_start_from: Any = None, loss_reduction: str = Reduction.SUM) -> Estimator:
    head = regression_head(weight_column, label_dimension, loss_reduction)
    return Estimator(deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
                                         input_layer_partitioner, note=_note),
                     model_dir=model_dir, config=config, warm_start_from=warm_start_from)


DNNClassifierWithLayerAnnotations.__doc__ = f"""A classifier of layers of units, with annotations.

    {_SAID} ``tf.estimator.DNNClassifier``.
    """
DNNRegressorWithLayerAnnotations.__doc__ = f"""A regression by layers of units, with annotations.

    {_SAID} ``tf.estimator.DNNRegressor``.
    """
