"""``tf.graph_util.convert_variables_to_constants``: a graph whose variables have become constants."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.app import logs
from jitgraph.control.frames.structure import FRAME_OPS
from jitgraph.formats.graph_parts import copied, extract_sub_graph, node_name
from jitgraph.graph.dtypes import as_dtype, resource
from jitgraph.graph.protos.tensor_proto import from_array
from jitgraph.graph.registry import variable_kind
from jitgraph.protobuf import messages

_PASSING = {"Identity"} | FRAME_OPS     # may carry a handle


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: list[str],
                                   variable_names_whitelist: Any = None, variable_names_blacklist: Any = None) -> Any:
    """The GraphDef of what `output_node_names` need, with each variable as a constant of its value in `sess`.

    `variable_names_whitelist`: the variables to convert, all if None; `variable_names_blacklist`: those to leave.
    Raises AssertionError for outputs that are not there, FailedPreconditionError for variables without a value.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    chosen = [node for node in graph_def.node if variable_kind(node.op)
              and (variable_names_whitelist is None or node.name in variable_names_whitelist)
              and (variable_names_blacklist is None or node.name not in variable_names_blacklist)]
    values = dict(zip([node.name for node in chosen], sess.run([_reading(sess.graph, node) for node in chosen])))
    dtypes = {node.name: node.attr["dtype"].type for node in chosen}
    handles = _handles(graph_def, {node.name for node in chosen if variable_kind(node.op) == "resource"})
    nodes: list[Any] = []
    for node in graph_def.node:
        if node.name in values:
            nodes.append(constant_node(node.name, values[node.name], dtypes[node.name]))
        else:
            nodes.extend(_rewritten(node, handles, dtypes))
    logs.info("Froze %d variables.", len(values))
    return copied(graph_def, nodes)


def _reading(graph: Any, node: Any) -> Any:
    """A tensor of the session's graph with the value of a variable."""
    variable = graph.get_operation_by_name(node.name).outputs[0]
    if variable_kind(node.op) == "reference":
        return variable
    for consumer in variable.consumers():
        if consumer.type == "ReadVariableOp" and not consumer.control_inputs:
            return consumer.outputs[0]
    with graph.as_default(), graph.control_dependencies(None):
        return raw.ReadVariableOp(variable, dtype=variable.op.attrs["dtype"])


def _handles(graph_def: Any, frozen: set[str]) -> dict[str, str]:
    """{node: frozen variable} for the variables and the nodes that hand their handles on."""
    nodes = {node.name: node for node in graph_def.node}
    handles = {name: name for name in frozen}
    changed = True
    while changed:
        changed = False
        for name, node in nodes.items():
            if name in handles or node.op not in _PASSING or "T" not in node.attr or node.attr["T"].type != \
                    resource.as_datatype_enum:
                continue
            source = next((handles[n] for n in map(node_name, node.input) if n in handles), None)
            if source is not None:
                handles[name], changed = source, True
    return handles


def constant_node(name: str, value: Any, dtype: int) -> Any:
    node = messages.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype
    base = as_dtype(dtype)
    array: Any = np.asarray(value, object if base.name == "string" else base.as_numpy_dtype)
    node.attr["value"].tensor.CopyFrom(from_array(array, base))
    return node


def _rewritten(node: Any, handles: dict[str, str], dtypes: dict[str, int]) -> list[Any]:
    """A node as it reads a constant where it read a handle."""
    source = handles.get(node_name(node.input[0])) if node.input else None
    new = messages.NodeDef()
    new.CopyFrom(node)
    if source is None:
        return [new]
    dtype = dtypes[source]
    if node.op == "ReadVariableOp":
        new.op = "Identity"
        new.attr.clear()
        new.attr["T"].type = dtype
        if "_class" in node.attr:
            new.attr["_class"].CopyFrom(node.attr["_class"])
        return [new]
    if node.op == "ResourceGatherNd":
        new.op = "GatherNd"
        new.attr.clear()
        new.attr["Tparams"].type = dtype
        new.attr["Tindices"].CopyFrom(node.attr["Tindices"])
        return [new]
    if node.op == "ResourceGather":
        return _gather(node, dtype)
    if node.name in handles:
        new.attr["T"].type = dtype
        return [new]
    raise ValueError(f"Node '{node.name}' (op: '{node.op}') uses the variable '{source}' in a way that has no meaning for "
                     "a constant; name it in variable_names_blacklist.")


def _gather(node: Any, dtype: int) -> list[Any]:
    """A GatherV2 along the first axis (or that of ``batch_dims``) in place of a ResourceGather."""
    batch_dims = node.attr["batch_dims"].i
    axis = constant_node(f"{node.name}/axis", batch_dims, messages.DT_INT32)
    new = messages.NodeDef(name=node.name, op="GatherV2", device=node.device)
    controls = [text for text in node.input if text.startswith("^")]
    new.input.extend([*node.input[:2], axis.name, *controls])
    new.attr["Tparams"].type, new.attr["Taxis"].type = dtype, messages.DT_INT32
    new.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    new.attr["batch_dims"].i = batch_dims
    return [axis, new]
