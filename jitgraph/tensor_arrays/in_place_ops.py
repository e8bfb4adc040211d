"""TensorArrays and stacks as graph files have them: behind a handle stands an array that operations change.

The flow of such an array is a number without meaning; that one operation needs the flow of another says which comes
first.  (``tensor_array_ops`` has the ops that programs build: there the flow is the value.)  Each op is there
for the handles of all versions of TensorFlow: references to strings, strings, and resources.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import string as string_type
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.registry import REGISTRY
from jitgraph.tensor_arrays.host_values import boxed
from jitgraph.tensor_arrays.in_place_arrays import ArrayInPlace, StackInPlace, array_behind, stack_behind
from jitgraph.tensor_arrays.tensor_array_rows import gathered, joined, scattered, split
from jitgraph.tensor_arrays.tensor_array_values import Handle, rows_of

PREFIX = "InPlace"      # under this and their own name stand the declarations whose name the ops of programs have
_HOST: dict[str, Any] = {"host": True, "stateful": True, "tested_in": "tests/formats/test_control_flow_files.py: an array"}
_ARRAY: dict[str, Any] = {**_HOST, "context": ("op",)}
_KINDS = {"V3": "resource", "V2": "string", "": "&string"}
_FLOW = np.zeros((), np.float32)


def _declare(name: str, signature: str, grad: Callable | None = NOT_DIFFERENTIABLE, versions: Any = ("V3", "V2", ""),
             element: str | None = None, **fields: Any) -> Callable:
    """Declares the op for each kind of handle, written HANDLE in the signature; `element`: see `OpDef`, of the newest."""

    def declare(value: Callable) -> Callable:
        for version in versions:
            kind = _KINDS[version]
            prefix = PREFIX if version == "V3" else ""
            declared = op(f"{prefix}{name}{version}({signature.replace('HANDLE', kind)}", grad=grad, **_ARRAY, **fields,
                          element=element if prefix else None, origin="jitgraph" if prefix else "")(value)
            declared.opdef.type = name + version
        return value

    return declare


def lookup_in_place(op_type: str) -> Any:
    """The declaration of `op_type` as graph files mean it, None if it is that of ``jitgraph.graph.registry``."""
    return REGISTRY.get(PREFIX + op_type)


def is_in_place(node: Any) -> bool:
    """Whether a node has a declaration of this module, and not that of programs for the same type."""
    return node.opdef is REGISTRY.get(PREFIX + node.type)


# -- arrays ------------------------------------------------------------------------------------------------------------

_ATTRS = 'dynamic_size: bool = false, clear_after_read: bool = true, tensor_array_name: string = ""'


def _made(size: Any, op: Any) -> np.ndarray:
    if size < 0:
        raise InvalidArgumentError(None, None, "Size should be >= 0.")
    return boxed(ArrayInPlace(Handle(op.name, {"identical_element_shapes": False, **op.attrs}), int(size)))


@_declare("TensorArray", "size: int32; dtype: type, element_shape: shape = None, dynamic_size: bool = false, "
          "clear_after_read: bool = true, identical_element_shapes: bool = false, tensor_array_name: string = \"\") "
          "-> handle: HANDLE, flow: float32", shape=lambda c: [(), ()], versions=("V3",))
def tensor_array_v3(size, op):
    """A TensorArray of `size` elements, none of which is written."""
    return _made(size, op), _FLOW


@_declare("TensorArray", f"size: int32; dtype: type, {_ATTRS}, element_shape: shape = None) -> handle: HANDLE",
          shape=shape_rules.scalar, versions=("V2", ""))
def tensor_array(size, op):
    """A TensorArray of `size` elements, none of which is written."""
    return _made(size, op)


@_declare("TensorArrayGrad", "handle: HANDLE, flow_in: float32; source: string) -> grad_handle: HANDLE, "
          "flow_out: float32", shape=lambda c: [(), ()], versions=("V3",), element="gradient array")
def tensor_array_grad_v3(handle, flow_in, source, op):
    """The TensorArray for the gradients of the elements of another one."""
    return boxed(array_behind(handle).gradient(source)), _FLOW


@_declare("TensorArrayGrad", "handle: string, flow_in: float32; source: string) -> grad_handle: HANDLE",
          shape=shape_rules.scalar, versions=("V2", ""))
def tensor_array_grad(handle, flow_in, source, op):
    """The TensorArray for the gradients of the elements of another one."""
    return boxed(array_behind(handle).gradient(source))


@_declare("TensorArraySize", "handle: HANDLE, flow_in: float32) -> size: int32", shape=shape_rules.scalar)
def tensor_array_size(handle, flow_in, op):
    """The number of elements."""
    return np.array(array_behind(handle).size, np.int32)


@_declare("TensorArrayClose", "handle: HANDLE)", shape=shape_rules.no_outputs)
def tensor_array_close(handle, op):
    """Nothing: the elements are freed when nothing uses them any more."""


# -- gradients: the elements of the array of gradients -----------------------------------------------------------------

def _source() -> str:
    """The name under which the gradients of one call of ``tf.gradients`` are kept: the scope of that call."""
    parts = get_default_graph()._names.scope.split("/")
    ends = [k for k, part in enumerate(parts) if part.startswith("gradients")]
    return "/".join(parts[:ends[0] + 1]) if ends else "gradients"


def _node(op_type: str, *inputs: Any, **attrs: Any) -> Any:
    return REGISTRY[PREFIX + op_type].builder(*inputs, **attrs)


def _gradients(op: Any, flow: Any) -> tuple:
    """(handle, flow) of the array of gradients, as it is when `flow` is there."""
    if op.inputs[0].dtype.base_dtype is string_type:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}): only TensorArrays of "
                          "version 3 have one")
    return tuple(_node("TensorArrayGradV3", op.inputs[0], flow, source=_source()))


def _read_gradient(op: Any, grad: Any) -> list:
    handle, flow = _gradients(op, op.inputs[2])
    return [None, None, _node("TensorArrayWriteV3", handle, op.inputs[1], grad, flow)]


def _write_gradient(op: Any, flow: Any) -> list:
    handle, ready = _gradients(op, flow)
    value = _node("TensorArrayReadV3", handle, op.inputs[1], ready, dtype=op.inputs[2].dtype.base_dtype)
    return [None, None, value, flow]


def _gather_gradient(op: Any, grad: Any) -> list:
    handle, flow = _gradients(op, op.inputs[2])
    return [None, None, _node("TensorArrayScatterV3", handle, op.inputs[1], grad, flow)]


def _scatter_gradient(op: Any, flow: Any) -> list:
    handle, ready = _gradients(op, flow)
    return [None, None, _node("TensorArrayGatherV3", handle, op.inputs[1], ready, dtype=op.inputs[2].dtype.base_dtype), flow]


def _concat_gradient(op: Any, grad: Any, _: Any) -> list:
    handle, flow = _gradients(op, op.inputs[1])
    return [None, _node("TensorArraySplitV3", handle, grad, op.outputs[1], flow)]


def _split_gradient(op: Any, flow: Any) -> list:
    handle, ready = _gradients(op, flow)
    value, _ = _node("TensorArrayConcatV3", handle, ready, dtype=op.inputs[1].dtype.base_dtype)
    return [None, value, None, flow]


# -- elements ----------------------------------------------------------------------------------------------------------

@_declare("TensorArrayWrite", "handle: HANDLE, index: int32, value: T, flow_in: float32) -> flow_out: float32",
          grad=_write_gradient, shape=shape_rules.scalar, element="write")
def tensor_array_write(handle, index, value, flow_in, op):
    """Puts `value` at `index`."""
    # the memory of the argument is used again after the call
    array_behind(handle).write(int(index), np.array(value), op.replays)
    return _FLOW


@_declare("TensorArrayRead", "handle: HANDLE, index: int32, flow_in: float32; dtype: type) -> value: dtype",
          grad=_read_gradient, element="read")
def tensor_array_read(handle, index, flow_in, op):
    """The element at `index`."""
    return array_behind(handle).read(int(index), op.replays)


def _gathered_shape(c: Any) -> Any:
    element, indices = c.attrs["element_shape"], c.shapes[1]
    return None if element is None else (None if indices is None else indices[0], *element)


@_declare("TensorArrayGather", "handle: HANDLE, indices: int32, flow_in: float32; dtype: type, "
          "element_shape: shape = None) -> value: dtype", grad=_gather_gradient, shape=_gathered_shape)
def tensor_array_gather(handle, indices, flow_in, element_shape, op):
    """The elements at `indices`, one behind the other along a new first axis."""
    return _gathered(array_behind(handle), indices, element_shape, op.replays)


@_declare("TensorArrayPack", "handle: HANDLE, flow_in: float32; dtype: type, element_shape: shape = None) -> value: dtype",
          versions=("",))
def tensor_array_pack(handle, flow_in, element_shape, op):
    """All elements, one behind the other along a new first axis."""
    array = array_behind(handle)
    return _gathered(array, range(array.size), element_shape, op.replays)


def _gathered(array: ArrayInPlace, indices: Any, element_shape: Any, replays: bool) -> np.ndarray:
    return gathered(array.handle, indices, [np.asarray(array.read(int(k), replays)) for k in indices], element_shape)


@_declare("TensorArrayScatter", "handle: HANDLE, indices: int32, value: T, flow_in: float32) -> flow_out: float32",
          grad=_scatter_gradient, shape=shape_rules.scalar)
def tensor_array_scatter(handle, indices, value, flow_in, op):
    """Puts the rows of `value` at `indices`."""
    array = array_behind(handle)
    _write_all(array, indices, rows_of(scattered(array.handle, indices, value, array.size)), op.replays)
    return _FLOW


@_declare("TensorArrayUnpack", "handle: HANDLE, value: T, flow_in: float32) -> flow_out: float32",
          shape=shape_rules.scalar, versions=("",))
def tensor_array_unpack(handle, value, flow_in, op):
    """Puts the rows of `value` at 0, 1, ..."""
    _write_all(array_behind(handle), range(len(value)), rows_of(np.array(value)), op.replays)
    return _FLOW


def _write_all(array: ArrayInPlace, indices: Any, values: Any, replays: bool) -> None:
    for index, value in zip(indices, values):
        array.write(int(index), value, replays)


def _joined_shape(c: Any) -> list:
    rest = c.attrs["element_shape_except0"]
    return [None if rest is None else (None, *rest), (None,)]


@_declare("TensorArrayConcat", "handle: HANDLE, flow_in: float32; dtype: type, element_shape_except0: shape = None) "
          "-> value: dtype, lengths: int64", grad=_concat_gradient, shape=_joined_shape, dynamic=True)
def tensor_array_concat(handle, flow_in, element_shape_except0, op):
    """All elements one behind the other along their first axis, and their lengths along it."""
    array = array_behind(handle)
    return joined(array.handle, [np.asarray(array.read(k, op.replays)) for k in range(array.size)], element_shape_except0)


@_declare("TensorArraySplit", "handle: HANDLE, value: T, lengths: int64, flow_in: float32) -> flow_out: float32",
          grad=_split_gradient, shape=shape_rules.scalar)
def tensor_array_split(handle, value, lengths, flow_in, op):
    """The elements as consecutive pieces of `value`, of these `lengths` along its first axis."""
    array = array_behind(handle)
    _write_all(array, range(len(lengths)), split(array.handle, value, lengths, array.size), op.replays)
    return _FLOW


# -- stacks: what the loops of graph files save for their gradients ----------------------------------------------------

@op('StackV2(max_size: int32; elem_type: type, stack_name: string = "") -> handle: resource', shape=shape_rules.scalar,
    context=("op",), **_HOST)
def stack_v2(max_size, op):
    """A stack of at most `max_size` tensors, any number if that is negative."""
    return boxed(StackInPlace(op.attrs["stack_name"] or op.name, int(max_size)))


@op('Stack(; elem_type: type, stack_name: string = "") -> handle: &string', shape=shape_rules.scalar,
    grad=NOT_DIFFERENTIABLE, context=("op",), **_HOST)
def stack(op):
    """A stack of tensors."""
    return boxed(StackInPlace(op.attrs["stack_name"] or op.name, -1))


def refuse_second_gradient(op: Any, grad: Any = None) -> None:
    """Raises TypeError: nobody knows where the gradient of what is taken off a stack belongs."""
    raise TypeError(f"Second-order gradient for while loops not supported: {op.name} (op type: {op.type}) is part of the "
                    "gradient of a loop in a graph file.")


def _push(handle, elem):
    """Puts `elem` on top of a stack, and hands it on."""
    kept = np.array(elem)       # the memory of the argument is used again after the call
    stack_behind(handle).push(kept)
    return kept


def _pop(handle):
    """Takes the top off a stack."""
    return stack_behind(handle).pop()


def _close(handle):
    """Nothing: a stack is freed when nothing uses it any more."""


for _version, _kind in (("V2", "resource"), ("", "&string")):
    op(f"StackPush{_version}(handle: {_kind}, elem: T; swap_memory: bool = false) -> output: T",
       shape=shape_rules.same_as(1), grad=NOT_DIFFERENTIABLE, element="push", **_HOST)(_push)
    op(f"StackPop{_version}(handle: {_kind}; elem_type: type) -> elem: elem_type", grad=refuse_second_gradient,
       element="pop", **_HOST)(_pop)
    op(f"StackClose{_version}(handle: {_kind})", shape=shape_rules.no_outputs, grad=NOT_DIFFERENTIABLE, **_HOST)(_close)
