"""Graphs in which the products of weights and masks became constants."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.facade.names import resolve
from jitgraph.formats.graph_parts import extract_sub_graph
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.graph import Graph
from jitgraph.graph.protos.tensor_proto import make_tensor_proto
from jitgraph.protobuf.messages import GraphDef
from jitgraph.tools.freeze import convert_variables_to_constants
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.saver import import_meta_graph


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: list[str]) -> Any:
    """The part of a GraphDef that `output_node_names` need, with each "masked_weight" as a constant in place of its product."""
    with Graph().as_default() as graph:
        import_graph_def(input_graph_def, name="")
    names = [node.name for node in input_graph_def.node if "masked_weight" in node.name]
    with resolve("Session")(graph=graph) as session:
        values = {name: session.run(graph.get_tensor_by_name(f"{name}:0")) for name in names}
    stripped = GraphDef()
    for node in input_graph_def.node:
        found = stripped.node.add()
        if node.name not in values:
            found.CopyFrom(node)
            continue
        value = values[node.name]
        zeros = 100 - 100.0 * np.count_nonzero(value) / np.size(value)
        logs.info("%s has %d values, %1.2f%% zeros \n", node.name, np.size(value), zeros)
        found.op, found.name = "Const", node.name
        found.attr["dtype"].CopyFrom(node.attr["T"])
        found.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return extract_sub_graph(stripped, output_node_names)


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: list[str]) -> Any:
    """The GraphDef of the latest checkpoint of a folder, its variables constants.  Raises ValueError if there is none."""
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver: Any = import_meta_graph(f"{path}.meta", clear_devices=True)
    with resolve("Session")() as session:
        saver.restore(session, path)
        return convert_variables_to_constants(session, get_default_graph().as_graph_def(), output_node_names)
