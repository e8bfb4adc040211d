"""OpDef messages of other programs as declarations: ops that only a graph file knows."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.dtypes import TypeSet, as_dtype
from jitgraph.graph.op_types import OpDef
from jitgraph.graph.protos import attr_value
from jitgraph.graph.signature import REQUIRED, Arg, Attr, Signature


def declaration(proto: Any) -> Any:
    """The declaration that an OpDef message states, without a value: enough to make nodes of it.

    Raises ValueError, naming the op, if it cannot be one.
    """
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
