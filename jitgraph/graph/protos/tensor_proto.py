"""TensorProto <-> ndarray, and shapes.

Writing: scalars go to the typed list, larger arrays of plain numbers to ``tensor_content``, one value repeated stays
one value.  Reading accepts every form: a list shorter than the shape is continued with its last value.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.protobuf import messages, varint

# dtype name -> (list field, in tensor_content when larger than one element)
_FIELDS: dict[str, tuple[str, bool]] = {
    "float32": ("float_val", True), "float64": ("double_val", True), "int32": ("int_val", True),
    "uint8": ("int_val", True), "int16": ("int_val", True), "int8": ("int_val", True), "uint16": ("int_val", False),
    "int64": ("int64_val", True), "bool": ("bool_val", False), "uint32": ("uint32_val", True),
    "uint64": ("uint64_val", True), "string": ("string_val", False), "complex64": ("scomplex_val", False),
    "complex128": ("dcomplex_val", False), "float16": ("half_val", False), "bfloat16": ("half_val", False),
    "qint8": ("int_val", True), "quint8": ("int_val", True), "qint16": ("int_val", True),
    "quint16": ("int_val", True), "qint32": ("int_val", True), "resource": ("resource_handle_val", False),
}


def shape_to_proto(shape: Any) -> Any:
    """A TensorShapeProto from a raw shape (tuple of int and None, or None for unknown rank)."""
    if shape is None:
        return messages.TensorShapeProto(unknown_rank=True)
    proto = messages.TensorShapeProto()
    for size in shape:
        proto.dim.add(size=-1 if size is None else int(size))
    return proto


def shape_from_proto(proto: Any) -> Any:
    """The raw shape of a TensorShapeProto."""
    return None if proto.unknown_rank else tuple(None if d.size < 0 else d.size for d in proto.dim)


def from_array(array: Any, dtype: DType | None = None) -> Any:
    """The TensorProto of an ndarray.  Strings are object arrays of bytes; `dtype` tells quantized types apart."""
    array = np.asarray(array)
    dtype = as_dtype(array.dtype) if dtype is None else dtype.base_dtype
    proto = messages.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_to_proto(array.shape))
    if array.size == 0:
        return proto
    field, content = _FIELDS[dtype.name]
    repeated = array.size > 1 and all(s == 0 or d == 1 for s, d in zip(array.strides, array.shape))
    if content and array.size > 1 and not repeated:
        little = np.ascontiguousarray(array)
        if sys.byteorder == "big":
            little = little.byteswap()
        proto.tensor_content = little.tobytes()
        return proto
    flat = array.reshape(-1)[:1] if repeated else array.ravel()
    getattr(proto, field).extend(_list_values(flat, dtype))
    return proto


def as_list(array: np.ndarray, dtype: DType) -> Any:
    """A TensorProto with all elements of `array` in the typed list, and neither dtype nor shape."""
    proto = messages.TensorProto()
    getattr(proto, _FIELDS[dtype.base_dtype.name][0]).extend(_list_values(array.ravel(), dtype.base_dtype))
    return proto


def _list_values(flat: np.ndarray, dtype: DType) -> list:
    if dtype is dtypes.string:
        return [v if isinstance(v, bytes) else str(v).encode() for v in flat.tolist()]
    if dtype.is_complex:
        return [part for v in flat.tolist() for part in (v.real, v.imag)]
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.ascontiguousarray(flat).view(np.uint16).tolist()
    if dtype.is_quantized and flat.dtype.fields:
        return flat[dtype.name].tolist()
    return flat.tolist()


def to_array(proto: Any) -> np.ndarray:
    """The ndarray of a TensorProto, read-only.  Raises ValueError if its content does not fit its shape."""
    dtype = as_dtype(proto.dtype)
    shape = shape_from_proto(proto.tensor_shape)
    if shape is None or None in shape:
        raise ValueError(f"a TensorProto of {dtype.name} states no full shape")
    count = 1
    for size in shape:
        count *= size
    if proto.tensor_content:
        if dtype is dtypes.string:
            return _texts_from_content(proto.tensor_content, count).reshape(shape)
        return _from_content(proto.tensor_content, dtype, shape, count)
    if dtype.name not in _FIELDS:
        raise ValueError(f"a TensorProto of {dtype.name} cannot become an array")
    values = _from_list(getattr(proto, _FIELDS[dtype.name][0]), dtype)
    if len(values) > count:
        raise ValueError(f"a TensorProto of shape {shape} holds {len(values)} values")
    array = _fill(values, dtype, shape, count)
    array.flags.writeable = False
    return array


def _from_content(content: bytes, dtype: DType, shape: tuple, count: int) -> np.ndarray:
    storage = np.dtype(dtype.as_numpy_dtype)
    if len(content) != count * storage.itemsize:
        raise ValueError(f"a TensorProto of shape {shape} and {dtype.name} holds {len(content)} bytes, not "
                         f"{count * storage.itemsize}")
    array = np.frombuffer(content, storage).reshape(shape)
    return array if sys.byteorder == "little" else array.byteswap()


def _texts_from_content(content: bytes, count: int) -> np.ndarray:
    """Strings as ``SerializeSparse`` writes them: the length of each, then all of them."""
    lengths, position = [], 0
    try:
        for _ in range(count):
            length, position = varint.decode(content, position)
            lengths.append(length)
    except IndexError:
        raise ValueError(f"a TensorProto of {count} strings holds {len(content)} bytes") from None
    if position + sum(lengths) != len(content):
        raise ValueError(f"a TensorProto of {count} strings holds {len(content)} bytes, not {position + sum(lengths)}")
    array = np.empty(count, object)
    for k, length in enumerate(lengths):
        array[k] = content[position:position + length]
        position += length
    array.flags.writeable = False
    return array


def _from_list(values: Any, dtype: DType) -> np.ndarray:
    if dtype is dtypes.string:
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    if dtype.is_complex:
        pairs = np.array(values, np.float64).reshape(-1, 2)
        return (pairs[:, 0] + 1j * pairs[:, 1]).astype(dtype.as_numpy_dtype)
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(values, np.int64).astype(np.uint16).view(dtype.as_numpy_dtype)
    if dtype.name == "resource":
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    if dtype.is_quantized:
        plain = np.array(values, dtype._code)
        return plain.view(dtype.as_numpy_dtype)
    return np.array(values, np.int64 if dtype.is_integer and dtype is not dtypes.uint64 else None).astype(
        dtype.as_numpy_dtype)


def _fill(values: np.ndarray, dtype: DType, shape: tuple, count: int) -> np.ndarray:
    if len(values) == count:
        return values.reshape(shape)
    if len(values) == 0:        # one zero, however large the shape that a few bytes state
        zero: Any = np.array(b"", object) if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)
        return np.broadcast_to(zero, shape).view()
    if len(values) == 1:
        return np.broadcast_to(values.reshape(()), shape).view()
    full = np.empty(count, values.dtype)
    full[:len(values)] = values
    full[len(values):] = values[-1]
    return full.reshape(shape)


def with_content(array: np.ndarray, dtype: DType) -> Any:
    """The TensorProto that has the bytes of every number, even of a single one, as ``tf.io.serialize_tensor`` writes it."""
    if dtype is dtypes.string or dtype.is_quantized:
        return from_array(array, dtype)
    proto = from_array(array.reshape(-1)[:0], dtype)
    proto.tensor_shape.CopyFrom(from_array(array, dtype).tensor_shape)
    ordered = array if sys.byteorder == "little" else array.byteswap()
    proto.tensor_content = np.ascontiguousarray(ordered).tobytes()
    return proto


_COMPARED = 4096        # elements; a tensor that is larger is written as its content, which leaves no choice


def other_form(proto: Any, array: np.ndarray) -> bool:
    """Whether `proto` states `array` in another form than ``from_array`` does, as files of other writers may."""
    if proto.tensor_content and array.size > _COMPARED:
        return False
    return from_array(array, as_dtype(proto.dtype)) != proto


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False,
                      allow_broadcast: bool = False) -> Any:
    """``tf.make_tensor_proto``: the TensorProto of a Python or NumPy value; see ``tf.constant`` for the rules."""
    from jitgraph.graph import literals

    if isinstance(values, messages.TensorProto):
        return values
    wanted = None if dtype is None else as_dtype(dtype)
    return from_array(literals.constant_array(values, wanted, shape, verify_shape), wanted)


def make_ndarray(tensor: Any) -> np.ndarray:
    """``tf.make_ndarray``: the ndarray of a TensorProto."""
    return to_array(tensor).copy()
