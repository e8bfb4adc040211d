"""Ensembles of trees as nodes; the trees are in ``ensembles``, the rules of splits in ``splits``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.estimator.boosted_trees import ensembles, splits
from jitgraph.estimator.boosted_trees.splits import EQUAL
from jitgraph.graph import errors, shape_rules
from jitgraph.resources import shared

_TESTS = "tests/estimator/test_beside_tensorflow.py: boosted trees"
_STATE: dict[str, Any] = {"stateful": True, "host": True, "tested_in": _TESTS}


@op('BoostedTreesEnsembleResourceHandleOp(; container: string = "", shared_name: string = "") -> resource: resource',
    shape=shape_rules.scalar, context=("state", "op"), **_STATE)
def boosted_trees_ensemble_resource_handle_op(state, op):
    """A handle of an ensemble of trees, empty until it is created."""
    return shared(state, op, "boosted_trees", ensembles.Ensemble)


def _of(handle: np.ndarray) -> ensembles.Ensemble:
    found: Any = handle[()]
    if not found.is_initialized:
        raise errors.FailedPreconditionError(None, None, "The tree ensemble was not created: run its initializer first")
    return found


@op("BoostedTreesCreateEnsemble(tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string)",
    shape=shape_rules.no_outputs, **_STATE)
def boosted_trees_create_ensemble(tree_ensemble_handle, stamp_token, tree_ensemble_serialized):
    """Begins an ensemble with serialized trees, if it has not begun."""
    ensemble = tree_ensemble_handle[()]
    with ensemble.lock:
        if not ensemble.is_initialized:
            ensemble.load(int(stamp_token), bytes(tree_ensemble_serialized[()]))


@op("IsBoostedTreesEnsembleInitialized(tree_ensemble_handle: resource) -> is_initialized: bool", shape=shape_rules.scalar, **_STATE)
def is_boosted_trees_ensemble_initialized(tree_ensemble_handle):
    """Whether an ensemble was created."""
    return np.array(tree_ensemble_handle[()].is_initialized)


@op("BoostedTreesGetEnsembleStates(tree_ensemble_handle: resource) -> stamp_token: int64, num_trees: int32, "
    "num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32",
    shape=lambda c: [(), (), (), (), (2,)], **_STATE)
def boosted_trees_get_ensemble_states(tree_ensemble_handle):
    """How often an ensemble changed, how many trees and layers it has, and which nodes may be split next."""
    ensemble = _of(tree_ensemble_handle)
    with ensemble.lock:
        stamp, *counts = ensemble.states()
    return np.array(stamp, np.int64), *(np.array(count, np.int32) for count in counts)


@op("BoostedTreesSerializeEnsemble(tree_ensemble_handle: resource) -> stamp_token: int64, tree_ensemble_serialized: string",
    shape=lambda c: [(), ()], **_STATE)
def boosted_trees_serialize_ensemble(tree_ensemble_handle):
    """The stamp and the trees of an ensemble."""
    ensemble = _of(tree_ensemble_handle)
    with ensemble.lock:
        return np.array(ensemble.stamp, np.int64), np.array(ensemble.trees.SerializeToString(), object)


@op("BoostedTreesDeserializeEnsemble(tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string)",
    shape=shape_rules.no_outputs, **_STATE)
def boosted_trees_deserialize_ensemble(tree_ensemble_handle, stamp_token, tree_ensemble_serialized):
    """Replaces the trees of an ensemble."""
    ensemble = tree_ensemble_handle[()]
    with ensemble.lock:
        ensemble.load(int(stamp_token), bytes(tree_ensemble_serialized[()]))


@op("BoostedTreesTrainingPredict(tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32, "
    "bucketized_features: num_bucketized_features*int32; num_bucketized_features: int >= 1, logits_dimension: int) -> "
    "partial_logits: float32, tree_ids: int32, node_ids: int32",
    shape=lambda c: [(None, c.attrs["logits_dimension"]), (None,), (None,)], **_STATE)
def boosted_trees_training_predict(tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features,
                                   logits_dimension):
    """What the predictions of examples changed by since they were at these trees and nodes, and where they are now."""
    ensemble = _of(tree_ensemble_handle)
    with ensemble.lock:
        change, trees, nodes = ensemble.predict_further(cached_tree_ids, cached_node_ids, np.stack(bucketized_features))
    return np.repeat(change[:, None], logits_dimension, axis=1), trees, nodes


@op("BoostedTreesPredict(tree_ensemble_handle: resource, bucketized_features: num_bucketized_features*int32; "
    "num_bucketized_features: int >= 1, logits_dimension: int) -> logits: float32",
    shape=lambda c: (None, c.attrs["logits_dimension"]), **_STATE)
def boosted_trees_predict(tree_ensemble_handle, bucketized_features, logits_dimension):
    """The sums of the leaves that examples come to."""
    ensemble = _of(tree_ensemble_handle)
    with ensemble.lock:
        return np.repeat(ensemble.predict(np.stack(bucketized_features))[:, None], logits_dimension, axis=1)


@op("BoostedTreesExampleDebugOutputs(tree_ensemble_handle: resource, bucketized_features: num_bucketized_features*int32; "
    "num_bucketized_features: int >= 1, logits_dimension: int) -> examples_debug_outputs_serialized: string",
    shape=lambda c: (None,), **_STATE)
def boosted_trees_example_debug_outputs(tree_ensemble_handle, bucketized_features, logits_dimension):
    """For each example the way that it takes through the trees, as serialized messages."""
    ensemble = _of(tree_ensemble_handle)
    with ensemble.lock:
        return np.array(ensemble.explain(np.stack(bucketized_features)), object)


@op("BoostedTreesMakeStatsSummary(node_ids: int32, gradients: float32, hessians: float32, bucketized_features_list: "
    "num_features*int32; max_splits: int >= 1, num_buckets: int >= 1, num_features: int >= 1) -> stats_summary: float32",
    shape=lambda c: (c.attrs["num_features"], c.attrs["max_splits"], c.attrs["num_buckets"], 2), host=True, tested_in=_TESTS)
def boosted_trees_make_stats_summary(node_ids, gradients, hessians, bucketized_features_list, max_splits, num_buckets):
    """The sums of gradients and hessians [feature, node, bucket, 2]."""
    result = np.zeros((len(bucketized_features_list), max_splits, num_buckets, 2), np.float32)
    both = np.concatenate([gradients.reshape(-1, 1), hessians.reshape(-1, 1)], axis=1)
    for feature, buckets in enumerate(bucketized_features_list):
        np.add.at(result[feature], (node_ids, buckets), both)
    return result


@op("BoostedTreesCalculateBestGainsPerFeature(node_id_range: int32, stats_summary_list: num_features*float32, l1: float32, l2: "
    "float32, tree_complexity: float32, min_node_weight: float32; max_splits: int >= 1, num_features: int >= 1) -> "
    "node_ids_list: num_features*int32, gains_list: num_features*float32, thresholds_list: num_features*int32, "
    "left_node_contribs_list: num_features*float32, right_node_contribs_list: num_features*float32",
    shape=lambda c: [(None,)] * (3 * c.attrs["num_features"]) + [(None, 1)] * (2 * c.attrs["num_features"]), host=True,
    dynamic=True, tested_in=_TESTS)
def boosted_trees_calculate_best_gains_per_feature(node_id_range, stats_summary_list, l1, l2, tree_complexity,
                                                   min_node_weight, max_splits):
    """For each feature the best split of each node in a range."""
    first, last = node_id_range.tolist()
    found = [splits.best_gains((first, last), stats, l1[()], l2[()], tree_complexity[()], min_node_weight[()])
             for stats in stats_summary_list]
    return tuple(list(column) for column in zip(*found))


def _of_candidates(*ranks: int) -> Callable[[Any], list]:
    """The rule of an op that takes an ensemble, the numbers of features and for each of them columns of these ranks, one row for
    each candidate.  The first column of V2, the dimensions, may have any length."""
    names = ("node_ids", "gains", "thresholds", "left_node_contribs", "right_node_contribs", "split_types")

    def rule(c: Any) -> list:
        count = c.attrs["num_features"]
        shape_rules.merge(shape_rules.with_rank(c.shapes[1], 1, "feature_ids"), (count,))
        first = 2
        if len(ranks) == len(names):
            for shape in c.shapes[first:first + count]:
                shape_rules.with_rank(shape, 1, "dimension_ids")
            first += count
        for k in range(count):
            length: Any = None
            for column, (name, rank) in enumerate(zip(names, ranks)):
                shape = shape_rules.with_rank(c.shapes[first + column * count + k], rank, name)
                length = shape_rules.merge(shape, (length, 1)[:rank])[0]
        return []

    return rule


@op("BoostedTreesUpdateEnsemble(tree_ensemble_handle: resource, feature_ids: int32, node_ids: num_features*int32, gains: "
    "num_features*float32, thresholds: num_features*int32, left_node_contribs: num_features*float32, right_node_contribs: "
    "num_features*float32, max_depth: int32, learning_rate: float32; pruning_mode: int >= 0, num_features: int >= 0)",
    shape=_of_candidates(1, 1, 1, 2, 2), **_STATE)
def boosted_trees_update_ensemble(tree_ensemble_handle, feature_ids, node_ids, gains, thresholds, left_node_contribs,
                                  right_node_contribs, max_depth, learning_rate, pruning_mode):
    """Adds a layer with the best splits to the last tree."""
    ensemble = _of(tree_ensemble_handle)
    best = splits.best_of(feature_ids, node_ids, gains, thresholds, left_node_contribs, right_node_contribs)
    with ensemble.lock:
        ensemble.grow(best, float(learning_rate), int(max_depth), pruning_mode)


@op("BoostedTreesUpdateEnsembleV2(tree_ensemble_handle: resource, feature_ids: int32, dimension_ids: num_features*int32, node_ids: "
    "num_features*int32, gains: num_features*float32, thresholds: num_features*int32, left_node_contribs: num_features*float32, "
    "right_node_contribs: num_features*float32, split_types: num_features*string, max_depth: int32, learning_rate: float32, "
    "pruning_mode: int32; num_features: int >= 0)", shape=_of_candidates(1, 1, 1, 2, 2, 1),
    **{**_STATE, "tested_in": "tests/estimator/test_best_splits.py: statistics of nodes"})
def boosted_trees_update_ensemble_v2(tree_ensemble_handle, feature_ids, dimension_ids, node_ids, gains, thresholds,
                                     left_node_contribs, right_node_contribs, split_types, max_depth, learning_rate, pruning_mode):
    """BoostedTreesUpdateEnsemble for splits of one dimension of a feature, also such of one bucket from all others, whose type is
    EQUALITY_DEFAULT_RIGHT."""
    ensemble = _of(tree_ensemble_handle)
    equal = [np.array([kind == EQUAL for kind in kinds.tolist()], bool) for kinds in split_types]
    best = splits.best_of(feature_ids, node_ids, gains, thresholds, left_node_contribs, right_node_contribs, dimension_ids, equal)
    with ensemble.lock:
        ensemble.grow(best, float(learning_rate), int(max_depth), int(pruning_mode))


@op("BoostedTreesCenterBias(tree_ensemble_handle: resource, mean_gradients: float32, mean_hessians: float32, l1: float32, l2: "
    "float32) -> continue_centering: bool", shape=shape_rules.scalar, **_STATE)
def boosted_trees_center_bias(tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2):
    """Moves the first leaf of all towards the mean; whether it is worth to go on."""
    ensemble = _of(tree_ensemble_handle)
    change, _ = splits.weights_and_gains(mean_gradients.ravel()[0], mean_hessians.ravel()[0], l1[()], l2[()])
    with ensemble.lock:
        return np.array(ensemble.center(float(change)))
