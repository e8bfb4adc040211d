"""Crossed features: every combination of the features of several columns, as strings or as hashes."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.strings.string_hash import fingerprints

_KINDS = TypeSet(dtypes.int64, dtypes.string)
_ALL = 0xFFFFFFFFFFFFFFFF
_FACTOR = 0xC6A4A7935BD1E995
_HASH_KEY = 0xDECAFCAFFE
_GOLDEN = 0x9E3779B97F4A7800
_JOINT = b"_X_"


def _mixed(x: np.ndarray) -> np.ndarray:
    return x ^ (x >> 47)


_PAIRS = HostCode("fingerprints_of_pairs", ("u64", "u64", "u64"), """def fingerprints_of_pairs(x0, x1, y0, sizes, begin, end):
    m = u64(FACTOR)
    for i in range(begin, end):
        k = x1[i] * m
        h = ((x0[i] ^ m) ^ (k ^ k >> 47) * m) * m
        h = (h ^ h >> 47) * m
        y0[i] = h ^ h >> 47
    return 0
""".replace("FACTOR", str(_FACTOR)))


def fingerprints_of_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One 64-bit fingerprint of two, for each element of two arrays of uint64."""
    if first.shape == second.shape and first.dtype == second.dtype == np.uint64:
        out = np.empty(first.shape, np.uint64)
        if _PAIRS(contiguous(first), contiguous(second), out, end=first.size) == 0:
            return out
    found = (first ^ _FACTOR) ^ (_mixed(second * _FACTOR) * _FACTOR)
    found = _mixed(found * _FACTOR) * _FACTOR
    return _mixed(found)


