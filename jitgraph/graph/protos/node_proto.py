"""Operations as NodeDefs."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.protos import attr_value, tensor_proto
from jitgraph.protobuf import messages

REPLAYS = "_replays"            # an attribute of nodes that repeat for a gradient what others do, which may read once only
Endpoint = tuple[str, int]      # a node's name and the number of one of its outputs


def endpoint(text: str) -> Endpoint:
    """What ``"name"`` or ``"name:2"`` means; other text is taken as a name, which will not be found."""
    name, colon, index = text.rpartition(":")
    if colon and name and index.isdecimal() and len(index) < 10:
        return name, int(index)
    return text, 0


def input_name(tensor: Any) -> str:
    """How a NodeDef names an input: ``op`` for output 0, else ``op:index``."""
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def node_to_proto(op: Any, add_shapes: bool = False) -> Any:
    """The NodeDef of an operation; `add_shapes` adds the attribute ``_output_shapes``."""
    node = messages.NodeDef(name=op.name, op=op.type, device=op.device)
    node.input.extend([input_name(t) for t in op.inputs])
    node.input.extend(sorted("^" + c.name for c in op.control_inputs))
    opdef = op.opdef
    calls_by_name = opdef is not None and opdef.functions and opdef.type != op.type     # its type says which function
    for name, value in () if calls_by_name else op.attrs.items():
        kind = opdef.attr_kind(name) if opdef is not None else None
        if value is None and kind != "shape":
            continue
        stored = op.__dict__.get("stored_tensors", {}).get(name)
        if stored is not None and stored[0] is value:
            node.attr[name].tensor.CopyFrom(stored[1])
        elif kind == "tensor" and "dtype" in op.attrs:
            node.attr[name].tensor.CopyFrom(tensor_proto.from_array(value, op.attrs["dtype"]))
        else:
            node.attr[name].CopyFrom(attr_value.to_proto(value, kind))
    for name, value in (op.annotations or {}).items():
        node.attr[name].CopyFrom(attr_value.to_proto(value))
    if op.replays:
        node.attr[REPLAYS].b = True
    if add_shapes and op.outputs:
        node.attr["_output_shapes"].list.shape.extend([tensor_proto.shape_to_proto(t._shape) for t in op.outputs])
    return node
