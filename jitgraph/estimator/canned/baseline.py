"""Models of a constant, to compare others with: ``tf.estimator.BaselineClassifier`` and its kin."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.estimator.canned.classification import head_for
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.feature_column.numeric import NumericColumn
from jitgraph.graph.scopes import control_dependencies
from jitgraph.losses.losses import Reduction
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope

_LEARNING_RATE = 0.3


def _key_of(weight_column: Any) -> str | None:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}.")
    return weight_column.key


def _constant_logits(features: Any, weight_column: Any, units: int) -> Any:
    """The variable ``baseline/bias`` for each example: [batch, units].  That features have one batch size is checked."""
    sizes = [shape_of(feature)[0] for key, feature in features.items() if key != _key_of(weight_column)]
    checks = [assert_equal(sizes[0], size) for size in sizes[1:]]
    with control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", shape=[units], initializer=zeros_initializer)
        return multiply(bias, ones([sizes[0], units]))


def baseline_model_function(head: Any, optimizer: Any, weight_column: Any = None) -> Callable:
    """The model function of constant logits with a head."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        logits = _constant_logits(features, weight_column, head.logits_dimension)

        def train_op_fn(loss: Any) -> Any:
            return optimizer_of(optimizer, learning_rate=_LEARNING_RATE).minimize(loss, global_step=get_global_step())

        return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn)

    return model_fn


class BaselineClassifier(Estimator):
    """A classifier that learns how frequent each class is; the arguments are those of ``tf.estimator.LinearClassifier``."""

    def __init__(self, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None, label_vocabulary: Any = None,
                 optimizer: Any = "Ftrl", config: Any = None, loss_reduction: str = Reduction.SUM):
        head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(baseline_model_function(head, optimizer, weight_column), model_dir=model_dir, config=config)


class BaselineEstimator(Estimator):
    """A model of constant logits with a head."""

    def __init__(self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None):
        super().__init__(baseline_model_function(head, optimizer), model_dir=model_dir, config=config)


class BaselineRegressor(Estimator):
    """A regression that learns the mean of the labels; the arguments are those of ``tf.estimator.LinearRegressor``."""

    def __init__(self, model_dir: Any = None, label_dimension: int = 1, weight_column: Any = None, optimizer: Any = "Ftrl",
                 config: Any = None, loss_reduction: str = Reduction.SUM):
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(baseline_model_function(head, optimizer), model_dir=model_dir, config=config)
