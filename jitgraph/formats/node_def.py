"""NodeDefs read and checked against the declarations of their ops, before any node is made of them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitgraph.graph.attributes import check_attr
from jitgraph.graph.dtypes import DType
from jitgraph.graph.names import check_op_name
from jitgraph.graph.protos import attr_value
from jitgraph.graph.protos.node_proto import Endpoint, endpoint
from jitgraph.graph.signature import REQUIRED, Arg

_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "tensor": "tensor",
           "func": "func"}
_KINDS = {field: kind for kind, field in _FIELDS.items()} | {"list": "list", "placeholder": "placeholder"}

@dataclass(slots=True)
class Node:
    """A NodeDef taken apart: the endpoints it reads, the nodes it waits for."""

    definition: Any
    name: str
    type: str
    inputs: list[Endpoint]
    controls: list[str]


def parse(definition: Any) -> Node:
    """Name and inputs of a NodeDef.  Raises ValueError, naming the node, for names that cannot be."""
    name = definition.name
    try:
        check_op_name(name)
    except ValueError:
        raise ValueError(f"Node '{name}': Node name contains invalid characters") from None
    inputs: list[Endpoint] = []
    controls: dict[str, None] = {}
    for text in definition.input:
        if text.startswith("^"):
            controls[text[1:]] = None
        elif controls:
            raise ValueError(f"Node '{name}': Control dependencies must come after regular dependencies")
        else:
            inputs.append(endpoint(text))
    return Node(definition, name, definition.op, inputs, list(controls))


def attributes(node: Node, opdef: Any, producer_op: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The declared attributes, with defaults where the file has none, and the annotations (all others).

    `producer_op`: the OpDef of who wrote the file; what it has by default and we do not know is dropped.  Raises
    ValueError for attributes that are missing, of the wrong kind, or not allowed.
    """
    declared: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in node.definition.attr.items():
        attr = opdef.attrs.get(name)
        if attr is not None:
            declared[name] = _attribute(node, opdef, attr, value)
        elif not _is_producers_default(producer_op, name, value):
            others[name] = attr_value.from_proto(value)
    for attr in opdef.attrs.values():
        if attr.name not in declared:
            if attr.default is REQUIRED:
                raise ValueError(f"NodeDef missing attr '{attr.name}' from {described(opdef)}; NodeDef: node "
                                 f"{node.name}")
            declared[attr.name] = attr.default
    return declared, others


def _attribute(node: Node, opdef: Any, attr: Any, value: Any) -> Any:
    which = value.WhichOneof("value")
    is_list = attr.kind.startswith("list(")
    field = _FIELDS[attr.kind[5:-1] if is_list else attr.kind]
    fits = which == ("list" if is_list else field)
    if fits and is_list:
        fits = all(not items or other == field for other, items in ((d.name, v) for d, v in value.list.ListFields()))
    if not fits:
        raise ValueError(f"AttrValue had value with type '{_KINDS.get(which or '', 'none')}' when '{attr.kind}' expected"
                         f" for attr '{attr.name}'; NodeDef: node {node.name}; {described(opdef)}")
    try:
        return check_attr(opdef.type, attr, attr_value.from_proto(value))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{error}; NodeDef: node {node.name}; {described(opdef)}") from None


def _is_producers_default(producer_op: Any, name: str, value: Any) -> bool:
    """Whether an attribute that is not known here says only what its writer assumes without it."""
    if producer_op is None or name.startswith("_"):
        return False
    return any(attr.name == name and attr.HasField("default_value") and attr.default_value == value
               for attr in producer_op.attr)


def described(opdef: Any) -> str:
    """An op in the words of TensorFlow's messages: ``Op<name=Add; signature=x:T, y:T -> z:T; attr=T:type>``."""
    inputs, outputs = (", ".join(map(_shown, args)) for args in (opdef.inputs, opdef.outputs))
    attrs = "".join(f"; attr={attr.name}:{attr.kind}" for attr in opdef.attrs.values())
    return f"Op<name={opdef.type}; signature={inputs} -> {outputs}{attrs}>"


def _shown(arg: Arg) -> str:
    kind = arg.list_attr or arg.type_attr or (arg.dtype.name if arg.dtype is not None else "?")
    number = f"{arg.number_attr}*" if arg.number_attr else ""
    return f"{arg.name}:{'Ref(' if arg.is_ref else ''}{number}{kind}{')' if arg.is_ref else ''}"


def input_types(node: Node, opdef: Any, attrs: dict[str, Any]) -> list[tuple[DType, bool]]:
    """For each input the dtype that the attributes give it, and whether it is a reference.

    Raises ValueError if that many inputs are not there.
    """
    types: list[tuple[DType, bool]] = []
    for arg in opdef.inputs:
        if arg.list_attr is not None:
            types.extend((dtype, arg.is_ref) for dtype in attrs[arg.list_attr])
            continue
        dtype = arg.dtype if arg.type_attr is None else attrs[arg.type_attr]
        count = 1 if arg.number_attr is None else attrs[arg.number_attr]
        if count > len(node.inputs):
            count = len(node.inputs) + 1        # wrong already; no need to count further
        types.extend([(dtype, arg.is_ref)] * count)
    if len(types) != len(node.inputs):
        expected = ", ".join(dtype.name for dtype, _ in types[:8])
        raise ValueError(f"NodeDef expected inputs '{expected}' do not match {len(node.inputs)} inputs specified; "
                         f"{described(opdef)}; NodeDef: node {node.name}")
    return types
