"""Attributes of nodes: what a caller gives, checked and in the one form that ``Operation.attrs`` keeps.

Kept forms: bool, int, float, str (bytes if not UTF-8), DType, shapes as tuples (None: unknown rank), tensors as
ndarrays, functions as they come; lists of these as lists.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.shapes import raw_shape


def check_attr(op_type: str, attr: Any, value: Any) -> Any:
    """`value` in the kept form.  Raises TypeError for a wrong kind, ValueError for a value that is not allowed."""
    kind = attr.kind
    if kind.startswith("list("):
        if not isinstance(value, (list, tuple)) and not hasattr(value, "__iter__") or isinstance(value, (str, bytes)):
            raise TypeError(f"Expected list for attr {attr.name} of op {op_type}, got {value!r}.")
        checked = [_CHECKS[kind[5:-1]](item, attr.name) for item in value]
        if attr.minimum is not None and len(checked) < attr.minimum:
            raise ValueError(f"Attr '{attr.name}' of '{op_type}' Op passed list of length {len(checked)} less than "
                             f"minimum {attr.minimum}.")
        for item in checked:
            _check_allowed(op_type, attr, item)
        return checked
    checked = _CHECKS[kind](value, attr.name)
    if attr.minimum is not None and kind == "int" and checked < attr.minimum:
        raise ValueError(f"Attr '{attr.name}' of '{op_type}' Op passed {checked} less than minimum {attr.minimum}.")
    _check_allowed(op_type, attr, checked)
    return checked


def _check_allowed(op_type: str, attr: Any, value: Any) -> None:
    if attr.allowed is None or value in attr.allowed:
        return
    if isinstance(value, DType):
        raise TypeError(f"Value passed to parameter '{attr.name}' has DataType {value.name} not in list of allowed "
                        f"values: {', '.join(t.name for t in attr.allowed)} (op '{op_type}')")
    listed = '", "'.join(attr.allowed)
    raise ValueError(f"Attr '{attr.name}' of '{op_type}' Op passed string '{value}' not in: \"{listed}\".")


def single(value: Any) -> float:
    """A number as nodes keep it: rounded to 32 bits, as in a graph file."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _expected(what: str, name: str, value: Any) -> TypeError:
    return TypeError(f"Expected {what} for argument '{name}' not {value!r}.")


def _plain(value: Any) -> Any:
    """The number in an array of one element, which stands for it, whatever NumPy says of that now."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _bool(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise _expected("bool", name, value)
    return bool(value)


def _int(value: Any, name: str) -> int:
    if isinstance(value, (str, bytes)):
        raise _expected("int", name, value)
    try:
        return int(_plain(value))
    except (TypeError, ValueError, NotImplementedError):
        raise _expected("int", name, value) from None


def _float(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)):
        raise _expected("float", name, value)
    try:
        return single(_plain(value))
    except (TypeError, ValueError, NotImplementedError):
        raise _expected("float", name, value) from None


def _string(value: Any, name: str) -> str | bytes:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value
    if not isinstance(value, str):
        raise _expected("string", name, value)
    return value


def _type(value: Any, name: str) -> DType:
    try:
        return as_dtype(value).base_dtype
    except TypeError:
        raise _expected("DataType", name, value) from None


def _shape(value: Any, name: str) -> Any:
    try:
        return raw_shape(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Error converting {value!r} (argument '{name}') to a TensorShape: {error}") from None


def _tensor(value: Any, name: str) -> Any:
    if hasattr(value, "tensor_shape") and hasattr(value, "dtype"):
        from jitgraph.graph.protos.tensor_proto import to_array

        return to_array(value)
    if not isinstance(value, np.ndarray):
        raise _expected("TensorProto or ndarray", name, value)
    return value


def _func(value: Any, name: str) -> Any:
    """The graph of what stands for a function: a Defun, or a concrete function of tf.function."""
    of_function = getattr(value, "as_function_graph", None)
    return value if of_function is None else of_function()


_CHECKS = {"bool": _bool, "int": _int, "float": _float, "string": _string, "type": _type, "shape": _shape,
           "tensor": _tensor, "func": _func}
