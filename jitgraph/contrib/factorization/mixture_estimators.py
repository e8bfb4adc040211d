"""``tf.contrib.factorization.GMM``: a mixture of Gaussians as an estimator that is fitted."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.contrib.factorization.gaussian_mixtures import FULL_COVARIANCE, GmmAlgorithm, gmm
from jitgraph.contrib.framework.variables import local_variable
from jitgraph.contrib.learn.fitted import Estimator
from jitgraph.contrib.learn.model_ops import ModelFnOps
from jitgraph.control.order_ops import with_dependencies
from jitgraph.estimator.clustering.estimators import StartingHook
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import concat
from jitgraph.train.checkpoint_values import load_variable
from jitgraph.variables.assignments import assign_add
from jitgraph.variables.global_steps import get_global_step


def _summed(scalar: Any) -> tuple:
    total = local_variable(constant(0.0))
    return total, total.assign_add(scalar)


class GMM(Estimator):
    """A mixture of `num_clusters` Gaussians; see ``GmmAlgorithm``.  `initial_clusters`: as ``gmm`` takes them."""

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(self, num_clusters: int, model_dir: Any = None, random_seed: Any = 0, params: str = "wmc",
                 initial_clusters: Any = "random", covariance_type: str = FULL_COVARIANCE, config: Any = None):
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            assert labels is None, labels
            if isinstance(features, dict):
                features = concat([features[key] for key in sorted(features)], 1)
            loss, scores, classes, step, init_op, is_ready = gmm(features, initial_clusters, num_clusters, random_seed,
                                                                 covariance_type, params)
            step = with_dependencies([step, assign_add(get_global_step(), 1)], loss)
            return ModelFnOps(mode=mode, predictions={self.ASSIGNMENTS: classes[0][0]},
                              eval_metric_ops={self.SCORES: scores, self.LOG_LIKELIHOOD: _summed(loss)}, loss=loss, train_op=step,
                              training_hooks=[StartingHook(init_op, is_ready, config.is_chief)])

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def predict_assignments(self, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None) -> Iterator[Any]:
        """Yields the most likely class of each point."""
        for found in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield found[self.ASSIGNMENTS]

    def score(self, input_fn: Any = None, batch_size: int | None = None, steps: int | None = None) -> Any:
        """The log of the sum of the likelihoods of the points."""
        found = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(found[self.SCORES])))

    def weights(self) -> np.ndarray:
        """The weights of the classes [num_clusters]."""
        return load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> np.ndarray:
        """The means [num_clusters, d]."""
        return np.squeeze(load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> np.ndarray:
        """The covariances [num_clusters, d, d], or their diagonals."""
        return load_variable(self.model_dir, GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
