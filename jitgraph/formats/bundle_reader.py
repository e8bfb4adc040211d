"""Reading checkpoints of the present format (see ``formats.bundle``)."""
from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from jitgraph.formats import bundle, tensor_slice
from jitgraph.formats.checksum import crc32c, unmask
from jitgraph.formats.files import op_errors
from jitgraph.formats.table import Table
from jitgraph.graph.dtypes import DType, as_dtype, string, variant
from jitgraph.graph.errors import DataLossError, InvalidArgumentError, NotFoundError, OutOfRangeError, UnimplementedError
from jitgraph.graph.protos.tensor_proto import shape_from_proto
from jitgraph.protobuf import messages

_READ_AT_ONCE = 1 << 30     # bytes; one call of the system reads no more than 2 GiB


def read_index(prefix: str) -> tuple[Any, dict[bytes, Any]]:
    """The BundleHeaderProto and the BundleEntryProtos by key of a checkpoint.

    Raises NotFoundError if there is none, DataLossError if it is damaged, UnimplementedError if it is too new.
    """
    path = bundle.index_path(prefix)
    header, entries = None, {}
    with op_errors(path):
        try:
            for key, value in Table(path):
                if header is None:
                    header = messages.BundleHeaderProto.FromString(value)
                else:
                    entries[key] = messages.BundleEntryProto.FromString(value)
        except DecodeError as error:
            raise DataLossError(None, None, f"{path}: an entry is not readable: {error}") from None
    if header is None:
        raise DataLossError(None, None, f"{path}: the header is missing")
    if header.version.min_consumer > bundle.VERSION:
        raise UnimplementedError(None, None, f"{path} asks for a reader of version {header.version.min_consumer}, "
                                             f"this one has {bundle.VERSION}")
    return header, entries


