"""``tensorflow.python.grappler.tf_optimizer``: graphs rewritten before a run."""
from __future__ import annotations

from typing import Any

from jitgraph.control.evaluated_constants import evaluated_constant
from jitgraph.formats.graph_parts import extract_sub_graph, node_name
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.graph import Graph
from jitgraph.protobuf.messages import GraphDef
from jitgraph.tools.freeze import constant_node


def OptimizeGraph(config_proto: Any, metagraph: Any, verbose: bool = True, graph_id: bytes = b"graph_to_optimize",
                  cluster: Any = None) -> GraphDef:
    """The part of a MetaGraphDef's graph that its collection "train_op" needs, with what constants tell as constants.

    `config_proto`: a ConfigProto, whose ``graph_options.rewrite_options.optimizers`` may leave out "constfold".  What else
    TensorFlow rewrites here the compiler does when the graph runs.  Raises InvalidArgumentError without that collection.
    """
    fetched = [node_name(name) for name in metagraph.collection_def["train_op"].node_list.value]
    if not fetched:
        raise InvalidArgumentError(None, None, "Failed to import metagraph: its collection train_op says what is fetched, and is "
                                               "empty.")
    needed = extract_sub_graph(metagraph.graph_def, fetched)
    optimizers = config_proto.graph_options.rewrite_options.optimizers
    if optimizers and "constfold" not in optimizers:
        return needed
    return extract_sub_graph(_folded(needed, set(fetched)), fetched)


def _folded(graph_def: Any, fetched: set[str]) -> GraphDef:
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        found = GraphDef(versions=graph_def.versions, library=graph_def.library)
        for node in graph_def.node:
            outputs = graph.get_operation_by_name(node.name).outputs
            folds = node.op != "Const" and node.name not in fetched and len(outputs) == 1 and node.input
            value = evaluated_constant(outputs[0]) if folds else None
            found.node.append(node if value is None else constant_node(node.name, value, outputs[0].dtype.as_datatype_enum))
    return found
