"""The resources of a graph that grows trees, as checkpoints hold them: the ensemble, and quantiles of features."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection, control_dependencies, name_scope
from jitgraph.ops.arrays.identity import identity
from jitgraph.resources.registered import register_resource
from jitgraph.variables.saveables import SaveableObject, SaveSpec


class _SavedQuantiles(SaveableObject):
    def __init__(self, handle: Any, create_op: Any, num_streams: int, name: str):
        self._handle, self._create_op = handle, create_op
        boundaries = raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            quantile_stream_resource_handle=handle, num_features=num_streams)
        specs = [SaveSpec(tensor, "", f"{name}_bucket_boundaries_{i}") for i, tensor in enumerate(boundaries)]
        super().__init__(handle, specs, name)

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Any:
        """Takes the boundaries over."""
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesQuantileStreamResourceDeserialize(
                quantile_stream_resource_handle=self._handle, bucket_boundaries=restored_tensors)


class QuantileAccumulator:
    """Boundaries of the buckets of `num_streams` features, about `num_quantiles` of each, within an error of `epsilon`."""

    def __init__(self, epsilon: float, num_streams: int, num_quantiles: int, name: str | None = None):
        self._epsilon, self._num_streams, self._num_quantiles = epsilon, num_streams, num_quantiles
        with name_scope(name, "QuantileAccumulator") as scope:
            self.resource_handle = raw.BoostedTreesQuantileStreamResourceHandleOp(container="", shared_name=scope, name=scope)
            self.initializer = raw.BoostedTreesCreateQuantileStreamResource(
                quantile_stream_resource_handle=self.resource_handle, epsilon=epsilon, num_streams=num_streams)
            is_ready = raw.IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle=self.resource_handle)
        register_resource(self.resource_handle, self.initializer, is_ready)
        self.saveable = _SavedQuantiles(self.resource_handle, self.initializer, num_streams, self.resource_handle.name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)

    def add_summaries(self, float_columns: list, example_weights: Any) -> Any:
        """An operation that takes a batch of each feature in."""
        summaries = raw.BoostedTreesMakeQuantileSummaries(float_values=float_columns, example_weights=example_weights,
                                                          epsilon=self._epsilon)
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle=self.resource_handle,
                                                                  summaries=summaries)

    def flush(self) -> Any:
        """An operation that makes boundaries of what was taken in."""
        return raw.BoostedTreesQuantileStreamResourceFlush(quantile_stream_resource_handle=self.resource_handle,
                                                           num_buckets=self._num_quantiles)

    def get_bucket_boundaries(self) -> list:
        """A vector of boundaries for each feature."""
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            quantile_stream_resource_handle=self.resource_handle, num_features=self._num_streams)


class _SavedTrees(SaveableObject):
    def __init__(self, handle: Any, create_op: Any, name: str):
        self._handle, self._create_op = handle, create_op
        stamp, serialized = raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle)
        super().__init__(handle, [SaveSpec(stamp, "", name + "_stamp"), SaveSpec(serialized, "", name + "_serialized")], name)

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Any:
        """Takes the trees over."""
        with control_dependencies([self._create_op]):
            return raw.BoostedTreesDeserializeEnsemble(tree_ensemble_handle=self._handle, stamp_token=restored_tensors[0],
                                                       tree_ensemble_serialized=restored_tensors[1])


class TreeEnsemble:
    """The trees of a model, empty at first; saved with the variables unless `is_local`."""

    def __init__(self, name: str | None, stamp_token: int = 0, is_local: bool = False, serialized_proto: Any = ""):
        with name_scope(name, "TreeEnsemble") as scope:
            self.resource_handle = raw.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=scope, name=scope)
            self.initializer = raw.BoostedTreesCreateEnsemble(
                tree_ensemble_handle=self.resource_handle, stamp_token=stamp_token, tree_ensemble_serialized=serialized_proto)
            is_ready = raw.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=self.resource_handle)
            if not is_local:
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS,
                                  _SavedTrees(self.resource_handle, self.initializer, self.resource_handle.name))
            register_resource(self.resource_handle, self.initializer, is_ready, is_shared=not is_local)

    def get_states(self) -> list:
        """The stamp, how many trees there are, are finished, layers were attempted, and which nodes may be split."""
        names = "stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers", "last_layer_nodes_range"
        found = raw.BoostedTreesGetEnsembleStates(tree_ensemble_handle=self.resource_handle)
        return [identity(tensor, name=name) for tensor, name in zip(found, names)]

    def serialize(self) -> Any:
        """(stamp, serialized trees)"""
        return raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=self.resource_handle)

    def deserialize(self, stamp_token: Any, serialized_proto: Any) -> Any:
        """An operation that takes trees over."""
        return raw.BoostedTreesDeserializeEnsemble(tree_ensemble_handle=self.resource_handle, stamp_token=stamp_token,
                                                   tree_ensemble_serialized=serialized_proto)
