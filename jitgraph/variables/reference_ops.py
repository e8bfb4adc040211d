"""Variables as nodes, and the ops that read and write them.

The NumPy meaning of a writing op takes the variable's present value where the signature has the reference (None if
it has no value yet) and returns the new one, which is also what the node gives.  Who runs the graph keeps the values.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import between, draw
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import FLOATS, INDICES, NUMBERS, TypeSet, int32, int64
from jitgraph.graph.errors import InvalidArgumentError, OutOfRangeError
from jitgraph.ops.arrays.replaced_parts import tensor_strided_slice_update


def row_samples(rng: Any, dtype: Any) -> list:
    """A variable, rows of it by number, and what is put there."""
    ref = draw(rng, (4, 3), dtype, 1, 3)
    return [[ref, np.array([3, 0, 3], np.int32), draw(rng, (3, 3), dtype, 1, 3)],
            [ref, np.array([[1], [2]], np.int64), draw(rng, (2, 1, 3), dtype, 1, 3)],
            [ref, np.array(2, np.int32), draw(rng, (3,), dtype, 1, 3)], [ref, np.zeros(0, np.int32), draw(rng, (0, 3), dtype)],
            [ref, np.array([1, 2], np.int32), draw(rng, (), dtype, 1, 3)]]


def place_samples(rng: Any, dtype: Any) -> list:
    """A variable, places in it, and what is put there."""
    ref = draw(rng, (4, 3), dtype, 1, 3)
    return [[ref, np.array([[3], [0]], np.int32), draw(rng, (2, 3), dtype)],
            [ref, np.array([[3, 1], [0, 2]], np.int64), draw(rng, (2,), dtype)]]


def part_samples(rng: Any, dtype: Any) -> list:
    """A variable, begin, end and strides of a part of it, and what is put there."""
    bounds = [np.array(b, np.int32) for b in ([1, 0], [3, 2], [1, 1])]
    return [[draw(rng, (4, 3), dtype), *bounds, draw(rng, (2, 2), dtype)],
            ([draw(rng, (4, 3), dtype), *bounds, draw(rng, (2,), dtype)], {"shrink_axis_mask": 1})]


def value_samples(rng: Any, dtype: Any) -> list:
    """A variable and a value of its shape."""
    return [[draw(rng, shape, dtype), draw(rng, shape, dtype)] for shape in ((2, 3), (), (0, 2))]


_ORDERED = FLOATS + TypeSet(int32, int64)


@op('VariableV2(; shape: shape, dtype: type, container: string = "", shared_name: string = "") -> ref: &dtype',
    shape=shape_rules.from_attr("shape"), stateful=True, state="read", variable="reference",
    tested_in="tests/variables: the session that holds its value")
def variable_v2(shape):
    """A variable: its value lasts from run to run, and is shared by nodes of one container and shared name."""
    raise NotImplementedError("the session holds the value of a variable")


@op('Variable(; shape: shape, dtype: type, container: string = "", shared_name: string = "") -> ref: &dtype',
    shape=shape_rules.from_attr("shape"), stateful=True, state="read", variable="reference",
    tested_in="tests/variables: the session that holds its value")
def variable_v1(shape):
    """A variable as the oldest graph files name it."""
    raise NotImplementedError("the session holds the value of a variable")


def variable_op_v2(shape: Any, dtype: Any, name: str = "Variable", container: str = "", shared_name: str = "") -> Any:
    """A reference to a variable without an initial value, of `shape` and `dtype`: what ``tf.Variable`` is made of."""
    return variable_v2(shape=shape, dtype=dtype, container=container, shared_name=shared_name, name=name)


@op("IsVariableInitialized(ref: &dtype) -> is_initialized: bool", shape=shape_rules.scalar, stateful=True, state="read",
    needs_value=False, samples=between(0, 1))
def is_variable_initialized(ref):
    """Whether the variable has a value."""
    return np.array(ref is not None)


# -- assignments -------------------------------------------------------------------------------------------------

def _assigned(c: Any) -> Any:
    if not c.attrs["validate_shape"]:
        return c.shapes[1]
    return shape_rules.merge(c.shapes[0], c.shapes[1])


@op("Assign(ref: &T, value: T; validate_shape: bool = true, use_locking: bool = true) -> output_ref: &T",
    shape=_assigned, stateful=True, state="write", lower=lambda b, ref, value: value, grad=NOT_DIFFERENTIABLE, assigns=True,
    samples=value_samples)
def assign(ref, value):
    """Gives the variable a new value, its first one perhaps."""
    return value


def check_same_shape(ref: np.ndarray, value: np.ndarray) -> None:
    """Raises InvalidArgumentError for an update that would have to be broadcast."""
    if np.shape(ref) != np.shape(value):
        raise InvalidArgumentError(None, None, "Parameters and update must be the same size: a variable of shape "
                                               f"{list(np.shape(ref))}, an update of {list(np.shape(value))}")


@op("AssignAdd(ref: &T, value: T; use_locking: bool = false) -> output_ref: &T", T=NUMBERS,
    shape=shape_rules.merged_inputs, stateful=True, state="write", lower=lambda b, ref, value: prim.add(ref, value),
    grad=NOT_DIFFERENTIABLE, samples=value_samples)
def assign_add(ref, value):
    """Adds `value` to the variable."""
    check_same_shape(ref, value)
    return ref + value


@op("AssignSub(ref: &T, value: T; use_locking: bool = false) -> output_ref: &T", T=NUMBERS,
    shape=shape_rules.merged_inputs, stateful=True, state="write", lower=lambda b, ref, value: prim.sub(ref, value),
    grad=NOT_DIFFERENTIABLE, samples=value_samples)
def assign_sub(ref, value):
    """Takes `value` from the variable."""
    check_same_shape(ref, value)
    return ref - value


@op("CountUpTo(ref: &T; limit: int) -> output: T", T=TypeSet(int32, int64), shape=shape_rules.scalar, stateful=True,
    state="write", checks=True, samples=lambda rng, dtype: [([np.array(3, dtype)], {"limit": 5})])
def count_up_to(ref, limit):
    """Adds 1 to the variable and gives the value from before; at `limit`, an OutOfRangeError."""
    if ref >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    return ref + np.ones((), ref.dtype)


# -- scatters ----------------------------------------------------------------------------------------------------

def _scattered(c: Any) -> Any:
    check_scattered(*c.shapes)
    return c.shapes[0]


def check_scattered(ref: Any, indices: Any, updates: Any) -> None:
    """Raises ValueError for updates that are neither one number nor a row of `ref` for each index."""
    if ref is None or indices is None or updates is None:
        return
    if updates != () and ref != ():
        expected = indices + ref[1:]
        try:
            shape_rules.merge(expected, updates)
        except ValueError:
            raise ValueError("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                             f"updates.shape {list(updates)}, indices.shape {list(indices)}, params.shape "
                             f"{list(ref)}") from None


def check_indices(indices: np.ndarray, size: int) -> None:
    """Raises InvalidArgumentError for the first index outside [0, size)."""
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        position = tuple(int(i) for i in np.argwhere(outside)[0])
        where = ", ".join(map(str, position))
        raise InvalidArgumentError(None, None, f"indices[{where}] = {indices[position]} is not in [0, {size})")


def scatter_lowering(kind: str) -> Any:
    """Rows of a variable combined in place, one after the other."""
    combined = {"update": lambda row, new: new, "div": prim.div}.get(kind) or getattr(prim, kind)

    def lower(b, ref, indices, updates):
        if kind == "div" and not ref.dtype.is_floating:
            raise NotImplementedError
        return b.update_rows(f"scatter_{kind}", [ref], indices, [updates], combined)

    return lower


def _scatter(name: str, locking: str, doc: str, combine: Any, types: Any = NUMBERS, **fields: Any) -> Any:
    """A Scatter op: rows `indices` of the variable combined with `updates`, one after the other."""

    def value(ref, indices, updates):
        check_indices(indices, ref.shape[0])
        new = ref.copy()
        combine(new, indices, np.broadcast_to(updates, indices.shape + ref.shape[1:]))
        return new

    value.__doc__ = doc
    value.__name__ = name
    return op(f"{name}(ref: &T, indices: Tindices, updates: T; use_locking: bool = {locking}) -> output_ref: &T",
              **({} if name == "ScatterUpdate" else {"T": types}), Tindices=INDICES, shape=_scattered, stateful=True,
              state="write", checks=True, lower=scatter_lowering(name.removeprefix("Scatter").lower()),
              samples=row_samples, **fields)(value)


def _assign_rows(new: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    new[indices] = updates


scatter_update = _scatter("ScatterUpdate", "true", "Replaces rows of a variable; of duplicates, the last counts.",
                          _assign_rows)
scatter_add = _scatter("ScatterAdd", "false", "Adds to rows of a variable; duplicates add up.", np.add.at,
                       grad=NOT_DIFFERENTIABLE)
scatter_sub = _scatter("ScatterSub", "false", "Subtracts from rows of a variable; duplicates add up.", np.subtract.at,
                       grad=NOT_DIFFERENTIABLE)
scatter_mul = _scatter("ScatterMul", "false", "Multiplies rows of a variable.", np.multiply.at,
                       grad=NOT_DIFFERENTIABLE)
scatter_min = _scatter("ScatterMin", "false", "The minimum of rows of a variable and updates.", np.minimum.at,
                       _ORDERED)
scatter_max = _scatter("ScatterMax", "false", "The maximum of rows of a variable and updates.", np.maximum.at,
                       _ORDERED)


def _divide_rows(new: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    if new.dtype.kind in "iu":
        for index in np.ndindex(indices.shape):
            new[indices[index]] = prim.trunc_div(new[indices[index]], updates[index])  # type: ignore[attr-defined]
    else:
        np.divide.at(new, indices, updates)


scatter_div = _scatter("ScatterDiv", "false", "Divides rows of a variable; integers towards zero.", _divide_rows,
                       grad=NOT_DIFFERENTIABLE)


def _scatter_nd(name: str, locking: str, doc: str, combine: Any) -> Any:
    """A ScatterNd op: `indices` has in its last dimension the coordinates of elements or slices of the variable."""

    def value(ref, indices, updates):
        depth = indices.shape[-1]
        flat = indices.reshape(-1, depth)
        for axis in range(depth):
            check_indices(flat[:, axis], ref.shape[axis])
        new = ref.copy()
        combine(new, tuple(indices[..., axis] for axis in range(depth)), updates)
        return new

    value.__doc__ = doc
    value.__name__ = name
    allowed: dict[str, Any] = {} if name == "ScatterNdUpdate" else {"T": NUMBERS}
    return op(f"{name}(ref: &T, indices: Tindices, updates: T; use_locking: bool = {locking}) -> output_ref: &T",
              **allowed, Tindices=INDICES,
              shape=lambda c: shape_rules.scattered_nd(*c.shapes), stateful=True, state="write", checks=True,
              grad=NOT_DIFFERENTIABLE, samples=place_samples)(value)


scatter_nd_update = _scatter_nd("ScatterNdUpdate", "true", "Replaces elements or slices of a variable.", _assign_rows)
scatter_nd_add = _scatter_nd("ScatterNdAdd", "false", "Adds to elements or slices of a variable.", np.add.at)
scatter_nd_sub = _scatter_nd("ScatterNdSub", "false", "Subtracts from elements or slices of a variable.",
                             np.subtract.at)


@op("StridedSliceAssign(ref: &T, begin: Index, end: Index, strides: Index, value: T; begin_mask: int = 0, "
    "end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> output_ref: &T",
    Index=INDICES, shape=shape_rules.same_as_input, stateful=True, state="write", checks=True, samples=part_samples)
def strided_slice_assign(ref, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                         shrink_axis_mask):
    """Replaces the part of a variable that ``ref[begin:end:strides]`` (with the masks) names."""
    return tensor_strided_slice_update.opdef.value(ref, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask,
                                                   new_axis_mask, shrink_axis_mask)
