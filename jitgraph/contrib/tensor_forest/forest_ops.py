"""Trees of random forests as nodes; the trees are in ``decision_trees``, what makes them grow in ``growth``."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph.contrib.tensor_forest.decision_trees import DecisionTree
from jitgraph.contrib.tensor_forest.growth import Growth, params_of
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import errors, shape_rules
from jitgraph.ops.random.philox import Bits
from jitgraph.ops.random.simple_philox import SimplePhilox
from jitgraph.resources import shared

_TESTS = "tests/contrib/tensor_forest: a forest"
_STATE: dict[str, Any] = {"stateful": True, "host": True, "tested_in": _TESTS}
_DATA = "input_data: float32, sparse_input_indices: int64, sparse_input_values: float32, sparse_input_shape: int64"


@op('DecisionTreeResourceHandleOp(; container: string = "", shared_name: string = "") -> resource: resource',
    shape=shape_rules.scalar, context=("state", "op"), **_STATE)
def decision_tree_resource_handle_op(state, op):
    """A handle of a tree."""
    return shared(state, op, "decision_tree", DecisionTree)


@op('FertileStatsResourceHandleOp(; container: string = "", shared_name: string = "") -> resource: resource',
    shape=shape_rules.scalar, context=("state", "op"), **_STATE)
def fertile_stats_resource_handle_op(state, op):
    """A handle of the statistics of a tree's leaves."""
    return shared(state, op, "fertile_stats", Growth)


def _of(handle: np.ndarray) -> Any:
    found: Any = handle[()]
    if not found.is_initialized:
        raise errors.NotFoundError(None, None, "The tree was not created: run the initializers of the shared resources, "
                                             "tf.python.ops.resources.initialize_resources(resources.shared_resources())")
    return found


@op("CreateTreeVariable(tree_handle: resource, tree_config: string; params: string)", shape=shape_rules.no_outputs, **_STATE)
def create_tree_variable(tree_handle, tree_config, params):
    """Begins a tree with a serialized one, or a single leaf, if it has not begun."""
    tree = tree_handle[()]
    with tree.lock:
        if not tree.is_initialized:
            tree.load(bytes(tree_config[()]), params_of(params).num_outputs)


@op("TreeDeserialize(tree_handle: resource, tree_config: string; params: string)", shape=shape_rules.no_outputs, **_STATE)
def tree_deserialize(tree_handle, tree_config, params):
    """Replaces a tree by a serialized one."""
    tree = tree_handle[()]
    with tree.lock:
        tree.load(bytes(tree_config[()]), params_of(params).num_outputs)


@op("CreateFertileStatsVariable(stats_handle: resource, stats_config: string; params: string)", shape=shape_rules.no_outputs,
    **_STATE)
def create_fertile_stats_variable(stats_handle, stats_config, params):
    """Begins the statistics of leaves, if they have not begun."""
    stats = stats_handle[()]
    with stats.lock:
        if not stats.is_initialized:
            stats.begin(params_of(params), bytes(stats_config[()]))


@op("FertileStatsDeserialize(stats_handle: resource, stats_config: string; params: string)", shape=shape_rules.no_outputs, **_STATE)
def fertile_stats_deserialize(stats_handle, stats_config, params):
    """Begins the statistics of leaves anew, for the leaves of a message."""
    stats = stats_handle[()]
    with stats.lock:
        stats.begin(params_of(params), bytes(stats_config[()]))


@op("TreeIsInitializedOp(tree_handle: resource) -> is_initialized: bool", shape=shape_rules.scalar, **_STATE)
def tree_is_initialized_op(tree_handle):
    """Whether a tree was created."""
    return np.array(tree_handle[()].is_initialized)


@op("FertileStatsIsInitializedOp(stats_handle: resource) -> is_initialized: bool", shape=shape_rules.scalar, **_STATE)
def fertile_stats_is_initialized_op(stats_handle):
    """Whether statistics were created."""
    return np.array(stats_handle[()].is_initialized)


@op("TreeSerialize(tree_handle: resource) -> tree_config: string", shape=shape_rules.scalar, **_STATE)
def tree_serialize(tree_handle):
    """A tree as a message."""
    tree = _of(tree_handle)
    with tree.lock:
        return np.array(tree.serialized(), object)


@op("FertileStatsSerialize(stats_handle: resource; params: string) -> stats_config: string", shape=shape_rules.scalar, **_STATE)
def fertile_stats_serialize(stats_handle, params):
    """Which leaves have statistics; their numbers are not kept."""
    stats = _of(stats_handle)
    with stats.lock:
        return np.array(stats.serialized(), object)


@op("TreeSize(tree_handle: resource) -> tree_size: int32", shape=shape_rules.scalar, **_STATE)
def tree_size(tree_handle):
    """How many nodes a tree has."""
    return np.array(_of(tree_handle).size, np.int32)


@op("FeatureUsageCounts(tree_handle: resource; params: string) -> feature_counts: int32", shape=lambda c: (None,), **_STATE)
def feature_usage_counts(tree_handle, params):
    """How many nodes of a tree test each feature."""
    tree = _of(tree_handle)
    with tree.lock:
        return tree.feature_counts(params_of(params).num_features)


