"""The operation that chooses the first centres of clusters, batch by batch, until there are enough."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import no_op
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal, assert_greater_equal, assert_positive
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, less
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.nn.functions import l2_normalize
from jitgraph.ops.random.draws import random_uniform
from jitgraph.variables.assignments import assign

RANDOM, PLUS_PLUS, CHAIN = "random", "kmeans_plus_plus", "kmc2"


class Choice(NamedTuple):
    """How centres are chosen: the name of a way, a function of inputs and how many are missing, or the centres themselves."""

    way: Any
    on_sphere: bool             # whether centres are of length 1
    seed: Any
    retries: int
    chain_length: int


class StartingCenters:
    """Takes rows of `inputs`, a list of [n, d], into the variable `centers`, and `centers_updated` if it is another one."""

    def __init__(self, inputs: list, num_clusters: Any, choice: Choice, centers: Any, centers_updated: Any, is_ready: Any):
        self._inputs, self._num_clusters, self._choice = inputs, num_clusters, choice
        self._centers, self._centers_updated, self._is_ready = centers, centers_updated, is_ready
        self._num_selected = shape_of(centers)[0]
        self._num_remaining = num_clusters - self._num_selected
        self._num_data = add_n([shape_of(one)[0] for one in inputs])

    def operation(self) -> Any:
        """Chooses centres if some are missing, and sets `is_ready` when none is."""
        return cond(equal(self._num_remaining, 0), lambda: assert_equal(self._is_ready, True), self._begin)

    def _begin(self) -> Any:
        with control_dependencies([assert_positive(self._num_remaining)]):
            missing = self._by_chains() if self._is(CHAIN) else self._added()
            return cond(equal(missing, 0), lambda: assign(self._is_ready, True), no_op)

    def _is(self, way: str) -> bool:
        return isinstance(self._choice.way, str) and self._choice.way == way

    def _normal(self, points: Any) -> Any:
        return l2_normalize(points, dim=1) if self._choice.on_sphere else points

    def _kept(self, centers: Any) -> Any:
        """How many are still missing after `centers` have become the value of the variables."""
        done = assign(self._centers, centers, validate_shape=False)
        if self._centers_updated is not self._centers:
            done = assign(self._centers_updated, done, validate_shape=False)
        return self._num_clusters - shape_of(done)[0]

    def _added(self) -> Any:
        chosen = self._normal(self._chosen())
        return self._kept(cond(equal(self._num_selected, 0), lambda: chosen, lambda: concat([self._centers, chosen], 0)))

    def _chosen(self) -> Any:
        way = self._choice.way
        if self._is(RANDOM):
            return cond(self._num_data <= self._num_remaining, lambda: concat(self._inputs, 0), self._drawn)
        if isinstance(way, str):
            with control_dependencies([assert_greater_equal(self._num_data, self._num_remaining)]):
                return raw.KmeansPlusPlusInitialization(self._normal(self._inputs[0]), cast(self._num_remaining, dtypes.int64),
                                                        self._choice.seed, self._choice.retries)
        if isinstance(way, Callable):         # type: ignore[arg-type]
            return way(self._inputs, self._num_remaining)
        with control_dependencies([assert_equal(self._num_remaining, shape_of(way)[0])]):
            return way

    def _drawn(self) -> Any:
        rows = random_uniform(reshape(self._num_remaining, [-1]), minval=0, maxval=cast(self._num_data, dtypes.int64),
                              seed=self._choice.seed, dtype=dtypes.int64)
        return embedding_lookup(self._inputs, rows, partition_strategy="div")

    def _by_chains(self) -> Any:
        """One centre, or one more: the end of the last of the chains over the points."""
        points, length = self._inputs[0], self._choice.chain_length
        before = identity(self._centers)            # each chain begins with the centres that a run begins with
        most = cast(shape_of(points)[0] / length, dtypes.int32)
        count = maximum(minimum(self._num_remaining, most), 1)

        def first() -> Any:
            return self._normal(reshape(points[0], [1, -1]))

        def body(i: Any, _: Any) -> tuple[Any, Any]:
            def next_one() -> Any:
                begin = i * length
                some = points[begin:begin + length]
                distances = raw.NearestNeighbors(some, before, 1).nearest_center_distances
                index = raw.KMC2ChainInitialization(squeeze(distances), self._choice.seed)
                return concat([before, self._normal(reshape(some[index], [1, -1]))], 0)

            return i + 1, self._kept(cond(equal(self._num_selected, 0), first, next_one))

        return while_loop(lambda i, _: less(i, count), body, [0, 0])[1]
