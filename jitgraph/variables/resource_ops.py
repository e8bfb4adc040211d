"""Resource variables as nodes: a handle, and ops that read and write what it points to.

As with reference variables, the NumPy meaning takes the variable's present value where the signature has the handle
(None if there is none yet), and that of a writing op returns the new value.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import between, draw
from jitgraph.graph import shape_rules
from jitgraph.graph.build import stated_shape
from jitgraph.graph.counting import count_taken
from jitgraph.graph.dtypes import INDEX, INDICES, NUMBERS, TypeSet, float32, int32, int64
from jitgraph.graph.errors import OutOfRangeError
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather_nd, gather_nd_gradient, gather_nd_shape, lower_gather_nd, lower_slices
from jitgraph.variables import reference_ops


def _of_variable(c: Any) -> Any:
    return c.variable_shape(0)


def _updatable(c: Any) -> list:
    """An update has the variable's present shape."""
    shape_rules.merge(c.variable_shape(0), c.shapes[1])
    return []


def _assignable(c: Any) -> list:
    """A variable keeps what was said of its shape when it was made."""
    shape_rules.merge(stated_shape(c.inputs[0]), c.shapes[1])
    return []


@op('VarHandleOp(; container: string = "", shared_name: string = "", dtype: type, shape: shape) -> resource: resource',
    shape=shape_rules.scalar, stateful=True, state="read", variable="resource",
    tested_in="tests/variables: the session that holds its value")
def var_handle_op(shape):
    """A handle of a variable; the value is with the session."""
    raise NotImplementedError("the session holds the value of a variable")


@op("ReadVariableOp(resource: resource; dtype: type) -> value: dtype", shape=_of_variable, stateful=True, state="read",
    forwards=True, samples=lambda rng, dtype: [([draw(rng, shape, np.float32)], {"dtype": float32}) for shape in ((2, 3), ())])
def read_variable_op(resource):
    """The value of the variable."""
    return np.array(resource)


@read_variable_op.gradient
def _(op, grad):
    return grad


@op("VarIsInitializedOp(resource: resource) -> is_initialized: bool", shape=shape_rules.scalar, stateful=True,
    state="read", grad=NOT_DIFFERENTIABLE, needs_value=False, samples=between(0, 1))
def var_is_initialized_op(resource):
    """Whether the variable has a value."""
    return np.array(resource is not None)


@op("VariableShape(input: resource; out_type: type = int32) -> output: out_type", out_type=INDEX, stateful=True,
    state="read", shape=lambda c: (None if _of_variable(c) is None else len(_of_variable(c)),), grad=NOT_DIFFERENTIABLE,
    samples=between(0, 1))
def variable_shape(input, out_type):
    """The shape of the variable's value."""
    return np.array(input.shape, out_type.as_numpy_dtype)


def shape_of_variable(handle: Tensor) -> Tensor:
    """The shape of the variable behind a handle, int32: a constant if it was stated in full."""
    stated = stated_shape(handle)
    if stated is None or None in stated:
        return variable_shape(handle)
    count_taken(handle)         # TensorFlow asks the handle
    return constant(list(stated), int32)


@op("AssignVariableOp(resource: resource, value: dtype)", shape=_assignable, stateful=True, state="write",
    lower=lambda b, resource, value: value, assigns=True, samples=reference_ops.value_samples)
def assign_variable_op(resource, value):
    """Gives the variable a new value, its first one perhaps."""
    return value


@op("AssignAddVariableOp(resource: resource, value: dtype)", dtype=NUMBERS, shape=_updatable, stateful=True,
    state="write", lower=lambda b, resource, value: prim.add(resource, value), samples=reference_ops.value_samples)
def assign_add_variable_op(resource, value):
    """Adds `value` to the variable."""
    reference_ops.check_same_shape(resource, value)
    return resource + value


@op("AssignSubVariableOp(resource: resource, value: dtype)", dtype=NUMBERS, shape=_updatable, stateful=True,
    state="write", lower=lambda b, resource, value: prim.sub(resource, value), samples=reference_ops.value_samples)
def assign_sub_variable_op(resource, value):
    """Takes `value` from the variable."""
    reference_ops.check_same_shape(resource, value)
    return resource - value


@op("ResourceCountUpTo(resource: resource; limit: int, T: type) -> output: T", T=TypeSet(int32, int64),
    shape=shape_rules.scalar, stateful=True, state="write", checks=True,
    samples=lambda rng, dtype: [([np.array(3, np.int64)], {"limit": 5, "T": int64})])
def resource_count_up_to(resource, limit):
    """Adds 1 to the variable and gives the value from before; at `limit`, an OutOfRangeError."""
    if resource >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    return resource + np.ones((), resource.dtype)


def _gather_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (4, 3), np.float32), np.array(indices, dtype)], {"dtype": float32}) for indices in ([3, 0, 3], 2, [])]


def _gather_nd_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (4, 3), np.float32), np.array(indices, dtype)], {"dtype": float32})
            for indices in ([[3], [0]], [[3, 1], [0, 2]])]


def _gathered(c: Any) -> Any:
    params, indices = _of_variable(c), c.shapes[1]
    if params is None or indices is None:
        return None
    return indices + shape_rules.with_rank_at_least(params, 1, "the variable")[1 + c.attrs["batch_dims"]:]


