"""``tf.TensorArraySpec``: what tensor arrays are like."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.type_specs import TypeSpec
from jitgraph.tensor_arrays.tensor_array import TensorArray


class TensorArraySpec(TypeSpec):
    """The shape and dtype of the elements, whether the array grows, and whether elements must be of one shape."""

    _FIELDS = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")
    value_type = property(lambda self: TensorArray)

    def __init__(self, element_shape: Any = None, dtype: Any = dtypes.float32, dynamic_size: bool = False,
                 infer_shape: bool = True):
        self._element_shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """What a tensor array is like.  Raises TypeError for anything else."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether an array, or those of another spec, are of this; whether shapes are inferred does not matter."""
        other = other if isinstance(other, TypeSpec) else TensorArraySpec.from_value(other)
        return (isinstance(other, TensorArraySpec) and self._dtype.is_compatible_with(other._dtype)
                and self._element_shape.is_compatible_with(other._element_shape) and self._dynamic_size == other._dynamic_size)

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The spec that has what both have in common.  Raises ValueError if there is none."""
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        return TensorArraySpec(self._element_shape.most_specific_compatible_shape(other._element_shape), self._dtype,
                               self._dynamic_size, self._infer_shape and other._infer_shape)


def tensor_array_structure(dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool) -> TensorArraySpec:
    """``tf.data.experimental.TensorArrayStructure``, an older name of TensorArraySpec."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
