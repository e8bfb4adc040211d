"""Datasets as graphs, checks of which steps follow, and snapshots, as nodes."""
from __future__ import annotations

import numpy as np

from jitgraph.data import recipes
from jitgraph.data.declaring import SHAPED, TESTS, dataset_op
from jitgraph.data.snapshot_host import Snapshot
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.texts import as_text
from jitgraph.resources import handle


@op("DatasetToGraph(input_dataset: variant; stateful_whitelist: list(string) >= 0 = []) -> graph: string",
    shape=shape_rules.scalar, host=True, tested_in=TESTS)
def dataset_to_graph(input_dataset, stateful_whitelist):
    """A dataset as a serialized GraphDef.  An error if its functions have a state, but for types of nodes that are allowed."""
    allowed = frozenset(as_text(name) for name in stateful_whitelist)
    return np.array(recipes.written(recipes.checked(input_dataset[()], allowed)).SerializeToString(), object)


@op("DatasetFromGraph(graph_def: string) -> handle: variant", shape=shape_rules.scalar, host=True, context=("state", "op"),
    tested_in=TESTS)
def dataset_from_graph(graph_def, state, op):
    """The dataset that a serialized GraphDef describes."""
    return handle(recipes.read(graph_def[()], op.graph, state))


@dataset_op("AssertNextDataset(input_dataset: variant, transformations: string; ...)")
def assert_next_dataset(input_dataset, transformations):
    """The elements; an iterator cannot begin unless these transformations are the next ones after it."""
    return recipes.NextAsserted(input_dataset, [name.decode() for name in np.ravel(transformations).tolist()])


@dataset_op(f"SnapshotDataset(input_dataset: variant, path: string; {SHAPED}, "
            'compression: string = "", reader_path_prefix: string = "", writer_path_prefix: string = "", '
            "shard_size_bytes: int = 10737418240, pending_snapshot_expiry_seconds: int = 86400, num_reader_threads: int = 1, "
            "reader_buffer_size: int = 1, num_writer_threads: int = 1, writer_buffer_size: int = 1)")
def snapshot_dataset(input_dataset, path, compression, reader_path_prefix, writer_path_prefix, shard_size_bytes,
                     pending_snapshot_expiry_seconds):
    """The elements, kept in files for the next time that somebody asks for them."""
    prefixes = as_text(reader_path_prefix), as_text(writer_path_prefix)
    return Snapshot(input_dataset, as_text(path), as_text(compression), prefixes, shard_size_bytes, pending_snapshot_expiry_seconds)
