"""States of cells: their shapes, zeros in them, and what a cell must have to be one."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises TypeError, which calls it `cell_name`, for what is no cell."""
    missing = [problem for holds, problem in (
        (hasattr(cell, "output_size"), "'output_size' property is missing"),
        (hasattr(cell, "state_size"), "'state_size' property is missing"),
        (hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state"),
         "either 'zero_state' or 'get_initial_state' method is required"),
        (callable(cell), "is not callable")) if not holds]
    if missing:
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}.")


def _sizes(given: Any, what: str) -> tuple[Tensor | None, Any]:
    """(sizes as a vector, None where some are unknown; the same as far as they are known now)"""
    if isinstance(given, Tensor):
        if given.shape.ndims == 0:
            return expand_dims(given, 0), constant_value(given)
        if given.shape.ndims != 1:
            raise ValueError(f"{what} tensor must be either a scalar or vector, but saw tensor: {given}")
        return given, constant_value(given)
    shape = as_shape(given)
    known = shape.as_list() if shape.ndims is not None else None
    return constant(known, dtype=dtypes.int32) if shape.is_fully_defined() else None, known


def full_shape(prefix: Any, suffix: Any) -> Tensor:
    """The vector of the sizes `prefix` (of a batch) and `suffix` (of each example): numbers, shapes or tensors of them.

    Raises ValueError if one is unknown.
    """
    first, last = _sizes(prefix, "prefix")[0], _sizes(suffix, "suffix")[0]
    if first is None or last is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return concat((first, last), 0)


def static_shape(prefix: Any, suffix: Any) -> TensorShape:
    """The same as far as it is known now."""
    first, last = _sizes(prefix, "prefix")[1], _sizes(suffix, "suffix")[1]
    return as_shape(first).concatenate(as_shape(last))


def zero_states(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, size] for each size of the structure `state_size`."""
    def zero_state(size: Any) -> Tensor:
        value = zeros(full_shape(batch_size, size), dtype=dtype)
        value.set_shape(static_shape(batch_size, size))
        return value

    return nest.map_structure(zero_state, state_size)
