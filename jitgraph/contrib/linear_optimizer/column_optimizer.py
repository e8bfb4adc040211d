"""``tf.contrib.linear_optimizer.SDCAOptimizer``: dual coordinate ascent for the linear models of ``tf.contrib.learn``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.layers.old_columns import _BucketizedColumn, _RealValuedColumn
from jitgraph.contrib.layers.old_sparse_columns import SparseColumn, _CrossedColumn, _WeightedSparseColumn
from jitgraph.contrib.linear_optimizer.models import SdcaModel, SparseFeatureColumn
from jitgraph.estimator.canned.linear_sdca import distinct_pairs
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.join import split
from jitgraph.ops.arrays.searching import boolean_mask, where
from jitgraph.ops.arrays.shape import rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal, less_equal, not_equal


class SDCAOptimizer:
    """Trains ``LinearClassifier`` of two classes, ``LinearRegressor`` of one number and ``SVM``, given as their `optimizer`.

    `example_id_column`: the key of the string ids [batch] of examples, by which their dual variables are kept; the size of the
    batch must be known.  `num_loss_partitions`: how many workers train at once; `num_table_shards`: in how many tables the dual
    variables stand; penalties of weights, of which the L2 one is at least 1; `adaptive`: whether examples that matter more are
    taken more often; `partitioner`: how the weights are divided.
    """

    def __init__(self, example_id_column: str, num_loss_partitions: int = 1, num_table_shards: int | None = None,
                 symmetric_l1_regularization: float = 0.0, symmetric_l2_regularization: float = 1.0, adaptive: bool = True,
                 partitioner: Any = None):
        self.example_id_column, self.partitioner = example_id_column, partitioner
        self.num_loss_partitions, self.num_table_shards, self.adaptive = num_loss_partitions, num_table_shards, adaptive
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization

    def get_name(self) -> str:
        """"SDCAOptimizer"."""
        return "SDCAOptimizer"

    def get_train_step(self, columns_to_variables: dict, weight_column_name: str | None, loss_type: str, features: dict,
                       targets: Any, global_step: Any) -> tuple[SdcaModel, Any]:
        """The model of these columns {column: its variables}, and the operation that trains it.

        `features` holds what each column was transformed to.  Raises ValueError for columns of other kinds.
        """
        dense: list[Any] = []
        dense_weights: list[Any] = []
        sparse: list[Any] = []
        sparse_weights: list[Any] = []
        for column in sorted(columns_to_variables, key=lambda one: one.key):
            variables, tensor = columns_to_variables[column], features[column]
            if isinstance(column, _RealValuedColumn):
                dense.append(_matrix(tensor))
                dense_weights.append(variables[0])
                continue
            if isinstance(column, _BucketizedColumn):
                sparse.append(_present(column._to_dnn_input_layer(tensor)))
            elif isinstance(column, (_WeightedSparseColumn, _CrossedColumn, SparseColumn)):
                sparse.append(_distinct(column, tensor))
            else:
                raise ValueError(f"SDCAOptimizer does not support column type {type(column).__name__}.")
            sparse_weights.append(variables if len(variables) > 1 else variables[0])
        weights = reshape(features[weight_column_name], [-1]) if weight_column_name else ones([targets.get_shape()[0]])
        examples = {"sparse_features": sparse, "dense_features": dense, "example_weights": weights,
                    "example_labels": cast(reshape(targets, [-1]), dtypes.float32),
                    "example_ids": features[self.example_id_column]}
        model = SdcaModel(examples, {"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights}, {
            "symmetric_l1_regularization": self.symmetric_l1_regularization, "adaptive": self.adaptive, "loss_type": loss_type,
            "symmetric_l2_regularization": self.symmetric_l2_regularization, "num_table_shards": self.num_table_shards,
            "num_loss_partitions": self.num_loss_partitions})
        return model, model.minimize(global_step=global_step)


def _matrix(tensor: Any) -> Any:
    """A tensor of at most two dimensions as [batch, width]."""
    fits = Assert(less_equal(rank(tensor), 2), ["transformed_tensor should have rank at most 2."])
    with control_dependencies([fits]):
        return reshape(tensor, [shape_of(tensor)[0], -1])


def _present(tensor: Any) -> SparseFeatureColumn:
    """The elements of a matrix that are not 0."""
    places = where(not_equal(tensor, cast(0.0, tensor.dtype)))
    values = gather_nd(tensor, places)
    rows, columns = split(places, 2, axis=1)
    return SparseFeatureColumn(reshape(rows, [-1]), reshape(columns, [-1]), reshape(cast(values, dtypes.float32), [-1]))


def _distinct(column: Any, tensor: Any) -> SparseFeatureColumn:
    """The ids of a sparse column that are not negative, each once for an example, with the sums of their weights."""
    ids = tensor
    if isinstance(column, _WeightedSparseColumn):
        ids, weights = column.id_tensor(tensor), reshape(column.weight_tensor(tensor).values, [-1])
    else:
        weights = ones([shape_of(ids.indices)[0]], dtypes.float32)
    examples, found = reshape(ids.indices[:, 0], [-1]), reshape(ids.values, [-1])
    valid = greater_equal(found, 0)
    return distinct_pairs(boolean_mask(found, valid), boolean_mask(examples, valid), boolean_mask(weights, valid))
