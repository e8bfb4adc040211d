"""Checkpoints of the format before TensorFlow 0.12 ("V1"): tables that hold the values themselves.

The key "" has the names, shapes, dtypes and slices of all tensors, every other key the values of one slice.  A
checkpoint is one file, or several named ``PREFIX-00000-of-00002`` and so on.
"""
from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from jitgraph.formats import tensor_slice
from jitgraph.formats.bundle_reader import line
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.formats.table import Table, TableWriter
from jitgraph.graph.dtypes import DType, as_dtype, float32, float64
from jitgraph.graph.errors import DataLossError, InvalidArgumentError, NotFoundError
from jitgraph.graph.protos.tensor_proto import as_list, shape_from_proto, shape_to_proto, to_array
from jitgraph.protobuf import messages, varint

Stored = tuple[str, tuple[int, ...], tensor_slice.Extents, np.ndarray, DType]   # name, full shape, extents, part, dtype

_PACKED = {float32: (5, "<f4"), float64: (6, "<f8")}     # float_val and double_val of TensorProto

_Slices = dict[tensor_slice.Extents, tuple[Table, bytes]]   # resolved extents -> where the values stand


def files(prefix: str) -> list[str]:
    """The files of the V1 checkpoint `prefix` (a name or a pattern of names), [] if there is none."""
    prefix = local_path(prefix)
    return sorted(glob.glob(prefix) or glob.glob(f"{glob.escape(prefix)}-[0-9][0-9][0-9][0-9][0-9]-of-"
                                                 "[0-9][0-9][0-9][0-9][0-9]"))


class V1Reader:
    """A checkpoint of the old format; the same questions as to ``formats.bundle_reader.BundleReader``."""

    def __init__(self, prefix: str):
        self.prefix = prefix
        self._dtypes: dict[str, DType] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._slices: dict[str, _Slices] = {}
        for path in files(prefix):
            with op_errors(path):
                self._add_file(Table(path))

    def _add_file(self, table: Table) -> None:
        meta = self._message(table, b"").meta
        for tensor in meta.tensor:
            shape = shape_from_proto(tensor.shape)
            try:
                dtype = as_dtype(tensor.type)
                slices = [tensor_slice.resolve(extents, shape) for extents in self._extents(tensor, shape)]
            except (TypeError, ValueError) as error:
                raise DataLossError(None, None, f"Tensor {tensor.name} in {table.path}: {error}") from None
            if self._shapes.setdefault(tensor.name, shape) != shape or \
                    self._dtypes.setdefault(tensor.name, dtype) is not dtype:
                raise DataLossError(None, None, f"The files of {self.prefix} do not agree on tensor {tensor.name}")
            for extents, resolved in zip(self._extents(tensor, shape), slices):
                self._slices.setdefault(tensor.name, {})[resolved] = table, tensor_slice.key(tensor.name, extents)

    def _extents(self, tensor: Any, shape: Any) -> Iterator[tensor_slice.Extents]:
        if shape is None or None in shape:
            raise ValueError("it has no full shape")
        return (tensor_slice.from_proto(proto) for proto in tensor.slice)

    def _message(self, table: Table, key: bytes) -> Any:
        value = table.get(key)
        if value is None:
            raise DataLossError(None, None, f"{table.path} is no checkpoint: the entry {key!r} is missing")
        try:
            return messages.SavedTensorSlices.FromString(value)
        except DecodeError as error:
            raise DataLossError(None, None, f"{table.path} is damaged: {error}") from None

    # -- what is there

    def names(self) -> list[str]:
        """The names of all tensors."""
        return sorted(self._shapes)

    def __contains__(self, name: str) -> bool:
        return name in self._shapes

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor.  Raises NotFoundError if there is none of that name."""
        self._check(name)
        return self._dtypes[name]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a whole tensor."""
        self._check(name)
        return self._shapes[name]

    def lines(self) -> list[str]:
        """One line for each tensor: name, dtype, shape."""
        return [line(name, self._dtypes[name].as_datatype_enum, self._shapes[name]) for name in self.names()]

    def _check(self, name: str) -> None:
        if name not in self._shapes:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")

    # -- values

    def read(self, name: str) -> np.ndarray:
        """The whole tensor `name`; strings are object arrays of bytes."""
        return self.read_slice(name, tuple((0, tensor_slice.WHOLE) for _ in self.shape(name)))

    def read_slice(self, name: str, extents: tensor_slice.Extents) -> np.ndarray:
        """A part of the tensor `name`.  Raises InvalidArgumentError if it is not covered by what is stored."""
        dtype = self.dtype(name)
        stored = [(resolved, partial(self._value, name, resolved)) for resolved in self._slices.get(name, ())]
        try:
            wanted = tensor_slice.resolve(extents, self._shapes[name])
            return tensor_slice.assemble(wanted, dtype.as_numpy_dtype, stored)
        except ValueError as error:
            raise InvalidArgumentError(None, None, f"Tensor {name} in {self.prefix}: {error}") from None

    def _value(self, name: str, extents: tensor_slice.Extents) -> np.ndarray:
        table, key = self._slices[name][extents]
        proto = self._message(table, key).data.data
        proto.dtype = self._dtypes[name].as_datatype_enum       # the file states them once, for the whole tensor
        proto.tensor_shape.Clear()
        for _, length in extents:
            proto.tensor_shape.dim.add(size=length)
        try:
            return to_array(proto)
        except ValueError as error:
            raise DataLossError(None, None, f"Tensor {name} in {table.path}: {error}") from None


