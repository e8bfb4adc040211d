"""Descriptions of networks: their operations in a line, and the numbers of their parameters."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jitgraph.contrib.specs.networks import create_net
from jitgraph.graph import dtypes
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder

SHORT_NAMES = {"BiasAdd": "biasadd", "Const": "_", "Conv2D": "conv", "MatMul": "dot", "Placeholder": "_", "Sigmoid": "sig",
               "Variable": "var"}


def _node_of(x: Any, otherwise: Any) -> tuple[Any, Any]:
    """(the operation, the sizes of `x` if that is a tensor)"""
    return (x.op, x.get_shape().as_list()) if isinstance(x, Tensor) else (x, otherwise)


def _is_cut(op: Any) -> bool:
    return "/HorizontalLstm/" in op.name


def tf_structure(x: Any, include_shapes: bool = False, finished: set | None = None) -> str:
    """The operations that `x` needs, each after its inputs, in one line; `finished` are not told again."""
    finished = set() if finished is None else finished
    op, shape = _node_of(x, [])
    if op in finished:
        return " <>"
    finished.add(op)
    result = "" if _is_cut(op) else "".join(tf_structure(y, include_shapes, finished) for y in op.inputs)
    if include_shapes:
        result += f" {shape}"
    return result if op.type == "Identity" else f"{result} {SHORT_NAMES.get(op.type, op.type.lower())}"


def tf_print(x: Any, depth: int = 0, finished: set | None = None, printer: Callable = print) -> None:
    """Prints the operations that `x` needs as a tree."""
    finished = set() if finished is None else finished
    op, shape = _node_of(x, "")
    if op.type == "Identity":
        op = op.inputs[0].op
    if op in finished:
        printer(f"{'  ' * depth}<{op.name}> {op.type} {shape}")
        return
    finished.add(op)
    printer(f"{'  ' * depth}{op.name} {op.type} {shape}")
    if not _is_cut(op):
        for y in op.inputs:
            tf_print(y, depth + 1, finished, printer=printer)


def tf_num_params(x: Any) -> int:
    """How many elements the variables have that `x` needs, each as often as it is needed."""
    op: Any
    shape: Any
    op, shape = (x.op, x.get_shape()) if isinstance(x, Tensor) else (x, None)
    if op.type in ("Variable", "VariableV2"):
        return int(shape.num_elements())
    return sum(map(tf_num_params, op.inputs))


def tf_left_split(op: Any) -> tuple[Any, list]:
    """(the first input, the others); (None, []) without inputs."""
    if len(op.inputs) < 1:
        return None, []
    first = 1 if op.type == "Concat" else 0
    return op.inputs[first], list(op.inputs[first + 1:])


def tf_parameter_iter(x: Any) -> Iterator[tuple[str, int, Any]]:
    """(name, number of parameters, sizes) of `x`, of its first input, of the first input of that ..."""
    while x is not None:
        op, shape = _node_of(x, "")
        left, right = tf_left_split(op)
        yield op.name, sum(map(tf_num_params, right)), shape
        x = left


def _joined(entries: Iterable[tuple[str, int, Any]]) -> Iterator[tuple[str, int, Any]]:
    """Entries of one outermost scope that follow one another as one; as in TensorFlow, of a new one the first alone opens it."""
    last: Any = None
    total, sizes = 0, None
    for name, count, shape in entries:
        scope = re.sub("/.*", "", name)
        if scope == last:
            total += count
            continue
        if last is not None:
            yield last, total, sizes
        last, total, sizes = scope, count, shape
    if last is not None:
        yield last, total, sizes


def tf_parameter_summary(x: Any, printer: Callable = print, combine: bool = True) -> None:
    """Prints the numbers of parameters along the first inputs, by outermost scopes unless `combine` is false."""
    entries = tf_parameter_iter(x)
    for name, total, shape in reversed(list(_joined(entries) if combine else entries)):
        printer(f"{total:10d} {name:<20} {shape}")


def _net(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    return create_net(spec, placeholder(input_type, input_shape) if inputs is None else inputs)


def tf_spec_structure(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> str:
    """``tf_structure`` of the network of a text, of `inputs` or a placeholder."""
    return tf_structure(_net(spec, inputs, input_shape, input_type)).strip()


def tf_spec_summary(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> None:
    """``tf_parameter_summary`` of the network of a text, of `inputs` or a placeholder."""
    tf_parameter_summary(_net(spec, inputs, input_shape, input_type))


def tf_spec_print(spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32) -> None:
    """``tf_print`` of the network of a text, of `inputs` or a placeholder."""
    tf_print(_net(spec, inputs, input_shape, input_type))
