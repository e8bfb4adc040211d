"""``tensorflow.python.tools.freeze_graph``: a graph and a checkpoint become one file with constants."""
from __future__ import annotations

from typing import Any

from google.protobuf import text_format

from jitgraph.facade.names import resolve
from jitgraph.formats import meta_graph
from jitgraph.formats.checkpoint import CheckpointReader
from jitgraph.formats.files import local_path
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.formats.message_files import write_message
from jitgraph.graph.graph import Graph
from jitgraph.protobuf import messages
from jitgraph.saved_model import loader
from jitgraph.tools.freeze import convert_variables_to_constants
from jitgraph.train.checkpoint_state import checkpoint_exists
from jitgraph.train.saver import Saver


def _listed(names: Any) -> list[str] | None:
    """Names in one text with commas as a list; None for no names."""
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    return [name for name in names or () if name] or None


def _parsed(path: str, binary: bool, message: Any) -> Any:
    with open(local_path(path), "rb") as file:
        data = file.read()
    if binary:
        return type(message).FromString(data)
    return text_format.Parse(data.decode(), message, descriptor_pool=messages.POOL)


def _variables(graph: Graph, checkpoint: str) -> dict[str, Any]:
    """{name in the checkpoint: tensor of the variable of that name}."""
    found = {}
    for name in CheckpointReader(checkpoint).get_variable_to_shape_map():
        op = graph._nodes_by_name.get(name)
        if op is None:
            continue
        tensor: Any = op.outputs[0]
        if op.opdef is not None and op.opdef.variable == "resource":
            tensor = next((c.outputs[0] for c in tensor.consumers() if c.type == "ReadVariableOp"), None)
        if tensor is not None:
            found[name] = tensor
    return found


def freeze_graph_with_def_protos(input_graph_def: Any, input_saver_def: Any, input_checkpoint: str,
                                 output_node_names: Any, restore_op_name: str, filename_tensor_name: str,
                                 output_graph: str | None, clear_devices: bool, initializer_nodes: Any,
                                 variable_names_whitelist: Any = "", variable_names_blacklist: Any = "",
                                 input_meta_graph_def: Any = None, input_saved_model_dir: str | None = None,
                                 saved_model_tags: Any = None, checkpoint_version: int = 2) -> Any:
    """The GraphDef of a graph with the variables of a checkpoint as constants; see ``freeze_graph``."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    outputs = _listed(output_node_names)
    if not outputs:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    source = input_meta_graph_def.graph_def if input_meta_graph_def is not None else input_graph_def
    if clear_devices and source is not None:
        for node in source.node:
            node.device = ""
    graph = Graph()
    with graph.as_default(), resolve("Session")(graph=graph) as session:
        if input_saved_model_dir:
            source = loader.load(session, saved_model_tags or ["serve"], input_saved_model_dir).graph_def
        elif input_meta_graph_def is not None:
            resolve("train.import_meta_graph")(input_meta_graph_def, clear_devices=True).restore(session, input_checkpoint)
        else:
            import_graph_def(source, name="")
            saver = Saver(saver_def=input_saver_def) if input_saver_def is not None else \
                Saver(_variables(graph, input_checkpoint))
            saver.restore(session, input_checkpoint)
        for name in _listed(initializer_nodes) or ():
            session.run(name)
        frozen = convert_variables_to_constants(session, source, outputs, _listed(variable_names_whitelist),
                                                _listed(variable_names_blacklist))
    if output_graph:
        write_message(frozen, output_graph, as_text=False)
    return frozen


def freeze_graph(input_graph: str | None, input_saver: str | None, input_binary: bool, input_checkpoint: str,
                 output_node_names: Any, restore_op_name: str, filename_tensor_name: str, output_graph: str | None,
                 clear_devices: bool, initializer_nodes: Any, variable_names_whitelist: Any = "",
                 variable_names_blacklist: Any = "", input_meta_graph: str | None = None,
                 input_saved_model_dir: str | None = None, saved_model_tags: Any = "serve",
                 checkpoint_version: int = 2) -> Any:
    """Makes one file of a graph (GraphDef, MetaGraph or SavedModel) and a checkpoint; returns the GraphDef.

    Args:
      input_graph, input_binary: the file of a GraphDef, and whether it is binary.
      input_saver: the file of a SaverDef of nodes in it, if any.
      input_checkpoint: the prefix of the checkpoint.
      output_node_names: the nodes to compute, in one text with commas, or a list.
      restore_op_name, filename_tensor_name, checkpoint_version: not used.
      output_graph: the file to write.
      clear_devices: forget the devices of nodes.
      initializer_nodes: nodes to run before freezing.
      variable_names_whitelist, variable_names_blacklist: the variables to convert, and those to leave.
      input_meta_graph: the file of a MetaGraph in place of a GraphDef.
      input_saved_model_dir, saved_model_tags: the folder of a SavedModel in place of all of these.
    Raises ValueError if there is no such checkpoint, or no output is named.
    """
    graph_def = _parsed(input_graph, input_binary, messages.GraphDef()) if input_graph else None
    meta = meta_graph.read_meta_graph_file(input_meta_graph) if input_meta_graph else None
    saver_def = _parsed(input_saver, input_binary, messages.SaverDef()) if input_saver else None
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_blacklist, meta,
        input_saved_model_dir, _listed(saved_model_tags), checkpoint_version)
