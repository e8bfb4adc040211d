"""AttrValue <-> the Python values that ``Operation.attrs`` keeps (see ``jitgraph.graph.attributes``)."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.protos import tensor_proto
from jitgraph.graph.protos.function_names import reference
from jitgraph.graph.shapes import TensorShape
from jitgraph.protobuf import messages

_LIST_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape",
                "tensor": "tensor", "func": "func"}


def to_proto(value: Any, kind: str | None = None) -> Any:
    """The AttrValue of `value`; `kind` is the declared kind, guessed from the value if None."""
    if isinstance(value, messages.AttrValue):
        return value
    attr = messages.AttrValue()
    if kind is None:
        kind = _guess(value)
    if kind.startswith("list("):
        item_kind = kind[5:-1]
        attr.list.SetInParent()
        if value:
            getattr(attr.list, _LIST_FIELDS[item_kind]).extend([_item(v, item_kind) for v in value])
        return attr
    item = _item(value, kind)
    if kind in ("shape", "tensor", "func"):
        getattr(attr, kind).CopyFrom(item)
    else:
        setattr(attr, _LIST_FIELDS[kind], item)
    return attr


def _guess(value: Any) -> str:
    """The kind of an undeclared attribute."""
    if isinstance(value, list):
        return f"list({_guess(value[0])})" if value else "list(int)"
    for classes, kind in _KINDS_BY_CLASS:
        if isinstance(value, classes):
            return kind
    return "shape" if value is None else "func"


_KINDS_BY_CLASS: list[tuple[Any, str]] = [
    ((bool, np.bool_), "bool"), ((int, np.integer), "int"), ((float, np.floating), "float"),
    ((str, bytes), "string"), (DType, "type"), ((tuple, TensorShape), "shape"),
    ((np.ndarray, messages.TensorProto), "tensor"), (messages.TensorShapeProto, "shape"),
]


def _item(value: Any, kind: str) -> Any:
    if kind == "string":
        return value.encode("utf-8") if isinstance(value, str) else bytes(value)
    if kind == "type":
        return as_dtype(value).as_datatype_enum
    if kind == "shape":
        if isinstance(value, messages.TensorShapeProto):
            return value
        return tensor_proto.shape_to_proto(value._raw if isinstance(value, TensorShape) else value)
    if kind == "tensor":
        return value if isinstance(value, messages.TensorProto) else tensor_proto.from_array(value)
    if kind == "func":
        return _func_to_proto(value)
    return {"bool": bool, "int": int, "float": float}[kind](value)


def _func_to_proto(value: Any) -> Any:
    if isinstance(value, messages.NameAttrList):
        return value
    if hasattr(value, "outer_graph"):
        return reference(value)
    return messages.NameAttrList(name=value if isinstance(value, str) else value.name)


def from_proto(attr: Any) -> Any:
    """The Python value of an AttrValue; None if it holds none.  Functions stay NameAttrLists."""
    which = attr.WhichOneof("value")
    if which is None:
        return None
    if which == "placeholder":
        return attr
    if which == "list":
        for field in _LIST_FIELDS.values():
            items = getattr(attr.list, field)
            if items:
                return [_from_item(item, field) for item in items]
        return []
    return _from_item(getattr(attr, which), which)


def _from_item(item: Any, field: str) -> Any:
    if field == "s":
        try:
            return item.decode("utf-8")
        except UnicodeDecodeError:
            return item
    if field == "type":
        return as_dtype(item)
    if field == "shape":
        return tensor_proto.shape_from_proto(item)
    if field == "tensor":
        return tensor_proto.to_array(item)
    return item


def public_value(value: Any, kind: str | None) -> Any:
    """What ``op.get_attr`` answers: DTypes for types, bytes for strings, protocol buffers for shapes and tensors."""
    if kind is None:
        kind = _guess(value)
    if kind.startswith("list("):
        return [public_value(item, kind[5:-1]) for item in value]
    if kind in ("type", "bool", "int", "float"):
        return value
    return _item(value, kind)
