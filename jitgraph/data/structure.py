"""What elements are made of: nested structures of tuples and dicts, whose leaves are tensors, sparse tensors or datasets.

Unlike ``tf.nest``, a list is a leaf: it becomes a tensor.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, SparseTensorValue
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, raw_shape
from jitgraph.graph.tensor import Tensor

# -- nested structures -------------------------------------------------------------------------------------------------

def is_nested(value: Any) -> bool:
    """Whether a value has parts."""
    return isinstance(value, (tuple, Mapping)) and not isinstance(value, SparseTensorValue)


def _parts(structure: Any) -> list:
    return [structure[key] for key in sorted(structure)] if isinstance(structure, Mapping) else list(structure)


def flatten(structure: Any) -> list:
    """The leaves, depth first; dicts in the order of their sorted keys."""
    if not is_nested(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part)]


def pack(structure: Any, leaves: Any) -> Any:
    """A structure like `structure` with other leaves, taken from an iterator or list."""
    rest = iter(leaves)

    def packed(part: Any) -> Any:
        if not is_nested(part):
            return next(rest)
        inner = [packed(one) for one in _parts(part)]
        if isinstance(part, Mapping):
            by_key = dict(zip(sorted(part), inner))
            return type(part)((key, by_key[key]) for key in part)       # type: ignore[call-arg]
        return type(part)(*inner) if hasattr(part, "_fields") else tuple(inner)

    return packed(structure)


def map_structure(function: Callable, *structures: Any) -> Any:
    """`function` of the corresponding leaves, in the structure of the first.  Raises as ``assert_same`` does."""
    for other in structures[1:]:
        assert_same(structures[0], other)
    return pack(structures[0], [function(*leaves) for leaves in zip(*map(flatten, structures))])


def assert_same(one: Any, other: Any) -> None:
    """Raises ValueError if two structures have other parts, TypeError if their parts are of other kinds."""
    if is_nested(one) != is_nested(other):
        raise ValueError(f"The two structures don't have the same nested structure. First structure: {one}. Second structure: "
                         f"{other}.")
    if not is_nested(one):
        return
    if isinstance(one, Mapping) != isinstance(other, Mapping) or not isinstance(one, Mapping) and type(one) is not type(other):
        raise TypeError(f"The two structures don't have the same sequence type. First structure has type {type(one)}, while "
                        f"second structure has type {type(other)}.")
    if isinstance(one, Mapping) and set(one) != set(other):
        raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys "
                         f"{sorted(one)}, while second structure has keys {sorted(other)}")
    if len(one) != len(other):
        raise ValueError(f"The two structures don't have the same number of elements. First structure: {one}. Second "
                         f"structure: {other}.")
    for first, second in zip(_parts(one), _parts(other)):
        assert_same(first, second)


def flatten_up_to(shallow: Any, deep: Any) -> list:
    """The parts of `deep` where `shallow` has leaves."""
    if not is_nested(shallow):
        return [deep]
    if not is_nested(deep) or len(deep) != len(shallow):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence of {len(shallow)} parts. Input: {deep}")
    found: list = []
    for part, inner in zip(_parts(shallow), _parts(deep)):
        found.extend(flatten_up_to(part, inner))
    return found


# -- leaves ------------------------------------------------------------------------------------------------------------

class TensorStructure:
    """A component that is a tensor of `dtype`, with a static `shape`."""

    output_class: Any = Tensor

    def __init__(self, dtype: Any, shape: Any):
        self.dtype: DType = as_dtype(dtype)
        self.shape = TensorShape(shape)

    @property
    def output_type(self) -> Any:
        """What `output_types` shows."""
        return self.dtype

    @property
    def output_shape(self) -> Any:
        """What `output_shapes` shows."""
        return self.shape

    @property
    def flat(self) -> tuple[DType, Any]:
        """Dtype and shape of the tensor that stands for the component in a dataset."""
        return self.dtype, raw_shape(self.shape)

    def to_tensor(self, value: Any) -> Tensor:
        """The tensor that stands for a value."""
        return convert_to_tensor(value, self.dtype)

    def to_rows(self, value: Any) -> Tensor:
        """The tensor whose slices along the first dimension stand for the rows of a value."""
        return self.to_tensor(value)

    def from_tensor(self, tensor: Tensor) -> Any:
        """The value that a tensor stands for."""
        tensor.set_shape(self.shape)
        return tensor

    def of_shape(self, shape: Any) -> TensorStructure:
        """The same with another shape."""
        return type(self)(self.dtype, shape)

    def batched(self, size: int | None) -> TensorStructure:
        """With one more dimension in front."""
        return self.of_shape(TensorShape([size]).concatenate(self.shape))

    def unbatched(self) -> TensorStructure:
        """Without its first dimension.  Raises ValueError for a scalar."""
        if self.shape.ndims == 0:
            raise ValueError("Slicing into scalars is not supported.")
        return self.of_shape(self.shape[1:] if self.shape.ndims is not None else None)

    def common(self, other: Any) -> TensorStructure:
        """What covers this and `other`, which is of the same dtype."""
        return self.of_shape(self.shape.most_specific_compatible_shape(other.shape))

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self.dtype is other.dtype and raw_shape(self.shape) == raw_shape(other.shape)

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value of `other` may be one of this."""
        return type(self) is type(other) and self.dtype is other.dtype and self.shape.is_compatible_with(other.shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype!r}, {self.shape})"


