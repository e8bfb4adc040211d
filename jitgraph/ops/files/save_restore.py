"""Tensors into checkpoints and back, as nodes: what ``tf.train.Saver`` is made of."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import DType
from jitgraph.graph.errors import InvalidArgumentError, OpError


def _text(value: Any) -> str:
    """A scalar string tensor as str."""
    item = np.asarray(value, object).reshape(-1)[0]
    return item.decode() if isinstance(item, bytes) else str(item)


def _texts(values: Any) -> list[str]:
    return [_text(item) for item in np.asarray(values, object).ravel()]


def _parts(tensor_names: Any, shape_and_slices: Any, tensors: list, dtypes: list[DType]) -> Iterator[tuple]:
    """Name, full shape, extents (None for whole tensors), array and dtype of each tensor to save."""
    from jitgraph.formats import tensor_slice

    for name, spec, array, dtype in zip(_texts(tensor_names), _texts(shape_and_slices), tensors, dtypes):
        array = np.asarray(array)
        if not spec:
            yield name, array.shape, None, array, dtype
            continue
        shape, extents = tensor_slice.parse(spec)
        if tuple(length for _, length in tensor_slice.resolve(extents, shape)) != array.shape:
            raise InvalidArgumentError(None, None, "Slice in shape_and_slice specification does not match the shape of "
                                                   f"the tensor to save: {spec}, tensor: {list(array.shape)}")
        yield name, shape, extents, array, dtype


def _same_lengths(c: Any) -> list:
    """The shape rule of ops without outputs on a prefix and two vectors."""
    _restored(c)
    if c.shapes[1] is not None and None not in c.shapes[1] and len(c.shapes) - 3 != c.shapes[1][0]:
        raise ValueError(f"Dimension must be {c.shapes[1][0]} but is {len(c.shapes) - 3}")
    return []


@op("SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, "
    "tensors: [dtypes]; dtypes: list(type) >= 1)", shape=_same_lengths,
    stateful=True, host=True, tested_in="tests/train/test_saver.py: a file")
def save_v2(prefix, tensor_names, shape_and_slices, tensors, dtypes):
    """Writes a checkpoint of the tensors, or of the slices that ``shape_and_slices`` says they are ("" for whole)."""
    from jitgraph.formats.bundle_writer import BundleWriter

    with BundleWriter(_text(prefix)) as writer:
        for name, shape, extents, array, dtype in _parts(tensor_names, shape_and_slices, tensors, dtypes):
            if extents is None:
                writer.add(name, array, dtype)
            else:
                writer.add_slice(name, shape, extents, array, dtype)
    return ()


def _restored(c: Any) -> list:
    names, specs = shape_rules.with_rank(c.shapes[1], 1, "tensor_names"), \
        shape_rules.with_rank(c.shapes[2], 1, "shape_and_slices")
    shape_rules.with_rank(c.shapes[0], 0, "prefix")
    shape_rules.merge(names, specs)
    count = len(c.attrs["dtypes"])
    values = c.constant(2)
    if values is None:
        return [None] * count
    return [_slice_shape(_text(spec)) for spec in values.ravel()]


def _slice_shape(spec: str) -> Any:
    """The shape that a slice has when it is read, None for whole tensors."""
    from jitgraph.formats import tensor_slice

    if not spec:
        return None
    try:
        shape, extents = tensor_slice.parse(spec)
    except OpError as error:
        raise ValueError(error.message) from None
    return tuple(length for _, length in tensor_slice.resolve(extents, shape))


@op("RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string; dtypes: list(type) >= 1) -> tensors: [dtypes]",
    shape=_restored, stateful=True, host=True, dynamic=True, tested_in="tests/train/test_saver.py: a file")
def restore_v2(prefix, tensor_names, shape_and_slices, dtypes):
    """Reads tensors, or slices of them, from a checkpoint of either format."""
    from jitgraph.formats.checkpoint import open_checkpoint

    reader = open_checkpoint(_text(prefix))
    return [_restore(reader, name, spec, dtype)
            for name, spec, dtype in zip(_texts(tensor_names), _texts(shape_and_slices), dtypes)]


def _restore(reader: Any, name: str, spec: str, dtype: DType) -> np.ndarray:
    from jitgraph.formats import tensor_slice

    if reader.dtype(name) is not dtype:
        raise InvalidArgumentError(None, None, f"tensor_name = {name}; expected dtype {dtype.name} does not equal "
                                               f"original dtype {reader.dtype(name).name}")
    if not spec:
        return reader.read(name)
    shape, extents = tensor_slice.parse(spec)
    if shape != reader.shape(name):
        raise InvalidArgumentError(None, None, f"tensor_name = {name}; shape in shape_and_slice spec {list(shape)} does "
                                               f"not match the shape stored in checkpoint: {list(reader.shape(name))}")
    return reader.read_slice(name, extents)


@op("MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string; delete_old_dirs: bool = true)",
    shape=shape_rules.no_outputs, stateful=True, host=True, tested_in="tests/train/test_saver.py: a file")
def merge_v2_checkpoints(checkpoint_prefixes, destination_prefix, delete_old_dirs):
    """Makes one checkpoint of those that several devices wrote; their folders are removed if they are empty then."""
    from jitgraph.formats.bundle_writer import merge

    merge(_texts(checkpoint_prefixes), _text(destination_prefix), delete_old_dirs)
    return ()


@op("ShardedFilename(basename: string, shard: int32, num_shards: int32) -> filename: string", shape=shape_rules.scalar,
    samples=lambda rng, dtype: [[np.array(b"/a/b", object), np.int32(3), np.int32(12)]])
def sharded_filename(basename, shard, num_shards):
    """The name of one shard, ``basename-00003-of-00012``."""
    return np.array(f"{_text(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode(), object)


@op("ShardedFilespec(basename: string, num_shards: int32) -> filename: string", shape=shape_rules.scalar,
    samples=lambda rng, dtype: [[np.array(b"/a/b", object), np.int32(12)]])
def sharded_filespec(basename, num_shards):
    """The pattern of the names of all shards, ``basename-?????-of-00012``."""
    return np.array(f"{_text(basename)}-?????-of-{int(num_shards):05d}".encode(), object)


# -- the format before TensorFlow 0.12 -----------------------------------------------------------------------------

def _write_v1(filename: Any, parts: Iterator[tuple]) -> None:
    from jitgraph.formats import checkpoint_v1, tensor_slice

    checkpoint_v1.write(_text(filename), (
        (name, shape, tuple((0, tensor_slice.WHOLE) for _ in shape) if extents is None else extents, array, dtype)
        for name, shape, extents, array, dtype in parts))


@op("Save(filename: string, tensor_names: string, data: [T]; T: list(type) >= 1)", shape=shape_rules.no_outputs,
    stateful=True, host=True, tested_in="tests/train/test_saver.py: a file")
def save(filename, tensor_names, data, T):
    """Writes a checkpoint of the old format."""
    _write_v1(filename, _parts(tensor_names, [""] * len(data), data, T))
    return ()


@op("SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: [T]; T: list(type) >= 1)",
    shape=shape_rules.no_outputs, stateful=True, host=True, tested_in="tests/train/test_saver.py: a file")
def save_slices(filename, tensor_names, shapes_and_slices, data, T):
    """Writes a checkpoint of the old format, of whole tensors and slices."""
    _write_v1(filename, _parts(tensor_names, shapes_and_slices, data, T))
    return ()


@op("Restore(file_pattern: string, tensor_name: string; dt: type, preferred_shard: int = -1) -> tensor: dt",
    stateful=True, host=True, dynamic=True, tested_in="tests/train/test_saver.py: a file")
def restore(file_pattern, tensor_name, dt):
    """Reads one tensor from a checkpoint of either format."""
    return restore_slice.opdef.value(file_pattern, tensor_name, "", dt)


@op("RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string; dt: type, preferred_shard: int = "
    "-1) -> tensor: dt", stateful=True, host=True, dynamic=True, tested_in="tests/train/test_saver.py: a file")
def restore_slice(file_pattern, tensor_name, shape_and_slice, dt):
    """Reads one tensor, or a slice of it, from a checkpoint of either format."""
    from jitgraph.formats.checkpoint import open_checkpoint

    return _restore(open_checkpoint(_text(file_pattern)), _text(tensor_name), _text(shape_and_slice), dt)
