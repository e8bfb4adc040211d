"""TensorArrays as nodes.

The *flow* of a TensorArray is its value: a host value that a write replaces by another one, which shares storage with
it.  The *handle* says what all its versions have in common.  So the order of reads and writes is that of the flow, and
a gradient finds every version that it needs.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.elements import Elements as Known
from jitgraph.graph.elements import shape_of, with_one
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import Zero, boxed, copied, unboxed
from jitgraph.tensor_arrays.tensor_array_rows import gathered, joined, pieces, scattered, split, stacked
from jitgraph.tensor_arrays.tensor_array_values import (
    Elements,
    Handle,
    OneElement,
    by_equal_steps,
    elements_of,
    gradient_of,
    is_whole,
    rows_of,
)

# `context`: values of the host are never folded into the graph
_HOST: dict[str, Any] = {"host": True, "context": ("op",), "tested_in": "tests/control/test_tensor_array.py: an array"}
# a read clears what it reads, after which another read and a write fail
_READ: dict[str, Any] = {"effect": True, **_HOST}
_FLOW: dict[str, Any] = {"shape": shape_rules.scalar, **_HOST}


def _made(c: Any) -> Known:
    size = c.constant(0)
    return Known(None if size is None or c.attrs["dynamic_size"] else size.item())


def _of_gradients(c: Any) -> Known | None:
    before = c.elements(1)
    return None if before is None else Known(before.count, (None,))


@op('TensorArrayV3(size: int32; dtype: type, element_shape: shape = None, dynamic_size: bool = false, '
    'clear_after_read: bool = true, identical_element_shapes: bool = false, tensor_array_name: string = "") '
    '-> handle: resource, flow: variant', shape=lambda c: [(), ()], grad=NOT_DIFFERENTIABLE, elements=_made, **_HOST)
def tensor_array_v3(size, op):
    """A TensorArray of `size` elements, none of which is written."""
    count = int(size)
    if count < 0:
        raise InvalidArgumentError(None, None, "Size should be >= 0.")
    return boxed(Handle(op.name, op.attrs)), boxed(Elements.missing(count))


@op("TensorArrayGradV3(handle: resource, flow_in: variant; source: string) -> grad_handle: resource, flow_out: variant",
    shape=lambda c: [(), ()], grad=NOT_DIFFERENTIABLE, element="gradient array", elements=_of_gradients, **_HOST)
def tensor_array_grad_v3(handle, flow_in, op):
    """A TensorArray for the gradients of the elements of another one; `flow_in`: what has arrived there so far."""
    shared = unboxed(handle)
    if shared.is_gradient:
        return handle, flow_in
    elements = elements_of(flow_in)
    size = 0 if isinstance(elements, Zero) else elements.size
    return boxed(shared.gradient()), boxed(Elements.missing(size))


@op("TensorArrayGradWithShape(handle: resource, flow_in: variant, shape_to_prepend: int32; source: string) -> "
    "grad_handle: resource, flow_out: variant", shape=lambda c: [(), ()], grad=NOT_DIFFERENTIABLE, elements=_of_gradients, **_HOST)
def tensor_array_grad_with_shape(handle, flow_in, shape_to_prepend, op):
    """TensorArrayGradV3 for several gradients at once: its elements have further dimensions before their own."""
    shared = unboxed(handle)
    if shared.is_gradient:
        return handle, flow_in
    elements = elements_of(flow_in)
    size = 0 if isinstance(elements, Zero) else elements.size
    return boxed(shared.gradient(tuple(shape_to_prepend.tolist()))), boxed(Elements.missing(size))


@op("TensorArraySizeV3(handle: resource, flow_in: variant) -> size: int32", grad=NOT_DIFFERENTIABLE,
    of_elements=lambda known: known.count, **_FLOW)
def tensor_array_size_v3(handle, flow_in, op):
    """The number of elements."""
    return np.array(unboxed(flow_in).size, np.int32)


@op("TensorArrayCloseV3(handle: resource)", shape=shape_rules.no_outputs, grad=NOT_DIFFERENTIABLE, **_HOST)
def tensor_array_close_v3(handle, op):
    """Nothing: the elements are freed when nothing uses them any more."""


# -- one element -------------------------------------------------------------------------------------------------------

@op("TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: variant) -> flow_out: variant", element="write",
    elements=lambda c: with_one(c.elements(3), c.shapes[2]), keeps=(2,), **_FLOW)
def tensor_array_write_v3(handle, index, value, flow_in, op):
    """The elements with `value` at `index`."""
    # the memory of the argument is used again after the call
    return boxed(unboxed(handle).write(unboxed(flow_in), int(index), copied(value), op.replays))


@tensor_array_write_v3.gradient
@gradient_of_nodes(3)
def _(op, grad):
    _handle, index, value, _ = op.inputs
    return [None, None, raw.TensorArrayElementGradient(grad, index, value), grad]


@op("TensorArrayReadV3(handle: resource, index: int32, flow_in: variant; dtype: type) -> value: dtype", element="read",
    shape=lambda c: shape_of(c.elements(2), None), **_READ)
def tensor_array_read_v3(handle, index, flow_in, op):
    """The element at `index`."""
    return unboxed(handle).read(unboxed(flow_in), int(index), op.replays)


@tensor_array_read_v3.gradient
@gradient_of_nodes(3)
def _(op, grad):
    return [None, None, raw.TensorArrayGradientOfElement(op.inputs[2], op.inputs[1], grad)]


@op("TensorArrayElementGradient(grad: variant, index: int32, like: T) -> value: T", shape=shape_rules.same_as(2), **_HOST,
    element="read gradient", keeps=(2,), origin="jitgraph")
def tensor_array_element_gradient(grad, index, like, op):
    """The element of a gradient of a flow; zeros like `like` where nothing arrived."""
    return gradient_of(grad, int(index), like)


@tensor_array_element_gradient.gradient
def _(op, grad):
    return [raw.TensorArrayGradientOfElement(op.inputs[0], op.inputs[1], grad), None, None]


@op("TensorArrayGradientOfElement(flow: variant, index: int32, value: T) -> grad: variant", element="gradient of read",
    keeps=(2,), **_FLOW, origin="jitgraph")
def tensor_array_gradient_of_element(flow, index, value, op):
    """The gradient of a flow of which `value` is that of the element at `index`, and all others are zero."""
    elements = elements_of(flow)
    size = 0 if isinstance(elements, Zero) else elements.size
    return boxed(OneElement(int(index), copied(value), max(size, int(index) + 1)))


@tensor_array_gradient_of_element.gradient
def _(op, grad):
    return [None, None, raw.TensorArrayElementGradient(grad, op.inputs[1], op.inputs[2])]


# -- many elements: gather and scatter ---------------------------------------------------------------------------------

def _gathered_shape(c: Any) -> Any:
    element, indices = shape_of(c.elements(2), c.attrs["element_shape"]), c.shapes[1]
    return None if element is None else ((None if indices is None else indices[0]), *element)


@op("TensorArrayGatherV3(handle: resource, indices: int32, flow_in: variant; dtype: type, element_shape: shape = None) "
    "-> value: dtype", element="read rows", shape=_gathered_shape, **_READ)
def tensor_array_gather_v3(handle, indices, flow_in, element_shape, op):
    """The elements at `indices`, one behind the other along a new first axis."""
    shared, elements = unboxed(handle), unboxed(flow_in)
    if shared.element_shape is None:        # what the program told of its elements later, by writing one perhaps
        shared.element_shape = element_shape
    indices = by_equal_steps(indices)
    return gathered(shared, indices, shared.read_rows(elements, indices, op.replays), element_shape)


@tensor_array_gather_v3.gradient
@gradient_of_nodes(3)
def _(op, grad):
    return [None, None, raw.TensorArrayGradientOfRows(op.inputs[2], op.inputs[1], grad)]


@op("TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: variant) -> flow_out: variant", keeps=(2,),
    elements=lambda c: with_one(c.elements(3), None if c.shapes[2] is None else c.shapes[2][1:]), **_FLOW)
def tensor_array_scatter_v3(handle, indices, value, flow_in, op):
    """The elements with the rows of `value` at `indices`."""
    shared, elements, indices = unboxed(handle), unboxed(flow_in), by_equal_steps(indices)
    return boxed(shared.write_rows(elements, indices, scattered(shared, indices, value, elements.size), op.replays))


@tensor_array_scatter_v3.gradient
@gradient_of_nodes(3)
def _(op, grad):
    return [None, None, raw.TensorArrayRowsGradient(grad, op.inputs[1], op.inputs[2]), grad]


@op("TensorArrayRowsGradient(grad: variant, indices: int32, like: T) -> value: T", shape=shape_rules.same_as(2), **_HOST,
    keeps=(2,), origin="jitgraph")
def tensor_array_rows_gradient(grad, indices, like, op):
    """The elements of a gradient of a flow at `indices` as rows; zeros where nothing arrived."""
    total = elements_of(grad)
    found = total.part(indices) if isinstance(total, Elements) else None
    rows = [gradient_of(grad, int(k), row) for k, row in zip(indices, like)] if found is None else found
    return stacked(rows, like.dtype) if len(rows) else np.zeros_like(like)


@tensor_array_rows_gradient.gradient
def _(op, grad):
    return [raw.TensorArrayGradientOfRows(op.inputs[0], op.inputs[1], grad), None, None]


@op("TensorArrayGradientOfRows(flow: variant, indices: int32, value: T) -> grad: variant", keeps=(2,), **_FLOW, origin="jitgraph")
def tensor_array_gradient_of_rows(flow, indices, value, op):
    """The gradient of a flow of which the rows of `value` are those of the elements at `indices`."""
    elements = elements_of(flow)
    size = 0 if isinstance(elements, Zero) else elements.size
    if size and is_whole(indices, size):
        return boxed(Elements.of_rows(copied(value)))
    total: Any = Elements.missing(size)
    for k, row in zip(indices, rows_of(copied(value))):
        total = OneElement(int(k), row, size) + total
    return boxed(total)


@tensor_array_gradient_of_rows.gradient
def _(op, grad):
    return [None, None, raw.TensorArrayRowsGradient(grad, op.inputs[1], op.inputs[2])]


# -- many elements: concat and split -----------------------------------------------------------------------------------

def _joined_shape(c: Any) -> list:
    rest = c.attrs["element_shape_except0"]
    return [None if rest is None else (None, *rest), (None,)]


@op("TensorArrayConcatV3(handle: resource, flow_in: variant; dtype: type, element_shape_except0: shape = None) "
    "-> value: dtype, lengths: int64", shape=_joined_shape, dynamic=True, **_HOST)
def tensor_array_concat_v3(handle, flow_in, element_shape_except0, op):
    """All elements one behind the other along their first axis, and their lengths along it."""
    shared, elements = unboxed(handle), unboxed(flow_in)
    return joined(shared, shared.read_rows(elements, range(elements.size), op.replays), element_shape_except0)


@tensor_array_concat_v3.gradient
@gradient_of_nodes(3)
def _(op, grad, _):
    return [None, raw.TensorArrayGradientOfPieces(op.inputs[1], grad, op.outputs[1])]


@op("TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: variant) -> flow_out: variant",
    elements=lambda c: with_one(c.elements(3), None), **_FLOW)
def tensor_array_split_v3(handle, value, lengths, flow_in, op):
    """The elements as consecutive pieces of `value`, of these `lengths` along its first axis."""
    shared, elements = unboxed(handle), unboxed(flow_in)
    parts = split(shared, value, lengths, elements.size)
    return boxed(shared.write_rows(elements, range(len(lengths)), parts, op.replays))


@tensor_array_split_v3.gradient
@gradient_of_nodes(3)
def _(op, grad):
    return [None, raw.TensorArrayPiecesGradient(grad, op.inputs[1], op.inputs[2]), None, grad]


@op("TensorArrayPiecesGradient(grad: variant, like: T, lengths: int64) -> value: T", shape=shape_rules.same_as(1), **_HOST,
    origin="jitgraph")
def tensor_array_pieces_gradient(grad, like, lengths, op):
    """The elements of a gradient of a flow one behind the other; zeros where nothing arrived."""
    parts = [gradient_of(grad, k, piece) for k, piece in enumerate(pieces(like, lengths))]
    return np.concatenate(parts) if parts else np.zeros_like(like)


@tensor_array_pieces_gradient.gradient
def _(op, grad):
    return [raw.TensorArrayGradientOfPieces(op.inputs[0], grad, op.inputs[2]), None, None]


@op("TensorArrayGradientOfPieces(flow: variant, value: T, lengths: int64) -> grad: variant", **_FLOW, origin="jitgraph")
def tensor_array_gradient_of_pieces(flow, value, lengths, op):
    """The gradient of a flow of which consecutive pieces of `value` are those of the elements."""
    total: Any = Elements.missing(len(lengths))
    for k, piece in enumerate(pieces(np.array(value), lengths)):
        total = total.replaced(k, piece)
    return boxed(total)


@tensor_array_gradient_of_pieces.gradient
def _(op, grad):
    return [None, raw.TensorArrayPiecesGradient(grad, op.inputs[1], op.inputs[2]), None]
