"""``tf.estimator.BoostedTreesClassifier``, ``BoostedTreesRegressor`` and ``BoostedTreesEstimator``."""
from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import no_op
from jitgraph.estimator.boosted_trees import buckets
from jitgraph.estimator.boosted_trees.growers import TreeParams
from jitgraph.estimator.boosted_trees.model import NAME, Features, predicted, tree_model
from jitgraph.estimator.boosted_trees.tree_resources import TreeEnsemble
from jitgraph.estimator.canned import checks
from jitgraph.estimator.canned.classification import BinaryHead, MultiClassHead, binary_head
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.modes import ModeKeys
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import Reduction
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import exp, reciprocal
from jitgraph.protobuf.messages import TreeDebugOutput
from jitgraph.protobuf.messages import TreeEnsemble as Trees
from jitgraph.train.checkpoint_values import load_checkpoint
from jitgraph.variables.default_kind import enable_resource_variables

_DEBUG = "_serialized_debug_outputs_proto"
_DEFAULT: Any = object()


def _by_column(names: list[str], values: Any) -> dict[str, Any]:
    """{name of a column: the sum for its features}, the largest first."""
    sums: dict[str, Any] = {}
    for name, value in zip(names, values):
        sums[name] = sums.get(name, 0) + value
    return collections.OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


def _importances(trees: Any, count: int, normalize: bool) -> np.ndarray:
    """What splits by each feature gained."""
    total = np.zeros(count)
    for tree, weight in zip(trees.trees, trees.tree_weights):
        for node in tree.nodes:
            if node.WhichOneof("node") == "bucketized_split":
                total[node.bucketized_split.feature_id] += node.metadata.gain * weight
    if normalize:
        assert np.all(total >= 0), "feature_importances must be non-negative."
        assert np.sum(total) > 0, "Trees are all empty or contain only a root node."
        total /= np.sum(total)
    return total


def _contributions(serialized: bytes, names: list[str], is_classification: bool) -> tuple[Any, dict]:
    """(the bias, {column: what it changed the prediction by}) of an example."""
    output = TreeDebugOutput.FromString(serialized)
    path = np.array(output.logits_path)
    if is_classification:
        path = 1 / (1 + np.exp(-path))
    changes = np.bincount(output.feature_ids, weights=path[1:] - path[:-1], minlength=len(names))
    return path[0], _by_column(names, changes)


class _BoostedTrees(Estimator):
    def __init__(self, head: Any, feature_columns: Any, params: TreeParams, n_batches_per_layer: int, model_dir: Any, config: Any,
                 is_classification: bool, **options: Any):
        enable_resource_variables()
        columns = sorted(feature_columns, key=lambda column: column.name)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return tree_model(features, labels, mode, head, columns, params, n_batches_per_layer, config, **options)

        super().__init__(model_fn, model_dir=model_dir, config=config)
        self._head, self._columns, self._growth = head, columns, params
        self._names = buckets.names_of(columns)
        self._is_classification = is_classification

    def experimental_feature_importances(self, normalize: bool = False) -> dict[str, float]:
        """{column: what the splits by it gained}, the largest first, of the newest checkpoint; summing up to 1 if `normalize`.

        Raises ValueError if nothing was trained.
        """
        serialized = load_checkpoint(self._model_dir).get_tensor(f"{NAME}:0_serialized")
        if not serialized:
            raise ValueError("Found empty serialized string for TreeEnsemble."
                             "You should only call this method after training.")
        return _by_column(self._names, _importances(Trees.FromString(serialized), len(self._names), normalize))

    def experimental_predict_with_explanations(self, input_fn: Any, predict_keys: Any = None, hooks: Any = None,
                                               checkpoint_path: Any = None) -> Iterator[dict]:
        """Yields predictions with "bias" and "dfc": {column: what it changed the prediction by}.

        Raises ValueError unless `center_bias` was given, and for heads with another link than the identity.
        """
        if not self._growth.center_bias:
            raise ValueError("center_bias must be enabled during estimator instantiation when using "
                             "experimental_predict_with_explanations.")
        if not self._is_classification and self._head._inverse_link_fn not in (None, identity):
            raise ValueError("For now only identity inverse_link_fn in regression_head is supported for "
                             "experimental_predict_with_explanations.")
        estimator = Estimator(self._explained, model_dir=self.model_dir, config=self.config,
                              warm_start_from=self._warm_start_settings)
        keys = None if predict_keys is None else {*predict_keys, _DEBUG}
        for prediction in estimator.predict(input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path,
                                            yield_single_examples=True):
            explained = _contributions(prediction.pop(_DEBUG), self._names, self._is_classification)
            prediction["bias"], prediction["dfc"] = explained
            yield prediction

    def _explained(self, features: Any, labels: Any, mode: str) -> Any:
        with name_scope(NAME) as scope:
            ensemble = TreeEnsemble(scope)
            inputs = Features(self._columns, self._growth.quantile_sketch_epsilon).transformed(features)
            spec = self._head.create_estimator_spec(features=features, mode=ModeKeys.PREDICT, labels=None, train_op_fn=no_op,
                                                    logits=predicted(ensemble, inputs, self._head))
            spec.predictions[_DEBUG] = raw.BoostedTreesExampleDebugOutputs(
                tree_ensemble_handle=ensemble.resource_handle, bucketized_features=inputs,
                logits_dimension=self._head.logits_dimension)
            return spec


