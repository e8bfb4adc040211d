"""What a value is like, before there is one: ``tf.TensorSpec`` and its kin."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.composite import IndexedSlices, SparseTensor
from jitgraph.graph.shape_rules import broadcast_shapes
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor


class TypeSpec:
    """What values of a type have in common: dtypes, shapes."""

    _FIELDS: tuple[str, ...] = ()
    value_type: Any = property(lambda self: None)

    def _values(self) -> tuple:
        return tuple(map(_comparable, self._serialize()))

    def _serialize(self) -> tuple:
        return tuple(getattr(self, field) for field in self._FIELDS)

    def _from_parts(self, parts: Iterator[Tensor]) -> Any:
        """A value of this spec, made of the next tensors.  Raises NotImplementedError if it is not made of tensors."""
        raise NotImplementedError(f"{self} is not the spec of something that is made of tensors")

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or all values of another spec, are of this spec."""
        spec = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(spec) and all(
            mine.is_compatible_with(its) if hasattr(mine, "is_compatible_with") else mine == its
            for mine, its in zip(self._serialize(), spec._serialize()))

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec that has what both have in common.  Raises ValueError if there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        merged = []
        for mine, its in zip(self._serialize(), other._serialize()):
            if isinstance(mine, TensorShape):
                merged.append(mine.most_specific_compatible_shape(its))
            elif mine == its:
                merged.append(mine)
            else:
                raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(*merged)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()       # type: ignore[attr-defined]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _comparable(value: Any) -> Any:
    if isinstance(value, TensorShape):
        return None if value.ndims is None else tuple(value.as_list())
    if isinstance(value, (list, tuple)):
        return (type(value), *map(_comparable, value))
    if isinstance(value, dict):
        return (dict, *sorted((key, _comparable(its)) for key, its in value.items()))
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, _comparable(value.tolist())
    return value


class TensorSpec(TypeSpec):
    """The shape, dtype and name of a tensor."""

    _FIELDS: tuple[str, ...] = ("shape", "dtype", "name")
    value_type = property(lambda self: Tensor)

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None):
        self._shape, self._dtype, self._name = TensorShape(shape), dtypes.as_dtype(dtype), name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """What a tensor is like.  Raises ValueError for others."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The DType."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, None if there is none."""
        return self._name

    def _from_parts(self, parts: Iterator[Tensor]) -> Tensor:
        return next(parts)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtype and shape of a tensor, or of another spec, fit."""
        return (isinstance(spec_or_tensor, (TensorSpec, Tensor)) and self._dtype.is_compatible_with(spec_or_tensor.dtype)
                and self._shape.is_compatible_with(spec_or_tensor.shape))

    def most_specific_compatible_type(self, other: Any) -> TensorSpec:
        """The spec that has what both have in common.  Raises ValueError for another dtype."""
        if type(self) is not type(other) or self._dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        return TensorSpec(self._shape.most_specific_compatible_shape(other.shape), self._dtype,
                          self._name if self._name == other.name else None)

    def __hash__(self) -> int:
        return hash(self._values()[:2])

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with bounds of the values."""

    _FIELDS = ("shape", "dtype", "minimum", "maximum", "name")

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        """Raises ValueError if a bound is None or has another shape."""
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self._minimum, self._maximum = self._bound("minimum", minimum), self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        try:
            broadcast_shapes(np.shape(value), _comparable(self.shape))
        except ValueError as error:
            raise ValueError(f"{which} is not compatible with shape. Message: {error!r}.") from None
        bound = np.array(value, self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any) -> BoundedTensorSpec:         # type: ignore[override]
        """The spec with the bounds of another, or those of its dtype."""
        dtype = dtypes.as_dtype(spec.dtype)
        return cls(spec.shape, dtype, getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max), spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The least values."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest values."""
        return self._maximum

    def __eq__(self, other: object) -> bool:
        """Whether shape, dtype and name are the same, and the bounds to 8 digits."""
        return (super().__eq__(other) and np.allclose(self.minimum, other.minimum)          # type: ignore[attr-defined]
                and np.allclose(self.maximum, other.maximum))                               # type: ignore[attr-defined]

    def _values(self) -> tuple:
        return (*super()._values()[:2], self.name)

    __hash__ = TensorSpec.__hash__

    def __repr__(self) -> str:
        return (f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self.minimum!r}, "
                f"maximum={self.maximum!r})")


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a SparseTensor."""

    _FIELDS = ("_shape", "_dtype")
    value_type = property(lambda self: SparseTensor)

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32):
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """What a SparseTensor is like."""
        return cls(value.shape, value.dtype)

    def _from_parts(self, parts: Iterator[Tensor]) -> SparseTensor:
        return SparseTensor(next(parts), next(parts), next(parts))

    @property
    def dtype(self) -> Any:
        """The DType of the values."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return self._shape


class IndexedSlicesSpec(TypeSpec):
    """The shapes and dtypes of IndexedSlices."""

    _FIELDS = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")
    value_type = property(lambda self: IndexedSlices)

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None):
        self._shape, self._values_dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    def _from_parts(self, parts: Iterator[Tensor]) -> IndexedSlices:
        return IndexedSlices(next(parts), next(parts), None if self._dense_shape_dtype is None else next(parts))


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value.  Raises TypeError if there is none for its class."""
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, IndexedSlices):
        return IndexedSlicesSpec(value.shape, value.dtype, value.indices.dtype,
                                 None if value.dense_shape is None else value.dense_shape.dtype, value.indices.shape)
    if isinstance(value, (Tensor, np.ndarray)):
        return TensorSpec(value.shape, value.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
