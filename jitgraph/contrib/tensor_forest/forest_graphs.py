"""``RandomForestGraphs``: the graphs that grow a forest and ask it."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.app import logs
from jitgraph.contrib.framework.variables import VariableDeviceChooser
from jitgraph.contrib.tensor_forest.forest_inputs import DataSpec, features_of, labels_of
from jitgraph.contrib.tensor_forest.parameters import build_params_proto
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection, control_dependencies, device, name_scope
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat, split, stack
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import strided_slice
from jitgraph.ops.elementwise.arithmetic import div, maximum, negative
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import reduce_mean, reduce_sum
from jitgraph.resources.registered import register_resource
from jitgraph.variables.saveables import SaveableObject, SaveSpec
from jitgraph.variables.variable_collections import local_variables
from jitgraph.variables.variable_scopes import get_variable


class _Saved(SaveableObject):
    def __init__(self, handle: Any, create_op: Any, serialized: Any, restore_op: Any, params: bytes):
        self._handle, self._create_op, self._restore_op, self._params = handle, create_op, restore_op, params
        super().__init__(handle, [SaveSpec(serialized, "", handle.name)], handle.name)

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Any:
        """Takes what was saved over."""
        with control_dependencies([self._create_op]):
            return self._restore_op(self._handle, restored_tensors[0], params=self._params)


def _stats_variable(config: Any, params: bytes, name: str) -> Any:
    with name_scope(name, "FertileStatsVariable") as scope:
        handle = raw.FertileStatsResourceHandleOp(shared_name=scope, name=scope)
        create = raw.CreateFertileStatsVariable(handle, config, params=params)
        is_ready = raw.FertileStatsIsInitializedOp(handle)
        saved = _Saved(handle, create, raw.FertileStatsSerialize(handle, params=params), raw.FertileStatsDeserialize, params)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saved)
        register_resource(handle, create, is_ready)
        return handle


def _tree_variable(config: Any, params: bytes, name: str) -> Any:
    with name_scope(name, "TreeVariable") as scope:
        handle = raw.DecisionTreeResourceHandleOp(shared_name=scope, name=scope)
        create = raw.CreateTreeVariable(handle, config, params=params)
        is_ready = raw.TreeIsInitializedOp(handle)
        saved = _Saved(handle, create, raw.TreeSerialize(handle), raw.TreeDeserialize, params)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saved)
        register_resource(handle, create, is_ready)
        return handle


class TreeVariables:
    """The handles of a tree and, to train it, of the statistics of its leaves."""

    def __init__(self, params: Any, tree_num: int, training: bool, tree_config: Any = "", tree_stat: Any = ""):
        if not hasattr(params, "params_proto"):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            self.stats = _stats_variable(tree_stat, params.serialized_params_proto, f"stats-{tree_num}")
        self.tree = _tree_variable(tree_config, params.serialized_params_proto, f"tree-{tree_num}")

    def get_tree_name(self, name: str, num: int) -> str:
        """The name of something of a tree."""
        return f"{name}-{num}"


class ForestVariables:
    """The TreeVariables of a forest, by number; each stands on the device of a variable of no elements."""

    def __init__(self, params: Any, device_assigner: Any, training: bool = True, tree_variables_class: Any = TreeVariables,
                 tree_configs: Any = None, tree_stats: Any = None):
        with device(device_assigner):
            self.device_dummies = [get_variable(name=f"device_dummy_{i}", shape=0) for i in range(params.num_trees)]
        self.variables: list = []
        for i, dummy in enumerate(self.device_dummies):
            more = {} if tree_configs is None else {"tree_config": tree_configs[i]}
            if tree_stats is not None:
                more["tree_stat"] = tree_stats[i]
            with device(dummy.device):
                self.variables.append(tree_variables_class(params, i, training, **more))

    def __setitem__(self, number: int, variables: Any) -> None:
        self.variables[number] = variables

    def __getitem__(self, number: int) -> Any:
        return self.variables[number]


def _epochs() -> Any:
    for variable in local_variables():
        if "limit_epochs/epoch" in variable.op.name:
            return reshape(variable, [1])
    return [0]


class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables: Any, params: Any, tree_num: int):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(self, input_data: Any, input_labels: Any, random_seed: int, data_spec: DataSpec, sparse_features: Any = None,
                       input_weights: Any = None) -> Any:
        """The operation that takes examples in and splits leaves."""
        cast(_epochs(), dtypes.int32)
        weights = [] if input_weights is None else input_weights
        params, spec, tree, stats = self._params, data_spec.SerializeToString(), self.variables.tree, self.variables.stats
        leaves = raw.TraverseTreeV4(tree, input_data, [], [], [], input_spec=spec, params=params)
        update = raw.UpdateModelV4(tree, leaves, input_labels, weights, params=params)
        finished = raw.ProcessInputV4(tree, stats, input_data, [], [], [], input_labels, weights, leaves, input_spec=spec,
                                      random_seed=random_seed, params=params)
        with control_dependencies([update]):
            return raw.GrowTreeV4(tree, stats, finished, params=params)

    @property
    def _params(self) -> bytes:
        serialized: bytes = self.params.serialized_params_proto
        return serialized

    def inference_graph(self, input_data: Any, data_spec: DataSpec, sparse_features: Any = None) -> tuple:
        """(what the tree says [n, outputs], no paths)"""
        return raw.TreePredictionsV4(self.variables.tree, input_data, [], [], [], input_spec=data_spec.SerializeToString(),
                                     params=self._params)

    def size(self) -> Any:
        """The number of nodes."""
        return raw.TreeSize(self.variables.tree)

    def feature_usage_counts(self) -> Any:
        """How many nodes test each feature."""
        return raw.FeatureUsageCounts(self.variables.tree, params=self._params)


class RandomForestGraphs:
    """The graphs of a forest of `params`, a filled ForestHParams.

    `tree_configs` and `tree_stats` give serialized trees and statistics to begin with; `device_assigner` says where trees stand;
    `training` is False for a forest that is only asked.
    """

    def __init__(self, params: Any, tree_configs: Any = None, tree_stats: Any = None, device_assigner: Any = None,
                 variables: Any = None, tree_variables_class: Any = TreeVariables, tree_graphs: Any = None, training: bool = True):
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        logs.info("Constructing forest with params = ")
        logs.info(vars(params))
        self.variables = variables or ForestVariables(params, self.device_assigner, training, tree_variables_class, tree_configs,
                                                      tree_stats)
        self.trees = [(tree_graphs or RandomTreeGraphs)(self.variables[i], params, i) for i in range(params.num_trees)]

    def _on(self, number: int) -> Any:
        return device(self.variables.device_dummies[number].device)

    def _bagged(self, number: int, data: Any) -> Any:
        if not self.params.bagged_features:
            return data
        columns = split(value=data, num_or_size_splits=self.params.num_features, axis=1)
        return concat([columns[i] for i in self.params.bagged_features[number]], 1)

    def get_all_resource_handles(self) -> list:
        """The handles of all trees, and of their statistics."""
        both = self.variables.variables
        return [one.tree for one in both] + [one.stats for one in both]

    def training_graph(self, input_data: Any, input_labels: Any, num_trainers: int = 1, trainer_id: int = 0,
                       **tree_kwargs: Any) -> Any:
        """The operation that takes a batch in: features [n, features] or a dict of them, labels [n].

        Raises NotImplementedError for sparse features.
        """
        data, spec = features_of(input_data)
        labels = labels_of(input_labels)
        share, steps = self.params.num_trees / num_trainers, []
        for i in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with self._on(i):
                seed = self.params.base_random_seed
                seed += i if seed else 0
                some, some_labels = data, labels
                if self.params.bagging_fraction < 1.0:
                    drawn = random_uniform(strided_slice(shape_of(data), [0], [1]), seed=seed)
                    rows = squeeze(where(less(drawn, ones_like(drawn) * self.params.bagging_fraction)), axis=[1])
                    some, some_labels = gather(data, rows), gather(labels, rows)
                steps.append(self.trees[i].training_graph(self._bagged(i, some), some_labels, seed, data_spec=spec,
                                                          sparse_features=None, **tree_kwargs))
        return group(*steps, name="train")

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple:
        """(the mean of what the trees say [n, classes], no paths, its variance)"""
        data, spec = features_of(input_data)
        found, paths = [], []
        for i in range(self.params.num_trees):
            with self._on(i):
                said, path = self.trees[i].inference_graph(self._bagged(i, data), spec, sparse_features=None, **inference_args)
                found.append(said)
                paths.append(path)
        with self._on(0):
            together = stack(found, axis=1)
            average = div(reduce_sum(together, 1), self.params.num_trees, name="probabilities")
            joined = stack(paths, axis=1)
            squares = div(reduce_sum(together * together, 1), self.params.num_trees)
            return average, joined, maximum(0.0, squares - average * average)

    def average_size(self) -> Any:
        """The mean number of nodes of the trees."""
        sizes = []
        for i, tree in enumerate(self.trees):
            with self._on(i):
                sizes.append(tree.size())
        return reduce_mean(cast(stack(sizes), dtypes.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Any:
        """Less the larger the trees are: minus their mean size."""
        return negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Any:
        """As ``training_loss``."""
        return negative(self.average_size())

    def feature_importances(self) -> Any:
        """Which part of the nodes tests each feature."""
        counts = [tree.feature_usage_counts() for tree in self.trees]
        total = reduce_sum(stack(counts, 0), 0)
        return total / reduce_sum(total)
