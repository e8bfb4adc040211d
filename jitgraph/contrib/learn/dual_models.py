"""The linear models of ``tf.contrib.learn`` that dual coordinate ascent trains: ``SVM`` and those of ``SDCAOptimizer``."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitgraph.contrib.layers.old_column_layers import (
    parse_feature_columns_from_examples,
    transform_features,
    weighted_sum_from_feature_columns,
)
from jitgraph.contrib.layers.old_columns import real_valued_column
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.further_heads import _BinarySvmHead, binary_svm_head
from jitgraph.contrib.learn.heads import _BinaryLogisticHead, _RegressionHead, multi_class_head, regression_head
from jitgraph.contrib.learn.model_ops import ModelFnOps, PredictionKey
from jitgraph.contrib.linear_optimizer.column_optimizer import SDCAOptimizer
from jitgraph.estimator.canned.linear_sdca import UpdateWeights
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.constant_value import static_value
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_scopes import variable_scope

_BIAS = "tf_virtual_bias_column"
_LOSSES = {_BinarySvmHead: "hinge_loss", _BinaryLogisticHead: "logistic_loss", _RegressionHead: "squared_loss"}


def _loss_type(head: Any) -> str | None:
    return next((loss for kind, loss in _LOSSES.items() if isinstance(head, kind)), None)


def _batch_size(columns_to_tensors: dict) -> Any:
    """The number of examples in a batch.  Raises ValueError where all features are sparse and of unknown shape."""
    for tensor in columns_to_tensors.values():
        tensor = tensor[0] if isinstance(tensor, tuple) else tensor
        if not isinstance(tensor, SparseTensor):
            return shape_of(tensor)[0]
        shape = static_value(tensor.dense_shape)
        if shape is not None:
            return shape[0]
    raise ValueError("Could not infer batch size from input features.")


def _add_bias(feature_columns: Any, features: dict, bias: Any, columns_to_variables: dict) -> None:
    """Makes the bias a column of ones, as the training step wants it."""
    if any(column.name == _BIAS for column in feature_columns):
        raise ValueError(f"{_BIAS} is a reserved column name.")
    if not feature_columns:
        raise ValueError("feature_columns can't be empty.")
    batch, column = _batch_size(features), real_valued_column(_BIAS)
    features[column] = ones([batch, 1], dtype=dtypes.float32)
    columns_to_variables[column] = [bias]


def dual_model(features: dict, labels: Any, mode: str, params: dict, config: Any = None) -> ModelFnOps:
    """The model function of what an SDCAOptimizer trains; `params`: head, feature_columns, optimizer, weight_column_name.

    Raises ValueError for heads other than those of two classes, of a margin and of regression.
    """
    head, columns, optimizer = params["head"], params["feature_columns"], params["optimizer"]
    if callable(optimizer):
        optimizer = optimizer(config)
    loss_type = _loss_type(head)
    if loss_type is None:
        raise ValueError(f"Unsupported head type: {head}")
    assert head.logits_dimension == 1, "SDCA only applies for logits_dimension=1."
    hooks: list[Any] = []
    with variable_scope("linear", values=tuple(features.values()), partitioner=optimizer.partitioner) as scope:
        features = {**features, **transform_features(features, columns)}
        logits, variables, bias = weighted_sum_from_feature_columns(features, columns, num_outputs=1, scope=scope)
        _add_bias(columns, features, bias, variables)

    def train(loss: Any) -> Any:
        model, train_op = optimizer.get_train_step(variables, params["weight_column_name"], loss_type, features, labels,
                                                   get_global_step())
        hooks.append(UpdateWeights(model, train_op))
        return train_op

    found = head.create_model_fn_ops(features=features, labels=labels, mode=mode, train_op_fn=train, logits=logits)
    return found._replace(training_chief_hooks=found.training_chief_hooks + hooks)


def dual_params(head: Any, feature_columns: Any, optimizer: Any, weight_column_name: str | None) -> dict[str, Any]:
    """What ``dual_model`` takes; `optimizer` is an SDCAOptimizer, or makes one for a RunConfig."""
    return {"head": head, "feature_columns": feature_columns, "optimizer": optimizer, "weight_column_name": weight_column_name}


class _OneOutput(Estimator):
    """A model whose predictions are asked for one by one."""

    def _one(self, key: str, as_iterable: bool = True, **inputs: Any) -> Any:
        found = self.predict(outputs=[key], as_iterable=as_iterable, **inputs)
        return (prediction[key] for prediction in found) if as_iterable else found[key]


class SVM(_OneOutput):
    """A linear classifier of two classes with the widest margin: the hinge loss, by dual coordinate ascent.

    `example_id_column`: the key of the string ids of examples; penalties of weights, of which the L2 one is at least 1.  Raises
    ValueError for `kernels`, of which TensorFlow has none.
    """

    def __init__(self, example_id_column: str, feature_columns: Any, weight_column_name: str | None = None, model_dir: Any = None,
                 l1_regularization: float = 0.0, l2_regularization: float = 0.0, num_loss_partitions: int = 1, kernels: Any = None,
                 config: Any = None, feature_engineering_fn: Any = None):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        optimizer = SDCAOptimizer(example_id_column, num_loss_partitions, symmetric_l1_regularization=l1_regularization,
                                  symmetric_l2_regularization=l2_regularization)
        head = binary_svm_head(weight_column_name=weight_column_name, enable_centered_bias=False)
        super().__init__(dual_model, model_dir, config, dual_params(head, feature_columns, optimizer, weight_column_name),
                         feature_engineering_fn)

    def predict_classes(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, as_iterable: bool = True) -> Any:
        """The classes of examples, 0 or 1."""
        return self._one(PredictionKey.CLASSES, as_iterable, x=x, input_fn=input_fn, batch_size=batch_size)

    def predict_proba(self, x: Any = None, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None,
                      as_iterable: bool = True) -> Any:
        """Raises KeyError, as in TensorFlow: a margin says nothing of probabilities."""
        return self._one(PredictionKey.PROBABILITIES, as_iterable, x=x, input_fn=input_fn, batch_size=batch_size)

    def export(self, export_dir: Any, signature_fn: Any = None, input_fn: Any = None,     # type: ignore[override]
               default_batch_size: int = 1, exports_to_keep: int | None = None) -> bytes:
        """Writes a session bundle, as of every estimator, for Examples that the columns read."""
        columns = self.params["feature_columns"]
        read = input_fn or (lambda _, examples: parse_feature_columns_from_examples(examples, columns))
        return super().export(export_dir, read, signature_fn=signature_fn, default_batch_size=default_batch_size,
                              exports_to_keep=exports_to_keep)

    def export_with_defaults(self, export_dir: Any, signature_fn: Any = None, input_fn: Any = None, default_batch_size: int = 1,
                             exports_to_keep: int | None = None) -> bytes:
        """The same as ``export``."""
        return self.export(export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)


class _DualEstimator(_OneOutput):
    """A linear model with an SDCAOptimizer of its own."""

    def __init__(self, head: Any, example_id_column: str, feature_columns: Any, weight_column_name: str | None, model_dir: Any,
                 l1: float, l2: float, num_loss_partitions: int | None, config: Any, partitioner: Any):
        def optimizer(run_config: Any) -> SDCAOptimizer:
            return SDCAOptimizer(example_id_column, num_loss_partitions or max(1, run_config.num_worker_replicas),
                                 symmetric_l1_regularization=l1, symmetric_l2_regularization=l2, partitioner=partitioner)

        assert tuple(feature_columns or [])
        super().__init__(dual_model, model_dir, config, dual_params(head, feature_columns, optimizer, weight_column_name))


class SDCALogisticClassifier(_DualEstimator):
    """A linear classifier of two classes, trained by dual coordinate ascent; `example_id_column` is the key of examples' ids."""

    def __init__(self, example_id_column: str, feature_columns: Any, weight_column_name: str | None = None, model_dir: Any = None,
                 l1_regularization: float = 0.0, l2_regularization: float = 1.0, num_loss_partitions: int | None = None,
                 config: Any = None, feature_engineering_fn: Any = None, partitioner: Any = None):
        super().__init__(multi_class_head(n_classes=2, weight_column_name=weight_column_name), example_id_column, feature_columns,
                         weight_column_name, model_dir, l1_regularization, l2_regularization, num_loss_partitions, config,
                         partitioner)

    def predict_classes(self, input_fn: Any = None) -> Iterator[Any]:
        """The classes of examples, 0 or 1."""
        return self._one(PredictionKey.CLASSES, input_fn=input_fn)

    def predict_proba(self, input_fn: Any = None) -> Iterator[Any]:
        """The probabilities of both classes."""
        return self._one(PredictionKey.PROBABILITIES, input_fn=input_fn)


class SDCALinearRegressor(_DualEstimator):
    """A linear regression, trained by dual coordinate ascent; `example_id_column` is the key of examples' ids."""

    def __init__(self, example_id_column: str, feature_columns: Any, weight_column_name: str | None = None, model_dir: Any = None,
                 l1_regularization: float = 0.0, l2_regularization: float = 1.0, num_loss_partitions: int | None = None,
                 config: Any = None, feature_engineering_fn: Any = None, partitioner: Any = None):
        super().__init__(regression_head(weight_column_name=weight_column_name), example_id_column, feature_columns,
                         weight_column_name, model_dir, l1_regularization, l2_regularization, num_loss_partitions, config,
                         partitioner)

    def predict_scores(self, input_fn: Any) -> Iterator[Any]:
        """The scores of examples."""
        return self._one(PredictionKey.SCORES, input_fn=input_fn)
