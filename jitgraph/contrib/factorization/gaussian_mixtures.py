"""Mixtures of Gaussians, fitted by expectation and maximization (Dempster, Laird and Rubin, 1977), as a graph."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op, with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.matrix_parts import diag, diag_part, matrix_diag_part
from jitgraph.ops.arrays.shape import expand_dims, reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_less_equal
from jitgraph.ops.elementwise.arithmetic import div, squared_difference
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_triangular_solve
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import argmax, reduce_logsumexp, reduce_mean, reduce_sum
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable import Variable

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
_LITTLE = np.finfo(float).eps


def _covariance(x: Any, diag: bool) -> Any:
    count = cast(shape_of(x)[0], dtypes.float32)
    x -= reduce_mean(x, 0, keepdims=True)
    if diag:
        return reduce_sum(square(x), 0, keepdims=True) / (count - 1)
    return matmul(x, x, transpose_a=True) / (count - 1)


def _random_rows(data: list, count: int, seed: Any) -> Any:
    rows = add_n([shape_of(shard)[0] for shard in data])
    with control_dependencies([assert_less_equal(count, rows)]):
        indices = random_uniform([count], minval=0, maxval=cast(rows, dtypes.int64), seed=seed, dtype=dtypes.int64)
    indices %= cast(rows, dtypes.int64)
    return embedding_lookup(data, indices, partition_strategy="div")


class GmmAlgorithm:
    """The graph of a mixture of `num_classes` Gaussians over `data`, a list of points [n, d], float32.

    `initial_means`: [num_classes, d], random points if None; `params`: which of weights, means and covariances ("wmc") are
    fitted; `covariance_type`: "full" or "diag".  Raises Exception for another one.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    _means: Any
    _covs: Any

    def __init__(self, data: list, num_classes: int, initial_means: Any = None, params: str = "wmc",
                 covariance_type: str = FULL_COVARIANCE, random_seed: Any = 0):
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._num_classes, self._params, self._full = num_classes, params, covariance_type == FULL_COVARIANCE
        self._dimensions = shape_of(data[0])[1]
        self._min_var = diag(ones(stack([self._dimensions]))) * 1e-3      # so that covariances can be inverted
        self._create_variables()
        self._initialize(data, initial_means, random_seed)
        self._prior: list[Any] = []         # log likelihoods of the points of each shard
        self._w: list[Any] = []             # memberships of points in classes
        self._sums: list[tuple] = []        # of memberships, and of points and squares weighted by them
        for shard in data:
            self._define_shard(shape_of(shard)[0], expand_dims(shard, 0))
        self._define_maximization(len(data))
        self._log_likelihood = reduce_logsumexp([reduce_logsumexp(prior) for prior in self._prior])
        scores = [prior + log(w) for prior, w in zip(self._prior, self._w)]
        self._scores = squeeze(reduce_logsumexp(scores, axis=2, keepdims=True), axis=0)

    # -- what is asked of it ------------------------------------------------------------------------------------------

    def init_ops(self) -> Any:
        """An operation that gives means and covariances their first values."""
        return group(*self._init_ops)

    def training_ops(self) -> Any:
        """An operation of one iteration."""
        return group(*self._train_ops)

    def is_initialized(self) -> Any:
        """Whether the first values were given: a boolean variable."""
        return self._initialized

    def alphas(self) -> Any:
        """The weights of the classes [num_classes]."""
        return self._alpha

    def clusters(self) -> Any:
        """The means [num_classes, 1, d]."""
        return self._means

    def covariances(self) -> Any:
        """The covariances [num_classes, d, d], or their diagonals [num_classes, d]."""
        return self._covs

    def assignments(self) -> list:
        """The most likely class of each point, for each shard."""
        return [argmax(w, 1) for w in self._w]

    def scores(self) -> Any:
        """The log likelihoods of the points."""
        return self._scores

    def log_likelihood_op(self) -> Any:
        """The log likelihood of all."""
        return self._log_likelihood

    # -- how it is made -----------------------------------------------------------------------------------------------

    def _create_variables(self) -> None:
        nothing = constant([], dtype=dtypes.float32)
        self._means = Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._alpha = Variable(tile([1.0 / self._num_classes], [self._num_classes]), name=self.CLUSTERS_WEIGHT,
                               validate_shape=False)
        self._initialized = Variable(False, dtype=dtypes.bool_, name="initialized")

    def _initialize(self, data: list, initial_means: Any, seed: Any) -> None:
        if initial_means is None:
            initial_means = _random_rows(data, self._num_classes, seed)
        means = expand_dims(initial_means, 1)
        cov = _covariance(data[0], not self._full) + self._min_var
        if self._full:
            covs = tile(expand_dims(cov, 0), [self._num_classes, 1, 1])
        else:
            covs = tile(expand_dims(diag_part(cov), 0), [self._num_classes, 1])
        with colocate_with(self._initialized):
            initialized = with_dependencies([means, covs], identity(self._initialized))
        self._init_ops = [self._first(variable, value, initialized) for variable, value in ((self._means, means),
                                                                                            (self._covs, covs))]

    def _first(self, variable: Any, value: Any, initialized: Any) -> Any:
        with colocate_with(variable):
            done = assign(variable, value, validate_shape=False)
            done = with_dependencies([done], assign(self._initialized, True))
            return cond(initialized, no_op, lambda: done).op

    def _define_shard(self, count: Any, shard: Any) -> None:
        probs = self._log_probabilities(shard) + log(self._alpha)
        prior = reduce_logsumexp(probs, axis=1, keepdims=True)
        self._prior.append(prior)
        w = reshape(exp(expand_dims(probs, 0) - prior), stack([count, self._num_classes]))
        self._w.append(w)
        points_in_k = reduce_sum(w, 0, keepdims=True)
        w_mul_x = expand_dims(matmul(w, squeeze(shard, [0]), transpose_a=True), 1)
        x = concat([shard] * self._num_classes, 0)
        columns = transpose(x, perm=[0, 2, 1])
        weighted = concat([expand_dims(columns[k, :, :] * w[:, k], 0) for k in range(self._num_classes)], 0)
        self._sums.append((points_in_k, w_mul_x, matmul(weighted, x)))

    def _log_probabilities(self, shard: Any) -> Any:
        if self._full:
            off = shard - self._means
            factor = cholesky(self._covs + self._min_var)
            log_det = 2.0 * reduce_sum(log(matrix_diag_part(factor)), 1)
            squares = square(matrix_triangular_solve(factor, transpose(off, perm=[0, 2, 1]), lower=True))
            distances = transpose(reduce_sum(squares, 1))
            return -0.5 * (distances + cast(self._dimensions, dtypes.float32) * log(2 * np.pi) + log_det)
        log_det = reduce_sum(log(self._covs + 1e-3), 1, keepdims=True)
        squares = squared_difference(shard, self._means)
        distances = matmul(squares, expand_dims(1.0 / (self._covs + 1e-3), 2))
        distances = transpose(squeeze(distances, [2]))
        return -0.5 * (cast(self._dimensions, dtypes.float32) * log(2.0 * np.pi) + transpose(log_det) + distances)

    def _define_maximization(self, shards: int) -> None:
        of_points, of_x, of_squares = (list(sums) for sums in zip(*self._sums))
        with control_dependencies(self._w):
            points_in_k = squeeze(add_n(of_points), axis=[0])
            if "w" in self._params:
                shares = points_in_k / shards
                new_alpha = self._alpha.assign(shares / (cast(reduce_sum(shares), dtypes.float32) + _LITTLE))
            else:
                new_alpha = no_op()
            self._train_ops = [new_alpha]
            counts = reshape(points_in_k, [self._num_classes, 1, 1])
            new_means = self._means.assign(div(add_n(of_x), counts + _LITTLE)) if "m" in self._params else no_op()
            with control_dependencies([new_means]):
                second = add_n(of_squares) / (counts + _LITTLE)
                covs = concat([self._new_covariance(second, k) for k in range(self._num_classes)], 0)
                if "c" in self._params:
                    with control_dependencies([new_means, covs]):
                        self._train_ops.append(assign(self._covs, covs, validate_shape=False))

    def _new_covariance(self, second: Any, k: int) -> Any:
        mean = self._means.value()[k, :, :]
        square_mean = matmul(mean, mean, transpose_a=True)
        cov = second[k, :, :] - square_mean + self._min_var
        return expand_dims(cov if self._full else diag_part(cov), 0)


def gmm(inp: Any, initial_clusters: Any, num_clusters: int, random_seed: Any, covariance_type: str = FULL_COVARIANCE,
        params: str = "wmc") -> tuple:
    """The graph of a mixture of Gaussians: (log likelihood, scores, [classes], operation of training, first one, whether ready).

    `inp`: points [n, d], or a list of them; `initial_clusters`: means [num_clusters, d], "random", or a tensor, in whose place
    random points are taken too; the others are those of ``GmmAlgorithm``.
    """
    initial_means = None
    if not isinstance(initial_clusters, (Tensor, str)):
        initial_means = constant(initial_clusters, dtype=dtypes.float32)
    tool = GmmAlgorithm(inp if isinstance(inp, list) else [inp], num_clusters, initial_means, params, covariance_type, random_seed)
    assignments, scores, loss = tool.assignments(), tool.scores(), tool.log_likelihood_op()
    return loss, scores, [assignments], tool.training_ops(), tool.init_ops(), tool.is_initialized()
