"""Op declarations as OpDef messages, for the ``stripped_op_list`` of MetaGraphs and ``op.op_def``."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.protos import attr_value
from jitgraph.graph.signature import REQUIRED
from jitgraph.protobuf import messages


def op_def_proto(opdef: Any) -> Any:
    """The OpDef of a declaration."""
    proto = messages.OpDef(name=opdef.type, is_stateful=opdef.stateful)
    for args, field in ((opdef.inputs, proto.input_arg), (opdef.outputs, proto.output_arg)):
        for arg in args:
            entry = field.add(name=arg.name, is_ref=arg.is_ref, type_attr=arg.type_attr or "",
                              number_attr=arg.number_attr or "", type_list_attr=arg.list_attr or "")
            if arg.dtype is not None:
                entry.type = arg.dtype.as_datatype_enum
    for attr in opdef.attrs.values():
        _add_attr(proto, attr)
    return proto


def _add_attr(proto: Any, attr: Any) -> None:
    entry = proto.attr.add(name=attr.name, type=attr.kind)
    if attr.minimum is not None:
        entry.has_minimum, entry.minimum = True, attr.minimum
    if attr.default is not REQUIRED and (attr.default is not None or attr.kind == "shape"):
        entry.default_value.CopyFrom(attr_value.to_proto(attr.default, attr.kind))
    if isinstance(attr.allowed, TypeSet):
        entry.allowed_values.list.type.extend([t.as_datatype_enum for t in attr.allowed])
    elif attr.allowed is not None:
        entry.allowed_values.list.s.extend([s.encode() for s in attr.allowed])
