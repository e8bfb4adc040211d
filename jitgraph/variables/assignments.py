"""Assignments as functions: ``tf.assign`` and its kin, for reference and resource variables."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.variables import reference_ops


def is_reference(ref: Any) -> bool:
    return isinstance(getattr(ref, "dtype", None), DType) and ref.dtype._is_ref_dtype


def _refuse_constant(ref: Any, function: str) -> None:
    if not hasattr(ref, function):
        raise AttributeError(f"'{type(ref).__name__}' object has no attribute '{function}': tf.{function} changes "
                             f"variables, and {ref!r} is none.")


def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Any:
    """A node that gives variable `ref` the value `value`; its output is the variable right afterwards.

    Raises TypeError if the dtypes, ValueError if the shapes differ (unless ``validate_shape=False``).
    """
    if is_reference(ref):
        return reference_ops.assign(ref, value, use_locking=True if use_locking is None else use_locking, name=name,
                            validate_shape=True if validate_shape is None else validate_shape)
    _refuse_constant(ref, "assign")
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """A node that adds `value` to variable `ref`; its output is the variable right afterwards."""
    if is_reference(ref):
        return reference_ops.assign_add(ref, value, use_locking=bool(use_locking), name=name)
    _refuse_constant(ref, "assign_add")
    return ref.assign_add(value)            # TensorFlow drops the name, too


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """A node that subtracts `value` from variable `ref`; its output is the variable right afterwards."""
    if is_reference(ref):
        return reference_ops.assign_sub(ref, value, use_locking=bool(use_locking), name=name)
    _refuse_constant(ref, "assign_sub")
    return ref.assign_sub(value)            # TensorFlow drops the name, too


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """A node that adds 1 to `ref` and gives the value from before; at `limit`, a run raises OutOfRangeError."""
    if is_reference(ref):
        return reference_ops.count_up_to(ref, limit=limit, name=name)
    return ref.count_up_to(limit)


def _scatter_function(name: str, doc: str, locking: bool = False) -> Callable:
    builder = getattr(reference_ops, name)

    def function(ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None) -> Any:
        if is_reference(ref):
            return builder(ref, indices, updates, use_locking=use_locking, name=name)
        return ref._scatter(builder.opdef.type, indices, updates, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc + "  A run raises InvalidArgumentError for indices outside the variable."
    return function


scatter_update = _scatter_function("scatter_update", "``ref[indices] = updates``; the output is the variable.", True)
scatter_add = _scatter_function("scatter_add", "``ref[indices] += updates``, duplicates adding up.")
scatter_sub = _scatter_function("scatter_sub", "``ref[indices] -= updates``, duplicates adding up.")
scatter_mul = _scatter_function("scatter_mul", "``ref[indices] *= updates``.")
scatter_div = _scatter_function("scatter_div", "``ref[indices] /= updates``.")
scatter_min = _scatter_function("scatter_min", "``ref[indices] = min(ref[indices], updates)``.")
scatter_max = _scatter_function("scatter_max", "``ref[indices] = max(ref[indices], updates)``.")
scatter_nd_update = _scatter_function("scatter_nd_update", "Replaces the elements or slices at coordinates.", True)
scatter_nd_add = _scatter_function("scatter_nd_add", "Adds to the elements or slices at coordinates.")
scatter_nd_sub = _scatter_function("scatter_nd_sub", "Subtracts from the elements or slices at coordinates.")


def batch_scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None) -> Any:
    """``ref[b][indices[b]] = updates[b]`` for every index `b` into all dimensions of `indices` but the last.

    Shapes: `ref` (batch..., n, rest...), `indices` (batch..., k), `updates` (batch..., k, rest...).  Raises ValueError
    if the rank of `indices` is not known.
    """
    with name_scope(name, "batch_scatter_update"):
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_scatter_update does not allow indices with unknown shape.")
        sizes, columns = raw.Shape(indices), []
        for axis in range(rank - 1):
            along = raw.Reshape(raw.Range(0, sizes[axis], 1), [-1 if a == axis else 1 for a in range(rank)])
            columns.append(raw.Cast(raw.BroadcastTo(along, sizes), DstT=indices.dtype))
        places = raw.Pack([*columns, indices], axis=rank)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)
