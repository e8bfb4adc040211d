"""``tf.contrib.learn.KMeansClustering``: k-means as an estimator that is fitted."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.model_ops import ModelFnOps
from jitgraph.control.order_ops import with_dependencies
from jitgraph.estimator.clustering import centers, starting_centers
from jitgraph.estimator.clustering.estimators import LittleChangeHook, StartingHook, joined
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.global_steps import get_global_step

_LOSS = "kmeans_loss"
_INSTEAD = deprecated(None, "Please use tf.contrib.factorization.KMeansClustering instead of tf.contrib.learn.KMeansClustering. It "
                      "has a similar interface, but uses the tf.estimator.Estimator API instead of tf.contrib.learn.Estimator.")


class KMeansClustering(Estimator):
    """Clusters around centres; see ``tf.contrib.factorization.KMeansClustering``."""

    SQUARED_EUCLIDEAN_DISTANCE = centers.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = centers.COSINE_DISTANCE
    RANDOM_INIT = starting_centers.RANDOM
    KMEANS_PLUS_PLUS_INIT = starting_centers.PLUS_PLUS
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = centers.CLUSTERS
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = _LOSS

    @_INSTEAD
    def __init__(self, num_clusters: int, model_dir: Any = None, initial_clusters: Any = starting_centers.RANDOM,
                 distance_metric: str = centers.SQUARED_EUCLIDEAN_DISTANCE, random_seed: Any = 0, use_mini_batch: bool = True,
                 mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
                 relative_tolerance: float | None = None, config: Any = None):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            graph = centers.SeededKMeans(joined(features), num_clusters, initial_clusters, distance_metric, use_mini_batch,
                                         mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries)
            far, nearest, losses, is_ready, init_op, step = graph.training_graph()
            count = assign_add(get_global_step(), 1)
            loss = reduce_sum(losses, name=_LOSS)
            scalar("loss/raw", loss)
            step = with_dependencies([step, count], loss)
            hooks: list[SessionRunHook] = [StartingHook(init_op, is_ready, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(LittleChangeHook(loss, relative_tolerance))
            return ModelFnOps(mode=mode, predictions={self.ALL_SCORES: far[0], self.CLUSTER_IDX: nearest[0]}, loss=loss,
                              eval_metric_ops={self.SCORES: loss}, train_op=step, training_hooks=hooks)

        super().__init__(model_fn, model_dir=model_dir, config=config)

    @_INSTEAD
    def predict_cluster_idx(self, input_fn: Any = None) -> Any:
        """Yields the index of the nearest centre of each point."""
        found = self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX])
        return (one[self.CLUSTER_IDX] for one in found)

    @_INSTEAD
    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of the squared distances to the nearest centres."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    @_INSTEAD
    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of each point to all centres."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    @_INSTEAD
    def clusters(self) -> np.ndarray:
        """The centres [num_clusters, d]."""
        return self.get_variable_value(self.CLUSTERS)
