"""How the value of a node follows from what is known of its inputs while the graph is built: ``@op(constant=...)``.

A rule is called as ``rule(op, index, value_of)`` and answers the value of the output `index` of `op`: an ndarray, with
None for the elements that are not known in one of dtype object, or None if nothing is known.  ``value_of(tensor)`` says
the same of an input.  `jitgraph.graph.constant_value` asks the rules; here are those that several ops share.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LARGEST = 4096          # elements; larger values are folded by the compiler, not while the graph is built

Rule = Callable[[Any, int, Any], Any]


def is_known(value: Any) -> bool:
    """Whether all elements of a value are known."""
    return value is not None and value.dtype != object


def through(op: Any, index: int, value_of: Any) -> Any:
    """An output has the value of the input of the same number."""
    return value_of(op.inputs[index])


def by_value(op: Any, index: int, value_of: Any) -> Any:
    """The NumPy meaning is applied when all inputs are known and small."""
    return evaluated(op, index, [value_of(t) for t in op.inputs])


def evaluated(op: Any, index: int, values: list) -> Any:
    """The NumPy meaning of an operation on values, if they are all known and small."""
    if op.opdef is None or not all(is_known(v) and v.size <= LARGEST for v in values):
        return None
    if op.type == "Fill" and np.prod(values[0], dtype=np.int64) > LARGEST:
        return None
    try:
        return np.asarray(op.opdef.evaluate(values, op.attrs)[index])
    except Exception:
        return None


def by_element(op: Any, index: int, value_of: Any) -> Any:
    """Integer arithmetic on partly known vectors: what depends on an unknown element is unknown."""
    values = [value_of(t) for t in op.inputs]
    if any(v is None for v in values):
        return None
    if all(is_known(v) for v in values):
        return by_value(op, index, value_of)
    dtype = op.outputs[0].dtype
    if not dtype.is_integer:
        return None
    try:
        parts = np.broadcast_arrays(*values)
    except ValueError:
        return None
    result = np.empty(parts[0].shape, object)
    for position in np.ndindex(result.shape):
        items = [part[position] for part in parts]
        if all(item is not None for item in items):
            arrays = [np.asarray(item, t.dtype.as_numpy_dtype) for item, t in zip(items, op.inputs)]
            result[position] = op.opdef.evaluate(arrays, op.attrs)[0].item()
    return result


def view(function: Callable[[Any, list], Any]) -> Rule:
    """Input 0 with its elements rearranged by ``function(its value, the values of the other inputs)``."""

    def rule(op: Any, index: int, value_of: Any) -> Any:
        value = value_of(op.inputs[0])
        others = [value_of(t) for t in op.inputs[1:]]
        if value is None or not all(is_known(o) for o in others):
            return None
        try:
            return function(value, others)
        except ValueError:
            return None             # the shape rule or the run reports it

    return rule


def joined(tensors: list, value_of: Any, combine: Callable[[list], Any], shapes: list | None = None) -> Any:
    """What ``combine`` makes of the values of `tensors`, some of which may be known in part or not at all.

    `shapes`: theirs, where the others tell more of them than they say themselves.
    """
    values = [value_of(t) for t in tensors]
    if all(is_known(v) for v in values):
        return combine(values)
    if all(v is None for v in values) or tensors[0].dtype.base_dtype.name == "string":
        return None
    parts = [_as_objects(v, shape) for v, shape in zip(values, shapes or [t._shape for t in tensors])]
    return None if any(p is None for p in parts) else combine(parts)


def _as_objects(value: Any, shape: tuple | None) -> Any:
    """`value` as an object array; all None if nothing is known but the `shape`."""
    if value is not None:
        return value.astype(object)
    return None if shape is None or None in shape else np.full(shape, None, object)


def sizes(values: list, dtype: Any) -> np.ndarray:
    """Sizes as a vector of `dtype`, or as an object array if some are None."""
    if any(v is None for v in values):
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, dtype.as_numpy_dtype)


def shape_of(tensor: Any, value_of: Any) -> Any:
    """The static shape of an input, or the shape of its value if that is known."""
    shape = tensor._shape
    if shape is None or None in shape:
        value = value_of(tensor)
        return shape if value is None else value.shape
    return shape
