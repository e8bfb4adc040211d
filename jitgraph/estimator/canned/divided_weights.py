"""Rows of a variable that is divided among several: which row lies in which of them, and where."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.partition import dynamic_partition, dynamic_stitch
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.assignments import scatter_add


class Division:
    """The rows `ids` (int64 [n]) of `variables`, of which the first ones hold one row more where the rows do not divide evenly."""

    def __init__(self, variables: list[Any], ids: Tensor, where: Callable):
        self._variables, count = variables, len(variables)
        flat = reshape(ids, [-1])
        total = _rows(variables, flat.dtype)
        each, extra = total // count, total % count
        part = maximum(flat // (each + 1), (flat - extra) // each)
        self._rows = where(part < extra, flat % (each + 1), (flat - extra) % each)
        self._part = cast(part, dtypes.int32)
        self._places = dynamic_partition(self._rows, self._part, count)

    def gathered(self) -> Tensor:
        """The rows: float32 [n, ...]."""
        rows = [gather(variable, places) for variable, places in zip(self._variables, self._places)]
        numbers = dynamic_partition(range_of(shape_of(self._rows)[0]), self._part, len(self._variables))
        return dynamic_stitch(numbers, rows)

    def added(self, changes: Tensor) -> list[Any]:
        """The operations that add `changes` to the rows."""
        of_parts = dynamic_partition(changes, self._part, len(self._variables))
        return [scatter_add(variable, places, change)
                for variable, places, change in zip(self._variables, self._places, of_parts)]


def _rows(variables: list[Any], dtype: Any) -> Tensor:
    known = [variable.shape.as_list()[0] for variable in variables]
    if None not in known:
        return constant(sum(known), dtype)
    sizes = [shape_of(variable)[0] if rows is None else rows for variable, rows in zip(variables, known)]
    return reduce_sum(cast(stack(sizes), dtype))
