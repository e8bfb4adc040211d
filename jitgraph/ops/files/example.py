"""``tf.train.Example`` messages taken apart: the ops behind ``tf.parse_example`` and its kin.

A feature is dense (the same shape in every example, or padded along its first dimension), or sparse (any length).
"""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import DType, TypeSet
from jitgraph.ops.files.example_loops import Lists, lists_of
from jitgraph.ops.strings.strings import each

_TYPES = TypeSet(dtypes.float32, dtypes.int64, dtypes.string)
_LISTS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}
_C_NAMES = {"float_list": "float", "int64_list": "int64", "bytes_list": "string", "float32": "float"}


def text_of(data: bytes) -> str:
    return data.decode("latin-1")


def message(name: str, data: bytes) -> Any:
    """The message in `data`, of the type with this name.  Raises InvalidArgumentError if there is none."""
    read, failure = _reading(name)
    try:
        return read(data)
    except failure:
        raise invalid(f"Could not parse example input, value: '{text_of(data)}'") from None


@functools.cache
def _reading(name: str) -> tuple[Callable[[bytes], Any], type[Exception]]:
    """What reads messages of a type, and what it raises."""
    from google.protobuf.message import DecodeError

    from jitgraph.protobuf import messages

    return getattr(messages, name).FromString, DecodeError


class Where:
    """The example that is read, for error messages; `name` is None for single examples."""

    def __init__(self, name: str | None, index: int = 0):
        self.missing = "" if name is None else f"Name: {name}, "
        self.found = "" if name is None else f"Name: {name}, "
        self.place = "" if name is None else f", Index: {index}"


_SINGLE = Where(None)


def values_of(feature: Any, key: str, dtype: DType, where: Where) -> Any:
    """The values of a feature, None if it is missing or empty.  Raises InvalidArgumentError for another type."""
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return None
    if kind != _LISTS[dtype.name]:
        raise invalid(f"{where.found}Key: {key}{where.place}.  Data types don't match. Data type: {_C_NAMES[kind]} but "
                      f"expected type: {_C_NAMES.get(dtype.name, dtype.name)}")
    return getattr(feature, kind).value


def _array(values: Any, dtype: DType) -> np.ndarray:
    if dtype.name == "string":
        out = np.empty(len(values), object)
        out[:] = list(values)
        return out
    return np.array(list(values), dtype.as_numpy_dtype)       # of a list, for a message gives NumPy one value at a time


def dense_value(feature: Any, key: str, dtype: DType, shape: tuple, default: np.ndarray, where: Where) -> np.ndarray:
    """The value of a dense feature in one example: in `shape`, whose first size may be None (any number)."""
    values = values_of(feature, key, dtype, where)
    is_open = bool(shape) and shape[0] is None
    stride = math.prod(shape[1:] if is_open else shape)
    if is_open:
        count = 0 if values is None else len(values)
        if count % max(stride, 1):
            raise invalid(f"{where.found}Key: {key}{where.place}.  Number of {dtype.name} values is not a multiple of "
                          f"stride length. Saw {count} values but output shape is: {_brackets(shape)}")
        rows = () if values is None else values
        return _array(rows, dtype).reshape(-1 if stride else 0, *shape[1:])
    if values is None:
        if not default.size and stride:
            raise invalid(f"{where.missing}Feature: {key} (data type: {_C_NAMES.get(dtype.name, dtype.name)}) is required "
                          "but could not be found.")
        return default.reshape(shape)
    if len(values) != stride:
        raise invalid(f"{where.found}Key: {key}{where.place}.  Number of {dtype.name} values != expected.  Values size: "
                      f"{len(values)} but output shape: {_brackets(shape)}")
    return _array(values, dtype).reshape(shape)


def _brackets(shape: tuple) -> str:
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


