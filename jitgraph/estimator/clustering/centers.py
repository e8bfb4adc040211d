"""The graph that learns centres of clusters: k-means, by all points at once or by batches (Sculley, 2010)."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.estimator.clustering.starting_centers import CHAIN, PLUS_PLUS, RANDOM, Choice, StartingCenters
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.graph.seeds import get_seed
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, ones_like, zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity, placeholder_with_default
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import unique
from jitgraph.ops.arrays.shape import rank, reshape, size, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import square
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import reciprocal
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.functions import l2_normalize
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.reduce.segment import unsorted_segment_sum
from jitgraph.variables.assignments import assign, assign_sub, scatter_add
from jitgraph.variables.variable import Variable

SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
CLUSTERS = "clusters"


def check(initial_clusters: Any, distance_metric: str, ways: tuple) -> None:
    """Raises ValueError for another way to choose centres, or another distance."""
    if isinstance(initial_clusters, str) and initial_clusters not in ways:
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(f"Unsupported distance metric '{distance_metric}'")


class KMeans:
    """Centres of clusters of points.

    Args:
      inputs: points [n, d], or a list of such tensors.
      num_clusters: how many centres there are.
      initial_clusters: "random", "kmeans_plus_plus", "kmc2"; a function of the inputs and how many centres are missing; or the
        centres.
      distance_metric: "squared_euclidean", or "cosine".
      use_mini_batch: whether centres move by the mean of all points that came, and not to that of the current ones.
      mini_batch_steps_per_iteration: after how many steps the centres that points are assigned to follow.
      random_seed, kmeans_plus_plus_num_retries, kmc2_chain_length: of the choice of centres.
    Raises ValueError for another way to choose them, or another distance.
    """

    def __init__(self, inputs: Any, num_clusters: Any, initial_clusters: Any = RANDOM,
                 distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, use_mini_batch: bool = False,
                 mini_batch_steps_per_iteration: int = 1, random_seed: Any = 0, kmeans_plus_plus_num_retries: int = 2,
                 kmc2_chain_length: int = 200):
        check(initial_clusters, distance_metric, (RANDOM, PLUS_PLUS, CHAIN))
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters, self._initial_clusters = num_clusters, initial_clusters
        self._on_sphere = distance_metric == COSINE_DISTANCE
        self._use_mini_batch, self._steps = use_mini_batch, int(mini_batch_steps_per_iteration)
        self._random_seed = random_seed
        self._retries, self._chain_length = kmeans_plus_plus_num_retries, kmc2_chain_length
        self._follows_later = use_mini_batch and self._steps > 1
        # whether the centres are of length 1 as they stand
        self._centers_on_sphere = self._on_sphere and (not use_mini_batch or self._steps > 1)

    def _seed(self) -> Any:
        return get_seed(self._random_seed)[0]

    def _no_centers(self) -> Any:
        return placeholder_with_default([], shape=None)

    def training_graph(self) -> tuple:
        """(all distances, indices of the nearest centres, the distances to them, whether centres are chosen, the operation that
        chooses them, the training step); the first three are tuples, with a tensor for each of the inputs.
        """
        way = self._initial_clusters
        seed = self._seed()
        if isinstance(way, str) or callable(way):
            num_clusters = convert_to_tensor(self._num_clusters)
        else:
            way = convert_to_tensor(way)
            num_clusters = shape_of(way)[0]
        centers, is_ready, counts, updated, countdown = self._variables(num_clusters)
        choice = Choice(way, self._on_sphere, seed, self._retries, self._chain_length)
        init_op = StartingCenters(self._inputs, num_clusters, choice, centers, updated, is_ready).operation()
        inputs, used = self._inputs, centers
        if self._on_sphere:
            inputs = self._each(lambda one: l2_normalize(one, dim=1))
            if not self._centers_on_sphere:
                used = l2_normalize(used, dim=1)
        all_distances, distances, indices = self._assigned(inputs, used)
        if self._use_mini_batch:
            with control_dependencies([self._followed(countdown, centers, updated, counts)]):
                step = self._moved(inputs, indices, updated, counts)
        else:
            step = self._replaced(inputs, num_clusters, indices, centers)
        return all_distances, indices, distances, is_ready, init_op, step

    def _each(self, function: Any) -> list:
        found = []
        for one in self._inputs:
            with colocate_with(one, ignore_existing=True):
                found.append(function(one))
        return found

    def _variables(self, num_clusters: Any) -> tuple:
        nothing = self._no_centers()
        centers = Variable(nothing, name=CLUSTERS, validate_shape=False)
        is_ready = Variable(False, dtype=dtypes.bool_, name="initialized")
        if self._follows_later:
            updated = Variable(nothing, name="clusters_updated", validate_shape=False)
            countdown = Variable(self._steps, dtype=dtypes.int64, name="update_in_steps")
            return centers, is_ready, Variable(zeros([num_clusters], dtype=dtypes.int64)), updated, countdown
        counts = Variable(ones([num_clusters], dtype=dtypes.int64)) if self._use_mini_batch else None
        return centers, is_ready, counts, centers, None

    def _distances(self, points: Any, centers: Any) -> Any:
        if self._on_sphere:
            return 1 - matmul(points, centers, transpose_b=True)
        return (reduce_sum(square(points), 1, keepdims=True) - 2 * matmul(points, centers, transpose_b=True)
                + transpose(reduce_sum(square(centers), 1, keepdims=True)))

    def _assigned(self, inputs: list, centers: Any) -> tuple:
        """(distances to all centres, that to the nearest one, its index), a tuple of each"""
        all_distances = []
        for points in inputs:
            with colocate_with(points, ignore_existing=True):
                all_distances.append(self._distances(points, centers))
        if self._on_sphere and not self._centers_on_sphere:
            with colocate_with(centers, ignore_existing=True):
                centers = l2_normalize(centers, dim=1)
        found = []
        for points, far in zip(inputs, all_distances):
            with colocate_with(points, ignore_existing=True):
                indices, distances = raw.NearestNeighbors(points, centers, 1)
                if self._on_sphere:
                    distances *= 0.5
                found.append((far, squeeze(distances, [-1]), squeeze(indices, [-1])))
        return tuple(zip(*found))

    def _followed(self, countdown: Any, centers: Any, updated: Any, counts: Any) -> Any:
        """Lets the centres that are used take over those that moved, every few steps."""
        if not self._follows_later:
            return no_op()

        def follow() -> Any:
            with control_dependencies([assign(countdown, self._steps - 1)]):
                with colocate_with(updated, ignore_existing=True):
                    new = l2_normalize(updated, dim=1) if self._on_sphere else updated
                with colocate_with(centers, ignore_existing=True), control_dependencies([assign(centers, new)]), \
                        colocate_with(None, ignore_existing=True):
                    with control_dependencies([assign(counts, zeros_like(counts))]):
                        return identity(countdown)

        with colocate_with(countdown, ignore_existing=True):
            return cond(countdown <= 0, follow, lambda: assign_sub(countdown, 1))

    @staticmethod
    def _moved(inputs: list, indices: Any, centers: Any, counts: Any) -> Any:
        """Moves centres to the means of all points that they were ever the nearest to."""
        updates = []
        for points, nearest in zip(inputs, indices):
            with colocate_with(points, ignore_existing=True):
                nearest = reshape(nearest, [-1])
                ids, rows = unique(nearest)
                count = size(ids)
                with colocate_with(counts, ignore_existing=True):
                    old_counts = gather(counts, ids)
                with colocate_with(centers, ignore_existing=True):
                    old_centers = gather(centers, ids)
                more = unsorted_segment_sum(ones_like(rows, dtype=counts.dtype), rows, count)
                change = unsorted_segment_sum(points, rows, count)
                column = concat([reshape(count, [1]), ones(reshape(rank(points) - 1, [1]), dtype=dtypes.int32)], 0)
                change -= cast(reshape(more, column), points.dtype) * old_centers
                rate = reciprocal(cast(old_counts + more, points.dtype))
                change *= reshape(rate, column)
            updates += [scatter_add(counts, ids, more), scatter_add(centers, ids, change)]
        return group(*updates)

    def _replaced(self, inputs: list, num_clusters: Any, indices: Any, centers: Any) -> Any:
        """Puts centres at the means of the points that are nearest to them."""
        sums, counts = [], []
        epsilon = constant(1e-6, dtype=inputs[0].dtype)
        for points, nearest in zip(inputs, indices):
            with colocate_with(points, ignore_existing=True):
                sums.append(unsorted_segment_sum(points, nearest, num_clusters))
                counts.append(unsorted_segment_sum(reshape(ones(reshape(shape_of(points)[0], [-1])), [-1, 1]), nearest,
                                                   num_clusters))
        with colocate_with(centers, ignore_existing=True):
            new = add_n(sums) / (cast(add_n(counts), sums[0].dtype) + epsilon)
            if self._centers_on_sphere:
                new = l2_normalize(new, dim=1)
        return assign(centers, new)


class SeededKMeans(KMeans):
    """``tf.contrib.factorization.KMeans``: KMeans whose `random_seed` is that of the operations as it is."""

    def _seed(self) -> Any:
        return self._random_seed

    def _no_centers(self) -> Any:
        return constant([], dtype=dtypes.float32)
