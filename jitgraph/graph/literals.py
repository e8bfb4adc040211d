"""Python values to arrays, by TensorFlow's rules: ints are int32 (int64 if they must be), floats are float32."""
from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from jitgraph.graph import dtypes, shapes
from jitgraph.graph.dtypes import DType, as_dtype

# NumPy kinds that a Python value may have where a dtype of the given kind is wanted
_FITTING = {"float": "biuf", "int": "biu", "uint": "biu", "complex": "biufc", "bool": "b", "quantized": "biu"}


def to_array(value: Any, dtype: DType | None = None) -> np.ndarray:
    """`value` as an ndarray of `dtype` (strings: object array of bytes).

    NumPy arrays, scalars and what gives an array keep their dtype, or are cast; Python values must suit `dtype`.  Raises TypeError
    ("Expected int32, got 1.5 of type 'float' instead.", None in a list) and ValueError (None itself, ragged lists).
    """
    if value is None:
        raise ValueError("None values not supported.")
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if gives_array(value):
        return _from_numpy(np.asarray(value), dtype)        # a column of a table, an image keeps its dtype as an array does
    if dtype is not None and dtype.base_dtype is dtypes.string:
        return _strings(value)
    return _from_python(value, dtype)


def gives_array(value: Any) -> bool:
    """Whether `value` is an array, or something that NumPy makes one of: a column of a table, an image."""
    gives = callable(getattr(value, "__array__", None)) or isinstance(getattr(value, "__array_interface__", None), dict)
    return gives and not hasattr(value, "_as_graph_element")


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.asarray(value)
    kind = array.dtype.kind
    if kind in "SUO":
        if dtype is not None and dtype.base_dtype not in (dtypes.string, dtypes.resource, dtypes.variant):
            if kind == "O":
                return _from_python(array.tolist(), dtype)
            raise TypeError(f"Expected {dtype.name}, got {array.ravel()[:1].tolist()} of dtype {array.dtype} instead.")
        return _strings(array)
    if dtype is None:
        as_dtype(array.dtype)       # raises TypeError for dtypes that do not exist here
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if dtype.base_dtype is dtypes.string and array.size:
        raise TypeError(f"Expected string, got {array.ravel()[:1].tolist()} of dtype {array.dtype} instead.")
    return array.astype(dtype.as_numpy_dtype, copy=False)


def _from_python(value: Any, dtype: DType | None) -> np.ndarray:
    array = _as_numpy(value)
    kind = array.dtype.kind
    if kind in "OSUV":
        array = _objects(value, array, dtype)
        kind = array.dtype.kind
    if dtype is None:
        if kind == "f" and array.dtype == np.float64:
            return array.astype(np.float32)
        if kind == "i" and array.dtype == np.int64:
            narrow = array.astype(np.int32)
            return narrow if (narrow == array).all() else array
        return array
    if array.size and kind not in _FITTING.get(dtype._kind, kind):
        _refuse(value, dtype)
    target = dtype.as_numpy_dtype
    with np.errstate(over="ignore"):            # integers wrap around, as in TensorFlow
        return array.astype(target)


def _as_numpy(value: Any) -> np.ndarray:
    try:
        return np.array(value)
    except ValueError as error:
        raise ValueError(f"Argument must be a dense tensor: {value!r} - {error}") from None
    except NotImplementedError as error:
        raise TypeError("List of Tensors when single Tensor expected") from error


def _flatten(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]


def _objects(value: Any, array: np.ndarray, dtype: DType | None) -> np.ndarray:
    """Arrays that NumPy could not give a number type: strings, Dimensions, None, or mixtures."""
    leaves = _flatten(value) if not isinstance(value, np.ndarray) else array.ravel().tolist()
    if any(leaf is None for leaf in leaves):
        _fail(value) if dtype is None else _refuse(value, dtype)
    if any(isinstance(leaf, shapes.Dimension) for leaf in leaves):
        for leaf in leaves:
            if isinstance(leaf, shapes.Dimension) and leaf.value is None:
                raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {leaf}")
        flat = [int(leaf) if isinstance(leaf, shapes.Dimension) else leaf for leaf in leaves]
        return np.array(flat).reshape(array.shape)
    if dtype is not None and dtype._kind in ("float", "complex") and all(isinstance(leaf, (int, float)) for leaf in leaves):
        return array.astype(np.float64)     # one of them does not fit into 64 bits
    if dtype is not None:
        _refuse(value, dtype)
    if all(isinstance(leaf, (str, bytes, np.str_, np.bytes_)) for leaf in leaves):
        return _strings(value)
    if all(isinstance(leaf, int) for leaf in leaves):
        _fail(value)        # one of them does not fit into 64 bits
    first = leaves[0]
    if isinstance(first, (int, float, complex)):
        _refuse(value, as_dtype(type(first)))
    if isinstance(first, (str, bytes)):
        _refuse(value, dtypes.string)
    _fail(value)