def _data(tree: DecisionTree, data: np.ndarray, sparse: np.ndarray) -> np.ndarray:
    if sparse.size:
        raise errors.UnimplementedError(None, None, "forests of sparse features are not here: make them dense, by "
                                        "tf.sparse_tensor_to_dense")
    if data.ndim != 2:
        raise invalid(f"input_data should be two-dimensional, got shape {list(data.shape)}")
    if data.shape[1] <= tree.feature.max(initial=-1):
        raise invalid(f"input_data has {data.shape[1]} features, the tree tests number {tree.feature.max()}")
    return data


@op(f"TraverseTreeV4(tree_handle: resource, {_DATA}; input_spec: string, params: string) -> leaf_ids: int32",
    shape=lambda c: (c.shapes[1][0] if c.shapes[1] else None,), **_STATE)
def traverse_tree_v4(tree_handle, input_data, sparse_input_indices, sparse_input_values, sparse_input_shape, input_spec, params):
    """The leaf that each example [n, features] comes to."""
    tree = _of(tree_handle)
    with tree.lock:
        return tree.leaves(_data(tree, input_data, sparse_input_values))


@op(f"TreePredictionsV4(tree_handle: resource, {_DATA}; input_spec: string, params: string) -> predictions: float32, "
    "tree_paths: string", shape=lambda c: [(c.shapes[1][0] if c.shapes[1] else None, None), None], **_STATE)
def tree_predictions_v4(tree_handle, input_data, sparse_input_indices, sparse_input_values, sparse_input_shape, input_spec, params):
    """What the leaves of examples say: the parts of classes, which add up to 1 once examples came, or numbers."""
    tree = _of(tree_handle)
    with tree.lock:
        found = tree.values[tree.leaves(_data(tree, input_data, sparse_input_values))]
    if not params_of(params).is_regression:
        sums = found.sum(1, keepdims=True, dtype=np.float32)
        found = found / np.where(sums > 0, sums, np.float32(1))
    return found, np.zeros(0, object)


@op("UpdateModelV4(tree_handle: resource, leaf_ids: int32, input_labels: float32, input_weights: float32; params: string)",
    shape=shape_rules.no_outputs, **_STATE)
def update_model_v4(tree_handle, leaf_ids, input_labels, input_weights, params):
    """Counts the classes of examples in the leaves that they came to."""
    tree = _of(tree_handle)
    found = params_of(params)
    if found.is_regression:
        return
    weights = input_weights if input_weights.size else np.ones(len(leaf_ids), np.float32)
    with tree.lock:
        np.add.at(tree.values, (leaf_ids, _classes(input_labels, found.num_outputs)), weights)


def _classes(labels: np.ndarray, count: int) -> np.ndarray:
    classes = labels.astype(np.int64).reshape(-1)
    if classes.size and not 0 <= classes.min() <= classes.max() < count:
        raise invalid(f"labels should be from 0 to {count - 1}, got {classes.min()} to {classes.max()}")
    return classes


@op(f"ProcessInputV4(tree_handle: resource, stats_handle: resource, {_DATA}, input_labels: float32, input_weights: float32, "
    "leaf_ids: int32; random_seed: int, input_spec: string, params: string) -> finished_nodes: int32", shape=lambda c: (None,),
    **_STATE)
def process_input_v4(tree_handle, stats_handle, input_data, sparse_input_indices, sparse_input_values, sparse_input_shape,
                     input_labels, input_weights, leaf_ids, random_seed, input_spec, params):
    """Takes examples into the statistics of the leaves that they came to; gives the leaves that may be split."""
    tree, stats = _of(tree_handle), _of(stats_handle)
    data, found = _data(tree, input_data, sparse_input_values), params_of(params)
    if not found.is_regression:
        _classes(input_labels, found.num_outputs)
    weights = input_weights if input_weights.size else np.ones(len(data), np.float32)
    with stats.lock:        # a seed gives the same numbers at each run
        return stats.add(data, input_labels, weights, leaf_ids, _categorical(input_spec, data.shape[1]), _random(random_seed))


def _random(seed: int) -> SimplePhilox:
    return SimplePhilox(Bits(seed if seed else int(np.random.SeedSequence().generate_state(1, np.uint64)[0]), 0, 0))


_COLUMN = re.compile(rb"original_type: (\d+) size: (\d+)")


def _categorical(spec: Any, features: int) -> np.ndarray:
    """Which features are ids, by the description that ``forest_inputs`` makes."""
    text = spec if isinstance(spec, bytes) else spec.encode()
    parts = [np.full(int(size), kind == b"1") for kind, size in _COLUMN.findall(text.split(b"sparse: ")[0])]
    found = np.concatenate(parts) if parts else np.zeros(0, bool)
    return found if len(found) == features else np.zeros(features, bool)


@op("GrowTreeV4(tree_handle: resource, stats_handle: resource, finished_nodes: int32; params: string)",
    shape=shape_rules.no_outputs, **_STATE)
def grow_tree_v4(tree_handle, stats_handle, finished_nodes, params):
    """Splits leaves by the best of their candidates."""
    tree, stats = _of(tree_handle), _of(stats_handle)
    with tree.lock, stats.lock:
        stats.grow(tree, finished_nodes)


@op("FinalizeTree(tree_handle: resource, stats_handle: resource; params: string)", shape=shape_rules.no_outputs, **_STATE)
def finalize_tree(tree_handle, stats_handle, params):
    """Nothing: the leaves have their values as examples come."""
    _of(tree_handle), _of(stats_handle)
