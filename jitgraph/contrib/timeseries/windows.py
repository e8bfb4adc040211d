"""Input functions over readers: random windows, the whole series, and the times after an evaluation."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.timeseries.continued_times import canonicalize_times_or_steps_from_output
from jitgraph.contrib.timeseries.feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from jitgraph.contrib.timeseries.readers import TimeSeriesReader, limiter
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import reverse
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import reduce_all, reduce_any
from jitgraph.train.batching import batch, maybe_shuffle_batch
from jitgraph.train.input_producers import limit_epochs
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable_collections import is_variable_initialized


def predict_continuation_input_fn(evaluation: dict, steps: int | None = None, times: Any = None,
                                  exogenous_features: dict | None = None) -> Callable:
    """The input function of ``predict`` that goes on after what ``evaluate`` returned.

    Either `steps`, how many times to predict, or `times` [batch, window], integers after those of the evaluation;
    `exogenous_features` [batch, window, ...] for these.  Raises ValueError for both or none, and for earlier times.
    """
    found = canonicalize_times_or_steps_from_output(times=times, steps=steps, previous_model_output=evaluation)
    features = {PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE], PredictionFeatures.TIMES: found,
                **(exogenous_features or {})}

    def input_fn() -> tuple:
        once = {key: nest.map_structure(lambda value: limit_epochs(value, num_epochs=1), values)
                for key, values in features.items()}
        return once, None

    return input_fn


class TimeSeriesInputFn:
    """An input function over a reader: called, it makes the nodes of a batch and returns (features, None)."""

    def create_batch(self) -> tuple:
        """Features [batch, window, ...], and None."""
        raise NotImplementedError

    def __call__(self) -> tuple:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as one window, [1, series, ...]."""

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> tuple:
        """Features [1, series, ...], and None."""
        return {name: value[None, ...] for name, value in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of `batch_size` windows of `window_size` times, shuffled.

    A window may begin one record later (`jitter`).  Windows whose times decrease, at the end of the series, are left out
    (`discard_out_of_order`; OutOfRangeError after `discard_consecutive_batches_limit` batches of nothing else), or sorted.
    `queue_capacity_multiplier` and `shuffle_min_after_dequeue_multiplier` times the batch size are held and kept by the queue
    that shuffles, which `num_threads` (None: the batch size) fill.  Raises ValueError if the series is known to be shorter.
    """

    def __init__(self, time_series_reader: TimeSeriesReader, window_size: int, batch_size: int,
                 queue_capacity_multiplier: int = 1000, shuffle_min_after_dequeue_multiplier: int = 2,
                 discard_out_of_order: bool = True, discard_consecutive_batches_limit: int = 1000, jitter: bool = True,
                 num_threads: int | None = 2, shuffle_seed: int | None = None):
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader, self._window_size, self._batch_size = time_series_reader, window_size, batch_size
        self._capacity = queue_capacity_multiplier * batch_size
        self._kept = shuffle_min_after_dequeue_multiplier * batch_size
        self._discard_out_of_order, self._discard_limit = discard_out_of_order, discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> tuple:
        """Features [batch, window, ...], and None."""
        windows = self._windows(self._reader.read())
        times = windows[TrainEvalFeatures.TIMES]
        kept: Any = True
        if self._discard_out_of_order:
            kept = self._in_order(times)
        else:
            _, latest_first = top_k(times, k=shape_of(times)[-1], sorted=True)
            order = reverse(latest_first, axis=[0])
            windows = {key: gather(value, order) for key, value in windows.items()}
        return maybe_shuffle_batch(windows, num_threads=self._num_threads, seed=self._shuffle_seed, batch_size=self._batch_size,
                                   capacity=self._capacity, min_after_dequeue=self._kept, keep_input=kept,
                                   enqueue_many=True), None

    def _windows(self, features: dict) -> dict:
        """Records that follow each other, as [batch, window, ...]."""
        late: Any = random_uniform(shape=[], maxval=2, dtype=dtypes.int32) if self._jitter else 0
        records = batch(features, batch_size=self._window_size * self._batch_size + late, enqueue_many=True,
                        capacity=self._capacity * self._window_size, num_threads=self._num_threads)
        shifted = {key: value[late:] for key, value in records.items()} if self._jitter else records
        known = TensorShape([self._batch_size, self._window_size])
        windows = {key: reshape(value, concat([known.as_list(), shape_of(value)[1:]], axis=0)) for key, value in shifted.items()}
        for key, value in windows.items():
            value.set_shape(known.concatenate(records[key].shape[1:]))
        return windows

    def _in_order(self, times: Any) -> Any:
        """[batch]: whether the times of a window do not decrease; too many batches without such a window fail."""
        in_order = reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        discarded = limiter("discarded_windows_limiter")

        def counted() -> Any:
            return cond(reduce_any(in_order), lambda: assign(discarded, 0), lambda: discarded.count_up_to(self._discard_limit))

        limited = cond(is_variable_initialized(discarded), counted, lambda: constant(0, dtype=dtypes.int64))
        with control_dependencies([limited]):
            return identity(in_order)