def dense_batch(parts: list[np.ndarray], dtype: DType, shape: tuple, default: np.ndarray) -> np.ndarray:
    """The values of a dense feature stacked; of varying length, padded with the default."""
    numpy_dtype = dtype.as_numpy_dtype
    if not shape or shape[0] is not None:
        out = np.empty((len(parts), *shape), numpy_dtype)
        for row, part in enumerate(parts):
            out[row] = part if part.ndim else part[()]
        return out
    longest = max((len(part) for part in parts), default=0)
    padding = default.reshape(-1)[0] if default.size else (b"" if numpy_dtype is object else 0)
    out = np.full((len(parts), longest, *shape[1:]), padding, numpy_dtype)
    for row, part in enumerate(parts):
        out[row, :len(part)] = part
    return out


class _Dense:
    """A dense feature of a batch: what its examples have given so far."""

    def __init__(self, key: str, dtype: DType, shape: tuple, default: np.ndarray):
        self.key, self.dtype, self.shape, self.default = key, dtype, shape, default
        self.list = _LISTS[dtype.name]
        self.varies = bool(shape) and shape[0] is None
        self.count = -1 if self.varies else math.prod(shape)     # of values in each example
        self.flat: list = []            # the values of all examples, where they have equally many
        self.parts: list[np.ndarray] = []

    def add(self, feature: Any, where: Callable[[], Where]) -> None:
        """Takes the feature of the next example, None where it has none."""
        if feature is not None and self.count > 0:
            values = getattr(feature, self.list).value          # empty for a feature of another type
            if len(values) == self.count:
                self.flat.extend(values)
                return
        value = dense_value(feature, self.key, self.dtype, self.shape, self.default, where())
        if self.varies:
            self.parts.append(value)
        else:
            self.flat.extend(value.ravel().tolist())

    def stacked(self, rows: int) -> np.ndarray:
        """All examples; those of varying length padded with the default."""
        if not self.varies:
            return _array(self.flat, self.dtype).reshape(rows, *self.shape)
        return dense_batch(self.parts, self.dtype, self.shape, self.default)


def sparse_batch(lists: list[Any], dtype: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indices, values, shape) of a feature of any length, one row per example."""
    lengths = [0 if values is None else len(values) for values in lists]
    indices = [(row, column) for row, length in enumerate(lengths) for column in range(length)]
    flat = [value for values in lists if values is not None for value in values]
    return (np.array(indices, np.int64).reshape(-1, 2), _array(flat, dtype),
            np.array([len(lists), max(lengths, default=0)], np.int64))


def _dense_of(lists: Lists, shape: tuple, default: np.ndarray) -> np.ndarray | None:
    """What `_Dense` stacks; None where an example does not suit."""
    rows, varies = len(lists.counts), bool(shape) and shape[0] is None
    stride = math.prod([size for size in shape if size is not None])
    numpy_dtype = lists.dtype.as_numpy_dtype
    if varies:
        if not stride or np.any(lists.counts % stride):
            return None
        longest = int(lists.counts.max()) // stride
        padding = default.reshape(-1)[0] if default.size else (b"" if numpy_dtype is object else 0)
        out = np.full((rows, longest, *shape[1:]), padding, numpy_dtype)
        return out if lists.into(out.reshape(-1), np.arange(rows) * (longest * stride)) else None
    missing = ~lists.there
    if np.any(lists.counts[lists.there] != stride) or (stride and not default.size and missing.any()):
        return None
    out = np.empty((rows, *shape), numpy_dtype)
    if not lists.into(out.reshape(-1), np.arange(rows) * stride):
        return None
    if missing.any():
        out[missing] = default.reshape(shape)
    return out


def _sparse_of(lists: Lists) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What `sparse_batch` gives."""
    rows, places = len(lists.counts), lists.counts.cumsum() - lists.counts
    values: np.ndarray = np.empty(int(lists.counts.sum()), lists.dtype.as_numpy_dtype)
    if not lists.into(values, places):
        return None
    indices = np.empty((len(values), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(rows), lists.counts)
    indices[:, 1] = np.arange(len(values)) - np.repeat(places, lists.counts)
    return indices, values, np.array([rows, lists.counts.max()], np.int64)


def _parsed_on_the_wire(serialized: np.ndarray, sparse_keys: list[str], dense_keys: list[str], dense_defaults: list[np.ndarray],
                        attrs: dict[str, Any]) -> tuple[list, list, list, list] | None:
    """What `parse_batch` gives, by compiled loops; None where they do not know what is there, or where something is wrong."""
    found = lists_of(serialized, [*sparse_keys, *dense_keys], [*attrs["sparse_types"], *attrs["Tdense"]])
    if found is None:
        return None
    count = len(sparse_keys)
    sparse = [_sparse_of(lists) for lists in found[:count]]
    dense = [_dense_of(*rest) for rest in zip(found[count:], attrs["dense_shapes"], dense_defaults)]
    if any(part is None for part in (*sparse, *dense)):
        return None
    indices, values, shapes = ([part[k] for part in sparse if part] for k in range(3))
    return indices, values, shapes, [part for part in dense if part is not None]


def parse_batch(serialized: np.ndarray, names: np.ndarray, sparse_keys: list[str], dense_keys: list[str],
                dense_defaults: list[np.ndarray], attrs: dict[str, Any]) -> tuple[list, list, list, list]:
    """(sparse indices, sparse values, sparse shapes, dense values) of a vector of Examples."""
    found = _parsed_on_the_wire(serialized, sparse_keys, dense_keys, dense_defaults, attrs)
    if found is not None:
        return found
    sparse: list[list] = [[] for _ in sparse_keys]
    dense = [_Dense(*rest) for rest in zip(dense_keys, attrs["Tdense"], attrs["dense_shapes"], dense_defaults)]
    for row, data in enumerate(serialized.tolist()):
        features = message("Example", data).features.feature

        def where(row: int = row) -> Where:
            return Where(text_of(names[row]) if names.size else "<unknown>", row)

        for own, key, dtype in zip(sparse, sparse_keys, attrs["sparse_types"]):
            own.append(values_of(features.get(key), key, dtype, where()))
        for column in dense:
            column.add(features.get(column.key), where)
    parts = [sparse_batch(own, dtype) for own, dtype in zip(sparse, attrs["sparse_types"])]
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts], [own.stacked(len(serialized)) for own in dense]


