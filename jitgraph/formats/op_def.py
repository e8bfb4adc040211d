"""Op declarations as OpDef messages, for the ``stripped_op_list`` of MetaGraphs and ``op.op_def``."""
from __future__ import annotations

from typing import Any

from jitgraph.declare.signature import REQUIRED, Arg, Attr, Signature
from jitgraph.formats import attr_value, messages
from jitgraph.graph.dtypes import TypeSet, as_dtype


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


def declaration(proto: Any) -> Any:
    """The declaration that an OpDef message states, without a value: enough to make nodes of it.

    Raises ValueError, naming the op, if it cannot be one.
    """
    from jitgraph.declare.op import OpDef

    try:
        attrs = {attr.name: _attr(attr) for attr in proto.attr}
        inputs = [_arg(arg) for arg in proto.input_arg]
        for arg in inputs:
            for name in (arg.type_attr, arg.number_attr, arg.list_attr):
                if name is not None:
                    attrs[name].implied = True
        signature = Signature(proto.name, inputs, [_arg(arg) for arg in proto.output_arg], attrs)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the OpDef of {proto.name} is not consistent: {error}") from None
    return OpDef(proto.name, lambda: signature, stateful=proto.is_stateful)


def _arg(proto: Any) -> Arg:
    dtype = as_dtype(proto.type) if proto.type else None
    return Arg(proto.name, dtype, proto.type_attr or None, proto.number_attr or None, proto.type_list_attr or None,
               proto.is_ref)


def _attr(proto: Any) -> Attr:
    default = attr_value.from_proto(proto.default_value) if proto.HasField("default_value") else REQUIRED
    allowed: Any = None
    if proto.allowed_values.list.type:
        allowed = TypeSet(*[as_dtype(dtype) for dtype in proto.allowed_values.list.type])
    elif proto.allowed_values.list.s:
        allowed = tuple(text.decode() for text in proto.allowed_values.list.s)
    return Attr(proto.name, proto.type, default, allowed, proto.minimum if proto.has_minimum else None)
