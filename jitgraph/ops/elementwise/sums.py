"""Sums of lists of tensors: add_n, accumulate_n."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NUMBERS, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules, shapes
from jitgraph.graph.composite import IndexedSlices, convert_n_to_tensor_or_indexed_slices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor


def _sum_of(inputs):
    total = inputs[0]
    for one in inputs[1:]:
        total = total + one
    return total


def _list_samples(rng, dtype):
    """Lists of one and of several tensors."""
    return [[[draw(rng, shape, dtype) for _ in range(count)]] for shape, count in (((2, 3), 3), ((), 1), ((0, 2), 2))]


@op("AddN(inputs: N*T) -> sum: T", T=NUMBERS + dtypes.variant, samples=_list_samples, shape=shape_rules.merged_inputs,
    lower=lambda b, inputs: b.total(inputs), grad=lambda op, grad: [grad] * len(op.inputs), adds=True,
    reference=lambda inputs: np.sum(np.stack(inputs), 0), symbolic=True)
def _add_n(inputs):
    """The sum of tensors of one shape and dtype."""
    return np.array(_sum_of(inputs))


@op("AccumulateNV2(inputs: N*T; shape: shape) -> sum: T", T=NUMBERS, lower=lambda b, inputs: b.total(inputs),
    shape=lambda c: shape_rules.merge(shape_rules.merged_inputs(c), c.attrs["shape"]),
    samples=lambda rng, dtype: [(inputs, {"shape": inputs[0][0].shape}) for inputs in _list_samples(rng, dtype)],
    grad=lambda op, grad: [grad] * len(op.inputs), reference=lambda inputs: np.sum(np.stack(inputs), 0))
def _accumulate_n(inputs):
    """The sum of tensors of shape `shape`."""
    return np.array(_sum_of(inputs))


def _tensors_to_sum(inputs: Any, function: str) -> list:
    if not isinstance(inputs, (list, tuple)):
        inputs = [*inputs]
    if not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    tensors = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, (Tensor, IndexedSlices)) for x in tensors):
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    return tensors


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of a list of tensors (or IndexedSlices) of one shape and dtype.

    A list of one tensor gives that tensor itself, unless `name` is given.  Raises ValueError for an empty list.
    """
    tensors = _tensors_to_sum(inputs, "add_n")
    if len(tensors) == 1:
        value = convert_to_tensor(tensors[0])
        return raw.Identity(value, name=name) if name else value
    return _add_n(tensors, name=name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape (`shape`, if it is not known from them) and dtype.

    Raises ValueError for an empty list or shapes that differ, TypeError if `tensor_dtype` is not their dtype.
    """
    tensors = _tensors_to_sum(inputs, "accumulate_n")
    tensors = [convert_to_tensor(x) for x in tensors]
    dtype = tensors[0].dtype.base_dtype
    if any(x.dtype.base_dtype is not dtype for x in tensors):
        raise ValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not dtype:
        raise TypeError(f"tensor_dtype is {dtypes.as_dtype(tensor_dtype).name}, but input is of type {dtype.name}")
    merged = shapes.raw_shape(shape)
    for x in tensors:
        merged = shapes.merge(merged, x._shape)
    if len(tensors) == 1 and name is None:
        return tensors[0]
    if len(tensors) == 1:
        return raw.Identity(tensors[0], name=name)
    return _accumulate_n(tensors, shape=merged, name=name)
