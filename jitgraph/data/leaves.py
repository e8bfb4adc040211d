"""What a dataset makes of the parts of its elements: one form for each class of specs (``tf.TensorSpec`` and its kin).

A form is a set of functions of a spec: which tensor stands for a value in a dataset, and what batches are of.
"""
from __future__ import annotations

import importlib
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType
from jitgraph.graph.shapes import TensorShape, raw_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import SparseTensorSpec, TensorSpec, TypeSpec


class TensorForm:
    """Of tensors."""

    @staticmethod
    def flat(spec: Any) -> tuple[DType, Any]:
        """Dtype and shape of the tensor that stands for a value in a dataset."""
        return spec.dtype, raw_shape(spec.shape)

    @staticmethod
    def to_tensor(spec: Any, value: Any) -> Tensor:
        """The tensor that stands for a value."""
        return convert_to_tensor(value, spec.dtype)

    @classmethod
    def to_rows(cls, spec: Any, value: Any) -> Tensor:
        """The tensor whose slices along the first dimension stand for the rows of a value."""
        return cls.to_tensor(spec, value)

    @staticmethod
    def from_tensor(spec: Any, tensor: Tensor) -> Any:
        """The value that a tensor stands for."""
        tensor.set_shape(spec.shape)
        return tensor

    @staticmethod
    def of_shape(spec: Any, shape: Any) -> Any:
        """The same with another shape."""
        return type(spec)(shape, spec.dtype)

    @classmethod
    def batched(cls, spec: Any, size: int | None) -> Any:
        """With one more dimension in front."""
        return cls.of_shape(spec, TensorShape([size]).concatenate(spec.shape))

    @classmethod
    def unbatched(cls, spec: Any) -> Any:
        """Without its first dimension.  Raises ValueError for a scalar."""
        if spec.shape.ndims == 0:
            raise ValueError("Slicing into scalars is not supported.")
        return cls.of_shape(spec, spec.shape[1:] if spec.shape.ndims is not None else None)

    @staticmethod
    def common(spec: Any, other: Any) -> Any:
        """What covers this and `other`, which is of the same dtype."""
        return spec.most_specific_compatible_type(other)

    @staticmethod
    def output_type(spec: Any) -> Any:
        """What `output_types` shows."""
        return spec.dtype

    @staticmethod
    def output_shape(spec: Any) -> Any:
        """What `output_shapes` shows."""
        return spec.shape

    @staticmethod
    def output_class(spec: Any) -> Any:
        """What `output_classes` shows."""
        return spec.value_type


class SparseForm(TensorForm):
    """Of sparse tensors; in a dataset three parts stand for one."""

    @staticmethod
    def flat(spec: Any) -> tuple[DType, Any]:
        return dtypes.variant, None

    @staticmethod
    def to_tensor(spec: Any, value: Any) -> Tensor:
        value = SparseTensor.from_value(value)
        return raw.SerializeSparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)

    @classmethod
    def to_rows(cls, spec: Any, value: Any) -> Tensor:
        value = SparseTensor.from_value(value)
        return raw.SerializeManySparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)

    @staticmethod
    def from_tensor(spec: Any, tensor: Tensor) -> Any:
        indices, values, shape = raw.DeserializeSparse(tensor, dtype=spec.dtype)
        rank = spec.shape.ndims
        indices.set_shape([None, rank])
        shape.set_shape([rank])
        return SparseTensor(indices, values, shape)


class VariantForm(TensorForm):
    """Of what one variant holds: datasets, optionals; their specs stand for themselves."""

    @staticmethod
    def to_tensor(spec: Any, value: Any) -> Tensor:
        return value._variant_tensor

    @staticmethod
    def from_tensor(spec: Any, tensor: Tensor) -> Any:
        return spec.value_class(tensor, spec.element_spec) if spec.shape.ndims == 0 else NestedVariant(tensor, spec)

    @staticmethod
    def of_shape(spec: Any, shape: Any) -> Any:
        return type(spec)(spec.element_spec, shape)

    @classmethod
    def unbatched(cls, spec: Any) -> Any:
        if spec.shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return cls.of_shape(spec, spec.shape[1:])

    @staticmethod
    def common(spec: Any, other: Any) -> Any:
        return spec

    @staticmethod
    def output_type(spec: Any) -> Any:
        return spec

    output_shape = output_class = output_type


class VariantSpec(TypeSpec):
    """What a value is like that one variant holds: an object of the class `value_class`, of the structure `element_spec`."""

    value_class: Any = None
    is_dataset = False
    dtype = dtypes.variant

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    value_type = property(lambda self: self.value_class)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or those of another spec, may be one of this."""
        from jitgraph.data.structure import are_compatible

        other = getattr(spec_or_value, "_variant_spec", spec_or_value)
        return type(self) is type(other) and are_compatible(self.element_spec, other.element_spec)


class NestedVariant:
    """Many datasets, or optionals, of one structure, as a component of an element: what lists and batches of them are."""

    def __init__(self, variant_tensor: Tensor, spec: VariantSpec):
        self._variant_tensor, self._variant_spec = variant_tensor, spec


def nested_variant(values: list) -> NestedVariant | None:
    """A list of datasets, or of such lists, as one component; None for a list of anything else, or of other structures."""
    parts = [nested_variant(value) if isinstance(value, list) else value for value in values]
    specs = [getattr(part, "_variant_spec", None) for part in parts]
    first = specs[0] if specs else None
    if first is None or not first.is_dataset or any(spec is None or not first.is_compatible_with(spec) or spec.shape != first.shape
                                                    for spec in specs):
        return None
    batch = raw.Pack([part._variant_tensor for part in parts if part is not None])
    return NestedVariant(batch, VariantForm.batched(first, len(parts)))


_FORMS: dict[type, Any] = {TensorSpec: TensorForm, SparseTensorSpec: SparseForm, VariantSpec: VariantForm}


def form(spec: Any) -> Any:
    """The form of the class of a spec.  Raises TypeError for what is no spec."""
    found = next((_FORMS[cls] for cls in type(spec).__mro__ if cls in _FORMS), None)
    if found is None and isinstance(spec, TypeSpec):
        _FORMS.update(importlib.import_module("jitgraph.data.composite_leaves").FORMS)
        found = next((_FORMS[cls] for cls in type(spec).__mro__ if cls in _FORMS), None)
    if found is None:
        raise TypeError(f"{spec!r} does not say what a part of an element is like")
    return found