def keys_of(arrays: Any) -> list[str]:
    """The keys in a list of string scalars, or in a string vector."""
    return [text_of(np.asarray(key, object).item()) for key in arrays]


# -- batches of examples -------------------------------------------------------------------------------------------

def _batch_shapes(sparse: int, rows: Any, shapes: list) -> list:
    dense = [(rows, *shape) if shape is not None else None for shape in shapes]
    return [(None, 2)] * sparse + [(None,)] * sparse + [(2,)] * sparse + dense


def _example_shapes(c: Any) -> list:
    rows = shape_rules.with_rank(c.shapes[0], 1, "serialized")[0]
    return _batch_shapes(len(c.attrs["sparse_types"]), rows, c.attrs["dense_shapes"])


@op("ParseExample(serialized: string, names: string, sparse_keys: Nsparse*string, dense_keys: Ndense*string, "
    "dense_defaults: [Tdense]; Nsparse: int >= 0, Ndense: int >= 0, sparse_types: list(type) >= 0, dense_shapes: "
    "list(shape) >= 0) -> sparse_indices: Nsparse*int64, sparse_values: [sparse_types], sparse_shapes: Nsparse*int64, "
    "dense_values: [Tdense]", sparse_types=_TYPES, Tdense=_TYPES, shape=_example_shapes, host=True,
    tested_in="tests/ops/test_example.py: messages")
def parse_example(serialized, names, sparse_keys, dense_keys, dense_defaults, sparse_types, Tdense, dense_shapes):
    """The features of a vector of serialized Examples, sparse and dense ones."""
    return parse_batch(serialized, names, keys_of(sparse_keys), keys_of(dense_keys), dense_defaults,
                       {"sparse_types": sparse_types, "Tdense": Tdense, "dense_shapes": dense_shapes})


def _example_v2_shapes(c: Any) -> list:
    shape, count, shapes = c.shapes[0], c.attrs["num_sparse"], c.attrs["dense_shapes"]
    if shape is None:
        return [None] * (3 * count + len(shapes))
    if shape:
        return _batch_shapes(count, shape[0], shapes)
    return [(None, 1)] * count + [(None,)] * count + [(1,)] * count + [tuple(s) for s in shapes]