@op("ResourceGather(resource: resource, indices: Tindices; batch_dims: int = 0, validate_indices: bool = true, "
    "dtype: type) -> output: dtype", Tindices=INDICES, shape=_gathered, stateful=True, state="read", checks=True,
    lower=lambda b, resource, indices, batch_dims: NotImplemented if batch_dims else lower_slices(b, resource, indices, 0),
    samples=_gather_samples)
def resource_gather(resource, indices, batch_dims):
    """Rows of the variable."""
    reference_ops.check_indices(indices, resource.shape[batch_dims])
    if batch_dims == 0:
        return resource[indices]
    rows = [resource_gather.opdef.value(r, i, batch_dims - 1) for r, i in zip(resource, indices)]
    return np.stack(rows)


@resource_gather.gradient
def _(op, grad):
    """The rows that were read, duplicates kept apart."""
    from jitgraph.graph.composite import IndexedSlices
    from jitgraph.ops.arrays.join import concat
    from jitgraph.ops.arrays.shape import expand_dims, reshape, size

    if op.attrs["batch_dims"]:
        raise NotImplementedError("The gradient of a ResourceGather with batch_dims is not there; use tf.gather on "
                                  "variable.read_value().")
    handle, indices = op.inputs
    full = shape_of_variable(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, full[1:]], 0))
    return [IndexedSlices(values, reshape(indices, count), full), None]


@op("ResourceGatherNd(resource: resource, indices: Tindices; dtype: type) -> output: dtype", Tindices=INDICES,
    shape=lambda c: gather_nd_shape(_of_variable(c), c.shapes[1]), stateful=True, state="read", checks=True, lower=lower_gather_nd,
    samples=_gather_nd_samples)
def resource_gather_nd(resource, indices):
    """The slices of the variable at the multi-dimensional `indices`."""
    return gather_nd.opdef.value(resource, indices)


@resource_gather_nd.gradient
def _(op, grad):
    return gather_nd_gradient(op, variable_shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype), grad)


def _scattered(c: Any) -> list:
    reference_ops.check_scattered(_of_variable(c), *c.shapes[1:])
    return []


def _scattered_nd(c: Any) -> list:
    shape_rules.scattered_nd(_of_variable(c), *c.shapes[1:])
    return []


def _scatter(kind: str) -> Any:
    """``ResourceScatterAdd`` and its kin, from the scatter on reference variables."""
    on_reference = getattr(reference_ops, "scatter_" + kind.lower())

    def value(resource, indices, updates):
        return on_reference.opdef.value(resource, indices, updates)

    value.__doc__ = on_reference.__doc__
    value.__name__ = "resource_scatter_" + kind.lower()
    allowed: dict[str, Any] = {} if kind == "Update" else {"dtype": NUMBERS}
    return op(f"ResourceScatter{kind}(resource: resource, indices: Tindices, updates: dtype)", Tindices=INDICES,
              **allowed, shape=_scattered,
              stateful=True, state="write", checks=True, lower=reference_ops.scatter_lowering(kind.lower()),
              samples=reference_ops.row_samples)(value)


resource_scatter_update, resource_scatter_add = _scatter("Update"), _scatter("Add")
resource_scatter_sub = _scatter("Sub")
resource_scatter_mul, resource_scatter_div = _scatter("Mul"), _scatter("Div")
resource_scatter_min, resource_scatter_max = _scatter("Min"), _scatter("Max")


def _scatter_nd(kind: str) -> Any:
    """``ResourceScatterNdUpdate`` and its kin."""
    on_reference = getattr(reference_ops, "scatter_nd_" + kind.lower())

    def value(ref, indices, updates):
        return on_reference.opdef.value(ref, indices, updates)

    value.__doc__ = on_reference.__doc__
    value.__name__ = "resource_scatter_nd_" + kind.lower()
    allowed: dict[str, Any] = {} if kind == "Update" else {"T": NUMBERS}
    return op(f"ResourceScatterNd{kind}(ref: resource, indices: Tindices, updates: T; use_locking: bool = true)",
              Tindices=INDICES, **allowed, shape=_scattered_nd,
              stateful=True, state="write", checks=True, samples=reference_ops.place_samples)(value)


resource_scatter_nd_update, resource_scatter_nd_add = _scatter_nd("Update"), _scatter_nd("Add")
resource_scatter_nd_sub = _scatter_nd("Sub")


@op("ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T; begin_mask: int = "
    "0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0)", Index=INDICES,
    shape=shape_rules.no_outputs, stateful=True, state="write", checks=True, samples=reference_ops.part_samples)
def resource_strided_slice_assign(ref, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                  shrink_axis_mask):
    """Replaces the part of the variable that ``ref[begin:end:strides]`` (with the masks) names."""
    return reference_ops.strided_slice_assign.opdef.value(ref, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask,
                                                  new_axis_mask, shrink_axis_mask)


@op("DestroyResourceOp(resource: resource; ignore_lookup_error: bool = true)", shape=shape_rules.no_outputs,
    stateful=True, host=True, tested_in="tests/variables: the session that holds its value")
def destroy_resource_op(resource):
    """Forgets the variable's value."""


@op("DisableCopyOnRead(resource: resource)", shape=shape_rules.no_outputs, stateful=True, host=True, origin="TensorFlow 2",
    tested_in="tests/variables: the session that holds its value")
def disable_copy_on_read(resource):
    """Nothing: what is read here is never a copy that is to be kept."""
