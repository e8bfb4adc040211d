"""Crossed features: every combination of the features of several columns, as strings or as hashes."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import texts
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings.string_hash import fingerprint64

_KINDS = TypeSet(dtypes.int64, dtypes.string)
_ALL = 0xFFFFFFFFFFFFFFFF
_FACTOR = 0xC6A4A7935BD1E995
_HASH_KEY = 0xDECAFCAFFE
_JOINT = b"_X_"


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


def fingerprint_of_pair(first: int, second: int) -> int:
    """One 64-bit fingerprint of two."""
    found = (first ^ _FACTOR) ^ (_mixed(second * _FACTOR & _ALL) * _FACTOR & _ALL)
    found = _mixed(found * _FACTOR & _ALL) * _FACTOR & _ALL
    return _mixed(found)


def _columns(indices: list, values: list, dense_inputs: list, rows: int) -> list[list[list]]:
    """For each column the features of each row."""
    found = []
    for places, features in zip(indices, values):
        column: list[list] = [[] for _ in range(rows)]
        for row, feature in zip(places[:, 0].tolist(), features.tolist()):
            column[row].append(feature)
        found.append(column)
    return found + [array.reshape(rows, -1).tolist() for array in dense_inputs]


def _hashed(features: tuple, hash_key: int, num_buckets: int) -> int:
    total = hash_key & _ALL
    for feature in features:
        own = fingerprint64(feature) if isinstance(feature, bytes) else feature & _ALL
        total = fingerprint_of_pair(total, own)
    return total % (num_buckets if num_buckets > 0 else 2 ** 63 - 1)


def _joined(features: tuple) -> bytes:
    return _JOINT.join(feature if isinstance(feature, bytes) else str(feature).encode() for feature in features)


def _cross_samples(rng, dtype):
    places, shape = np.array([[0, 0], [1, 0], [1, 1]], np.int64), np.array([2, 2], np.int64)
    inputs = [[places], [texts(b"a", b"b", b"c")], [shape], [np.array([[1], [2]], np.int64)]]
    hashed = {"hashed_output": True, "num_buckets": 100, "hash_key": 956888297470, "out_type": dtypes.int64,
              "internal_type": dtypes.string}
    plain = {"hashed_output": False, "num_buckets": 0, "hash_key": 1, "out_type": dtypes.string, "internal_type": dtypes.string}
    return [(inputs, hashed), ([inputs[0], inputs[1], inputs[2], [texts(b"x", b"y").reshape(2, 1)]], plain)]


@op("SparseCross(indices: N*int64, values: [sparse_types], shapes: N*int64, dense_inputs: [dense_types]; N: int >= 0, "
    "hashed_output: bool, num_buckets: int >= 0, hash_key: int, out_type: type, internal_type: type) -> output_indices: "
    "int64, output_values: out_type, output_shape: int64", sparse_types=_KINDS, dense_types=_KINDS, out_type=_KINDS,
    internal_type=_KINDS, shape=lambda c: [(None, 2), (None,), (2,)], host=True, dynamic=True, samples=_cross_samples)
def _sparse_cross(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, out_type):
    """For each row all combinations of one feature of each column, the last column changing fastest."""
    sizes = [int(shape[0]) for shape in shapes] + [array.shape[0] for array in dense_inputs]
    if any(size != sizes[0] for size in sizes):
        raise invalid(f"Expected batch size {sizes[0]}, got {next(size for size in sizes if size != sizes[0])}")
    rows = sizes[0] if sizes else 0
    columns = _columns(indices, values, dense_inputs, rows)
    places: list = []
    crossed: list = []
    longest = 0
    for row in range(rows):
        combinations = list(itertools.product(*(column[row] for column in columns)))
        places.extend((row, i) for i in range(len(combinations)))
        crossed.extend(_hashed(one, hash_key, num_buckets) if hashed_output else _joined(one) for one in combinations)
        longest = max(longest, len(combinations))
    found = np.empty(len(crossed), out_type.as_numpy_dtype)
    found[:] = crossed
    return np.array(places, np.int64).reshape(-1, 2), found, np.array([rows, longest], np.int64)


def _cross(inputs: Any, hashed: bool, num_buckets: int, hash_key: int | None, name: str | None) -> SparseTensor:
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be SparseTensors")

    def feature(x: Tensor) -> Tensor:
        return x if x.dtype.base_dtype is dtypes.string else raw.Cast(x, DstT=dtypes.int64)

    sparse = [one for one in inputs if isinstance(one, SparseTensor)]
    values = [feature(one.values) for one in sparse]
    dense = [feature(one) for one in inputs if not isinstance(one, SparseTensor)]
    strings = all(x.dtype.base_dtype is dtypes.string for x in [*values, *dense])
    found = raw.SparseCross([one.indices for one in sparse], values, [one.dense_shape for one in sparse], dense,
                            hashed_output=hashed, num_buckets=num_buckets, hash_key=hash_key or _HASH_KEY,
                            out_type=dtypes.int64 if hashed else dtypes.string,
                            internal_type=dtypes.string if strings else dtypes.int64, name=name)
    return SparseTensor(*found)


def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """For each row all combinations of one feature of each of `inputs` (sparse or dense), joined by ``_X_``: strings.

    Raises TypeError if `inputs` is not a list of sparse tensors and tensors.
    """
    return _cross(inputs, False, 0, None, name)


def sparse_cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None,
                        name: str | None = None) -> SparseTensor:
    """As ``sparse_cross``, as hashes from 0 to `num_buckets` - 1 (without bound if that is 0): int64."""
    return _cross(inputs, True, num_buckets, hash_key, name)
