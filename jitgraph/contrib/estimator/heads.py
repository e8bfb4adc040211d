"""Heads of ``tf.contrib.estimator``: those of the ready models, with losses averaged over examples."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.canned import classification, regression
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.elementary import exp, sigmoid

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


def multi_class_head(n_classes: Any, weight_column: Any = None, label_vocabulary: Any = None, loss_reduction: str = _MEAN,
                     loss_fn: Any = None, name: str | None = None) -> classification.MultiClassHead:
    """One of more than two classes, by softmax.  Raises ValueError for arguments that do not suit."""
    return classification.multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def binary_classification_head(weight_column: Any = None, thresholds: Any = None, label_vocabulary: Any = None,
                               loss_reduction: str = _MEAN, loss_fn: Any = None,
                               name: str | None = None) -> classification.BinaryHead:
    """Yes or no, by the logistic function.  Raises ValueError for arguments that do not suit."""
    return classification.binary_head(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN, loss_fn: Any = None,
                    inverse_link_fn: Any = None, name: str | None = None) -> regression.RegressionHead:
    """Numbers, by default with the squared error.  Raises ValueError for arguments that do not suit."""
    return regression.regression_head(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(weight_column: Any = None, label_dimension: int = 1, loss_reduction: str = _MEAN,
                            compute_full_loss: bool = True, name: str | None = None) -> regression.RegressionHead:
    """Counts, whose logarithm of the mean is the logit.  Raises ValueError for arguments that do not suit.

    `compute_full_loss`: whether the loss has Stirling's approximation of the part that depends on the labels alone.
    """
    loss_fn = regression.poisson_loss(compute_full_loss)
    return regression.regression_head(weight_column, label_dimension, loss_reduction, loss_fn, exp, name)


def logistic_regression_head(weight_column: Any = None, loss_reduction: str = _MEAN,
                             name: str | None = None) -> regression.RegressionHead:
    """A probability, learnt from labels between 0 and 1.  Raises ValueError for arguments that do not suit."""
    return regression.regression_head(weight_column, 1, loss_reduction, regression.logistic_loss, sigmoid, name)