def _log_loss(logits: Any, labels: Any) -> tuple[Any, Any]:
    """The gradients and hessians of the cross entropy, averaged."""
    predictions = reciprocal(exp(-logits) + 1.0)
    normalizer = reciprocal(cast(size(predictions), dtypes.float32))
    labels = checks.checked_labels(cast(labels, dtypes.float32), logits, 1)
    return (predictions - labels) * normalizer, predictions * (1.0 - predictions) * normalizer


class BoostedTreesClassifier(_BoostedTrees):
    """A classifier of two classes by gradient boosted trees, grown layer by layer, one of `n_batches_per_layer` batches.

    `feature_columns`: dense ones of numbers, bucketized or indicator columns.  `n_trees` of `max_depth` layers are grown, whose
    leaves count by `learning_rate`; a split has to gain more than `tree_complexity` if `pruning_mode` is "pre" or "post", and
    both sides weigh `min_node_weight`.  `quantile_sketch_epsilon`: the error of the buckets of numbers.  `train_in_memory`: the
    input is one batch, whose state is kept from step to step.
    """

    def __init__(self, feature_columns: Any, n_batches_per_layer: int, model_dir: Any = None, n_classes: Any = _DEFAULT,
                 weight_column: Any = None, label_vocabulary: Any = None, n_trees: int = 100, max_depth: int = 6,
                 learning_rate: float = 0.1, l1_regularization: float = 0.0, l2_regularization: float = 0.0,
                 tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False,
                 pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01, train_in_memory: bool = False):
        if n_classes is not _DEFAULT and n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        if n_classes is not _DEFAULT and n_classes != 2:
            raise ValueError(f"For now only binary classification is supported.n_classes given as {n_classes}")
        head = binary_head(weight_column=weight_column, label_vocabulary=label_vocabulary,
                           loss_reduction=Reduction.SUM_OVER_BATCH_SIZE)
        params = TreeParams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
                            min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon)
        plain = weight_column is None and label_vocabulary is None
        super().__init__(head, feature_columns, params, n_batches_per_layer, model_dir, config, is_classification=True,
                         closed_form=_log_loss if plain else None, weight_column=weight_column, train_in_memory=train_in_memory)


class BoostedTreesRegressor(_BoostedTrees):
    """A regression of one number by gradient boosted trees; the arguments are those of BoostedTreesClassifier."""

    def __init__(self, feature_columns: Any, n_batches_per_layer: int, model_dir: Any = None, label_dimension: Any = _DEFAULT,
                 weight_column: Any = None, n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1,
                 l1_regularization: float = 0.0, l2_regularization: float = 0.0, tree_complexity: float = 0.0,
                 min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False, pruning_mode: str = "none",
                 quantile_sketch_epsilon: float = 0.01, train_in_memory: bool = False):
        if label_dimension is not _DEFAULT and label_dimension > 1 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi-dimensionregression.")
        if label_dimension is not _DEFAULT and label_dimension != 1:
            raise ValueError("For now only 1 dimension regression is supported."
                             f"label_dimension given as {label_dimension}")
        head = regression_head(weight_column=weight_column, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE)
        params = TreeParams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
                            min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon)
        super().__init__(head, feature_columns, params, n_batches_per_layer, model_dir, config, is_classification=False,
                         weight_column=weight_column, train_in_memory=train_in_memory)


class BoostedTreesEstimator(_BoostedTrees):
    """Gradient boosted trees with a head; the other arguments are those of BoostedTreesClassifier."""

    def __init__(self, feature_columns: Any, n_batches_per_layer: int, head: Any, model_dir: Any = None, weight_column: Any = None,
                 n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1, l1_regularization: float = 0.0,
                 l2_regularization: float = 0.0, tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None,
                 center_bias: bool = False, pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01):
        params = TreeParams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
                            min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon)
        super().__init__(head, feature_columns, params, n_batches_per_layer, model_dir, config,
                         is_classification=isinstance(head, (BinaryHead, MultiClassHead)))
