"""Copies of a tensor with some rows, or another part, replaced."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import INDICES
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.shapes import brackets
from jitgraph.ops.arrays.slicing import numpy_index


def _row_samples(rng: Any, dtype: Any) -> list:
    return [] if dtype.kind in "bO" else [[draw(rng, (4, 3), dtype), ints(3, 0), draw(rng, (2, 3), dtype)]]


def _changed_rows(name: str, doc: str, combine: Any) -> Any:
    def value(x, i, v):
        if x.ndim != v.ndim or i.ndim != 1 or v.shape != (len(i), *x.shape[1:]):
            raise invalid(f"i must be a vector with one row of v for each element; x: {list(x.shape)}, i: {list(i.shape)}, v: "
                          f"{list(v.shape)}")
        result = np.array(x)
        combine(result, np.mod(i, len(x)) if len(x) else i, v)
        return result

    value.__doc__, value.__name__ = doc, name
    return op(f"Inplace{name}(x: T, i: int32, v: T) -> y: T", shape=shape_rules.same_as_input, checks=True,
              samples=_row_samples)(value)


def _set(result: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    result[rows] = values


inplace_update = _changed_rows("Update", "`x` with the rows `i` replaced by those of `v`.", _set)
inplace_add = _changed_rows("Add", "`x` with the rows of `v` added to the rows `i`.", np.add.at)
inplace_sub = _changed_rows("Sub", "`x` with the rows of `v` subtracted from the rows `i`.", np.subtract.at)


@op("TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T; begin_mask: int = 0, end_mask: int = "
    "0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> output: T", Index=INDICES,
    shape=shape_rules.same_as_input, checks=True,
    samples=lambda rng, dtype: [[draw(rng, (4, 3), dtype), *(np.array(b, np.int32) for b in ([1, 0], [3, 2], [1, 1])),
                                 draw(rng, (2, 2), dtype)]])
def tensor_strided_slice_update(input, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                shrink_axis_mask):
    """A copy of `input` whose part ``[begin:end:strides]`` is `value`."""
    bounds = [np.shape(one) for one in (begin, end, strides)]
    if len(bounds[0]) != 1 or len(set(bounds)) != 1:
        raise invalid(f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {brackets(bounds[0])}, "
                      f"{brackets(bounds[1])}, and {brackets(bounds[2])} instead.")
    new = np.array(input)
    index = numpy_index([begin, end, strides], {
        "begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask, "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask})
    part = np.shape(new[index])
    if 0 in part:           # nothing is replaced, whatever the value
        return new
    if part != np.shape(value):
        raise UnimplementedError(None, None, f"sliced l-value shape {brackets(part)} does not match r-value "
                                             f"shape {brackets(np.shape(value))}. Automatic broadcasting not yet implemented.")
    new[index] = value
    return new
