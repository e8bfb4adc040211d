"""Crossed features as ``tf.contrib.layers`` makes them: the nodes of its own, with the older hash or with a key."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import texts
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.sparse.sparse_cross import cross, crossed

_KINDS = TypeSet(dtypes.int64, dtypes.string)
_INPUTS = "indices: N*int64, values: [sparse_types], shapes: N*int64, dense: [dense_types]"
_OUTPUTS = "output_indices: int64, output_values: out_type, output_shape: int64"
_DECLARED: dict[str, Any] = {"sparse_types": _KINDS, "dense_types": _KINDS, "out_type": _KINDS, "internal_type": _KINDS,
                             "shape": lambda c: [(None, 2), (None,), (2,)], "host": True, "dynamic": True}


def _samples(**more: Any) -> Any:
    inputs = [[np.array([[0, 0], [1, 0], [1, 1]], np.int64)], [texts(b"a", b"b", b"c")], [np.array([2, 2], np.int64)],
              [np.array([[1], [2]], np.int64)]]
    hashed = {"hashed_output": True, "num_buckets": 100, "out_type": dtypes.int64, "internal_type": dtypes.int64, **more}
    plain = {"hashed_output": False, "num_buckets": 0, "out_type": dtypes.string, "internal_type": dtypes.string, **more}
    return lambda rng, dtype: [(inputs, hashed), ([*inputs[:3], [texts(b"x", b"y").reshape(2, 1)]], plain)]


@op(f"SparseFeatureCross({_INPUTS}; N: int >= 0, hashed_output: bool, num_buckets: int >= 0, out_type: type, "
    f"internal_type: type) -> {_OUTPUTS}", samples=_samples(), **_DECLARED)
def _feature_cross(indices, values, shapes, dense, hashed_output, num_buckets, out_type):
    """SparseCross with the older hash of hashes."""
    return crossed(indices, values, shapes, dense, hashed_output, num_buckets, None, out_type)


@op(f"SparseFeatureCrossV2({_INPUTS}; N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int, out_type: type, "
    f"internal_type: type) -> {_OUTPUTS}", samples=_samples(hash_key=956888297470), **_DECLARED)
def _feature_cross_v2(indices, values, shapes, dense, hashed_output, num_buckets, hash_key, out_type):
    """SparseCross."""
    return crossed(indices, values, shapes, dense, hashed_output, num_buckets, hash_key, out_type)


def sparse_feature_cross(inputs: Any, hashed_output: bool = False, num_buckets: int = 0, name: str | None = None,
                         hash_key: int | None = None) -> SparseTensor:
    """For each row all combinations of one feature of each of `inputs`, a list of sparse tensors and tensors [rows, n].

    Strings joined by ``_X_``; with `hashed_output` int64 hashes from 0 to `num_buckets` - 1 (without bound if that is 0), by the
    older hash unless a `hash_key` is given.  Raises TypeError for other inputs.
    """
    make = functools.partial(raw.SparseFeatureCrossV2, hash_key=hash_key) if hash_key else raw.SparseFeatureCross
    return cross(inputs, hashed_output, num_buckets, make, name)


def bucketize(input_tensor: Any, boundaries: Any, name: str | None = None) -> Any:
    """For each element how many of the sorted `boundaries`, a list or tuple, are not larger than it: int32."""
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError("Expected list for 'boundaries' argument to 'bucketize' Op.")
    return raw.Bucketize(input=input_tensor, boundaries=list(boundaries), name=name)