class SparseTensorStructure(TensorStructure):
    """A component that is a sparse tensor; `shape` is that of the dense one.  In a dataset three parts stand for it."""

    output_class = SparseTensor

    @property
    def flat(self) -> tuple[DType, Any]:
        return dtypes.variant, None

    def to_tensor(self, value: Any) -> Tensor:
        value = SparseTensor.from_value(value)
        return raw.SerializeSparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)

    def to_rows(self, value: Any) -> Tensor:
        value = SparseTensor.from_value(value)
        return raw.SerializeManySparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)

    def from_tensor(self, tensor: Tensor) -> Any:
        indices, values, shape = raw.DeserializeSparse(tensor, dtype=self.dtype)
        rank = self.shape.ndims
        indices.set_shape([None, rank])
        shape.set_shape([rank])
        return SparseTensor(indices, values, shape)


class VariantStructure:
    """A component that one variant holds: an object of the class `value_class`, of the structure `element_spec`."""

    value_class: Any = None
    is_dataset = False

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)
        self.dtype = dtypes.variant

    @property
    def output_class(self) -> Any:
        """What `output_classes`, `output_types` and `output_shapes` show: the structure itself."""
        return self

    output_type = output_class
    output_shape = output_class
    flat = property(lambda self: (dtypes.variant, raw_shape(self.shape)))

    def to_tensor(self, value: Any) -> Tensor:
        """The variant of a value."""
        return value._variant_tensor

    to_rows = to_tensor

    def from_tensor(self, tensor: Tensor) -> Any:
        """The value of a variant."""
        return self.value_class(tensor, self.element_spec) if self.shape.ndims == 0 else tensor

    def of_shape(self, shape: Any) -> VariantStructure:
        """The same with another shape."""
        return type(self)(self.element_spec, shape)

    def batched(self, size: int | None) -> VariantStructure:
        """With one more dimension in front."""
        return self.of_shape(TensorShape([size]).concatenate(self.shape))

    def unbatched(self) -> VariantStructure:
        """Without its first dimension.  Raises ValueError if it has none."""
        if self.shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return self.of_shape(self.shape[1:])

    def common(self, other: Any) -> VariantStructure:
        """What covers this and `other`."""
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value of `other` may be one of this."""
        return type(self) is type(other) and are_compatible(self.element_spec, other.element_spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.element_spec!r}, {self.shape})"


# -- elements ----------------------------------------------------------------------------------------------------------

def normalized(element: Any) -> Any:
    """An element with tensors as leaves (sparse tensors and datasets as they are)."""
    leaves: list[Any] = []
    with name_scope(None, "normalize_element", []):
        for number, leaf in enumerate(flatten(element)):
            if isinstance(leaf, (SparseTensor, SparseTensorValue)):
                leaves.append(SparseTensor.from_value(leaf))
            elif hasattr(leaf, "_variant_structure"):
                leaves.append(leaf)
            else:
                leaves.append(convert_to_tensor(_arrayed(leaf), name=f"component_{number}"))
    return pack(element, leaves)


def _arrayed(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, np.generic) else leaf


def spec_of(element: Any) -> Any:
    """The structure of an element.  Raises TypeError for a leaf that cannot become a tensor."""
    return pack(element, [_leaf_spec(leaf) for leaf in flatten(element)])


def _leaf_spec(leaf: Any) -> Any:
    if isinstance(leaf, (SparseTensor, SparseTensorValue)):
        leaf = SparseTensor.from_value(leaf)
        return SparseTensorStructure(leaf.dtype.base_dtype, leaf.shape)
    if hasattr(leaf, "_variant_structure"):
        return leaf._variant_structure
    if isinstance(leaf, Tensor):
        return TensorStructure(leaf.dtype.base_dtype, leaf.shape)
    tensor = convert_to_tensor(leaf)
    return TensorStructure(tensor.dtype.base_dtype, tensor.shape)


def from_legacy(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """The structure that nested types, shapes (unknown without them) and classes (tensors without them) describe.

    Raises TypeError or ValueError if they are not of one structure.
    """
    leaves = flatten(types)
    flat_shapes = flatten_up_to(types, shapes) if shapes is not None else [None] * len(leaves)
    flat_classes = flatten(classes) if classes is not None else [Tensor] * len(leaves)
    found: list = []
    for dtype, shape, cls in zip(leaves, flat_shapes, flat_classes):
        if isinstance(dtype, VariantStructure):
            found.append(dtype)
        else:
            found.append((SparseTensorStructure if cls is SparseTensor else TensorStructure)(dtype, shape))
    return pack(types, found)


def flat_attributes(spec: Any) -> dict[str, list]:
    """The attributes output_types and output_shapes of a node of these elements."""
    flat = [leaf.flat for leaf in flatten(spec)]
    return {"output_types": [dtype for dtype, _ in flat], "output_shapes": [shape for _, shape in flat]}


def to_tensors(spec: Any, element: Any) -> list[Tensor]:
    """The tensors that stand for an element."""
    return [leaf.to_tensor(value) for leaf, value in zip(flatten(spec), flatten_up_to(spec, element))]


def to_rows(spec: Any, element: Any) -> list[Tensor]:
    """The tensors whose slices stand for the rows of an element."""
    return [leaf.to_rows(value) for leaf, value in zip(flatten(spec), flatten_up_to(spec, element))]


def from_tensors(spec: Any, tensors: Any) -> Any:
    """The element that tensors stand for."""
    tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return pack(spec, [leaf.from_tensor(tensor) for leaf, tensor in zip(flatten(spec), tensors)])


def are_compatible(one: Any, other: Any) -> bool:
    """Whether elements of `other` may stand where those of `one` do."""
    try:
        assert_same(one, other)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) for a, b in zip(flatten(one), flatten(other)))