@op("ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: [Tdense]; num_sparse: int >= 0, sparse_types: list(type) >= 0, ragged_value_types: list(type) >= 0, "
    "ragged_split_types: list(type) >= 0, dense_shapes: list(shape) >= 0) -> sparse_indices: num_sparse*int64, "
    "sparse_values: [sparse_types], sparse_shapes: num_sparse*int64, dense_values: [Tdense], ragged_values: "
    "[ragged_value_types], ragged_row_splits: [ragged_split_types]", sparse_types=_TYPES, Tdense=_TYPES,
    shape=_example_v2_shapes, host=True, grad=NOT_DIFFERENTIABLE, tested_in="tests/ops/test_example.py: messages",
    origin="TensorFlow 2")
def parse_example_v2(serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults, sparse_types, Tdense,
                     dense_shapes):
    """As ParseExample, of a vector of Examples or a single one, as newer graph files have it."""
    if ragged_keys.size:
        raise NotImplementedError("ragged features are not there: read them as sparse ones")
    attrs = {"sparse_types": sparse_types, "Tdense": Tdense, "dense_shapes": dense_shapes}
    keys = keys_of(sparse_keys.reshape(-1)), keys_of(dense_keys.reshape(-1))
    indices, values, shapes, dense = parse_batch(serialized.reshape(-1), names, *keys, dense_defaults, attrs)
    if not serialized.ndim:
        indices, shapes = [i[:, 1:] for i in indices], [s[1:] for s in shapes]
        dense = [d.reshape(d.shape[1:]) for d in dense]
    return indices, values, shapes, dense, [], []


# -- single examples -----------------------------------------------------------------------------------------------

def _single_shapes(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 0, "serialized")
    count = len(c.attrs["sparse_types"])
    dense = [tuple(shape) if shape is not None else None for shape in c.attrs["dense_shapes"]]
    return [(None, 1)] * count + [(None,)] * count + [(1,)] * count + dense


@op("ParseSingleExample(serialized: string, dense_defaults: [Tdense]; num_sparse: int >= 0, sparse_keys: list(string) "
    ">= 0, dense_keys: list(string) >= 0, sparse_types: list(type) >= 0, dense_shapes: list(shape) >= 0) -> "
    "sparse_indices: num_sparse*int64, sparse_values: [sparse_types], sparse_shapes: num_sparse*int64, dense_values: "
    "[Tdense]", sparse_types=_TYPES, Tdense=_TYPES, shape=_single_shapes, host=True,
    tested_in="tests/ops/test_example.py: messages")
def parse_single_example(serialized, dense_defaults, sparse_keys, dense_keys, sparse_types, Tdense, dense_shapes):
    """The features of one serialized Example."""
    features, where = message("Example", serialized[()]).features.feature, _SINGLE
    sparse = [values_of(features.get(key), key, dtype, where)
              for key, dtype in zip(sparse_keys, sparse_types)]
    dense = [dense_value(features.get(key), key, *rest, where)
             for key, *rest in zip(dense_keys, Tdense, dense_shapes, dense_defaults)]
    parts = [sparse_batch([values], dtype) for values, dtype in zip(sparse, sparse_types)]
    return [p[0][:, 1:] for p in parts], [p[1] for p in parts], [p[2][1:] for p in parts], dense


@op("DecodeJSONExample(json_examples: string) -> binary_examples: string", shape=shape_rules.same_as_input, host=True,
    tested_in="tests/ops/test_example.py: messages")
def decode_json_example(json_examples):
    """Examples written as JSON, as serialized messages."""
    from google.protobuf import json_format

    from jitgraph.protobuf.messages import Example

    def one(text: bytes) -> bytes:
        if text.lstrip().startswith(b"["):              # to Python's parser an empty list is an empty message
            raise invalid("Error while parsing JSON: : Root element must be a message.")
        try:
            return json_format.Parse(text, Example()).SerializeToString(deterministic=True)
        except json_format.ParseError as error:
            raise invalid(f"Error while parsing JSON: {error}") from None

    return each(one, json_examples)
