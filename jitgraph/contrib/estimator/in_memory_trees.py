"""``tf.contrib.estimator.boosted_trees_*_train_in_memory``: boosted trees grown at once, of data that are one batch."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.data.dataset import Dataset
from jitgraph.estimator.boosted_trees.estimators import BoostedTreesClassifier, BoostedTreesRegressor
from jitgraph.estimator.estimator import Estimator

_ARGUMENTS = """

    `train_input_fn` gives all examples as one batch, by tensors or by a dataset, which is repeated; `train_hooks` are those of
    the training.  The other arguments are those of ``tf.estimator.BoostedTreesClassifier``.  Raises ValueError for other than
    {} and AssertionError for what does not suit one batch.
    """


def _trained(estimator: Estimator, input_fn: Callable, hooks: Any) -> Estimator:
    def repeated() -> Any:
        found = input_fn()
        return found.repeat() if isinstance(found, Dataset) else found

    return estimator.train(repeated, hooks=hooks)


def boosted_trees_classifier_train_in_memory(
        train_input_fn: Callable, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
        label_vocabulary: Any = None, n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1,
        l1_regularization: float = 0.0, l2_regularization: float = 0.0, tree_complexity: float = 0.0, min_node_weight: float = 0.0,
        config: Any = None, train_hooks: Any = None, center_bias: bool = False, pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01) -> Estimator:
    made = BoostedTreesClassifier(
        feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth, learning_rate,
        l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode,
        quantile_sketch_epsilon, train_in_memory=True)
    return _trained(made, train_input_fn, train_hooks)


def boosted_trees_regressor_train_in_memory(
        train_input_fn: Callable, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1, weight_column: Any = None,
        n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1, l1_regularization: float = 0.0,
        l2_regularization: float = 0.0, tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None,
        train_hooks: Any = None, center_bias: bool = False, pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01) -> Estimator:
    made = BoostedTreesRegressor(
        feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate, l1_regularization,
        l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        train_in_memory=True)
    return _trained(made, train_input_fn, train_hooks)


boosted_trees_classifier_train_in_memory.__doc__ = f"A trained classifier of two classes.{_ARGUMENTS.format('two classes')}"
boosted_trees_regressor_train_in_memory.__doc__ = f"A trained regression of one number.{_ARGUMENTS.format('one dimension')}"
