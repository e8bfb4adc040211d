"""Values made of several tensors: ``IndexedSlices`` (sparse gradients), ``SparseTensor``, ``SparseTensorValue``."""
from __future__ import annotations

import collections
from typing import Any

from jitgraph.graph import dtypes, shapes
from jitgraph.graph.constant_value import constant_value_as_shape
from jitgraph.graph.convert import convert_to_tensor, register_tensor_conversion_function
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.stack import session_for
from jitgraph.graph.tensor import Tensor, TensorLike

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class IndexedSlices(TensorLike):
    """Some rows of a tensor: ``dense[indices[i]]`` is ``values[i]``, duplicates add up, all other rows are zero.

    `values` has shape [n, ...], `indices` [n]; `dense_shape` (a 1-D integer tensor) may be None.  Gradients of
    ``tf.gather`` are of this kind, so that an optimizer touches only the rows that were read.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows, a Tensor of shape [n, ...]."""
        return self._values

    @property
    def indices(self) -> Any:
        """Which rows, a 1-D integer Tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the dense tensor as a 1-D Tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the dense tensor, as far as it is known."""
        if self._dense_shape is None:
            return shapes.unknown_shape()
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> shapes.TensorShape:
        """The static shape of the dense tensor."""
        return self.shape

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Any:
        """The operation that gives the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._values.graph

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    def consumers(self) -> list:
        """The operations that take the values or the indices."""
        return list(dict.fromkeys([*self._values.consumers(), *self._indices.consumers()]))


def _indexed_slices_to_tensor(value: IndexedSlices, dtype: DType | None = None, name: str | None = None,
                              as_ref: bool = False) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                         f"{value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: "
                         f"{value}. Give tf.IndexedSlices its dense_shape.")
    rows = convert_to_tensor(value.dense_shape)[0]
    return lookup("UnsortedSegmentSum").builder(value.values, value.indices, rows, name=name)


register_tensor_conversion_function(IndexedSlices, _indexed_slices_to_tensor)


class CompositeTensor(TensorLike):
    """The base of other tensors that are made of several: ``structures`` opens them, runs fetch and feed them by their parts."""

    def _parts(self) -> list:
        """The tensors, or composite tensors, that it is made of."""
        raise NotImplementedError

    def _with_parts(self, parts: list) -> Any:
        """One like this, made of others."""
        raise NotImplementedError

    def _shapes_of_parts(self, shape: Any) -> list:
        """The shapes, innermost parts first, that the tensors of one like this have if it has `shape`; None for an unknown one."""
        raise NotImplementedError

    def _value(self, parts: list) -> Any:
        """What a run gives for it, from what it gives for the parts."""
        raise NotImplementedError

    def _values_of_parts(self, value: Any) -> list:
        """What is fed to each part for a value that is fed to it."""
        raise NotImplementedError


class SparseTensor(TensorLike):
    """A tensor given by its nonzero elements.

    `indices` is int64 [n, rank], `values` [n] of any dtype, `dense_shape` int64 [rank].  Most sparse ops expect the
    indices in row-major order (``tf.sparse_reorder``).  Raises ValueError if the shapes do not fit together.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = convert_to_tensor(indices, dtypes.int64, "indices")
            values = convert_to_tensor(values, name="values", as_ref=True)
            dense_shape = convert_to_tensor(dense_shape, dtypes.int64, "dense_shape")
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        indices_shape = indices.shape.with_rank(2)
        shape_shape = dense_shape.shape.with_rank(1)
        indices_shape[0].merge_with(values.shape.with_rank(1)[0])
        indices_shape[1].merge_with(shape_shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor from a SparseTensorValue (or itself).  Raises TypeError for anything else."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return SparseTensor(*_parts_of(sparse_tensor_value))

    @property
    def indices(self) -> Tensor:
        """int64 Tensor [n, rank]: where the elements are."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """Tensor [n]: the elements."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """int64 Tensor [rank]: the shape of the dense tensor."""
        return self._dense_shape

    @property
    def shape(self) -> shapes.TensorShape:
        """The static shape of the dense tensor, as far as it is known."""
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> shapes.TensorShape:
        """The static shape of the dense tensor."""
        return self.shape

    @property
    def op(self) -> Any:
        """The operation that gives the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def graph(self) -> Any:
        return self._indices.graph

    def eval(self, feed_dict: Any = None, session: Any = None) -> SparseTensorValue:
        """The value in `session` or the default session."""
        session = session_for(self.graph, session, "eval", "tensor")
        indices, values, dense_shape = session.run([self.indices, self.values, self.dense_shape], feed_dict)
        return SparseTensorValue(indices, values, dense_shape)

    def consumers(self) -> list:
        """The operations that take one of the three tensors."""
        return list(dict.fromkeys([*self._values.consumers(), *self._indices.consumers(),
                                   *self._dense_shape.consumers()]))

    def __mul__(self, dense: Any) -> SparseTensor:
        """The elements times those of a dense tensor that broadcasts to this one."""
        return cwise("SparseDenseCwiseMul", self, dense, "mul")

    def __truediv__(self, dense: Any) -> SparseTensor:
        """The elements over those of a dense tensor that broadcasts to this one."""
        return cwise("SparseDenseCwiseDiv", self, dense, "truediv")

    __array_priority__ = 100

    def __str__(self) -> str:
        return (f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})")

    __repr__ = __str__


def _parts_of(value: Any) -> tuple:
    return value.indices, value.values, value.dense_shape


def cwise(kind: str, sp_x: SparseTensor, y: Any, name: str) -> SparseTensor:
    """An operator between a sparse tensor and a dense one that broadcasts to it."""
    parts = _parts_of(sp_x)
    with name_scope(None, name, [*parts, y]) as scope:
        y = convert_to_tensor(y, sp_x.dtype.base_dtype, name="y")
        return SparseTensor(sp_x.indices, lookup(kind).builder(*parts, y, name=scope), sp_x.dense_shape)


def is_sparse(value: Any) -> bool:
    """Whether `value` is a SparseTensor or a SparseTensorValue."""
    return isinstance(value, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """SparseTensors as they are (SparseTensorValues made into them), anything else as a Tensor.

    Raises RuntimeError if a SparseTensor has another dtype than `dtype`.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if wanted is not None and not wanted.is_compatible_with(value.dtype):
            raise RuntimeError(f"Sparse dtype: requested = {wanted.name}, actual = {value.dtype.name}")
        return value
    return convert_to_tensor(value, wanted, name)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: DType | None = None, name: str | None = None) -> Any:
    """IndexedSlices and SparseTensors as they are, anything else as a Tensor; None stays None."""
    if value is None:
        return None
    if isinstance(value, (IndexedSlices, SparseTensor)):
        if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                             f"{value.dtype.name}: {str(value)!r}")
        return value
    return convert_to_tensor(value, None if dtype is None else as_dtype(dtype), name)


def convert_n_to_tensor_or_indexed_slices(values: Any, dtype: DType | None = None, name: str | None = None) -> list:
    """Each of `values` as by ``convert_to_tensor_or_indexed_slices``."""
    return [convert_to_tensor_or_indexed_slices(v, dtype, None if name is None else f"{name}_{i}")
            for i, v in enumerate(values)]
