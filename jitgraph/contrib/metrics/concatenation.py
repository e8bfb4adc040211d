"""``streaming_concat``: all values seen so far, kept in a variable that grows."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.metrics.streaming import collected, metric_variable
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import ceil, log
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable_scopes import variable_scope


def _next_size(required: Any, factor: float = 1.5) -> Any:
    exponent = ceil(log(cast(required, dtypes.float32)) / log(cast(factor, dtypes.float32)))
    return cast(ceil(factor ** exponent), dtypes.int32)


def streaming_concat(values: Any, axis: int = 0, max_size: int | None = None, metrics_collections: Any = None,
                     updates_collections: Any = None, name: str | None = None) -> tuple:
    """(all `values` so far, concatenated along `axis`; the operation that adds more).

    With `max_size`, only the first so many.  Raises ValueError for unknown ranks, unknown sizes along other axes, and axes that
    are not there.
    """
    with variable_scope(name, "streaming_concat", (values,)):
        if values.shape.ndims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = len(values.shape)
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis} not in [0, {rank})")
        fixed = [size.value for k, size in enumerate(values.shape) if k != axis]
        if any(size is None for size in fixed):
            raise ValueError("all dimensions of `values` other than the dimension to concatenate along must have statically "
                             "known size")
        array = metric_variable([max_size or 0, *fixed], values.dtype, validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        valid = array[:size]
        valid.set_shape([None, *fixed])
        back = [0 if k == axis else k + 1 if k < axis else k for k in range(rank)]
        value = transpose(valid, back, name="concat")
        count = shape_of(values)[axis]
        if max_size is not None:
            count = minimum(count, max_size - size)
        more = transpose(values, [axis, *(k for k in range(rank) if k != axis)])[:count]
        new_size = size + count

        def reallocate() -> Any:
            larger = zeros(stack([_next_size(new_size), *fixed]), dtype=values.dtype)
            before = identity(array)
            with control_dependencies([before]):
                made = assign(array, larger, validate_shape=False)
            with control_dependencies([made]):
                copied = array[:size].assign(before[:size])
            with control_dependencies([copied]):
                return no_op()

        grown = cond(new_size > raw.Shape(array)[0], reallocate, no_op)
        with control_dependencies([grown]):
            appended = array[size:new_size].assign(more)
        with control_dependencies([appended]):
            update = size.assign(new_size)
        return collected(metrics_collections, value), collected(updates_collections, update)
