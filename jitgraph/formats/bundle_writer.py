"""Writing checkpoints (see ``formats.bundle``), and joining those of several devices into one."""
from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from jitgraph.formats import bundle, tensor_slice
from jitgraph.formats.bundle_reader import read_index
from jitgraph.formats.checksum import crc32c, mask
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.formats.table import TableWriter
from jitgraph.graph.dtypes import DType, string, variant
from jitgraph.graph.errors import InvalidArgumentError, UnimplementedError
from jitgraph.graph.protos.tensor_proto import shape_to_proto
from jitgraph.protobuf import messages


class BundleWriter:
    """Writes a checkpoint of one shard: ``add`` tensors and slices, then ``finish``.

    Files get their names only in ``finish``, data before index, so that a checkpoint that has an index is whole.  As a
    context manager it finishes at the end of the block, and leaves nothing behind after an error.
    """

    def __init__(self, prefix: str):
        self.prefix = prefix
        self._entries: dict[bytes, Any] = {}
        self._offset = 0
        self._temporary = f"{local_path(prefix)}.data.tmp{secrets.token_hex(8)}"
        with op_errors(os.path.dirname(prefix)):
            make_folder(os.path.dirname(prefix))
            self._file = open(self._temporary, "wb")    # noqa: SIM115  (until finish or discard)

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, cls: Any, *exc: Any) -> None:
        if cls is None:
            self.finish()
        else:
            self.discard()

    def add(self, name: str, array: np.ndarray, dtype: DType) -> None:
        """Writes a whole tensor.  Raises InvalidArgumentError if there is one of that name already."""
        self._write(name.encode(), name, array, dtype)

    def add_slice(self, name: str, full_shape: tuple[int, ...], extents: tensor_slice.Extents, array: np.ndarray,
                  dtype: DType) -> None:
        """Writes the part `extents` of the tensor `name`, whose shape is `full_shape`.

        Raises InvalidArgumentError if other parts of it had another dtype or full shape.
        """
        whole = self._entries.get(name.encode())
        if whole is None:
            whole = messages.BundleEntryProto(dtype=dtype.as_datatype_enum, shape=shape_to_proto(full_shape))
            self._entries[name.encode()] = whole
        elif not whole.slices:
            raise InvalidArgumentError(None, None, f"Adding a slice of {name}, which is there as a whole tensor")
        elif whole.dtype != dtype.as_datatype_enum or [d.size for d in whole.shape.dim] != list(full_shape):
            raise InvalidArgumentError(None, None, f"The slices of {name} do not agree on its shape and dtype")
        self._write(tensor_slice.key(name, extents), name, array, dtype)
        whole.slices.append(tensor_slice.to_proto(extents))

    def _write(self, key: bytes, name: str, array: np.ndarray, dtype: DType) -> None:
        if not name:
            raise InvalidArgumentError(None, None, "A tensor in a checkpoint needs a name")
        if key in self._entries:
            raise InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        entry = messages.BundleEntryProto(dtype=dtype.base_dtype.as_datatype_enum, shape=shape_to_proto(array.shape))
        if dtype.base_dtype is string:
            data, crc = bundle.encode_strings(array)
        elif dtype.base_dtype is variant:
            try:
                data, crc = bundle.encode_variants(array)
            except TypeError as error:
                raise UnimplementedError(None, None, f"Tensor {name} of dtype {dtype.name} {error}") from None
        elif not dtype.is_numpy_compatible:
            raise UnimplementedError(None, None, f"Tensor {name} of dtype {dtype.name} cannot be saved")
        else:
            data = _plain_bytes(array)
            crc = crc32c(data)
        with op_errors(self._temporary):
            self._file.write(data)
        if self._offset:
            entry.offset = self._offset
        entry.size = len(data)
        entry.crc32c = mask(crc)
        self._offset += len(data)
        self._entries[key] = entry

    def finish(self) -> None:
        """Completes the checkpoint."""
        try:
            with op_errors(self.prefix):
                self._file.close()
                os.replace(self._temporary, bundle.data_path(self.prefix, 0, 1))
        except BaseException:
            self.discard()
            raise
        write_index(self.prefix, 1, self._entries)

    def discard(self) -> None:
        """Forgets what was written."""
        self._file.close()
        with suppress(OSError):
            os.unlink(self._temporary)


def make_folder(path: str) -> None:
    """Makes a folder if it is not there; the one around it must be.  Raises OSError."""
    if path:
        with suppress(FileExistsError):
            os.mkdir(local_path(path))


def _plain_bytes(array: np.ndarray) -> Any:
    """The little-endian bytes of an array, without a copy where possible."""
    little = np.ascontiguousarray(array)
    if sys.byteorder == "big":
        little = little.byteswap()
    return little.reshape(-1).view(np.uint8).data


def write_index(prefix: str, shards: int, entries: dict[bytes, Any]) -> None:
    """Writes the table of a checkpoint: BundleEntryProtos by key."""
    header = messages.BundleHeaderProto(num_shards=shards)
    header.version.producer = bundle.VERSION
    table = TableWriter()
    table.add(b"", header.SerializeToString(deterministic=True))
    for key in sorted(entries):
        table.add(key, entries[key].SerializeToString(deterministic=True))
    with op_errors(prefix):
        write_bytes(bundle.index_path(prefix), table.finish())


def merge(prefixes: Iterable[str], destination: str, delete_old_folders: bool = True) -> None:
    """Makes one checkpoint of several, moving their data files; one that `prefixes` name twice is taken once.

    Slices of one tensor may be spread over them.  Raises NotFoundError if one is not there, InvalidArgumentError if
    two hold the same tensor.
    """
    prefixes = list(dict.fromkeys(prefixes))
    entries: dict[bytes, Any] = {}
    moves: list[tuple[str, int, int]] = []
    for prefix in prefixes:
        header, own = read_index(prefix)
        _merge_entries(entries, own, len(moves))
        moves.extend((prefix, shard, header.num_shards) for shard in range(header.num_shards))
    with op_errors(destination):
        make_folder(os.path.dirname(destination))
        for number, (prefix, shard, shards) in enumerate(moves):
            os.replace(bundle.data_path(prefix, shard, shards), bundle.data_path(destination, number, len(moves)))
    write_index(destination, len(moves), entries)
    for prefix in prefixes:
        with suppress(OSError):
            os.unlink(bundle.index_path(prefix))
    if delete_old_folders:
        for folder in {os.path.dirname(local_path(prefix)) for prefix in prefixes} - {os.path.dirname(local_path(destination))}:
            with suppress(OSError):
                os.rmdir(folder)


def _merge_entries(entries: dict[bytes, Any], others: dict[bytes, Any], first_shard: int) -> None:
    for key, entry in others.items():
        known = entries.get(key)
        if known is None:
            if not entry.slices and entry.shard_id + first_shard:
                entry.shard_id += first_shard
            entries[key] = entry
        elif known.slices and entry.slices and known.dtype == entry.dtype and known.shape == entry.shape:
            known.slices.extend(entry.slices)
        else:
            raise InvalidArgumentError(None, None, f"Two checkpoints to be merged hold the tensor {key.decode()!r}")
