"""Sparse tensors as strings: ``tf.serialize_sparse``, ``tf.serialize_many_sparse``, ``tf.deserialize_many_sparse``.

A sparse tensor is three strings: its indices, values and shape as TensorProto messages.  Inside of pipelines
(``tf.data``) it is three variants, which hold the arrays themselves.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.dtypes import DType, TypeSet
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.sparse.structure_ops import check_order, example

_STRINGS = TypeSet(dtypes.string, dtypes.variant).with_default(dtypes.string)


def _strings(parts: Any, out_type: DType) -> list:
    """The three elements that stand for the parts of a sparse tensor."""
    if out_type is dtypes.variant:
        return [np.array(part) for part in parts]
    return [_content(np.asarray(part)).SerializeToString(deterministic=True) for part in parts]


def _content(array: np.ndarray) -> Any:
    """A TensorProto that has its elements as bytes, strings with their lengths before them, as TensorFlow writes it here."""
    from jitgraph.graph.protos.tensor_proto import shape_to_proto, with_content
    from jitgraph.protobuf import messages, varint

    if array.dtype != object:
        return with_content(array, dtypes.as_dtype(array.dtype))
    proto = messages.TensorProto(dtype=messages.DT_STRING, tensor_shape=shape_to_proto(array.shape))
    texts = array.ravel().tolist()
    proto.tensor_content = b"".join(varint.encode(len(text)) for text in texts) + b"".join(texts)
    return proto


def _table(rows: list[list]) -> np.ndarray:
    out = np.empty((len(rows), 3), object)
    for k, row in enumerate(rows):
        for part in range(3):
            out[k, part] = row[part]
    return out


# `context`: variants are things of the host, which are never folded into the graph
@op("SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64; out_type: type = string) -> "
    "serialized_sparse: out_type", out_type=_STRINGS, shape=lambda c: (3,), host=True, context=("op",),
    samples=lambda rng, dtype: [[*example(rng, dtype)]])
def _serialize_sparse(sparse_indices, sparse_values, sparse_shape, out_type, op):
    """A sparse tensor as three strings."""
    return _table([_strings((sparse_indices, sparse_values, sparse_shape), out_type)])[0]


def as_variants(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """A sparse tensor as it stands in the elements of datasets: three variants."""
    return _table([_strings((indices, values, shape), dtypes.variant)])[0]


@op("SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64; out_type: type = string) -> "
    "serialized_sparse: out_type", out_type=_STRINGS, shape=lambda c: (None, 3), host=True, dynamic=True, context=("op",),
    samples=lambda rng, dtype: [[*example(rng, dtype)]])
def _serialize_many_sparse(sparse_indices, sparse_values, sparse_shape, out_type, op):
    """Each row (along the first dimension) of a sparse tensor, whose elements are in row-major order, as three strings."""
    if len(sparse_shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}")
    check_order(sparse_indices, sparse_shape)
    rows = []
    for row in range(int(sparse_shape[0])):
        chosen = sparse_indices[:, 0] == row
        rows.append(_strings((sparse_indices[chosen, 1:], sparse_values[chosen], sparse_shape[1:]), out_type))
    return _table(rows)


def _stacked(strings: np.ndarray, dtype: DType) -> tuple:
    """The sparse tensors of rows of three strings, stacked along a new first dimension."""
    from google.protobuf.message import DecodeError

    from jitgraph.graph.protos.tensor_proto import to_array
    from jitgraph.protobuf.messages import TensorProto

    try:
        parts = [[one if isinstance(one, np.ndarray) else to_array(TensorProto.FromString(one)) for one in row] for row in strings]
    except (DecodeError, ValueError, TypeError):
        raise invalid("Could not parse serialized_sparse: it holds no serialized sparse tensors") from None
    if not parts:
        raise invalid("Must have at least 1 serialized SparseTensor, but input is empty")
    for row, (_, values, shape) in enumerate(parts):
        if values.dtype != dtype.as_numpy_dtype:
            raise invalid(f"Requested SparseTensor of type {dtype.name} but SparseTensor[{row}] has type {values.dtype}")
        if len(shape) != len(parts[0][2]):
            raise invalid(f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{row}] was: "
                          f"{len(parts[0][2]) + 1} but rank of SparseTensor[{row}] is: {len(shape) + 1}")
    indices = np.concatenate([np.insert(own, 0, row, axis=1) for row, (own, _, _) in enumerate(parts)])
    sizes = np.max([shape for _, _, shape in parts], axis=0)
    return indices, np.concatenate([values for _, values, _ in parts]), np.array([len(parts), *sizes], np.int64)


def _deserialized_shapes(c: Any) -> list:
    return [(None, None), (None,), (None,)]


@op("DeserializeManySparse(serialized_sparse: string; dtype: type) -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64", shape=_deserialized_shapes, host=True, dynamic=True,
    samples=lambda rng, dtype: [([_serialize_many_sparse.opdef.value(*example(rng, np.float32), dtypes.string, None)],
                                 {"dtype": dtypes.float32})])
def _deserialize_many_sparse(serialized_sparse, dtype):
    """Rows of three strings as one sparse tensor, stacked along a new first dimension."""
    return _stacked(serialized_sparse.reshape(-1, 3), dtype)


def _serialized_samples(rng, dtype):
    one = _serialize_sparse.opdef.value(*example(rng, np.float32), dtypes.string, None)
    return [([one], {"dtype": dtypes.float32}), ([np.stack([one, one])], {"dtype": dtypes.float32})]


@op("DeserializeSparse(serialized_sparse: Tserialized; dtype: type) -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64", Tserialized=_STRINGS, shape=_deserialized_shapes, host=True, dynamic=True, samples=_serialized_samples)
def _deserialize_sparse(serialized_sparse, dtype):
    """Three strings (or rows of them) as a sparse tensor, with the leading dimensions of `serialized_sparse`."""
    indices, values, shape = _stacked(serialized_sparse.reshape(-1, 3), dtype)
    lead = serialized_sparse.shape[:-1]
    places = np.stack(np.unravel_index(indices[:, 0], lead), axis=1) if lead else indices[:, :0]
    return (np.concatenate([places.astype(np.int64), indices[:, 1:]], axis=1), values,
            np.array([*lead, *shape[1:]], np.int64))


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """A SparseTensor as three strings: a tensor of shape [3]."""
    return _serialize_sparse(*_parts(sp_input), out_type=out_type, name=name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """Each row of a SparseTensor as three strings: [rows, 3], for queues and batches."""
    return _serialize_many_sparse(*_parts(sp_input), out_type=out_type, name=name)


def _parts(sp_input: Any) -> tuple:
    sparse = sp_input if isinstance(sp_input, SparseTensor) else SparseTensor.from_value(sp_input)
    return sparse.indices, sparse.values, sparse.dense_shape


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None,
                            name: str | None = None) -> SparseTensor:
    """The SparseTensors that rows of three strings hold, stacked along a new first dimension.

    `dtype`: of the values; `rank`: of one of them, if it is known.  A run raises InvalidArgumentError for other strings.
    """
    found = _deserialize_many_sparse(serialized_sparse, dtype=dtype, name=name)
    if rank is not None:
        found[0].set_shape([None, rank + 1])
        found[2].set_shape([rank + 1])
    return SparseTensor(*found)
