"""The nodes that grow an ensemble: from one batch that is all, or from statistics added up over batches."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.estimator.boosted_trees.buckets import Groups
from jitgraph.estimator.boosted_trees.ensembles import NO_PRUNING, POST_PRUNING, PRE_PRUNING
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.join import stack, unstack
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_min
from jitgraph.resources.accumulators import ConditionalAccumulator

_PRUNING_MODES = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}


class TreeParams(NamedTuple):
    """How trees grow: the arguments of the estimators."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """How many nodes of a tree may be split."""
        return (1 << self.max_depth) - 1


def _pruning_mode(params: TreeParams) -> int:
    if params.pruning_mode not in _PRUNING_MODES:
        raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(_PRUNING_MODES))}")
    mode = _PRUNING_MODES[params.pruning_mode]
    if params.tree_complexity > 0 and mode == NO_PRUNING:
        raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
    if params.tree_complexity <= 0 and mode != NO_PRUNING:
        raise ValueError("For pruning, tree_complexity must be positive.")
    return mode


class InMemoryGrower:
    """Grows a layer of each batch, which is all of the data."""

    def __init__(self, ensemble: Any, quantiles: Any, params: TreeParams, groups: Groups):
        self._ensemble, self._quantiles, self._params, self._groups = ensemble, quantiles, params, groups
        self._mode = _pruning_mode(params)

    def init_op(self) -> Any:
        """What the chief runs before it trains."""
        return no_op()

    def accumulate_quantiles(self, float_features: list, weights: Any, are_boundaries_ready: Any) -> Any:
        """An operation that finds the boundaries of buckets."""
        with control_dependencies([self._quantiles.add_summaries(float_features, weights)]):
            flush = self._quantiles.flush()
        with control_dependencies([flush]):
            return are_boundaries_ready.assign(True).op

    def center_bias(self, center_bias_var: Any, gradients: Any, hessians: Any) -> Any:
        """An operation that moves the first leaf towards the mean."""
        return self._center(center_bias_var, expand_dims(reduce_mean(gradients, 0), 0), expand_dims(reduce_mean(hessians, 0), 0)).op

    def _center(self, center_bias_var: Any, gradients: Any, hessians: Any) -> Any:
        goes_on = raw.BoostedTreesCenterBias(tree_ensemble_handle=self._ensemble.resource_handle, mean_gradients=gradients,
                                             mean_hessians=hessians, l1=self._params.l1, l2=self._params.l2)
        return center_bias_var.assign(goes_on)

    def grow_tree(self, summaries: list[list], node_range: Any) -> Any:
        """An operation that adds a layer by the statistics of each feature, in groups."""
        params = self._params
        columns: list[list] = [[], [], [], [], []]
        for of_group in summaries:
            found = raw.BoostedTreesCalculateBestGainsPerFeature(
                node_id_range=node_range, stats_summary_list=of_group, l1=params.l1, l2=params.l2,
                tree_complexity=params.tree_complexity, min_node_weight=params.min_node_weight, max_splits=params.max_splits)
            for column, part in zip(columns, found):
                column += part
        nodes, gains, thresholds, left, right = columns
        return raw.BoostedTreesUpdateEnsemble(
            tree_ensemble_handle=self._ensemble.resource_handle, feature_ids=[i for ids in self._groups.features for i in ids],
            node_ids=nodes, gains=gains, thresholds=thresholds, left_node_contribs=left, right_node_contribs=right,
            max_depth=params.max_depth, learning_rate=params.learning_rate, pruning_mode=self._mode)


class AccumulatorGrower(InMemoryGrower):
    """Adds up the statistics of `n_batches_per_layer` batches, of all workers, for each layer."""

    def __init__(self, ensemble: Any, quantiles: Any, params: TreeParams, groups: Groups, stamp_token: Any,
                 n_batches_per_layer: Any, is_chief: bool):
        super().__init__(ensemble, quantiles, params, groups)
        self._stamp_token, self._n_batches_per_layer, self._is_chief = stamp_token, n_batches_per_layer, is_chief
        self._accumulators: list[Any] = []
        self._init_ops: list[Any] = []
        for i, (buckets, features) in enumerate(zip(*groups)):
            shape = [len(features), params.max_splits, buckets, 2]
            self._accumulators.append(self._accumulator(shape, f"numeric_stats_summary_accumulator_{i}"))
        if params.center_bias:
            self._bias_accumulator = self._accumulator([2, 1], "bias_accumulator")

    def _accumulator(self, shape: list, shared_name: str) -> Any:
        made = ConditionalAccumulator(dtypes.float32, shape, shared_name)
        self._init_ops.append(made.set_global_step(self._stamp_token))
        return made

    def init_op(self) -> Any:
        """Sets the steps of the accumulators."""
        return group(*self._init_ops)

    def accumulate_quantiles(self, float_features: list, weights: Any, are_boundaries_ready: Any) -> Any:
        """An operation that takes a batch in, and finds the boundaries when there were enough."""
        added = self._quantiles.add_summaries(float_features, weights)
        count = ConditionalAccumulator(dtypes.float32, [], "quantile_summary_accum")
        update = group(added, count.set_global_step(self._stamp_token), count.apply_grad(constant(0.0), self._stamp_token))
        if not self._is_chief:
            return update

        def flush() -> Any:
            return group(self._quantiles.flush(), count.take_grad(1).op, are_boundaries_ready.assign(True).op)

        with control_dependencies([update]):
            return cond(greater_equal(count.num_accumulated(), self._n_batches_per_layer), flush, no_op,
                        name="wait_until_quaniles_accumulated").op

    def center_bias(self, center_bias_var: Any, gradients: Any, hessians: Any) -> Any:
        """An operation that moves the first leaf when there were enough batches."""
        both = reduce_mean(stack([gradients, hessians], axis=0), axis=1)

        def center() -> Any:
            taken = unstack(self._bias_accumulator.take_grad(1), axis=0)
            centered = self._center(center_bias_var, expand_dims(taken[0], 0), expand_dims(taken[1], 0))
            with control_dependencies([centered]):
                return cond(center_bias_var.read_value(), no_op, self._advance).op

        with control_dependencies([self._bias_accumulator.apply_grad(both, self._stamp_token)]):
            if not self._is_chief:
                return no_op()
            return cond(greater_equal(self._bias_accumulator.num_accumulated(), self._n_batches_per_layer), center, no_op,
                        name="wait_until_n_batches_for_bias_accumulated").op

    def _advance(self) -> Any:
        return group(*[each.set_global_step(self._stamp_token + 1) for each in self._accumulators])

    def grow_tree(self, summaries: list[list], node_range: Any) -> Any:
        """An operation that adds statistics up, and adds a layer when there were enough."""
        applied = [each.apply_grad(stack(of_group, axis=0), self._stamp_token)
                   for each, of_group in zip(self._accumulators, summaries)]

        def grow() -> Any:
            taken = [unstack(each.take_grad(1), axis=0) for each in self._accumulators]
            return super(AccumulatorGrower, self).grow_tree(taken, node_range)

        with control_dependencies(applied):
            if not self._is_chief:
                return no_op()
            least = reduce_min(stack([each.num_accumulated() for each in self._accumulators]))
            return cond(greater_equal(least, self._n_batches_per_layer), grow, no_op,
                        name="wait_until_n_batches_accumulated").op
