"""The graph of boosted trees: features, predictions of the trees so far, and the operation that grows them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.autodiff.gradients import gradients
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.estimator.boosted_trees import buckets
from jitgraph.estimator.boosted_trees.caches import TrainingStates, cached_features, kept
from jitgraph.estimator.boosted_trees.growers import AccumulatorGrower, InMemoryGrower, TreeParams
from jitgraph.estimator.boosted_trees.tree_resources import QuantileAccumulator, TreeEnsemble
from jitgraph.estimator.modes import ModeKeys
from jitgraph.feature_column.embedding import IndicatorColumn
from jitgraph.feature_column.numeric import numeric_column
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.summary.summaries import scalar
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunHook
from jitgraph.variables.global_steps import get_or_create_global_step

NAME = "boosted_trees"


class StopAtAttempts(SessionRunHook):
    """Stops training when there are enough trees, or when twice the layers of that many trees were tried."""

    def __init__(self, num_finalized_trees: Any, num_attempted_layers: Any, max_trees: int, max_depth: int):
        self._fetches = [num_finalized_trees, num_attempted_layers]
        self._max_trees, self._max_layers = max_trees, 2 * max_trees * max_depth

    def before_run(self, run_context: Any) -> Any:
        """Asks for how many there are."""
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks again when it may be the last step, since the step itself may have grown them."""
        trees, layers = run_values.results
        if trees >= self._max_trees - 1 or layers > self._max_layers - 1:
            trees, layers = run_context.session.run(self._fetches)
        if trees >= self._max_trees or layers > self._max_layers:
            run_context.request_stop()


class GrowerInitialization(SessionRunHook):
    """Runs an operation when a session was made."""

    def __init__(self, init_op: Any):
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._init_op)


class Features:
    """The sorted columns of a model and, for those of numbers, the quantiles that bucket them."""

    def __init__(self, columns: list, epsilon: float):
        self.columns, self.num_quantiles = columns, int(1.0 / epsilon)
        self.floats = [column for column in columns if buckets.is_float(column)]
        self.quantiles, self._boundaries = None, {}
        if self.floats:
            self.quantiles = QuantileAccumulator(epsilon, buckets.count_of(self.floats), self.num_quantiles, "QuantileAccumulator")
            self._boundaries = buckets.boundaries_by_column(self.floats, self.quantiles.get_bucket_boundaries())

    def transformed(self, features: Any, known: dict | None = None) -> list:
        """The buckets of each feature; `known`: tensors of columns that were made before."""
        return buckets.transformed(features, self.columns, self._boundaries, known)

    def tensors_of_categories(self, features: Any) -> dict:
        """The tensors of indicator columns, whose tables can not be made in a branch."""
        return buckets.tensors_of(features, [column for column in self.columns if isinstance(column, IndicatorColumn)])


def predicted(ensemble: Any, inputs: list, head: Any) -> Any:
    """The logits of an ensemble."""
    return raw.BoostedTreesPredict(tree_ensemble_handle=ensemble.resource_handle, bucketized_features=inputs,
                                   logits_dimension=head.logits_dimension)


def tree_model(features: Any, labels: Any, mode: str, head: Any, columns: list, params: TreeParams, n_batches_per_layer: Any,
               config: Any, closed_form: Callable | None = None, weight_column: Any = None, train_in_memory: bool = False) -> Any:
    """The EstimatorSpec of boosted trees; `closed_form`: a function of logits and labels that gives gradients and hessians."""
    columns = sorted(columns, key=lambda column: column.name)
    with name_scope(NAME) as scope:
        global_step = get_or_create_global_step()
        ensemble = TreeEnsemble(scope)
        used = Features(columns, params.quantile_sketch_epsilon)
        if mode != ModeKeys.TRAIN:
            logits = predicted(ensemble, used.transformed(features), head)
            return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=no_op, logits=logits)
        if train_in_memory:
            _check_in_memory(config, n_batches_per_layer)
        training = _Training(scope, ensemble, used, features, labels, head, params, config, n_batches_per_layer, train_in_memory)
        training.weights(weight_column)

    def train_op_fn(loss: Any) -> Any:
        return training.train_op(loss, labels, closed_form, global_step)

    spec = head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=training.logits)
    stop = StopAtAttempts(*training.counts, params.n_trees, params.max_depth)
    return spec._replace(training_hooks=(*spec.training_hooks, stop),
                         training_chief_hooks=[GrowerInitialization(training.grower.init_op()), *spec.training_chief_hooks])


def _check_in_memory(config: Any, n_batches_per_layer: Any) -> None:
    assert n_batches_per_layer == 1, ("When train_in_memory is enabled, input_fn should return the entire dataset as a single "
                                      "batch, and n_batches_per_layer should be set as 1.")
    if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError("train_in_memory is supported only for non-distributed training.")


