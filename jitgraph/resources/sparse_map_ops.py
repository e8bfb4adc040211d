"""Sparse tensors kept in a map of the session, so that a handle (an int64) can go through a queue in their place."""
from __future__ import annotations

import itertools
import threading
from typing import Any, NamedTuple

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import dtypes, errors, shape_rules
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.dtypes import DType
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.shape import expand_dims, shape, squeeze
from jitgraph.ops.sparse.sparse_functions import sparse_retain

_SHARING = 'container: string = "", shared_name: string = ""'


class _Map:
    """(indices, values, shape) by number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, tuple] = {}
        self._numbers = itertools.count()

    def add(self, tensor: tuple) -> int:
        with self._lock:
            number = next(self._numbers)
            self._kept[number] = tensor
        return number

    def take(self, number: int) -> tuple:
        with self._lock:
            found = self._kept.pop(number, None)
        if found is None:
            raise errors.InvalidArgumentError(None, None, f"Unable to find SparseTensor: {number} in map")
        return found


def _map(state: Any, op: Any, name: str) -> _Map:
    return state.resource(("sparse map", op.attrs.get("container") or "", name), _Map)


@op(f"AddSparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64; {_SHARING}) -> "
    "sparse_handle: int64", shape=shape_rules.scalar, stateful=True, host=True, context=("state", "op"),
    tested_in="tests/train/test_input.py: a map of tensors")
def _add_sparse_to_tensors_map(sparse_indices, sparse_values, sparse_shape, state, op):
    """Keeps a sparse tensor; gives its handle."""
    kept = tuple(np.array(part) for part in (sparse_indices, sparse_values, sparse_shape))
    return np.array(_map(state, op, op.attrs["shared_name"] or op.name).add(kept), np.int64)


@op(f"AddManySparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64; {_SHARING}) -> "
    "sparse_handles: int64", shape=lambda c: (None,), stateful=True, host=True, dynamic=True, context=("state", "op"),
    tested_in="tests/train/test_input.py: a map of tensors")
def _add_many_sparse_to_tensors_map(sparse_indices, sparse_values, sparse_shape, state, op):
    """Keeps each row (along the first dimension) of a sparse tensor; gives their handles."""
    kept = _map(state, op, op.attrs["shared_name"] or op.name)
    handles = []
    for row in range(int(sparse_shape[0])):
        chosen = sparse_indices[:, 0] == row
        handles.append(kept.add((sparse_indices[chosen, 1:], sparse_values[chosen], np.array(sparse_shape[1:]))))
    return np.array(handles, np.int64)


def _taken_shapes(c: Any) -> list:
    return [(None, None), (None,), (None,)]


@op(f"TakeManySparseFromTensorsMap(sparse_handles: int64; dtype: type, {_SHARING}) -> sparse_indices: int64, "
    "sparse_values: dtype, sparse_shape: int64", shape=_taken_shapes, stateful=True, host=True, dynamic=True,
    takes=True, context=("state", "op"), tested_in="tests/train/test_input.py: a map of tensors")
def _take_many_sparse_from_tensors_map(sparse_handles, dtype, state, op):
    """Takes sparse tensors from the map and stacks them along a new first dimension."""
    kept = _map(state, op, op.attrs["shared_name"] or op.name)
    parts = [kept.take(int(number)) for number in np.ravel(sparse_handles)]
    if not parts:
        raise errors.InvalidArgumentError(None, None, "Must have at least 1 serialized SparseTensor, but input is empty")
    indices = [np.insert(part[0], 0, row, axis=1) for row, part in enumerate(parts)]
    sizes = np.max([part[2] for part in parts], axis=0)
    values = np.concatenate([part[1] for part in parts]).astype(dtype.as_numpy_dtype)
    return np.concatenate(indices), values, np.array([len(parts), *sizes], np.int64)


# -- for queues ----------------------------------------------------------------------------------------------------

class Kept(NamedTuple):
    """Where a component's sparse tensors are kept, their dtype and rank, and whether several are added at once."""

    map_name: str
    dtype: DType
    rank: int | None
    many: bool


def store(tensor: SparseTensor, many: bool, keep_input: Tensor, map_name: str | None) -> tuple[Tensor, str]:
    """(handle, name of the map): `tensor`, or with `many` each of its rows, kept where `keep_input` is true.

    Where nothing is kept the handles are -1, as many as there would be, so that they lie beside the other components.
    """
    from jitgraph.control.conditionals import cond

    builder = _add_many_sparse_to_tensors_map if many else _add_sparse_to_tensors_map
    made: list[str] = []
    if keep_input.shape.ndims == 1:
        tensor = sparse_retain(tensor, gather(keep_input, tensor.indices[:, 0]))

    def add() -> Tensor:
        handle = builder(tensor.indices, tensor.values, tensor.dense_shape, shared_name=map_name or "")
        made.append(map_name or handle.op.name)
        return handle

    def none() -> Tensor:
        no_handle = constant(-1, dtype=dtypes.int64)
        return no_handle * ones(shape(tensor)[0:1], dtypes.int64) if many else no_handle

    known = constant_value(keep_input) if keep_input.shape.ndims == 0 else np.array(True)
    if known is not None and known:
        handle = add()
    else:
        handle = cond(keep_input, add, none)
    if many:
        handle.set_shape([None])        # a `cond` knows no more of it than that it has one
    return expand_dims(handle, 1 if many else 0), made[0]


def restore(handles: Tensor, kept: Kept) -> SparseTensor:
    """The sparse tensors of a batch of handles, stacked along a new first dimension."""
    taken = _take_many_sparse_from_tensors_map(squeeze(handles, [1]), dtype=kept.dtype, shared_name=kept.map_name)
    if kept.rank is not None:
        rank = kept.rank + (0 if kept.many else 1)
        taken[0].set_shape([None, rank])
        taken[2].set_shape([rank])
    return SparseTensor(*taken)
