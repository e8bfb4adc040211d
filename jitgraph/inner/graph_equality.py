"""``pywrap_tensorflow.EqualGraphDefWrapper``: whether two graphs, as bytes, have the same nodes in any order."""
from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from jitgraph.graph.protos.tensor_proto import make_ndarray
from jitgraph.protobuf import messages


def EqualGraphDefWrapper(actual: bytes, expected: bytes) -> bytes:
    """The first difference between two serialized GraphDefs, empty if there is none; attributes that begin with "_" do
    not count.  Bytes that are not a GraphDef are a difference too.
    """
    graphs = []
    for side, serialized in (("actual", actual), ("expected", expected)):
        graphs.append(messages.GraphDef())
        try:
            graphs[-1].ParseFromString(serialized)
        except DecodeError:
            return f"{side} is not a valid serialized GraphDef".encode()
    found = {node.name: node for node in graphs[0].node}
    for node in graphs[1].node:
        mine = found.pop(node.name, None)
        if mine is None:
            return f"Did not find expected node '{{{{node {node.name}}}}} = {node.op}'".encode()
        difference = _difference(mine, node)
        if difference:
            return f"Node named '{node.name}' has {difference}".encode()
    for name, node in found.items():
        return f"Found unexpected node '{{{{node {name}}}}} = {node.op}'".encode()
    return b""


def _difference(mine: Any, wanted: Any) -> str:
    """What differs in a node from the one that is wanted."""
    if mine.op != wanted.op:
        return f"op '{mine.op}' that is not expected '{wanted.op}'"
    if mine.device != wanted.device:
        return f"device '{mine.device}' that is not expected '{wanted.device}'"
    return _difference_of_inputs(_inputs(mine), _inputs(wanted)) or _difference_of_attrs(_attrs(mine), _attrs(wanted))


def _inputs(node: Any) -> list[str]:
    """The inputs of a node in order, then its control inputs, whose order says nothing."""
    data = [name.removesuffix(":0") for name in node.input if not name.startswith("^")]
    return data + sorted(name for name in node.input if name.startswith("^"))


def _difference_of_inputs(mine: list[str], wanted: list[str]) -> str:
    if len(mine) != len(wanted):
        return f"{len(mine)} inputs that don't match {len(wanted)} expected"
    for number, (one, other) in enumerate(zip(mine, wanted)):
        if one != other:
            return f"input {number} '{one}' that doesn't match expected '{other}'"
    return ""


def _attrs(node: Any) -> dict[str, Any]:
    return {name: value for name, value in node.attr.items() if not name.startswith("_")}


def _difference_of_attrs(mine: dict[str, Any], wanted: dict[str, Any]) -> str:
    for name in sorted(wanted.keys() | mine.keys()):
        if name not in mine:
            return f"no attr '{name}', which was expected"
        if name not in wanted:
            return f"unexpected attr '{name}' with value: {mine[name]}"
        if not _same(mine[name], wanted[name]):
            return f"attr '{name}' with value: {mine[name]} that does not match expected: {wanted[name]}"
    return ""


def _same(mine: Any, wanted: Any) -> bool:
    """Whether two values of an attribute say the same; a tensor may be written in two ways."""
    if mine.HasField("tensor") and wanted.HasField("tensor"):
        one, other = make_ndarray(mine.tensor), make_ndarray(wanted.tensor)
        return one.dtype == other.dtype and one.shape == other.shape and one.tolist() == other.tolist()
    return mine == wanted
