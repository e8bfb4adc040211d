"""How large a model is: ``analyze_vars``, ``analyze_ops``."""
from __future__ import annotations

from typing import Any


def tensor_description(var: Any) -> str:
    """The dtype and the sizes: "(float32 3x4)"."""
    return f"({var.dtype.name} {'x'.join(str(size) for size in var.get_shape())})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """The number of elements of all tensors of a graph whose shapes are known; `print_info` prints them."""
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    total = 0
    for op in graph.get_operations():
        size = sum(output.get_shape().num_elements() or 0 for output in op.outputs)
        if print_info:
            shapes = ", ".join(tensor_description(output) for output in op.outputs if output.get_shape())
            print(op.name, "\t->", shapes, f"[{size}]")
        total += size
    return total


def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """(the number of elements, the number of bytes) of variables; `print_info` prints them."""
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    elements = total_bytes = 0
    for var in variables:
        size = var.get_shape().num_elements() or 0
        var_bytes = size * var.dtype.size
        elements += size
        total_bytes += var_bytes
        if print_info:
            print(var.name, tensor_description(var), f"[{size}, bytes: {var_bytes}]")
    if print_info:
        print(f"Total size of variables: {elements}")
        print(f"Total bytes of variables: {total_bytes}")
    return elements, total_bytes
