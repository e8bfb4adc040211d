"""Sets: the rows (last dimensions) of tensors as sets of numbers or strings, their size, union, intersection, difference."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.composite import SparseTensor, is_sparse
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.ops.sparse.structure_ops import check_order

i64 = np.int64
_T = TypeSet(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string)
_OPERATIONS = {"a-b": lambda a, b: a - b, "b-a": lambda a, b: b - a, "intersection": lambda a, b: a & b,
               "union": lambda a, b: a | b}


def _sparse_rows(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, validate: bool) -> dict:
    """{index of a row: its set} of a sparse tensor."""
    if validate:
        check_order(indices, shape)
    rows: dict = {}
    for index, value in zip(map(tuple, indices[:, :-1].tolist()), values.tolist()):
        rows.setdefault(index, set()).add(value)
    return rows


def _dense_rows(values: np.ndarray) -> dict:
    return {index: set(values[index].tolist()) for index in np.ndindex(*values.shape[:-1])}


def _outer(shape: Any) -> tuple:
    if len(shape) < 2:
        raise invalid(f"Invalid input rank {len(shape)} < 2: sets are the rows of the last dimension")
    return tuple(int(n) for n in shape[:-1])


def _combined(rows1: dict, rows2: dict, outer1: tuple, outer2: tuple, operation: Any, dtype: Any) -> tuple:
    operation = as_text(operation)
    if operation not in _OPERATIONS:
        raise invalid(f"Invalid set_operation {operation}.")
    if outer1 != outer2:
        raise invalid(f"Mismatched group shapes: {list(outer1)} vs {list(outer2)}")
    indices: list = []
    values: list = []
    longest = 0
    for index in sorted(set(rows1) | set(rows2)):
        found = sorted(_OPERATIONS[operation](rows1.get(index, set()), rows2.get(index, set())))
        indices.extend((*index, i) for i in range(len(found)))
        values.extend(found)
        longest = max(longest, len(found))
    array = np.empty(len(values), dtype)
    array[:] = values
    rank = len(outer1) + 1
    return np.array(indices, i64).reshape(-1, rank), array, np.array([*outer1, longest], i64)


def _parts_of_rank(rank: Any) -> list:
    return [(None, rank), (None,), (rank,)]


def _dense_result(c: Any) -> list:
    first = shape_rules.with_rank_at_least(c.shapes[0], 2)
    if first is not None and len(c.shapes) == 2:
        second = shape_rules.with_rank_at_least(c.shapes[1], 2)
        if second is not None:
            shape_rules.merge(tuple(first[:-1]), tuple(second[:-1]))
    return _parts_of_rank(None if first is None else len(first))


def _sparse_result(c: Any) -> list:
    lengths = [shape_rules.with_rank(c.shapes[i], 1)[0] for i in (2, 5)]
    return _parts_of_rank(shape_rules.merge_sizes(*lengths))


_OUTPUTS = "set_operation: string, validate_indices: bool = True) -> result_indices: int64, result_values: T, " \
           "result_shape: int64"


_EVERY = ("a-b", "b-a", "intersection", "union")


def _few(rng: Any, dtype: Any) -> list:
    """Indices, values and shape of two sets of small numbers or words."""
    values = texts(b"a", b"b", b"c") if dtype.kind == "O" else np.array([1, 2, 2], dtype)
    return [np.array([[0, 0], [0, 1], [1, 0]], np.int64), values, np.array([2, 2], np.int64)]


def _dense_samples(rng, dtype):
    return [([draw(rng, (2, 3), dtype, 0, 3), draw(rng, (2, 2), dtype, 0, 3)], {"set_operation": one}) for one in _EVERY]


@op("DenseToDenseSetOperation(set1: T, set2: T; " + _OUTPUTS, T=_T, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    shape=_dense_result, samples=_dense_samples)
def _dense_to_dense(set1, set2, set_operation):
    """A set operation on the rows of two dense tensors."""
    return _combined(_dense_rows(set1), _dense_rows(set2), _outer(set1.shape), _outer(set2.shape), set_operation,
                     set1.dtype)


@op("DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64; " + _OUTPUTS, T=_T,
    host=True, dynamic=True, grad=NOT_DIFFERENTIABLE, shape=_dense_result,
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype, 0, 3), *_few(rng, dtype)], {"set_operation": one}) for one in _EVERY])
def _dense_to_sparse(set1, set2_indices, set2_values, set2_shape, set_operation, validate_indices):
    """A set operation on the rows of a dense and a sparse tensor."""
    return _combined(_dense_rows(set1), _sparse_rows(set2_indices, set2_values, set2_shape, validate_indices),
                     _outer(set1.shape), _outer(set2_shape), set_operation, set1.dtype)


@op("SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    "set2_values: T, set2_shape: int64; " + _OUTPUTS, T=_T, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    shape=_sparse_result,
    samples=lambda rng, dtype: [([*_few(rng, dtype), *_few(rng, dtype)], {"set_operation": one}) for one in _EVERY])
def _sparse_to_sparse(set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape, set_operation,
                      validate_indices):
    """A set operation on the rows of two sparse tensors."""
    return _combined(_sparse_rows(set1_indices, set1_values, set1_shape, validate_indices),
                     _sparse_rows(set2_indices, set2_values, set2_shape, validate_indices), _outer(set1_shape),
                     _outer(set2_shape), set_operation, set1_values.dtype)


def _size_shape(c: Any) -> Any:
    shape = shape_rules.shape_from(c, 2)
    return None if shape is None else shape[:-1]


@op("SetSize(set_indices: int64, set_values: T, set_shape: int64; validate_indices: bool = True) -> size: int32", T=_T,
    host=True, grad=NOT_DIFFERENTIABLE, shape=_size_shape, samples=lambda rng, dtype: [[*_few(rng, dtype)]])
def _set_size(set_indices, set_values, set_shape, validate_indices):
    """How many different elements each row has."""
    found = np.zeros(_outer(set_shape), np.int32)
    for index, values in _sparse_rows(set_indices, set_values, set_shape, validate_indices).items():
        found[index] = len(values)
    return found


# -- public functions --------------------------------------------------------------------------------------------------

def _parts(a: SparseTensor) -> tuple:
    return a.indices, a.values, a.dense_shape


def _operand(a: Any) -> Any:
    if is_sparse(a):
        a = SparseTensor.from_value(a) if not isinstance(a, SparseTensor) else a
    else:
        a = convert_to_tensor(a)
    if a.dtype.base_dtype not in _T:
        raise TypeError(f"Tensor is not in list of supported dtypes: {a.dtype!r}")
    return a


def _operation(a: Any, b: Any, operation: str, validate_indices: bool) -> SparseTensor:
    a, b = _operand(a), _operand(b)
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    given: dict[str, Any] = {"set_operation": operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b = b, a                 # there is no op with the sparse one first
        given["set_operation"] = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    if isinstance(a, SparseTensor):
        found = raw.SparseToSparseSetOperation(*_parts(a), *_parts(b), **given)
    elif isinstance(b, SparseTensor):
        found = raw.DenseToSparseSetOperation(a, *_parts(b), **given)
    else:
        found = raw.DenseToDenseSetOperation(a, b, **given)
    return SparseTensor(*found)


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each row of a sparse tensor has: int32 [...].  Raises TypeError if it is not sparse."""
    if not is_sparse(a):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    a = _operand(a)
    return raw.SetSize(*_parts(a), validate_indices=validate_indices)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements that a row of `a` and the same row of `b` (dense or sparse) share, in order, each once."""
    return _operation(a, b, "intersection", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The elements of a row of `a` that are not in that of `b`, in order, each once; the reverse if not `aminusb`."""
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The elements of a row of `a` or of `b`, in order, each once."""
    return _operation(a, b, "union", validate_indices)
