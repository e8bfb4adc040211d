"""``tf.estimator.experimental.KMeans`` and ``tf.contrib.factorization.KMeansClustering``: k-means as estimators."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.control.order_ops import with_dependencies
from jitgraph.estimator.clustering import centers, starting_centers
from jitgraph.estimator.estimator import Estimator
from jitgraph.estimator.export_outputs import PredictOutput
from jitgraph.estimator.spec import EstimatorSpec
from jitgraph.feature_column.dense_rows import input_layer
from jitgraph.graph.scopes import colocate_with
from jitgraph.metrics.means import mean
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.global_steps import get_global_step


class LittleChangeHook(SessionRunHook):
    """Stops when the loss changes by less than a part of itself."""

    def __init__(self, loss: Any, tolerance: float):
        self._loss, self._tolerance = loss, tolerance
        self._before: Any = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        """Asks for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares it."""
        loss = run_values.results
        if self._before and abs(loss - self._before) / (1 + abs(self._before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


class StartingHook(SessionRunHook):
    """Chooses centres before the first step; workers that are not chief wait for them."""

    def __init__(self, init_op: Any, is_ready: Any, is_chief: bool):
        self._init_op, self._is_ready, self._is_chief = init_op, is_ready, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs the operation until all are chosen."""
        while True:
            try:
                if session.run(self._is_ready):
                    return
                if self._is_chief:
                    session.run(self._init_op)
                else:
                    time.sleep(1)
            except RuntimeError as error:
                logs.info(error)


class CountingHook(SessionRunHook):
    """Counts a step as it begins.

    Input for one epoch, as the documentation of k-means has it, is spent on the choice of the first centres, and the first
    step finds its end.  TensorFlow counts that step, since nothing keeps the count waiting for the input, and so saves the
    centres, with which the next call of ``train`` goes on.
    """

    def __init__(self, counting: Any):
        self._counting = counting

    def before_run(self, run_context: Any) -> None:
        """Counts."""
        run_context.session.run(self._counting)


def joined(features: Any, feature_columns: Any = None) -> Any:
    """Features as points [n, d]: a tensor, the columns of a dict, or its tensors side by side."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return input_layer(features, feature_columns)
    keys = sorted(features)
    with colocate_with(features[keys[0]]):
        return concat([features[key] for key in keys], axis=1)


def _model_function(graph_of: Callable, feature_columns: Any, relative_tolerance: float | None) -> Callable:
    def model_fn(features: Any, mode: str, config: Any) -> EstimatorSpec:
        far, nearest, losses, is_ready, init_op, step = graph_of(joined(features, feature_columns)).training_graph()
        loss = reduce_sum(losses)
        scalar("loss/raw", loss)
        counting = assign_add(get_global_step(), 1)
        step = with_dependencies([step], loss)
        hooks: list[SessionRunHook] = [StartingHook(init_op, is_ready, config.is_chief), CountingHook(counting)]
        if relative_tolerance is not None:
            hooks.append(LittleChangeHook(loss, relative_tolerance))
        predictions = {_Clustering.ALL_DISTANCES: far[0], _Clustering.CLUSTER_INDEX: nearest[0]}
        exports = {key: PredictOutput(value) for key, value in predictions.items()}
        exports[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = PredictOutput(nearest[0])
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=step, training_hooks=hooks,
                             eval_metric_ops={_Clustering.SCORE: mean(loss)}, export_outputs=exports)

    return model_fn


class _Clustering(Estimator):
    SQUARED_EUCLIDEAN_DISTANCE = centers.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = centers.COSINE_DISTANCE
    RANDOM_INIT = starting_centers.RANDOM
    KMEANS_PLUS_PLUS_INIT = starting_centers.PLUS_PLUS
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = centers.CLUSTERS

    _graph: type[centers.KMeans]

    def __init__(self, num_clusters: int, model_dir: Any, initial_clusters: Any, distance_metric: str, seed: Any,
                 use_mini_batch: bool, mini_batch_steps_per_iteration: int, kmeans_plus_plus_num_retries: int,
                 relative_tolerance: float | None, config: Any, feature_columns: Any):
        centers.check(initial_clusters, distance_metric, (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT))
        self._distance_metric = distance_metric

        def graph_of(points: Any) -> centers.KMeans:
            return self._graph(points, num_clusters, initial_clusters, distance_metric, use_mini_batch,
                               mini_batch_steps_per_iteration, seed, kmeans_plus_plus_num_retries)

        super().__init__(_model_function(graph_of, feature_columns, relative_tolerance), model_dir=model_dir, config=config)

    def _predicted(self, input_fn: Any, key: str) -> Iterator[Any]:
        return (found[key] for found in self.predict(input_fn=input_fn, predict_keys=[key]))

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """Yields the index of the nearest centre of each point."""
        return self._predicted(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any) -> Any:
        """The sum of the squared distances of a batch to the nearest centres."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """Yields the distances of each point to all centres."""
        return self._predicted(input_fn, self.ALL_DISTANCES)

    def cluster_centers(self) -> np.ndarray:
        """The centres [num_clusters, d]."""
        found: np.ndarray = self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
        return found


_ARGUMENTS = """

    `num_clusters`, `initial_clusters`, `distance_metric`, `use_mini_batch`, `mini_batch_steps_per_iteration` and
    `kmeans_plus_plus_num_retries` are those of ``tf.contrib.factorization.KMeans``; `relative_tolerance`: training stops when the
    loss changes by less than this part; `feature_columns`: dense columns that make points of features, which are else put side by
    side; the others are those of ``tf.estimator.Estimator``.  Raises ValueError as KMeans does.
    """


class KMeansClustering(_Clustering):
    __doc__ = f"""Clusters around centres; distances are squared.{_ARGUMENTS}"""

    _graph = centers.SeededKMeans

    def __init__(self, num_clusters: int, model_dir: Any = None, initial_clusters: Any = starting_centers.RANDOM,
                 distance_metric: str = centers.SQUARED_EUCLIDEAN_DISTANCE, random_seed: Any = 0, use_mini_batch: bool = True,
                 mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
                 relative_tolerance: float | None = None, config: Any = None, feature_columns: Any = None):
        super().__init__(num_clusters, model_dir, initial_clusters, distance_metric, random_seed, use_mini_batch,
                         mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries, relative_tolerance, config, feature_columns)


class KMeans(_Clustering):
    __doc__ = f"""Clusters around centres; ``transform`` gives distances that are not squared.{_ARGUMENTS}"""

    _graph = centers.KMeans

    def __init__(self, num_clusters: int, model_dir: Any = None, initial_clusters: Any = starting_centers.RANDOM,
                 distance_metric: str = centers.SQUARED_EUCLIDEAN_DISTANCE, seed: Any = None, use_mini_batch: bool = True,
                 mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
                 relative_tolerance: float | None = None, config: Any = None, feature_columns: Any = None):
        super().__init__(num_clusters, model_dir, initial_clusters, distance_metric, seed, use_mini_batch,
                         mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries, relative_tolerance, config, feature_columns)

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """Yields the distances of each point to all centres."""
        found = self._predicted(input_fn, self.ALL_DISTANCES)
        if self._distance_metric == self.COSINE_DISTANCE:
            return found
        return (np.sqrt(one) for one in found)
