"""The TensorArrays of functions of datasets: lists of tensors, of which every version stays as it is."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shapes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.tensor_arrays.tensor_array import TensorArray


class ListArray(TensorArray):
    """A TensorArray whose elements may be read and written any number of times; its flow is a list of tensors.

    The arguments are those of ``TensorArray``; `flow` without a handle makes an array of an existing list.
    Runs raise InvalidArgumentError for indices out of range.
    """

    def __init__(self, dtype: Any, size: Any = None, dynamic_size: bool | None = None, clear_after_read: bool | None = None,
                 tensor_array_name: str | None = None, handle: None = None, flow: Tensor | None = None, infer_shape: bool = True,
                 element_shape: Any = None, colocate_with_first_write_call: bool = True, name: str | None = None):
        if flow is None and size is None:
            raise ValueError("Size must be provided if flow is not provided")
        if flow is not None and size is not None:
            raise ValueError("Cannot provide both a flow and size at the same time")
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size, self._infer_shape = bool(dynamic_size), infer_shape
        self._shape: list[Any] = [shapes.raw_shape(element_shape)]
        self._fixed = True
        self._handle = None         # type: ignore[assignment]
        if flow is not None:
            self._flow = flow
            return
        with name_scope(name, "TensorArrayV2", [size]) as scope:
            self._flow = raw.TensorListReserve(self._sizes(), convert_to_tensor(size, dtypes.int32, "size"),
                                               element_dtype=self._dtype, name=scope)

    def _sizes(self) -> Any:
        """What is known of the shape of the elements, as nodes are given it: -1 for what is not."""
        known = self._shape[0]
        return np.array(-1 if known is None else [-1 if d is None else d for d in known], np.int32)

    def _learn(self, shape: Any) -> None:
        known = self._shape[0]
        if not shapes.compatible(known, shape):
            raise ValueError(f"Inconsistent shapes: saw {shapes.display(shape)} but expected {shapes.display(known)} ")
        if self._infer_shape:
            self._shape[0] = shapes.merge(known, shape)

    def _rows(self, value: Any) -> Tensor:
        """A tensor whose rows become elements, of whose shape note is taken."""
        value = self._value(value)
        if value._shape is not None:
            self._learn(value._shape[1:])
        return value

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """Not there: gradients of lists are lists.  Raises NotImplementedError."""
        raise NotImplementedError("TensorArrays of functions have no TensorArrays of gradients: call tf.gradients, which goes "
                                  "through their methods.")

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`; zeros where none was written, if their shape is known."""
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            value = raw.TensorListGetItem(self._flow, index, self._sizes(), element_dtype=self._dtype, name=name)
            value._shape = shapes.merge(value._shape, self._shape[0])
            return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray with `value` at `index`, whatever stood there."""
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._value(value)
            self._learn(value._shape)
            index, held = convert_to_tensor(index, dtypes.int32), self._flow
            if self._dynamic_size:
                held = raw.TensorListResize(held, raw.Maximum(raw.TensorListLength(held), index + 1))
            return self._with(raw.TensorListSetItem(held, index, value, name=name))

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first axis."""
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            return raw.TensorListStack(self._flow, self._sizes(), element_dtype=self._dtype)

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices` (int32 [n]), one behind the other along a new first axis."""
        return raw.TensorListGather(self._flow, indices, self._sizes(), element_dtype=self._dtype, name=name)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements one behind the other along their first axis."""
        sizes = self._sizes()
        sizes = np.array([-1, *sizes[1:]], np.int32) if sizes.ndim and len(sizes) else np.array(-1, np.int32)
        value, _ = raw.TensorListConcatV2(self._flow, sizes, np.array([], np.int64), element_dtype=self._dtype, name=name)
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray whose elements are the rows of `value`, and no others."""
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._rows(value)
            return self._with(list_of_rows(value))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """A TensorArray with the rows of `value` at `indices` (int32 [n])."""
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            return self._with(raw.TensorListScatterIntoExistingList(self._flow, self._rows(value), indices))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """A TensorArray whose elements are consecutive pieces of `value`, of these `lengths` (int [n]), and no others."""
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value, lengths = self._value(value), raw.Cast(convert_to_tensor(lengths), DstT=dtypes.int64)
            self._learn_pieces(value, lengths)
            return self._with(raw.TensorListSplit(value, self._sizes(), lengths, name=name))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar."""
        return raw.TensorListLength(self._flow, name=name)

    def close(self, name: str | None = None) -> Any:
        """An operation that does nothing."""
        return raw.NoOp(name=name)


def list_of_rows(tensor: Tensor) -> Tensor:
    """The list whose elements are the rows of a tensor."""
    known = None if tensor._shape is None else tensor._shape[1:]
    sizes = np.array(-1 if known is None else [-1 if d is None else d for d in known], np.int32)
    return raw.TensorListFromTensor(tensor, sizes)
