"""Finding nodes of a graph by name or by object, with TensorFlow's errors."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


def operation_named(graph: Any, name: str) -> Operation:
    """``graph.get_operation_by_name``."""
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
    return as_graph_element(graph, name, allow_tensor=False, allow_operation=True)


def tensor_named(graph: Any, name: str) -> Tensor:
    """``graph.get_tensor_by_name``."""
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
    return as_graph_element(graph, name, allow_tensor=True, allow_operation=False)


def as_graph_element(graph: Any, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
    """``graph.as_graph_element``."""
    if allow_tensor and allow_operation:
        wanted = "Tensor or Operation"
    elif allow_tensor:
        wanted = "Tensor"
    elif allow_operation:
        wanted = "Operation"
    else:
        raise ValueError("allow_tensor and allow_operation can't both be False.")
    if not isinstance(obj, (Tensor, Operation)) and hasattr(obj, "_as_graph_element"):
        obj = obj._as_graph_element()
    if isinstance(obj, bytes):
        obj = obj.decode()
    if isinstance(obj, str):
        return _named(graph, obj, allow_tensor, allow_operation, wanted)
    if isinstance(obj, Tensor) and allow_tensor:
        if obj.graph is not graph:
            raise ValueError(f"Tensor {obj} {_elsewhere(obj.graph)}")
        return obj
    if isinstance(obj, Operation) and allow_operation:
        if obj.graph is not graph:
            raise ValueError(f"Operation {obj!r} {_elsewhere(obj.graph)}")
        return obj
    raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")


def _elsewhere(graph: Any) -> str:
    if not graph.building_function:
        return "is not an element of this graph."
    return ("has been marked as not fetchable: it was made inside a branch of tf.cond or a function of tf.while_loop. Return it "
            "from that function, or fetch what is made of it outside.")


def _named(graph: Any, name: str, allow_tensor: bool, allow_operation: bool, wanted: str) -> Any:
    nodes = graph._nodes_by_name
    if ":" in name:
        if not allow_tensor:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {wanted}.")
        return _tensor_named(nodes, name)
    if allow_operation:
        if name not in nodes:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return nodes[name]
    what = "refers to an Operation" if name in nodes else "looks like an (invalid) Operation name"
    raise ValueError(f"The name {name!r} {what}, not a {wanted}. Tensor names must be of the form "
                     "\"<op_name>:<output_index>\".")


def _tensor_named(nodes: dict[str, Operation], name: str) -> Tensor:
    op_name, _, index = name.partition(":")
    if not index.isdigit():
        raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be "
                         "of the form \"<op_name>:<output_index>\".")
    if op_name not in nodes:
        raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does "
                       "not exist in the graph.")
    op = nodes[op_name]
    if int(index) >= len(op.outputs):
        raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists "
                       f"but only has {len(op.outputs)} outputs.")
    return op.outputs[int(index)]
