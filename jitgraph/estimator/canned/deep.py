"""Deep models: ``tf.estimator.DNNClassifier``, ``DNNRegressor``, ``DNNEstimator``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.estimator.canned.classification import head_for
from jitgraph.estimator.canned.optimizers import optimizer_of
from jitgraph.estimator.canned.regression import regression_head
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.modes import ModeKeys
from jitgraph.feature_column.column import is_feature_column_v2
from jitgraph.feature_column.dense_rows import DenseFeatures, InputLayer
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import name_scope
from jitgraph.layers.base import Layer
from jitgraph.layers.core import Dense, Dropout
from jitgraph.layers.normalization import BatchNormalization
from jitgraph.losses.losses import Reduction
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.summary.summaries import histogram, scalar
from jitgraph.variables.partitioners import min_max_variable_partitioner
from jitgraph.variables.variable_initializers import glorot_uniform_initializer
from jitgraph.variables.variable_scopes import variable_scope

_LEARNING_RATE = 0.05
SMALLEST_SLICE = 64 << 20           # bytes, of an input's embedding on one parameter server


def summarize_layer(value: Any, tag: str) -> None:
    """Summaries of an activation: how much of it is 0, and its histogram."""
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)


def _owned(layer: Layer) -> Layer:
    """A layer of a model: its variables are resource variables."""
    layer._use_resource = True
    return layer


class _Network:
    """Layers of units over the columns of an input."""

    def __init__(self, units: int, hidden_units: Any, feature_columns: Any, activation_fn: Any, dropout: float | None,
                 input_layer_partitioner: Any, batch_norm: bool, note: Callable | None):
        self._input_layer: Any
        if is_feature_column_v2(feature_columns):
            self._input_layer = DenseFeatures(feature_columns, name="input_layer")
        else:
            self._input_layer = InputLayer(feature_columns, name="input_layer", create_scope_now=False)
        self._note = note
        self._partitioner = input_layer_partitioner
        self._dropout = dropout
        self._hidden: list[tuple[Layer, Layer | None, Layer | None, str]] = []
        for number, size in enumerate(hidden_units):
            with variable_scope(f"hiddenlayer_{number}") as scope:
                dense = _owned(Dense(size, activation=activation_fn, kernel_initializer=glorot_uniform_initializer(),
                                     name=scope.name, _scope=scope))
                dropped = None if dropout is None else _owned(Dropout(rate=dropout))
                normalized = None
                if batch_norm:
                    own = f"batchnorm_{number}"
                    normalized = _owned(BatchNormalization(momentum=0.999, trainable=True, name=own, _scope=own))
                self._hidden.append((dense, dropped, normalized, scope.name))
        with variable_scope("logits") as scope:
            self._logits = _owned(Dense(units, activation=None, kernel_initializer=glorot_uniform_initializer(),
                                        name=scope.name, _scope=scope))
            self._logits_name = scope.name

    def __call__(self, features: Any, mode: str) -> Any:
        """Logits [batch, units]."""
        # The network has a name scope, which stays empty: its layers stand in the one around.
        with name_scope("dnn"), name_scope(get_default_graph().get_name_scope().rpartition("/")[0] + "/"):
            with variable_scope("input_from_feature_columns", partitioner=self._partitioner):
                noted = isinstance(self._input_layer, InputLayer)
                net = self._input_layer.noted(features, self._note) if noted else self._input_layer(features)
            for dense, dropped, normalized, name in self._hidden:
                net = dense(net)
                if dropped is not None and mode == ModeKeys.TRAIN:
                    net = dropped(net, training=True)
                if normalized is not None:
                    net = normalized(net, training=mode == ModeKeys.TRAIN)
                summarize_layer(net, name)
            logits = self._logits(net)
            summarize_layer(logits, self._logits_name)
            return logits


def dnn_logit_fn_builder(units: int, hidden_units: Any, feature_columns: Any, activation_fn: Any, dropout: float | None,
                         input_layer_partitioner: Any, batch_norm: bool) -> Callable:
    """A function of features and mode that builds a deep network; gives logits [batch, units].

    Raises ValueError if `units` is no integer.
    """
    return _logit_function(units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm)


def _logit_function(units: int, *network: Any, note: Callable | None = None) -> Callable:
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features: Any, mode: str) -> Any:
        return _Network(units, *network, note=note)(features, mode)

    return dnn_logit_fn


def check_features(features: Any) -> None:
    """Raises ValueError if features are no dict."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")


