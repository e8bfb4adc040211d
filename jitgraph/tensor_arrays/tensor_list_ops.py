"""Lists of tensors as values: what a loop saves for its gradient."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import INDICES
from jitgraph.graph.elements import Elements, shape_of, with_one
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import ZERO, Stack, boxed, unboxed


# `context`: the value is one of the host, which is never folded into the graph
@op("EmptyTensorList(element_shape: shape_type, max_num_elements: int32; element_dtype: type) -> handle: variant",
    shape_type=INDICES, shape=shape_rules.scalar, host=True, context=("op",), elements=lambda c: Elements(),
    tested_in="tests/control/test_gradients_of_control_flow.py: a list")
def empty_tensor_list(element_shape, max_num_elements, op):
    """A list without elements; of `max_num_elements` at most, if that is not negative."""
    from jitgraph.tensor_arrays.list_values import TensorList

    sizes, most = np.asarray(element_shape), int(max_num_elements)
    if not sizes.ndim and most < 0:
        return boxed(Stack())           # what loops save for their gradients
    shape = tuple(None if d < 0 else int(d) for d in sizes.ravel()) if sizes.ndim else None
    return boxed(TensorList([], op.attrs["element_dtype"], shape, most))


@op("TensorListPushBack(input_handle: variant, tensor: element_dtype) -> output_handle: variant",
    shape=shape_rules.scalar, host=True, element="append", elements=lambda c: with_one(c.elements(0), c.shapes[1]),
    tested_in="tests/control/test_gradients_of_control_flow.py: a list")
def tensor_list_push_back(input_handle, tensor):
    """The list with one more element at its end."""
    # the memory of the argument is used again after the call
    return boxed(unboxed(input_handle).push(np.array(tensor)))


@tensor_list_push_back.gradient
def _(op, grad):
    rest, last = raw.TensorListPopGradient(grad, op.inputs[1])
    return [rest, last if flows(op.inputs[1]) else None]


def _element_shape(c: Any) -> list:
    known = c.constant(1)
    stated = None if known is None or not known.ndim else tuple(None if d is None or d < 0 else int(d) for d in known)
    return [(), shape_of(c.elements(0), stated)]


@op("TensorListPopBack(input_handle: variant, element_shape: int32; element_dtype: type) -> output_handle: variant, "
    "tensor: element_dtype", shape=_element_shape, host=True, element="take last", elements=lambda c: c.elements(0),
    tested_in="tests/control/test_gradients_of_control_flow.py: a list")
def tensor_list_pop_back(input_handle, element_shape):
    """The list without its last element, and that element."""
    try:
        rest, last = unboxed(input_handle).pop()
    except IndexError as error:
        raise InvalidArgumentError(None, None, str(error)) from None
    return boxed(rest), last


@tensor_list_pop_back.gradient
def _(op, rest, last):
    if rest is None:
        rest = empty_list(op.attrs["element_dtype"])
    if last is None:
        last = raw.ZerosLike(op.outputs[1])
    return [raw.TensorListPushBack(rest, last), None]


@op("TensorListPopGradient(input_handle: variant, like: element_dtype) -> output_handle: variant, "
    "tensor: element_dtype", shape=lambda c: [(), c.shapes[1]], host=True,
    tested_in="tests/control/test_gradients_of_control_flow.py: a list", origin="jitgraph")
def tensor_list_pop_gradient(input_handle, like):
    """TensorListPopBack on a gradient: where nothing has arrived, the element is zeros like `like`."""
    held = unboxed(input_handle)
    rest, last = held.pop() if getattr(held, "size", 1) else (ZERO, None)
    return boxed(rest), zeros_like(like) if last is None else last


tensor_list_pop_gradient.gradient(lambda op, rest, last: [_pushed_gradient(op, rest, last), None])


def _pushed_gradient(op: Any, rest: Any, last: Any) -> Any:
    if rest is None:
        rest = empty_list(op.attrs["element_dtype"])
    return raw.TensorListPushBack(rest, raw.ZerosLike(op.outputs[1]) if last is None else last)


def popped(handle: Any, like: Any) -> tuple:
    """(the rest, the last element) of a list whose elements are like the tensor `like` in dtype and static shape."""
    shape = like._shape
    sizes = np.int32(-1) if shape is None else np.array([-1 if d is None else d for d in shape], np.int32)
    return tuple(raw.TensorListPopBack(handle, sizes, element_dtype=like.dtype.base_dtype))


def zeros_like(value: Any) -> Any:
    """Zeros like an array, or the zero of a host value."""
    held = unboxed(value)
    return boxed(held.zeros()) if hasattr(held, "zeros") else np.zeros_like(value)


def empty_list(dtype: Any) -> Any:
    """A node that gives a list without elements of `dtype`."""
    return raw.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype=dtype)


def flows(tensor: Any) -> bool:
    """Whether gradients flow through tensors of this dtype."""
    base = tensor.dtype.base_dtype
    return base.is_floating or base.is_complex or base is dtypes.variant


# -- records: values that a gradient cannot compute again --------------------------------------------------------------

@op("Record(values: [T]) -> record: variant", shape=shape_rules.scalar, host=True, context=("op",),
    grad=NOT_DIFFERENTIABLE, tested_in="tests/control/test_gradients_of_control_flow.py: a list", origin="jitgraph")
def record(values, op):
    """Several tensors as one value: what random and other stateful ops gave in one run of a function."""
    return boxed(tuple(np.array(value) for value in values))


@op("Recorded(record: variant; T: list(type), shapes: list(shape)) -> values: [T]",
    shape=lambda c: list(c.attrs["shapes"]), host=True, grad=NOT_DIFFERENTIABLE,
    tested_in="tests/control/test_gradients_of_control_flow.py: a list", origin="jitgraph")
def recorded(record):
    """The tensors of a record."""
    return list(unboxed(record))


@op("ReversedList(input_handle: variant) -> output_handle: variant", shape=shape_rules.scalar, host=True,
    grad=NOT_DIFFERENTIABLE, tested_in="tests/control/test_gradients_of_control_flow.py: a list", origin="jitgraph")
def reversed_list(input_handle):
    """The list from its end to its beginning."""
    held = unboxed(input_handle)
    return boxed(Stack().push_all(held.pop_all(held.size)[1]))
