"""Lists of tensors whose elements are read and set by number, and whole lists to tensors and back: TensorList* ops."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDICES
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays import list_values
from jitgraph.tensor_arrays.host_values import boxed
from jitgraph.tensor_arrays.list_values import TensorList, as_list

TESTS = "tests/tensor_arrays/test_list_ops.py: a list"
_MADE: dict[str, Any] = {"shape": shape_rules.scalar, "host": True, "context": ("op",), "tested_in": TESTS}


def _shape(vector: Any) -> tuple | None:
    """A shape as nodes are given it: -1 for what is not known."""
    sizes = np.asarray(vector)
    return tuple(None if d < 0 else int(d) for d in sizes.ravel()) if sizes.ndim else None


def _static(c: Any, number: int) -> tuple | None:
    known = c.constant(number)
    return None if known is None else _shape(known)


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _dtype(op: Any, attr: str = "element_dtype") -> Any:
    return op.attrs[attr]


def _rows(tensor: np.ndarray) -> list[np.ndarray]:
    return [np.array(tensor[k, ...]) for k in range(len(tensor))]


def _element_sizes(tensor: Any) -> Any:
    """The shape of the rows of a tensor, a node."""
    return raw.Slice(raw.Shape(tensor), [1], [-1])


# -- lists -------------------------------------------------------------------------------------------------------------

@op("TensorListReserve(element_shape: shape_type, num_elements: int32; element_dtype: type) -> handle: variant",
    shape_type=INDICES, **_MADE)
def tensor_list_reserve(element_shape, num_elements, op):
    """A list of elements that are not set."""
    if num_elements < 0:
        raise _invalid(f"The num_elements to reserve must be a non negative number, but got {int(num_elements)}")
    return boxed(TensorList([None] * int(num_elements), _dtype(op), _shape(element_shape)))


@op("TensorListLength(input_handle: variant) -> length: int32", shape=shape_rules.scalar, host=True, context=("op",),
    grad=NOT_DIFFERENTIABLE, tested_in=TESTS)
def tensor_list_length(input_handle, op):
    """The number of elements."""
    return np.array(as_list(input_handle).size, np.int32)


@op("TensorListElementShape(input_handle: variant; shape_type: type) -> element_shape: shape_type", shape_type=INDICES,
    shape=lambda c: None, dynamic=True, host=True, context=("op",), grad=NOT_DIFFERENTIABLE, tested_in=TESTS)
def tensor_list_element_shape(input_handle, op):
    """What is known of the shape of the elements: -1 for unknown sizes."""
    shape = as_list(input_handle).shape
    sizes = -1 if shape is None else [-1 if d is None else d for d in shape]
    return np.array(sizes, op.attrs["shape_type"].as_numpy_dtype)


@op("TensorListResize(input_handle: variant, size: int32) -> output_handle: variant", stateful=True, **_MADE)
def tensor_list_resize(input_handle, size, op):
    """The first elements of a list, and others that are not set, up to `size`."""
    if size < 0:
        raise _invalid(f"TensorListSlice expects size to be non-negative. Got: {int(size)}")
    held, count = as_list(input_handle), int(size)
    return boxed(held.with_entries([*held.entries.items(), *[None] * count][:count]))


@tensor_list_resize.gradient
def _(op, grad):
    return [raw.TensorListResize(grad, raw.TensorListLength(op.inputs[0])), None]


@op("TensorListConcatLists(input_a: variant, input_b: variant; element_dtype: type) -> output: variant", grad=NOT_DIFFERENTIABLE,
    **_MADE)
def tensor_list_concat_lists(input_a, input_b, op):
    """The elements of one list and then those of another."""
    one, other = (as_list(part, _dtype(op)) for part in (input_a, input_b))
    return boxed(TensorList([*one.entries.items(), *other.entries.items()], _dtype(op),
                            list_values.merged(one.shape, other.shape)))


@op("TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> output_handles: variant",
    shape=lambda c: c.shapes[0], host=True, context=("op",), grad=NOT_DIFFERENTIABLE, tested_in=TESTS)
def tensor_list_push_back_batch(input_handles, tensor, op):
    """Lists, each with one more element: a row of a tensor."""
    handles = np.asarray(input_handles, object)
    if not tensor.ndim or handles.ndim != 1 or len(tensor) != len(handles):
        raise _invalid("The first dimension of tensor must be the number of lists")
    found = np.empty(handles.shape, object)
    for k, row in enumerate(_rows(tensor)):
        found[k] = as_list(handles[k], _dtype(op)).push(row)
    return found


# -- elements ----------------------------------------------------------------------------------------------------------

@op("TensorListGetItem(input_handle: variant, index: int32, element_shape: int32; element_dtype: type) -> item: element_dtype",
    shape=lambda c: _static(c, 2), host=True, dynamic=True, context=("op",), tested_in=TESTS)
def tensor_list_get_item(input_handle, index, element_shape, op):
    """One element; zeros if it is not set."""
    return np.array(list_values.item(as_list(input_handle, _dtype(op)), int(index), _shape(element_shape)))


@tensor_list_get_item.gradient
def _(op, grad):
    held, index = op.inputs[:2]
    shape = raw.TensorListElementShape(held, shape_type=dtypes.int32)
    empty = raw.TensorListReserve(shape, raw.TensorListLength(held), element_dtype=grad.dtype)
    return [raw.TensorListSetItem(empty, index, grad), None, None]


@op("TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> output_handle: variant", **_MADE)
def tensor_list_set_item(input_handle, index, item, op):
    """A list with another element."""
    return boxed(as_list(input_handle, _dtype(op)).set(int(index), np.array(item)))


@tensor_list_set_item.gradient
def _(op, grad):
    _, index, item = op.inputs
    of_item = raw.TensorListGetItem(grad, index, raw.Shape(item), element_dtype=item.dtype.base_dtype)
    return [raw.TensorListSetItem(grad, index, raw.ZerosLike(item)), None, of_item]


@op("TensorListGather(input_handle: variant, indices: int32, element_shape: int32; element_dtype: type) -> values: element_dtype",
    shape=lambda c: _stacked_shape(c, c.shapes[1][0] if c.shapes[1] else None, 2), host=True, dynamic=True, context=("op",),
    tested_in=TESTS)
def tensor_list_gather(input_handle, indices, element_shape, op):
    """Some elements, stacked."""
    held, entries = as_list(input_handle, _dtype(op)), []
    for index in indices.tolist():
        if not 0 <= index < held.size:
            raise _invalid(f"Index {index} out o range; list only has {held.size} elements.")
        entries.append(held.entries[index])
    shape = held.element_shape(_shape(element_shape))
    return list_values.stacked(held.with_entries(entries), shape, _dtype(op))


@tensor_list_gather.gradient
def _(op, grad):
    held, indices, _ = op.inputs
    shape = raw.TensorListElementShape(held, shape_type=dtypes.int32)
    empty = raw.TensorListReserve(shape, raw.TensorListLength(held), element_dtype=grad.dtype)
    return [raw.TensorListScatterIntoExistingList(empty, grad, indices), None, None]


def _scattered(held: TensorList, tensor: np.ndarray, indices: np.ndarray) -> Any:
    if not tensor.ndim or len(indices) != len(tensor):
        raise _invalid(f"Invalid number of rows in input tensor. Expected: {len(indices)} Actual: {len(tensor)}")
    for index, row in zip(indices.tolist(), _rows(tensor)):
        held = held.set(index, row)
    return boxed(held)


def _wanted(indices: np.ndarray) -> int:
    """How many elements a list has that is as large as indices ask for.  Raises InvalidArgumentError for negative ones."""
    if (indices < 0).any():
        raise _invalid("Indices in TensorListScatter must all be non-negative.")
    return int(indices.max(initial=-1)) + 1


@op("TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> output_handle: variant",
    shape_type=INDICES, **_MADE)
def tensor_list_scatter(tensor, indices, element_shape, op):
    """A list of the rows of a tensor, each at the place that an index says."""
    return _scattered(TensorList([None] * _wanted(indices), _dtype(op), _shape(element_shape)), tensor, indices)


@tensor_list_scatter.gradient
def _(op, grad):
    return [_gathered(op, grad, *op.inputs[:2]), None, None]


def _gathered(op: Any, grad: Any, tensor: Any, indices: Any) -> Any:
    return raw.TensorListGather(grad, indices, _element_sizes(tensor), element_dtype=tensor.dtype.base_dtype)


@op("TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> "
    "output_handle: variant", shape_type=INDICES, **_MADE)
def tensor_list_scatter_v2(tensor, indices, element_shape, num_elements, op):
    """TensorListScatter of a list with `num_elements`, or as many as needed if that is negative."""
    wanted, count = _wanted(indices), int(num_elements)
    if 0 <= count < wanted:
        raise _invalid(f"TensorListScatter: Trying to scatter at index {wanted - 1} in list with size {count}")
    return _scattered(TensorList([None] * (wanted if count < 0 else count), _dtype(op), _shape(element_shape)), tensor, indices)


@tensor_list_scatter_v2.gradient
def _(op, grad):
    return [_gathered(op, grad, *op.inputs[:2]), None, None, None]


@op("TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> output_handle: variant",
    **_MADE)
def tensor_list_scatter_into_existing_list(input_handle, tensor, indices, op):
    """A list with rows of a tensor in the places that indices say, longer if they ask for it."""
    held = as_list(input_handle, _dtype(op))
    missing = max(_wanted(indices) - held.size, 0)
    return _scattered(held.with_entries([*held.entries.items(), *[None] * missing]), tensor, indices)


@tensor_list_scatter_into_existing_list.gradient
def _(op, grad):
    _, tensor, indices = op.inputs
    rest = raw.TensorListScatterIntoExistingList(grad, raw.ZerosLike(tensor), indices)
    return [rest, _gathered(op, grad, tensor, indices), None]


# -- tensors -----------------------------------------------------------------------------------------------------------

def _stacked_shape(c: Any, rows: int | None, number: int) -> tuple | None:
    shape = _static(c, number)
    return None if shape is None else (rows, *shape)


@op("TensorListStack(input_handle: variant, element_shape: int32; element_dtype: type, num_elements: int = -1) -> "
    "tensor: element_dtype", shape=lambda c: _stacked_shape(c, None if c.attrs["num_elements"] < 0 else c.attrs["num_elements"], 1),
    host=True, dynamic=True, context=("op",), tested_in=TESTS)
def tensor_list_stack(input_handle, element_shape, op):
    """All elements along a new first dimension; zeros for those that are not set."""
    held = as_list(input_handle, _dtype(op))
    return list_values.stacked(held, _shape(element_shape), _dtype(op), op.attrs["num_elements"])


@tensor_list_stack.gradient
def _(op, grad):
    return [raw.TensorListFromTensor(grad, _element_sizes(grad)), None]


@op("TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> output_handle: variant", shape_type=INDICES, **_MADE)
def tensor_list_from_tensor(tensor, element_shape, op):
    """A list of the rows of a tensor."""
    if not tensor.ndim:
        raise _invalid("Tensor must be at least a vector, but saw shape: []")
    shape = _shape(element_shape)
    list_values.merged(shape, tensor.shape[1:])
    return boxed(TensorList(_rows(tensor), _dtype(op), shape))


@tensor_list_from_tensor.gradient
def _(op, grad):
    tensor = op.inputs[0]
    count = tensor.shape[0].value if tensor.shape.ndims else None
    return [raw.TensorListStack(grad, _element_sizes(tensor), element_dtype=tensor.dtype.base_dtype,
                                num_elements=-1 if count is None else count), None]


@op("TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> output_handle: variant",
    shape_type=INDICES, **_MADE)
def tensor_list_split(tensor, element_shape, lengths, op):
    """A list of stretches of a tensor along its first dimension, of the given lengths."""
    if not tensor.ndim:
        raise _invalid("Tensor must be at least a vector, but saw shape: []")
    shape, ends = _shape(element_shape), np.cumsum(lengths).tolist()
    if (lengths < 0).any():
        raise _invalid(f"Invalid value in lengths: {int(lengths.min())}")
    if ends and max(ends) > len(tensor):
        begin = ends[-2] if len(ends) > 1 else 0
        raise _invalid(f"Attempting to slice [{begin}, {ends[-1]}] from tensor with length {len(tensor)}")
    if (ends[-1] if ends else 0) != len(tensor):
        raise _invalid(f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {ends[-1] if ends else 0}")
    parts = [np.array(tensor[end - int(length):end]) for end, length in zip(ends, lengths)]
    for part in parts:
        list_values.merged(shape, part.shape)
    return boxed(TensorList(parts, _dtype(op), shape))


@tensor_list_split.gradient
def _(op, grad):
    tensor, _, lengths = op.inputs
    sizes = raw.ConcatV2([np.array([-1], np.int32), _element_sizes(tensor)], 0)
    return [raw.TensorListConcatV2(grad, sizes, lengths, element_dtype=tensor.dtype.base_dtype)[0], None, None]


def _joined(held: TensorList, shape: tuple | None, leading: list, dtype: Any) -> list:
    shape = held.element_shape(shape) if shape is None or not shape[1:] else shape
    if shape is not None and not shape:
        raise _invalid("Concat requires elements to be at least vectors, found scalars instead.")
    rows = None if shape is None else shape[1:]
    if rows is None or None in rows:
        known = next((entry.shape[1:] for entry in held.entries.items() if entry is not None), None)
        if known is None:
            raise _invalid("All except the first dimension must be fully defined when concating an empty tensor list.")
        rows = known
    parts = []
    for number, entry in enumerate(held.entries.items()):
        if entry is None:
            first = shape[0] if shape else None
            if first is None and number >= len(leading):
                raise _invalid(f"List contains uninitialized tensor at index {number} but leading_dims has only {len(leading)} "
                               "elements.")
            entry = list_values.TensorList([None], dtype, None).zeros_of((leading[number] if first is None else first, *rows))
        parts.append(entry)
    whole = np.concatenate(parts) if parts else np.zeros((0, *rows), dtype.as_numpy_dtype)
    return [whole, np.array([len(part) for part in parts], np.int64)]


def _concatenated(c: Any, shape: tuple | None) -> list:
    return [None if shape is None or not shape else (None, *shape[1:]), (None,)]


@op("TensorListConcat(input_handle: variant; element_dtype: type, element_shape: shape = None) -> tensor: element_dtype, "
    "lengths: int64", shape=lambda c: _concatenated(c, c.attrs["element_shape"]), host=True, dynamic=True, context=("op",),
    tested_in=TESTS)
def tensor_list_concat(input_handle, op):
    """The elements one after the other along their first dimension, and how long each is."""
    return _joined(as_list(input_handle, _dtype(op)), op.attrs["element_shape"], [], _dtype(op))


@op("TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64; element_dtype: type) -> "
    "tensor: element_dtype, lengths: int64", shape=lambda c: _concatenated(c, _static(c, 1)), shape_type=INDICES, host=True,
    dynamic=True, context=("op",), tested_in=TESTS)
def tensor_list_concat_v2(input_handle, element_shape, leading_dims, op):
    """TensorListConcat; `leading_dims` are the lengths of elements that are not set."""
    return _joined(as_list(input_handle, _dtype(op)), _shape(element_shape), leading_dims.tolist(), _dtype(op))


def _concat_gradient(op: Any, grad: Any, _: Any) -> list:
    shape = raw.TensorListElementShape(op.inputs[0], shape_type=dtypes.int32)
    return [raw.TensorListSplit(grad, shape, op.outputs[1]), *[None] * (len(op.inputs) - 1)]


tensor_list_concat.gradient(_concat_gradient)
tensor_list_concat_v2.gradient(_concat_gradient)