def slices_over(config: Any, smallest: int | None = None) -> Any:
    """A partitioner of variables over the parameter servers of a RunConfig, in slices not below `smallest` bytes."""
    servers = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(max_partitions=servers, **({} if smallest is None else {"min_slice_size": smallest}))


def deep_model_function(head: Any, hidden_units: Any, feature_columns: Any, optimizer: Any, activation_fn: Any,
                        dropout: float | None, input_layer_partitioner: Any, batch_norm: bool = False,
                        note: Callable | None = None) -> Callable:
    """The model function of a deep network with a head.

    `note` is told features, columns and {column: what it makes of them} where ``InputLayer`` makes it.
    """
    columns = tuple(feature_columns or [])

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        made = optimizer_of(optimizer, learning_rate=_LEARNING_RATE)
        check_features(features)
        with variable_scope("dnn", values=tuple(features.values()), partitioner=slices_over(config)):
            partitioner = input_layer_partitioner or slices_over(config, SMALLEST_SLICE)
            logit_fn = _logit_function(head.logits_dimension, hidden_units, columns, activation_fn, dropout, partitioner,
                                       batch_norm, note=note)
            logits = logit_fn(features=features, mode=mode)
            return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=made, logits=logits)

    return model_fn


_ARGUMENTS = """

    `hidden_units`: the sizes of the layers; `feature_columns`: dense columns; `optimizer`: an Optimizer, one of "Adagrad",
    "Adam", "Ftrl", "RMSProp", "SGD" with the rate 0.05, or a function that gives one; `dropout`: the fraction that is
    dropped in training; `batch_norm`: whether each layer is normalized; `weight_column`: the key, or numeric column, of the
    weights of examples; `loss_reduction`: one of ``tf.losses.Reduction``; the others are those of ``tf.estimator.Estimator``.
    """


class DNNClassifier(Estimator):
    __doc__ = f"""A classifier of layers of units: `n_classes`, ids or words of `label_vocabulary`.{_ARGUMENTS}"""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
                 weight_column: Any = None, label_vocabulary: Any = None, optimizer: Any = "Adagrad", activation_fn: Any = relu,
                 dropout: float | None = None, input_layer_partitioner: Any = None, config: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM, batch_norm: bool = False):
        head = head_for(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
                                             input_layer_partitioner, batch_norm),
                         model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNEstimator(Estimator):
    __doc__ = f"""A model of layers of units, with a head.{_ARGUMENTS}"""

    def __init__(self, head: Any, hidden_units: Any, feature_columns: Any, model_dir: Any = None, optimizer: Any = "Adagrad",
                 activation_fn: Any = relu, dropout: float | None = None, input_layer_partitioner: Any = None,
                 config: Any = None, warm_start_from: Any = None, batch_norm: bool = False):
        super().__init__(deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
                                             input_layer_partitioner, batch_norm),
                         model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNRegressor(Estimator):
    __doc__ = f"""A regression by layers of units, to `label_dimension` numbers.{_ARGUMENTS}"""

    def __init__(self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, label_dimension: int = 1,
                 weight_column: Any = None, optimizer: Any = "Adagrad", activation_fn: Any = relu,
                 dropout: float | None = None, input_layer_partitioner: Any = None, config: Any = None,
                 warm_start_from: Any = None, loss_reduction: str = Reduction.SUM, batch_norm: bool = False):
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(deep_model_function(head, hidden_units, feature_columns, optimizer, activation_fn, dropout,
                                             input_layer_partitioner, batch_norm),
                         model_dir=model_dir, config=config, warm_start_from=warm_start_from)