class BundleReader:
    """A checkpoint, open for reading.  Usable from several threads.

    Names are those of whole tensors; one that was stored in slices reads as one.
    """

    def __init__(self, prefix: str):
        self.prefix = prefix
        self._header, self._entries = read_index(prefix)
        self._files: dict[int, Any] = {}

    # -- what is there

    def names(self) -> list[str]:
        """The names of all tensors, in order."""
        return [key.decode("utf-8", "surrogateescape") for key in self._entries if key[:1] != b"\0"]

    def __contains__(self, name: str) -> bool:
        return name.encode("utf-8", "surrogateescape") in self._entries

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor.  Raises NotFoundError if there is none of that name."""
        try:
            return as_dtype(self._entry(name).dtype)
        except TypeError as error:
            raise DataLossError(None, None, f"Tensor {name} in {self.prefix}: {error}") from None

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a whole tensor."""
        return self._shape(name, self._entry(name))

    def lines(self) -> list[str]:
        """One line for each entry, slices as they are stored: name, dtype, shape."""
        return [line(key.decode("utf-8", "replace"), entry.dtype, [dim.size for dim in entry.shape.dim])
                for key, entry in self._entries.items() if not entry.slices]

    def _entry(self, name: str) -> Any:
        found = self._entries.get(name.encode("utf-8", "surrogateescape"))
        if found is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return found

    def _shape(self, name: str, entry: Any) -> tuple[int, ...]:
        shape = shape_from_proto(entry.shape)
        if shape is None or None in shape:
            raise DataLossError(None, None, f"Tensor {name} in {self.prefix} has no full shape")
        return shape

    # -- values

    def read(self, name: str) -> np.ndarray:
        """The whole tensor `name`; strings are object arrays of bytes.

        Raises NotFoundError for an unknown name, DataLossError if the stored bytes are damaged.
        """
        entry = self._entry(name)
        if not entry.slices:
            return self._value(name, entry)
        return self.read_slice(name, tuple((0, tensor_slice.WHOLE) for _ in entry.shape.dim))

    def read_slice(self, name: str, extents: tensor_slice.Extents) -> np.ndarray:
        """A part of the tensor `name`, put together from whatever slices are stored.

        Raises InvalidArgumentError if the part does not lie within the tensor, or is not covered by what is stored.
        """
        entry = self._entry(name)
        shape = self._shape(name, entry)
        try:
            wanted = tensor_slice.resolve(extents, shape)
        except ValueError as error:
            raise InvalidArgumentError(None, None, f"tensor_name = {name}; {error}") from None
        if not entry.slices:
            whole = tuple((0, size) for size in shape)
            return np.ascontiguousarray(self._value(name, entry)[tensor_slice.within(wanted, whole)])
        return self._assemble(name, entry, wanted, shape)

    def _assemble(self, name: str, entry: Any, wanted: tensor_slice.Extents, shape: tuple[int, ...]) -> np.ndarray:
        stored = []
        try:
            for proto in entry.slices:
                extents = tensor_slice.from_proto(proto)
                resolved = tensor_slice.resolve(extents, shape)
                stored.append((resolved, partial(self._stored_slice, name, extents, resolved)))
            return tensor_slice.assemble(wanted, self.dtype(name).as_numpy_dtype, stored)
        except ValueError as error:
            raise InvalidArgumentError(None, None, f"Tensor {name} in {self.prefix}: {error}") from None

    def _stored_slice(self, name: str, extents: tensor_slice.Extents, resolved: tensor_slice.Extents) -> np.ndarray:
        return self._value(name, self._slice_entry(name, extents, resolved))

    def _slice_entry(self, name: str, extents: tensor_slice.Extents, resolved: tensor_slice.Extents) -> Any:
        for key in (tensor_slice.key(name, extents), tensor_slice.key(name, resolved)):
            if key in self._entries:
                return self._entries[key]
        raise DataLossError(None, None, f"The slice {list(extents)} of {name} is missing in {self.prefix}")

    def _value(self, name: str, entry: Any) -> np.ndarray:
        dtype, shape = as_dtype(entry.dtype), self._shape(name, entry)
        if dtype in (string, variant):
            decode = bundle.decode_strings if dtype is string else bundle.decode_variants
            try:
                array, crc = decode(self._bytes(name, entry).tobytes(), shape)
            except ValueError as error:
                raise DataLossError(None, None, f"Tensor {name} in {self.prefix}: {error}") from None
        elif not dtype.is_numpy_compatible:
            raise UnimplementedError(None, None, f"Tensor {name} of dtype {dtype.name} cannot be read")
        else:
            storage = np.dtype(dtype.as_numpy_dtype)
            if entry.size != bundle.element_count(shape) * storage.itemsize:
                raise DataLossError(None, None, f"Tensor {name} in {self.prefix} of shape {list(shape)} and "
                                                f"{dtype.name} has {entry.size} bytes")
            data = self._bytes(name, entry)
            array, crc = data.view(storage).reshape(shape), crc32c(data)
            if self._header.endianness == 1:
                array = array.byteswap()
        if crc != unmask(entry.crc32c):
            raise DataLossError(None, None, f"Checksum does not match: tensor {name} in {self.prefix} is damaged")
        return array

    def _bytes(self, name: str, entry: Any) -> np.ndarray:
        """The stored bytes of an entry, as uint8."""
        shards = self._header.num_shards
        path = bundle.data_path(self.prefix, entry.shard_id, shards)
        with op_errors(path):
            file = self._files.get(entry.shard_id)
            if file is None:
                file = self._files.setdefault(entry.shard_id, open(path, "rb"))     # noqa: SIM115  (open as long as the reader)
            descriptor = file.fileno()
            if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > os.fstat(descriptor).st_size:
                raise OutOfRangeError(None, None, f"Read less bytes than requested: tensor {name} should stand at {entry.offset}, "
                                                  f"{entry.size} bytes long, but {path} is shorter")
            data = np.empty(entry.size, np.uint8)
            done = 0
            while done < entry.size:
                count = os.preadv(descriptor, [data[done:done + _READ_AT_ONCE].data], entry.offset + done)
                if not count:
                    raise OutOfRangeError(None, None, f"Read less bytes than requested: {path} ends within tensor {name}")
                done += count
        return data


def line(name: str, dtype: int, shape: Iterable[int]) -> str:
    """A tensor in one line, ``w (DT_FLOAT) [2,3]``."""
    return f"{name} ({messages.DataType.Name(dtype)}) [{','.join(map(str, shape))}]"
