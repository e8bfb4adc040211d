"""Feeds: what a user passes becomes a contiguous array of the fed tensor's dtype and a compatible shape."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jitgraph.graph import errors
from jitgraph.graph.composite import CompositeTensor, IndexedSlices, SparseTensor
from jitgraph.graph.dtypes import DType
from jitgraph.graph.graph import Graph
from jitgraph.graph.session_conversions import conversion_of
from jitgraph.graph.structures import flatten_dict_items, is_nested
from jitgraph.graph.tensor import Tensor
from jitgraph.resources.session_handles import TensorHandle


def expand(graph: Graph, feed_dict: Mapping[Any, Any]) -> dict[Tensor, Any]:
    """{tensor: value}: names looked up, sparse tensors taken apart.  Raises TypeError or ValueError as TensorFlow does."""
    expanded: dict[Any, Any] = {}
    if any(is_nested(key) for key in feed_dict):
        feed_dict = flatten_dict_items(feed_dict)
    for key, value in feed_dict.items():
        conversion = conversion_of(key)
        if conversion is not None:
            if conversion.feed is None:
                raise TypeError(f"Feed argument {key!r} has invalid type {type(key)}: no feed_function is registered for it")
            expanded.update(conversion.feed(key, value))
        elif isinstance(key, SparseTensor):
            expanded.update(zip((key.indices, key.values, key.dense_shape), value))
        elif isinstance(key, CompositeTensor):
            waiting = [(key, value)]
            while waiting:
                part, given = waiting.pop()
                if isinstance(part, CompositeTensor):
                    waiting.extend(zip(part._parts(), part._values_of_parts(given)))
                else:
                    expanded[part] = given
        elif isinstance(key, IndexedSlices):
            parts = [p for p in (key.values, key.indices, key.dense_shape) if p is not None]
            expanded.update(zip(parts, value))
        else:
            expanded[key] = value
    found = {}
    for key, value in expanded.items():
        try:
            tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
        except Exception as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
        found[check_feedable(graph, tensor)] = value
    return found


def is_expanded(key: Any) -> bool:
    """Whether what is fed is no tensor, but stands for several."""
    return isinstance(key, (SparseTensor, CompositeTensor, IndexedSlices)) or conversion_of(key) is not None


def check_feedable(graph: Graph, tensor: Tensor) -> Tensor:
    """The tensor.  Raises ValueError if the graph says that it may not be fed."""
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def tensors(graph: Graph, keys: Iterable[Any]) -> list[Tensor]:
    """The tensors that are going to be fed, for them or their names.  Raises ValueError for one that may not be."""
    return [check_feedable(graph, graph.as_graph_element(key, allow_tensor=True, allow_operation=False)) for key in keys]


def convert(tensor: Tensor, value: Any) -> np.ndarray:
    """The value as an array for `tensor`.  Raises TypeError for a graph tensor, ValueError for a wrong shape or dtype."""
    if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
        raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
                        "strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was "
                        f"{value!r} which was passed to the feed with key {tensor!r}.")
    if isinstance(value, TensorHandle):
        value = value.to_numpy_array()
    dtype = tensor.dtype.base_dtype
    wanted = dtype.as_numpy_dtype
    if isinstance(value, int) and not _holds(dtype, value):
        raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {dtype}. "
                        "Try explicitly setting the type of the feed tensor to a larger type (e.g. int64).")
    if dtype.name == "string":
        if isinstance(value, int):
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                            f"{dtype}: feed str, bytes, or an array of them.")
        array = strings(value)
    else:
        try:
            array = _array(value, wanted)
        except (TypeError, ValueError, OverflowError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"Cannot feed value {value!r} for Tensor {tensor.name} of dtype {dtype.name}: {error}") \
                from None
    check_shape(tensor, array)
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.array(array, order="C")


def _array(value: Any, wanted: Any) -> np.ndarray:
    """The value as an array; integers of a list that are too large wrap around, as those of an array do."""
    try:
        return np.asarray(value, dtype=wanted)
    except OverflowError:
        return np.asarray(value).astype(wanted)


_ALWAYS_EXACT = 2 ** 11         # integers up to here are exact in every kind of float but bfloat16


def _holds(dtype: DType, value: int) -> bool:
    """Whether a plain integer is kept as it is in `dtype`: others are refused, as in TensorFlow."""
    if dtype.is_integer:
        return dtype.min <= value <= dtype.max
    if dtype.is_bool:
        return value in (0, 1)
    if -_ALWAYS_EXACT <= value <= _ALWAYS_EXACT or dtype.name not in ("float16", "float32", "float64", "complex64", "complex128"):
        return True
    try:
        with np.errstate(over="ignore"):
            return dtype.as_numpy_dtype(value).item() == value
    except OverflowError:
        return False


def converter(tensors: Sequence[Tensor]) -> Callable[[Iterable[Any]], list[np.ndarray]]:
    """A function of values, one for each of `tensors`, that gives their arrays: arrays that fit already are taken as they
    are, at little cost, everything else goes through `convert`."""
    parts = []
    for tensor in tensors:
        shape = tensor._shape
        whole = None if shape is None or None in shape else tuple(shape)
        parts.append((tensor, np.dtype(tensor.dtype.as_numpy_dtype), whole))
    scalar_types = {k: float for k, (_, dtype, shape) in enumerate(parts) if shape == () and dtype.kind == "f"}

    def arrays(values: Iterable[Any]) -> list[np.ndarray]:
        found = []
        for k, value in enumerate(values):
            tensor, dtype, shape = parts[k]
            if dtype == object and tensor.dtype.base_dtype.name == "string":        # whose items may be of any kind
                found.append(convert(tensor, value))
            elif type(value) is np.ndarray and (value.dtype is dtype or value.dtype == dtype) and value.flags.c_contiguous:
                if value.shape != shape:
                    check_shape(tensor, value)
                found.append(value)
            elif type(value) is scalar_types.get(k):
                found.append(np.array(value, dtype))
            else:
                found.append(convert(tensor, value))
        return found

    return arrays


def strings(value: Any) -> np.ndarray:
    """An object array of bytes.  Raises InternalError, as TensorFlow does, for items that are not strings."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
    flat = array.reshape(-1)
    if array.dtype == object and set(map(type, flat.tolist())) <= {bytes}:
        return array
    out = np.empty(flat.size, dtype=object)
    if array.dtype.kind == "U":
        out[:] = list(map(str.encode, flat.tolist()))
    elif array.dtype.kind in "OS":
        out[:] = [item if type(item) is bytes else _bytes(item) for item in flat.tolist()]
    elif flat.size:
        _bytes(flat[0])
    return out.reshape(array.shape)


def _bytes(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return bytes(item)
    raise errors.InternalError(None, None, f"Unsupported object type {type(item).__name__}")


def check_shape(tensor: Tensor, array: np.ndarray) -> None:
    """Raises ValueError if the array does not fit the tensor's static shape."""
    static = tensor._shape
    shape = array.shape
    if static is not None and (len(static) != len(shape) or any(s is not None and s != d for s, d in zip(static, shape))):
        raise ValueError(f"Cannot feed value of shape {shape} for Tensor {tensor.name!r}, which has shape "
                         f"'{tensor.shape}'")