def _fail(value: Any) -> NoReturn:
    raise TypeError(f"Failed to convert object of type {type(value)} to Tensor. Contents: {value!r}. Consider casting "
                    "elements to a supported type.")


def _strings(value: Any) -> np.ndarray:
    if isinstance(value, (str, bytes)):
        array = np.empty((), object)
        array[()] = as_bytes(value)
        return array
    if isinstance(value, np.ndarray):
        shape, leaves = value.shape, value.ravel().tolist()
    else:
        shape, leaves = _nested_shape(value), _flatten(value)
    flat = np.empty(len(leaves), object)
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, (list, tuple)) or not isinstance(leaf, (str, bytes)):
            raise TypeError(f"Expected string, got {leaf!r} of type '{type(leaf).__name__}' instead.")
        flat[index] = as_bytes(leaf)
    try:
        return flat.reshape(shape)
    except ValueError:
        raise ValueError(f"Argument must be a dense tensor: {value!r} - its rows differ in length") from None


def _nested_shape(value: Any) -> tuple:
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def as_bytes(value: str | bytes) -> bytes:
    """UTF-8 bytes of a str; bytes as they are."""
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)


def _refuse(value: Any, dtype: DType) -> None:
    """Raises TensorFlow's TypeError for the first element that does not suit `dtype`."""
    fitting = _FITTING.get(dtype._kind, "SU")
    for leaf in _flatten(value):
        array = np.asarray(leaf) if not hasattr(leaf, "_as_graph_element") else None
        if array is None or array.dtype.kind not in fitting:
            raise TypeError(f"Expected {dtype.name}, got {leaf!r} of type '{type(leaf).__name__}' instead.")
    raise TypeError(f"Expected {dtype.name}, got {value!r} of type '{type(value).__name__}' instead.")


def constant_array(value: Any, dtype: DType | None, shape: Any, verify_shape: bool = False) -> np.ndarray:
    """The value of ``tf.constant(value, dtype, shape)``: too few elements are continued with the last one, none with zeros.

    Raises ValueError for too many elements, TypeError if `verify_shape` and the shapes differ.
    """
    if shape is None:
        return _own(to_array(value, dtype), value)
    wanted = shapes.raw_shape(shape)
    if wanted is None or None in wanted:
        raise ValueError(f"A constant needs a fully known shape, not {shapes.display(wanted)}.")
    if 0 in wanted and value is not None and not hasattr(value, "dtype"):
        return np.zeros(wanted, np.float32 if dtype is None else dtype.as_numpy_dtype)  # TensorFlow does not look at it
    array = to_array(value, dtype)
    if verify_shape and array.shape != wanted:
        raise TypeError(f"Expected Tensor's shape: {wanted}, got {array.shape}.")
    count = 1
    for size in wanted:
        count *= size
    if array.size > count:
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")
    if array.size == count:
        return _own(array.reshape(wanted), value)
    if array.size == 0:                                     # the message of no values is that of zeros, or of empty strings
        return np.full(wanted, b"", object) if array.dtype == object else np.zeros(wanted, array.dtype)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), wanted)   # one element in memory; graph files keep it as one value
    full = np.full(count, array.ravel()[-1], array.dtype)
    full[:array.size] = array.ravel()
    return full.reshape(wanted)


def _own(array: np.ndarray, source: Any) -> np.ndarray:
    """An array that nobody else can change."""
    if isinstance(source, np.ndarray) and np.may_share_memory(array, source):
        array = array.copy()
    elif not array.flags.owndata:
        array = array.copy()
    array.flags.writeable = False
    return array
