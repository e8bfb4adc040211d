"""Statistics of a series, kept in variables and made better with each window that training sees."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.contrib.timeseries.feature_keys import TrainEvalFeatures
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less_equal
from jitgraph.ops.elementwise.elementary import round as rounded
from jitgraph.ops.nn.functions import moments
from jitgraph.ops.reduce.reductions import argmin, reduce_max, reduce_min, reduce_sum
from jitgraph.variables.assignments import assign, assign_add
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


class Moments(NamedTuple):
    """A mean and a variance for each feature."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """What models know of a series beforehand.

    `series_start_moments`: of the first values; `overall_feature_moments`: of all; `start_time` and `total_observation_count`:
    scalars of int64, of which the second is an estimate.
    """

    series_start_moments: Any
    overall_feature_moments: Any
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What is counted and added to compute the statistics."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


class InputStatisticsFromMiniBatch:
    """Statistics of a series with `num_features` values of `dtype` for each time, from the batches of windows that come.

    The first `starting_variance_window_size` values of the earliest window give the moments of the start.
    """

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = 16):
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(self, features: dict, update_statistics: bool = True) -> InputStatistics:
        """The statistics; reading them takes `features` (times and values) into account first, if `update_statistics`."""
        times, values = (features.get(key) for key in (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES))
        with variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        with control_dependencies([self._updated(statistics, sums, times, values)]):
            now = nest.pack_sequence_as(statistics, [identity(one) for one in nest.flatten(statistics)])
            # a start time that another worker has set may be later than these times, which models would refuse
            found: InputStatistics = now._replace(start_time=minimum(now.start_time, reduce_min(times)))
            return found

    def _variable(self, name: str, first: Any = zeros_initializer) -> Any:
        return get_variable(name, shape=[self._num_features], dtype=self._dtype, initializer=first(), trainable=False)

    def _statistics(self) -> InputStatistics:
        start = Moments(self._variable("series_start_mean"), self._variable("series_start_variance", ones_initializer))
        overall = Moments(self._variable("overall_feature_mean"), self._variable("overall_feature_var", ones_initializer))
        time = get_variable("start_time", dtype=dtypes.int64, initializer=dtypes.int64.max, trainable=False)
        count = get_variable("total_observation_count", shape=[], dtype=dtypes.int64, initializer=ones_initializer(),
                             trainable=False)
        return InputStatistics(start, overall, time, count)

    def _sums(self) -> _Sums:
        def zero(name: str, dtype: Any) -> Any:
            return get_variable(name, shape=[], dtype=dtype, initializer=zeros_initializer(), trainable=False)

        latest = get_variable("max_time_seen", dtype=dtypes.int64, initializer=dtypes.int64.min, trainable=False)
        return _Sums(latest, zero("chunk_count", dtypes.int64), zero("inter_observation_duration_sum", self._dtype),
                     get_variable("example_count", shape=[], dtype=dtypes.int64, trainable=False),
                     self._variable("overall_feature_sum"), self._variable("overall_feature_sum_of_squares"))

    def _updated(self, statistics: InputStatistics, sums: _Sums, times: Any, values: Any) -> Any:
        values = cast(values, self._dtype)
        gaps = (cast(reduce_max(times, axis=1) - reduce_min(times, axis=1), self._dtype)
                / cast(shape_of(times)[1] - 1, self._dtype))
        latest = assign(sums.max_time_seen, maximum(sums.max_time_seen, reduce_max(times)))
        counted = [
            assign_add(sums.chunk_count, shape_of(times, out_type=dtypes.int64)[0]),
            assign_add(sums.inter_observation_duration_sum, reduce_sum(gaps)),
            assign_add(sums.example_count, size(times, out_type=dtypes.int64)),
            assign_add(sums.overall_feature_sum, reduce_sum(values, axis=[0, 1])),
            assign_add(sums.overall_feature_sum_of_squares, reduce_sum(values ** 2, axis=[0, 1]))]
        with control_dependencies([group(latest, *counted)]):
            overall = self._overall(statistics.overall_feature_moments, sums)
            started, start_time = self._started(statistics, times, values)
            gap = sums.inter_observation_duration_sum / cast(sums.chunk_count, self._dtype)
            total = assign(statistics.total_observation_count, cast(
                rounded(cast(latest - start_time + 1, self._dtype) / gap), dtypes.int64))
            return group(*overall, started, start_time, total)

    def _overall(self, overall: Moments, sums: _Sums) -> list:
        count = cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / count
        assigned = assign(overall.mean, mean)
        unbiased = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean ** 2)
        return [assigned, assign(overall.variance, unbiased)]

    def _started(self, statistics: InputStatistics, times: Any, values: Any) -> tuple:
        """The updates of the moments of the start, where a window begins there, and of its time."""
        earliest = cast(argmin(times[:, 0]), dtypes.int32)
        first = statistics.series_start_moments

        def starts() -> Any:
            mean, variance = moments(values[earliest, :self._starting_variance_window_size], axes=[0])
            return group(assign(first.mean, mean), assign(first.variance, variance))

        started = cond(less_equal(times[earliest, 0], statistics.start_time), starts, no_op)
        with control_dependencies([started]):
            return started, assign(statistics.start_time, minimum(statistics.start_time, reduce_min(times)))
