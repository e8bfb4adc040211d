"""Linear models: ``tf.estimator.LinearClassifier``, ``LinearRegressor``, ``LinearEstimator``."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.estimator.canned.classification import BinaryHead, head_for
from jitgraph.estimator.canned.deep import SMALLEST_SLICE, check_features, slices_over
from jitgraph.estimator.canned.linear_sdca import LinearSDCA, check_use, dual_spec
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.canned.regression import RegressionHead, regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.feature_column.column import is_feature_column_v2
from jitgraph.feature_column.weighted_sums import LinearModel, parts_of, weighted_sums
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.losses.losses import Reduction
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import size as size_of
from jitgraph.ops.elementwise.cast import cast, to_float
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.summary.summaries import histogram, scalar
from jitgraph.train.regularized import FtrlOptimizer
from jitgraph.variables.variable_scopes import variable_scope

_LEARNING_RATE = 0.2


def fraction_of_zero(variables: list[Any]) -> Any:
    """The fraction of zeros among all elements of variables."""
    def zeros(variable: Any, size: Any) -> Any:
        return cond(equal(size, constant(0, dtype=dtypes.int64)), lambda: constant(0, dtype=dtypes.float32),
                    lambda: zero_fraction(variable) * to_float(size), name="zero_count")

    with name_scope("zero_fraction"):
        with name_scope("total_size"):
            sizes = [size_of(variable, out_type=dtypes.int64) for variable in variables]
            total = add_n(sizes)
        with name_scope("total_zero"):
            zero = add_n([zeros(variable, size) for variable, size in zip(variables, sizes)])
        with name_scope("compute"):
            fraction = zero / cast(total, dtypes.float32, name="float32_size")
        return identity(fraction, name="zero_fraction_or_nan")


def linear_logit_fn_builder(units: int, feature_columns: Any, sparse_combiner: str = "sum") -> Callable:
    """A function of features that builds a linear model; gives logits [batch, units]."""
    def linear_logit_fn(features: Any) -> Any:
        if is_feature_column_v2(feature_columns):
            model = LinearModel(feature_columns, units, sparse_combiner, name="linear_model")
            logits = model(features)
            bias = parts_of(model.bias)
            variables = [variable for variable in model.variables if variable is not model.bias]
        else:
            by_column: dict[Any, Any] = {}
            logits = weighted_sums(features, feature_columns, units, sparse_combiner, "linear_model", by_column)
            bias = by_column.pop("bias")
            variables = [variable for some in by_column.values() for variable in some]
        _summarize(bias, variables, units)
        return logits

    return linear_logit_fn


def _summarize(bias: Any, variables: list[Any], units: int = 1) -> None:
    if units > 1:
        histogram("bias", bias)
    else:
        scalar("bias", bias[0][0])
    scalar("fraction_of_zero_weights", fraction_of_zero([part for variable in variables for part in parts_of(variable)]))


def linear_model_function(head: Any, feature_columns: Any, optimizer: Any, partitioner: Any, sparse_combiner: str) -> Callable:
    """The model function of a linear model with a head."""
    columns = tuple(feature_columns or [])

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        check_features(features)
        slices = partitioner or slices_over(config, SMALLEST_SLICE)
        with variable_scope("linear", values=tuple(features.values()), partitioner=slices):
            if isinstance(optimizer, LinearSDCA):
                return dual_spec(features, labels, mode, head, _dual_loss(head), columns, optimizer,
                                 lambda bias, others: _summarize(parts_of(bias), others))
            logits = linear_logit_fn_builder(head.logits_dimension, columns, sparse_combiner)(features=features)
            default = FtrlOptimizer(min(_LEARNING_RATE, 1 / math.sqrt(len(columns))))
            made = optimizer_of(optimizer or default, learning_rate=_LEARNING_RATE)
            return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=made, logits=logits)

    return model_fn


def _dual_loss(head: Any) -> str:
    """The loss that dual coordinate ascent minimises for a head.  Raises ValueError for a head of another kind."""
    if isinstance(head, BinaryHead):
        return "logistic_loss"
    if isinstance(head, RegressionHead):
        return "squared_loss"
    raise ValueError(f"Unsupported head type: {head}")


_ARGUMENTS = """

    `feature_columns`: dense and categorical columns; `optimizer`: as of ``tf.estimator.DNNClassifier``, with the rate 0.2,
    or a ``tf.estimator.experimental.LinearSDCA``;
    `partitioner`: of its variables; `sparse_combiner`: how the weights of an example's ids are joined, "sum", "mean" or
    "sqrtn"; `weight_column`: the key, or numeric column, of the weights of examples; `loss_reduction`: one of
    ``tf.losses.Reduction``; the others are those of ``tf.estimator.Estimator``.
    """


class LinearClassifier(Estimator):
    __doc__ = f"""A linear classifier: `n_classes`, ids or words of `label_vocabulary`.{_ARGUMENTS}"""

    def __init__(self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2, weight_column: Any = None,
                 label_vocabulary: Any = None, optimizer: Any = "Ftrl", config: Any = None, partitioner: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM, sparse_combiner: str = "sum"):
        check_use(optimizer, feature_columns, sparse_combiner, n_classes <= 2,
                  "LinearSDCA cannot be used in a multi-class setting.")
        head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(linear_model_function(head, feature_columns, optimizer, partitioner, sparse_combiner), model_dir=model_dir,
                         config=config, warm_start_from=warm_start_from)


class LinearEstimator(Estimator):
    __doc__ = f"""A linear model with a head.{_ARGUMENTS}"""

    def __init__(self, head: Any, feature_columns: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None,
                 partitioner: Any = None, sparse_combiner: str = "sum"):
        super().__init__(linear_model_function(head, feature_columns, optimizer, partitioner, sparse_combiner), model_dir=model_dir,
                         config=config)


class LinearRegressor(Estimator):
    __doc__ = f"""A linear regression to `label_dimension` numbers.{_ARGUMENTS}"""

    def __init__(self, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1, weight_column: Any = None,
                 optimizer: Any = "Ftrl", config: Any = None, partitioner: Any = None, warm_start_from: Any = None,
                 loss_reduction: str = Reduction.SUM, sparse_combiner: str = "sum"):
        check_use(optimizer, feature_columns, sparse_combiner, label_dimension <= 1,
                  "LinearSDCA can only be used with one-dimensional label.")
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(linear_model_function(head, feature_columns, optimizer, partitioner, sparse_combiner), model_dir=model_dir,
                         config=config, warm_start_from=warm_start_from)
