"""Rows replaced in a copy, uninitialised tensors, orders of dimensions, comparisons packed into bits, the time of day."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import FLOATS, INDEX, INDICES, SIGNED_INTS
from jitgraph.op import NOT_DIFFERENTIABLE, op
from jitgraph.ops.invalid import invalid
from jitgraph.ops.shape import stated_sizes


def _changed_rows(name: str, doc: str, combine: Any) -> Any:
    def value(x, i, v):
        if x.ndim != v.ndim or i.ndim != 1 or v.shape != (len(i), *x.shape[1:]):
            raise invalid(f"i must be a vector with one row of v for each element; x: {list(x.shape)}, i: {list(i.shape)}, v: "
                          f"{list(v.shape)}")
        result = np.array(x)
        combine(result, np.mod(i, len(x)) if len(x) else i, v)
        return result

    value.__doc__, value.__name__ = doc, name
    return op(f"Inplace{name}(x: T, i: int32, v: T) -> y: T", shape=shape_rules.same_as_input, checks=True)(value)


def _set(result: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    result[rows] = values


inplace_update = _changed_rows("Update", "`x` with the rows `i` replaced by those of `v`.", _set)
inplace_add = _changed_rows("Add", "`x` with the rows of `v` added to the rows `i`.", np.add.at)
inplace_sub = _changed_rows("Sub", "`x` with the rows of `v` subtracted from the rows `i`.", np.subtract.at)


@op("Empty(shape: int32; dtype: type, init: bool = false) -> output: dtype", shape=shape_rules.from_value(0), stateful=True)
def empty(shape, dtype):
    """A tensor of any values (zeros, here) with the sizes `shape`."""
    return np.full(stated_sizes(shape), b"" if dtype is dtypes.string else 0, dtype.as_numpy_dtype)


@op("TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T; begin_mask: int = 0, end_mask: int = "
    "0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> output: T", Index=INDICES,
    shape=shape_rules.same_as_input, checks=True)
def tensor_strided_slice_update(input, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                shrink_axis_mask):
    """A copy of `input` whose part ``[begin:end:strides]`` is `value`."""
    from jitgraph.ops.state import strided_slice_assign

    return strided_slice_assign.opdef.value(input, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                            shrink_axis_mask)


_FORMATS = 'src_format: string = "NHWC", dst_format: string = "NCHW"'


def _places(src_format: str, dst_format: str) -> tuple[np.ndarray, np.ndarray]:
    """Where each dimension of the source stands in the destination, and the other way round."""
    if sorted(src_format) != sorted(dst_format):
        raise invalid(f"Destination format {dst_format} is not a permutation of the source format {src_format}")
    return (np.array([dst_format.index(letter) for letter in src_format]),
            np.array([src_format.index(letter) for letter in dst_format]))


@op(f"DataFormatDimMap(x: T; {_FORMATS}) -> y: T", T=INDEX, shape=shape_rules.same_as_input, checks=True)
def data_format_dim_map(x, src_format, dst_format):
    """For each number of a dimension in `src_format` its number in `dst_format`."""
    there, _ = _places(src_format, dst_format)
    if ((x < -len(there)) | (x >= len(there))).any():
        raise invalid(f"the dimensions must be in [{-len(there)}, {len(there)})")
    return there[x].astype(x.dtype)


@op(f"DataFormatVecPermute(x: T; {_FORMATS}) -> y: T", T=INDEX, shape=shape_rules.same_as_input, checks=True,
    samples=lambda rng, dtype: [[np.arange(size, dtype=dtype).reshape(shape)] for size, shape in (
        (4, (4,)), (8, (4, 2)), (2, (2,)), (4, (2, 2)))])
def data_format_vec_permute(x, src_format, dst_format):
    """The sizes (or pairs) in `x`, given in the order of `src_format`, in that of `dst_format`; of 2, those of H and W."""
    if x.ndim not in (1, 2) or x.shape[0] not in (2, 4) or x.ndim == 2 and x.shape[1] != 2:
        raise invalid(f"x must have shape [4], [4, 2], [2] or [2, 2], got {list(x.shape)}")
    if x.shape[0] == 2:
        src_format, dst_format = ("".join(letter for letter in text if letter in "HW") for text in (src_format, dst_format))
    return x[_places(src_format, dst_format)[1]]


def _packed_shape(c: Any) -> Any:
    value = shape_rules.with_rank_at_least(c.shapes[0], 1, "input")
    if value is None:
        return None
    if value[-1] is not None and value[-1] % 8:
        raise ValueError(f"the last dimension must be a multiple of 8, got {value[-1]}")
    return (*value[:-1], None if value[-1] is None else value[-1] // 8)


@op("CompareAndBitpack(input: T, threshold: T) -> output: uint8", T=FLOATS - dtypes.bfloat16 + SIGNED_INTS + dtypes.bool_,
    shape=_packed_shape, checks=True)
def compare_and_bitpack(input, threshold):
    """Whether each element exceeds `threshold`, eight to a byte, the first in the highest bit."""
    if threshold.ndim or not input.ndim or input.shape[-1] % 8:
        raise invalid(f"expected a last dimension that is a multiple of 8, got {list(input.shape)}")
    return np.packbits(input > threshold, axis=-1)


# `stateful`: another value at each run
@op("Timestamp() -> ts: float64", shape=shape_rules.scalar, stateful=True, host=True, grad=NOT_DIFFERENTIABLE)
def timestamp():
    """The time in seconds since 1970."""
    return np.array(time.time())
