"""What elements are made of: nested structures of tuples and dicts, whose leaves are tensors, sparse tensors or datasets.

Unlike ``tf.nest``, a list is a leaf: it becomes a tensor.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jitgraph.data.leaves import form, nested_variant
from jitgraph.graph.composite import CompositeTensor, SparseTensor, SparseTensorValue
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import SparseTensorSpec, TensorSpec, TypeSpec
from jitgraph.tensor_arrays.tensor_array import TensorArray

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
    if not is_nested(deep) or len(deep) != len(shallow) or isinstance(deep, Mapping) != isinstance(shallow, Mapping):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence of {len(shallow)} parts. Input: {deep}")
    if isinstance(shallow, Mapping) and set(shallow) != set(deep):
        raise ValueError(f"The two structures don't have the same keys. Input structure has keys {list(deep)}, while shallow "
                         f"structure has keys {list(shallow)}.")
    found: list = []
    for part, inner in zip(_parts(shallow), _parts(deep)):
        found.extend(flatten_up_to(part, inner))
    return found


# -- leaves ------------------------------------------------------------------------------------------------------------

def tensor_structure(dtype: Any, shape: Any) -> TensorSpec:
    """``tf.data.experimental.TensorStructure``, an older name of ``tf.TensorSpec``."""
    return TensorSpec(shape, dtype)


def sparse_tensor_structure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """``tf.data.experimental.SparseTensorStructure``, an older name of ``tf.SparseTensorSpec``."""
    return SparseTensorSpec(shape, dtype)


def common(spec: Any, other: Any) -> Any:
    """The structure that covers two structures of the same dtypes."""
    return map_structure(lambda a, b: form(a).common(a, b), spec, other)


def batched(spec: Any, size: int | None) -> Any:
    """The structure of batches of elements."""
    return map_structure(lambda leaf: form(leaf).batched(leaf, size), spec)


def unbatched(spec: Any) -> Any:
    """The structure of the slices of an element.  Raises ValueError for scalars."""
    return map_structure(lambda leaf: form(leaf).unbatched(leaf), spec)


def flat(spec: Any) -> list[tuple]:
    """(dtype, shape) of the tensors that stand for an element."""
    return [form(leaf).flat(leaf) for leaf in flatten(spec)]


def shown(spec: Any, what: str) -> Any:
    """What `output_types`, `output_shapes` and `output_classes` show, named ``output_type`` and so on."""
    return map_structure(lambda leaf: getattr(form(leaf), what)(leaf), spec)


# -- elements ----------------------------------------------------------------------------------------------------------

def normalized(element: Any) -> Any:
    """An element with tensors as leaves (sparse tensors and datasets as they are)."""
    leaves: list[Any] = []
    with name_scope(None, "normalize_element", []):
        for number, leaf in enumerate(flatten(element)):
            if isinstance(leaf, list):
                leaf = nested_variant(leaf) or leaf
            if isinstance(leaf, (SparseTensor, SparseTensorValue)):
                leaves.append(SparseTensor.from_value(leaf))
            elif isinstance(leaf, (CompositeTensor, TensorArray)) or hasattr(leaf, "_variant_spec"):
                leaves.append(leaf)
            elif hasattr(leaf, "nested_row_splits"):
                leaves.append(_as_ragged(leaf))
            else:
                leaves.append(convert_to_tensor(_arrayed(leaf), name=f"component_{number}"))
    return pack(element, leaves)


def _arrayed(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, np.generic) else leaf


def spec_of(element: Any) -> Any:
    """The structure of an element.  Raises TypeError for a leaf that cannot become a tensor."""
    return pack(element, [_leaf_spec(leaf) for leaf in flatten(element)])


def _as_ragged(value: Any) -> Any:
    from jitgraph.ragged.ragged_tensor import as_ragged

    return as_ragged(value)


def _leaf_spec(leaf: Any) -> Any:
    if isinstance(leaf, (SparseTensor, SparseTensorValue)):
        leaf = SparseTensor.from_value(leaf)
        return SparseTensorSpec(leaf.shape, leaf.dtype.base_dtype)
    if hasattr(leaf, "_variant_spec"):
        return leaf._variant_spec
    if hasattr(leaf, "nested_row_splits"):
        from jitgraph.ragged.specs import RaggedTensorSpec

        return RaggedTensorSpec.from_value(leaf)
    if isinstance(leaf, TensorArray):
        from jitgraph.tensor_arrays.specs import TensorArraySpec

        return TensorArraySpec.from_value(leaf)
    tensor = leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf)
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype)


def from_legacy(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """The structure that nested types, shapes (unknown without them) and classes (tensors without them) describe.

    Raises TypeError or ValueError if they are not of one structure.
    """
    leaves = flatten(types)
    flat_shapes = flatten_up_to(types, shapes) if shapes is not None else [None] * len(leaves)
    flat_classes = flatten(classes) if classes is not None else [Tensor] * len(leaves)
    return pack(types, [_legacy_leaf(*leaf) for leaf in zip(leaves, flat_shapes, flat_classes)])


def _legacy_leaf(dtype: Any, shape: Any, cls: Any) -> Any:
    for given in (dtype, cls):
        if isinstance(given, TypeSpec):
            return given
    if cls is TensorArray:
        from jitgraph.tensor_arrays.specs import TensorArraySpec

        return TensorArraySpec(shape[2:], dtype, bool(shape[0].value), bool(shape[1].value))
    return SparseTensorSpec(shape, dtype) if cls is SparseTensor else TensorSpec(shape, dtype)


def flat_attributes(spec: Any) -> dict[str, list]:
    """The attributes output_types and output_shapes of a node of these elements."""
    tensors = flat(spec)
    return {"output_types": [dtype for dtype, _ in tensors], "output_shapes": [shape for _, shape in tensors]}


def to_tensors(spec: Any, element: Any) -> list[Tensor]:
    """The tensors that stand for an element."""
    return [form(leaf).to_tensor(leaf, value) for leaf, value in zip(flatten(spec), flatten_up_to(spec, element))]


def to_rows(spec: Any, element: Any) -> list[Tensor]:
    """The tensors whose slices stand for the rows of an element."""
    return [form(leaf).to_rows(leaf, value) for leaf, value in zip(flatten(spec), flatten_up_to(spec, element))]


def from_tensors(spec: Any, tensors: Any) -> Any:
    """The element that tensors stand for."""
    tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return pack(spec, [form(leaf).from_tensor(leaf, tensor) for leaf, tensor in zip(flatten(spec), tensors)])


def are_compatible(one: Any, other: Any) -> bool:
    """Whether elements of `other` may stand where those of `one` do."""
    try:
        assert_same(one, other)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) for a, b in zip(flatten(one), flatten(other)))