class _Training:
    """The nodes of a training step: `logits`, and the operation that grows the ensemble by them."""

    def __init__(self, scope: str, ensemble: Any, used: Features, features: Any, labels: Any, head: Any, params: TreeParams,
                 config: Any, n_batches_per_layer: Any, train_in_memory: bool):
        self._used, self._features, self._params = used, features, params
        self._ready = kept(not used.floats, "are_boundaries_ready")
        groups = buckets.grouped(used.columns, used.num_quantiles)
        batch_size = shape_of(labels)[0]
        self._cache_op, self._states = None, None
        if train_in_memory:
            known = used.tensors_of_categories(features)
            self._inputs, self._cache_op = cached_features(lambda: used.transformed(features, known),
                                                           buckets.count_of(used.columns), batch_size, self._ready)
            self._states = TrainingStates(batch_size, head.logits_dimension)
            trees, nodes, cached_logits = self._states.lookup()
        else:
            self._inputs = used.transformed(features)
            trees, nodes, cached_logits = (zeros([batch_size], dtype=dtypes.int32), -1 * ones([batch_size], dtype=dtypes.int32),
                                           zeros([batch_size, head.logits_dimension], dtype=dtypes.float32))
        local, reload = self._local(scope, ensemble, config)
        with control_dependencies([reload]):
            stamp, num_trees, finalized, attempted, self._node_range = local.get_states()
            change, self._tree_ids, self._node_ids = raw.BoostedTreesTrainingPredict(
                tree_ensemble_handle=local.resource_handle, cached_tree_ids=trees, cached_node_ids=nodes,
                bucketized_features=self._inputs, logits_dimension=head.logits_dimension)
        self.logits = cached_logits + change
        self.counts = finalized, attempted
        self._groups = groups
        self.grower = InMemoryGrower(ensemble, used.quantiles, params, groups) if train_in_memory else AccumulatorGrower(
            ensemble, used.quantiles, params, groups, stamp, n_batches_per_layer, config.is_chief)
        for name, value in (("num_trees", num_trees), ("num_finalized_trees", finalized), ("num_attempted_layers", attempted)):
            scalar(f"ensemble/{name}", value)
        self._center_bias = kept(params.center_bias, "center_bias_needed")

    def _local(self, scope: str, ensemble: Any, config: Any) -> tuple[Any, Any]:
        """(the ensemble that is read, what brings it up to date): a copy for each of several workers."""
        if config.num_worker_replicas <= 1:
            return ensemble, no_op()
        local = TreeEnsemble(scope + "_local", is_local=True)
        return local, local.deserialize(*ensemble.serialize())

    def weights(self, weight_column: Any) -> None:
        """How much examples count in quantiles."""
        if weight_column is None:
            self._weights = constant(1.0, shape=[1])
            return
        if isinstance(weight_column, str):
            weight_column = numeric_column(key=weight_column, shape=(1,))
        self._weights = buckets.transformed(self._features, [weight_column])[0]

    def train_op(self, loss: Any, labels: Any, closed_form: Callable | None, global_step: Any) -> Any:
        """The operation of a step: finds the boundaries of buckets first, then grows."""
        if closed_form:
            first, second = closed_form(self.logits, labels)
        else:
            first = gradients(loss, self.logits, name="Gradients")[0]
            second = gradients(first, self.logits, name="Hessians")[0]
        if not self._used.floats:
            return self._grow(first, second, global_step)
        return cond(self._ready, lambda: self._grow(first, second, global_step), self._update_quantiles).op

    def _update_quantiles(self) -> Any:
        with name_scope("UpdateQuantile"):
            numbers = buckets.transformed(self._features, self._used.floats)
            return self.grower.accumulate_quantiles(numbers, self._weights, self._ready)

    def _summaries(self, first: Any, second: Any) -> list[list]:
        """For each feature, by groups, the sums of gradients and hessians in each bucket of each node."""
        return [[squeeze(raw.BoostedTreesMakeStatsSummary(
            node_ids=self._node_ids, gradients=first, hessians=second, bucketized_features_list=[self._inputs[feature]],
            max_splits=self._params.max_splits, num_buckets=count), axis=0) for feature in features]
            for count, features in zip(*self._groups)]

    def _grow(self, first: Any, second: Any, global_step: Any) -> Any:
        done = [self._cache_op] if self._cache_op is not None else []
        if self._states is not None:
            states = self._states
            done.append(cond(self._center_bias, no_op, lambda: states.insert(self._tree_ids, self._node_ids, self.logits)).op)
        summaries = self._summaries(first, second)

        def grow() -> Any:
            return self.grower.grow_tree(summaries, self._node_range)

        if self._params.center_bias:
            updated = cond(self._center_bias, lambda: self.grower.center_bias(self._center_bias, first, second), grow).op
        else:
            updated = grow()
        with control_dependencies([updated]):
            step = global_step.assign_add(1).op
        return group(*done, updated, step, name="grow_op")