def write(path: str, parts: Iterable[Stored]) -> None:
    """Writes a checkpoint of the old format: whole tensors (all extents whole) and slices.

    Raises InvalidArgumentError if two parts are the same, or do not agree on the shape or dtype of their tensor.
    """
    contents = messages.SavedTensorSlices()
    tensors: dict[str, Any] = {}
    values: dict[bytes, bytearray] = {}
    for name, full_shape, extents, part, dtype in parts:
        if name not in tensors:
            tensors[name] = contents.meta.tensor.add(name=name, type=dtype.as_datatype_enum,
                                                     shape=shape_to_proto(full_shape))
        meta = tensors[name]
        if meta.type != dtype.as_datatype_enum or meta.shape != shape_to_proto(full_shape):
            raise InvalidArgumentError(None, None, f"The slices of {name} do not agree on its shape and dtype")
        key = tensor_slice.key(name, extents)
        if key in values:
            raise InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        saved = messages.SavedSlice(name=name, slice=tensor_slice.to_proto(extents))
        meta.slice.append(saved.slice)
        values[key] = _record(saved, part, dtype)
    contents.meta.versions.producer = 1
    table = TableWriter()
    table.add(b"", contents.SerializeToString(deterministic=True))
    for key in sorted(values):
        table.add(key, values.pop(key))
    with op_errors(path):
        write_bytes(path, table.finish())


def _record(saved: Any, part: np.ndarray, dtype: DType) -> bytearray:
    """A SavedTensorSlices with the SavedSlice `saved`, which has a name and a place, and the values of `part`.

    The list of floats is their bytes as they lie: a message would hold each as an object first.
    """
    if dtype.base_dtype in _PACKED:
        field, layout = _PACKED[dtype.base_dtype]
        numbers: Any = np.ascontiguousarray(part, layout).reshape(-1).view(np.uint8).data
        numbers_tag = _tag(field, len(numbers)) if len(numbers) else b""
    else:
        numbers, numbers_tag = as_list(part, dtype).SerializeToString(deterministic=True), b""
    head = saved.SerializeToString(deterministic=True)
    data_tag = _tag(3, len(numbers_tag) + len(numbers))             # SavedSlice.data
    record = bytearray(_tag(2, len(head) + len(data_tag) + len(numbers_tag) + len(numbers)))   # SavedTensorSlices.data
    for piece in (head, data_tag, numbers_tag, numbers):
        record += piece
    return record


def _tag(field: int, size: int) -> bytes:
    """What stands before `size` bytes of a message's field."""
    return varint.encode(field << 3 | 2) + varint.encode(size)
