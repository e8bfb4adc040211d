"""What all models of time series share: statistics of the input, exogenous features, a loss from a state that is replicated."""
from __future__ import annotations

import abc
from typing import Any, NamedTuple

from jitgraph.contrib.timeseries.feature_keys import TrainEvalFeatures
from jitgraph.contrib.timeseries.state_tables import replicate_state
from jitgraph.feature_column.column import make_parse_example_spec
from jitgraph.feature_column.dense_rows import input_layer
from jitgraph.graph import dtypes
from jitgraph.graph.graph import Graph
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.files.parsing import parse_example


class ModelOutputs(NamedTuple):
    """What a model makes of windows.

    `loss`: a scalar; `end_state`: the state after them; `predictions`: tensors by name, each with the shape of
    `prediction_times` [batch, window] in front.
    """

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """A model of `num_features` values for each time, computed with `dtype`.

    `exogenous_feature_columns` are feature columns of what is known beside the series and not predicted.  A subclass says the
    state at the start, what the loss and the predictions of a window are, and what is predicted without values.
    """

    def __init__(self, num_features: int, exogenous_feature_columns: Any = None, dtype: Any = dtypes.float32):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Any:
        """The columns of features that are not predicted."""
        return self._exogenous_feature_columns

    def generate(self, number_of_series: int, series_length: int, model_parameters: dict | None = None,
                 seed: int | None = None) -> dict:
        """Times [number_of_series, series_length] and values [..., num_features], drawn.  NotImplementedError, if not possible."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes what the model needs in each graph; `input_statistics` is an ``InputStatistics`` or None."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = sqrt(variances)

    def _scale_data(self, data: Any) -> Any:
        """Values with mean 0 and variance 1."""
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        return variance if self._input_statistics is None else variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        """Values as they come from those of ``_scale_data``."""
        return data if self._input_statistics is None else (data * self._stats_sigmas) + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        return variance if self._input_statistics is None else variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError("TimeSeriesModels require initialize_graph() to be called before use. This defines variables and ops "
                             "in the default graph, and allows Tensor-valued input statistics to be specified.")

    def define_loss(self, features: dict, mode: str) -> ModelOutputs:
        """The outputs for windows of which each begins with the state of the start.

        `features`: times [batch, window], values [batch, window, num_features], and others; `mode` is TRAIN or EVAL.  Raises
        ValueError before ``initialize_graph``.
        """
        self._check_graph_initialized()
        state = replicate_state(self.get_start_state(), shape_of(features[TrainEvalFeatures.TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=state)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before a series: a structure of tensors without an axis for batches."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict, mode: str, state: Any) -> ModelOutputs:
        """The outputs for windows that begin with `state`, a structure of tensors [batch, ...]."""

    @abc.abstractmethod
    def predict(self, features: dict) -> dict:
        """Predictions [batch, window, ...] by name, for features: times [batch, window], and the state before them."""

    def _get_exogenous_embedding_shape(self) -> Any:
        """The shape of what stands for the exogenous features of a time."""
        if not self._exogenous_feature_columns:
            return (0,)
        with Graph().as_default():
            parsed = parse_example(serialized=placeholder(shape=[None], dtype=dtypes.string),
                                   features=make_parse_example_spec(self._exogenous_feature_columns))
            return input_layer(features=parsed, feature_columns=self._exogenous_feature_columns).shape.as_list()[1:]

    def _process_exogenous_features(self, times: Any, features: dict) -> Any:
        """What stands for the exogenous `features` [batch, window, ...]: [batch, window, size]; None without columns.

        Raises ValueError for a feature of unknown rank.
        """
        if not self._exogenous_feature_columns:
            return None
        rows = {name: _rows(name, tensor) for name, tensor in features.items()}
        embedded = input_layer(features=rows, feature_columns=self._exogenous_feature_columns, trainable=True)
        regressors = reshape(embedded, concat([shape_of(times), shape_of(embedded)[1:]], axis=0))
        regressors.set_shape(times.shape.concatenate(embedded.shape[1:]))
        return cast(regressors, self.dtype)


def _rows(name: str, tensor: Any) -> Any:
    """[batch * window, ...] for [batch, window, ...]; numbers get a last axis if they have no other."""
    if tensor.shape.ndims is None:
        raise ValueError(f"Features with unknown rank are not supported. Got shape {tensor.shape} for feature {name}.")
    sizes = shape_of(tensor)
    rows = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
    return rows[:, None] if rows.shape.ndims == 1 and rows.dtype != dtypes.string else rows