def _columns(indices: list, values: list, dense_inputs: list, rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each column its features, row by row, and how many of them each row has."""
    found = []
    for places, features in zip(indices, values):
        of_row = places[:, 0]
        if of_row.size and not 0 <= of_row.min() <= of_row.max() < rows:
            raise IndexError(f"a row outside of [0, {rows})")
        order = np.argsort(of_row, kind="stable")
        found.append((features[order], np.bincount(of_row, minlength=rows)))
    return found + [(array.reshape(-1), np.full(rows, array.size // max(rows, 1))) for array in dense_inputs]


def _one_each(indices: list, values: list, dense_inputs: list, rows: int) -> list[np.ndarray] | None:
    """The features of each column if all have one in each row, in the order of the rows; else None."""
    if not rows or any(array.size != rows for array in (*values, *dense_inputs)):
        return None
    every = np.arange(rows)
    if not all(len(places) == rows and (places[:, 0] == every).all() for places in indices):
        return None
    return [*values, *(array.reshape(-1) for array in dense_inputs)]


def _combinations(counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """(row, number in the row, for each column the number of its feature) of all combinations, from the numbers of features
    in each row."""
    each = np.prod(counts, axis=0, dtype=np.int64) if counts else np.zeros(0, np.int64)
    row = np.repeat(np.arange(len(each)), each)
    number = rest = np.arange(len(row)) - (np.cumsum(each) - each)[row]
    chosen: list[np.ndarray] = []
    for count in reversed(counts):
        chosen.append((np.cumsum(count) - count)[row] + rest % count[row])
        rest = rest // count[row]
    return row, number, chosen[::-1]


def _older_hashes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One hash of two, as ``tf.contrib.layers`` combines them without a key; the first is shifted as a signed number."""
    return first ^ (second + _GOLDEN + (first << 10) + (first.view(np.int64) >> 4).view(np.uint64))


def _hashed(columns: list[np.ndarray], hash_key: int | None, num_buckets: int) -> np.ndarray:
    total = np.full(len(columns[0]), _HASH_KEY if hash_key is None else hash_key & _ALL, np.uint64)
    for features in columns:
        total = _older_hashes(total, features) if hash_key is None else fingerprints_of_pairs(total, features)
    return (total % np.uint64(num_buckets if num_buckets > 0 else 2 ** 63 - 1)).astype(np.int64)


def _joined(features: tuple) -> bytes:
    return _JOINT.join(feature if isinstance(feature, bytes) else str(feature).encode() for feature in features)


def _cross_samples(rng, dtype):
    places, shape = np.array([[0, 0], [1, 0], [1, 1]], np.int64), np.array([2, 2], np.int64)
    inputs = [[places], [texts(b"a", b"b", b"c")], [shape], [np.array([[1], [2]], np.int64)]]
    hashed = {"hashed_output": True, "num_buckets": 100, "hash_key": 956888297470, "out_type": dtypes.int64,
              "internal_type": dtypes.string}
    plain = {"hashed_output": False, "num_buckets": 0, "hash_key": 1, "out_type": dtypes.string, "internal_type": dtypes.string}
    return [(inputs, hashed), ([inputs[0], inputs[1], inputs[2], [texts(b"x", b"y").reshape(2, 1)]], plain)]


def _cross_shapes(c: Any) -> list:
    """In a run, how many combinations there are is known where each column has one feature in each row."""
    rows = None
    if c.running and shape_rules.crosses_columns(c.attrs, c.shapes, c.constant):
        rows = 0 if not c.shapes else c.shapes[0][0] if c.attrs["N"] else c.shapes[-1][0]
    return [(rows, 2), (rows,), (2,)]


@op("SparseCross(indices: N*int64, values: [sparse_types], shapes: N*int64, dense_inputs: [dense_types]; N: int >= 0, "
    "hashed_output: bool, num_buckets: int >= 0, hash_key: int, out_type: type, internal_type: type) -> output_indices: "
    "int64, output_values: out_type, output_shape: int64", sparse_types=_KINDS, dense_types=_KINDS, out_type=_KINDS,
    internal_type=_KINDS, shape=_cross_shapes, host=True, dynamic=True, samples=_cross_samples)
def _sparse_cross(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, out_type):
    """For each row all combinations of one feature of each column, the last column changing fastest."""
    return crossed(indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, out_type)


def crossed(indices: list, values: list, shapes: list, dense_inputs: list, hashed_output: bool, num_buckets: int,
            hash_key: int | None, out_type: Any) -> tuple:
    """(places, features, shape) of all combinations in each row; without `hash_key`, hashes are those of the older kind."""
    for k, places_of_column in enumerate(indices):
        if places_of_column.shape[1] != 2:
            raise invalid(f"Expected D2 of index to be 2 got {places_of_column.shape[1]} at position {k}: the columns must be "
                          "sparse matrices")
    sizes = [int(shape[0]) for shape in shapes] + [array.shape[0] for array in dense_inputs]
    if any(size != sizes[0] for size in sizes):
        raise invalid(f"Expected batch size {sizes[0]}, got {next(size for size in sizes if size != sizes[0])}")
    rows = sizes[0] if sizes else 0
    features = _one_each(indices, values, dense_inputs, rows)
    chosen: list[Any]
    if features is not None:
        places, most, chosen = np.zeros((rows, 2), np.int64), 1, [slice(None)] * len(features)
        places[:, 0] = np.arange(rows)
    else:
        columns = _columns(indices, values, dense_inputs, rows)
        row, number, chosen = _combinations([count for _, count in columns])
        features = [own for own, _ in columns]
        places, most = np.stack([row, number], axis=1).astype(np.int64, copy=False), number.max(initial=-1) + 1
    if hashed_output:
        words = [fingerprints(own) if own.dtype == object else own.view(np.uint64) for own in features]
        found = _hashed([own[k] for own, k in zip(words, chosen)], hash_key, num_buckets)
    else:
        found = np.empty(len(places), object)
        found[:] = [_joined(one) for one in zip(*(own[k].tolist() for own, k in zip(features, chosen)))]
    return places, found.astype(out_type.as_numpy_dtype, copy=False), np.array([rows, most], np.int64)


def cross(inputs: Any, hashed: bool, num_buckets: int, make: Any, name: str | None) -> SparseTensor:
    """The crossed features of `inputs` by the node that `make` makes; see ``sparse_cross``."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(one, (SparseTensor, Tensor)) for one in inputs):
        raise TypeError("All inputs must be SparseTensors")

    def feature(x: Tensor) -> Tensor:
        return x if x.dtype.base_dtype is dtypes.string else cast(x, dtypes.int64)

    sparse = [one for one in inputs if isinstance(one, SparseTensor)]
    values = [feature(one.values) for one in sparse]
    dense = [feature(one) for one in inputs if not isinstance(one, SparseTensor)]
    strings = all(x.dtype.base_dtype is dtypes.string for x in [*values, *dense])
    found = make([one.indices for one in sparse], values, [one.dense_shape for one in sparse], dense,
                 hashed_output=hashed, num_buckets=num_buckets, out_type=dtypes.int64 if hashed else dtypes.string,
                 internal_type=dtypes.string if strings else dtypes.int64, name=name)
    return SparseTensor(*found)


def sparse_cross(inputs: Any, name: str | None = None) -> SparseTensor:
    """For each row all combinations of one feature of each of `inputs` (sparse or dense), joined by ``_X_``: strings.

    Raises TypeError if `inputs` is not a list of sparse tensors and tensors.
    """
    return cross(inputs, False, 0, functools.partial(raw.SparseCross, hash_key=_HASH_KEY), name)


def sparse_cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: int | None = None,
                        name: str | None = None) -> SparseTensor:
    """As ``sparse_cross``, as hashes from 0 to `num_buckets` - 1 (without bound if that is 0): int64."""
    return cross(inputs, True, num_buckets, functools.partial(raw.SparseCross, hash_key=hash_key or _HASH_KEY), name)
