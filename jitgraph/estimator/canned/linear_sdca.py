"""``tf.estimator.experimental.LinearSDCA``: linear models trained by dual coordinate ascent instead of an optimizer."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.canned.dual_model import DualModel, SparseColumn
from jitgraph.estimator.modes import ModeKeys
from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, is_feature_column_v2
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.feature_column.weighted_sums import LinearModel
from jitgraph.graph import dtypes
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.searching import boolean_mask, unique
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import to_float, to_int64
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.reduce.reductions import reduce_max
from jitgraph.ops.reduce.segment import unsorted_segment_min, unsorted_segment_sum
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.variables.global_steps import get_global_step


class LinearSDCA:
    """Trains ``LinearClassifier`` of two classes and ``LinearRegressor`` of one number by stochastic dual coordinate ascent.

    `example_id_column`: the key of the string ids of examples, by which their dual variables are kept; `num_loss_partitions`: how
    many workers train at once; `num_table_shards`: in how many tables the dual variables stand; penalties of weights, of which
    the L2 one must be above 0 and should be above 1; `adaptive`: whether examples that matter more are taken more often.
    """

    def __init__(self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
                 symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0, adaptive: bool = False):
        self._example_id_column = example_id_column
        self._options = {"symmetric_l1_regularization": symmetric_l1_regularization,
                         "symmetric_l2_regularization": symmetric_l2_regularization, "adaptive": adaptive,
                         "num_loss_partitions": num_loss_partitions, "num_table_shards": num_table_shards}

    def get_train_step(self, state_manager: Any, weight_column_name: str | None, loss_type: str, feature_columns: Any,
                       features: dict, targets: Any, bias_var: Any, global_step: Any) -> tuple[DualModel, Any]:
        """The model of these columns, and the operation that trains it.

        Raises ValueError for columns that are neither dense nor categorical, and for dense ones of higher rank.
        """
        batch = shape_of(targets)[0]
        cache = FeatureTransformationCache(features)
        dense: list[Any] = []
        dense_weights: list[Any] = []
        sparse: list[Any] = []
        sparse_weights: list[Any] = []
        for column in sorted(feature_columns, key=lambda one: one.name):
            if isinstance(column, CategoricalColumn):
                sparse.append(_distinct(*column.get_sparse_tensors(cache, state_manager)))
                sparse_weights.append(state_manager.get_variable(column, "weights"))
            elif isinstance(column, DenseColumn):
                if column.variable_shape.ndims != 1:
                    raise ValueError(f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, larger than 1.")
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(state_manager.get_variable(column, "weights"))
            else:
                raise ValueError(f"LinearSDCA does not support column type {type(column).__name__}.")
        dense.append(ones([batch, 1]))
        dense_weights.append(bias_var)
        weights = reshape(features[weight_column_name], [-1]) if weight_column_name else ones([batch])
        examples = {"sparse_features": sparse, "dense_features": dense, "example_labels": to_float(reshape(targets, [-1])),
                    "example_weights": weights, "example_ids": features[self._example_id_column]}
        variables = {"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights}
        model = DualModel(examples, variables, {**self._options, "loss_type": loss_type})
        return model, model.minimize(global_step=global_step)


def _distinct(ids: Any, weights: Any) -> SparseColumn:
    """The ids of a sparse tensor that are not negative, each once for an example, with the sums of their weights."""
    values = weights.values if weights is not None else ones([shape_of(ids.indices)[0]], dtypes.float32)
    examples, features = reshape(ids.indices[:, 0], [-1]), to_int64(reshape(ids.values, [-1]))
    valid = greater_equal(features, 0)
    features, examples, values = boolean_mask(features, valid), boolean_mask(examples, valid), boolean_mask(values, valid)
    return distinct_pairs(features, examples, values)


def distinct_pairs(features: Any, examples: Any, values: Any) -> SparseColumn:
    """Features of examples, each pair once, with the sums of its values."""
    length = reduce_max(features) + 1
    pairs, number = unique(length * examples + features)
    of_pairs = unsorted_segment_min(examples, number, shape_of(pairs)[0])
    features = pairs - length * of_pairs
    return SparseColumn(of_pairs, features, reshape(unsorted_segment_sum(values, number, shape_of(pairs)[0]), [-1]))


class UpdateWeights(SessionRunHook):
    """Gives a model's weights the values that its training step found, in each run of the step."""

    def __init__(self, model: DualModel, train_op: Any):
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        """Adds the operation to the graph."""
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for it."""
        return SessionRunArgs(self._update)


def check_use(optimizer: Any, feature_columns: Any, sparse_combiner: str, fits: bool, message: str) -> None:
    """Raises ValueError for what a LinearSDCA cannot train: `message` where the model does not suit (`fits`)."""
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
    if not is_feature_column_v2(feature_columns):
        raise ValueError("V2 feature columns required when optimizer is a LinearSDCA object.")
    if not fits:
        raise ValueError(message)


def dual_spec(features: dict, labels: Any, mode: str, head: Any, loss_type: str, feature_columns: Any, optimizer: LinearSDCA,
              summarize: Any) -> Any:
    """The EstimatorSpec of a linear model; `summarize` takes its bias and its other variables."""
    model = LinearModel(feature_columns, 1, "sum", name="linear_model")
    logits = model(features)
    summarize(model.bias, [variable for variable in model.variables if variable is not model.bias])
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, logits=logits)
    dual, train_op = optimizer.get_train_step(model._state, head._weight_column, loss_type, feature_columns, features, labels,
                                              model.bias, get_global_step())
    spec = head.create_estimator_spec(features=features, mode=mode, labels=labels, logits=logits, train_op_fn=lambda loss: train_op)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, UpdateWeights(dual, train_op)))
