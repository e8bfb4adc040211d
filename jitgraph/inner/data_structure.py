"""``tensorflow.python.data.util.structure``: elements of datasets as flat lists of tensors, and back."""
from __future__ import annotations

from typing import Any

from jitgraph.data import structure
from jitgraph.data.structure import are_compatible  # noqa: F401
from jitgraph.data.structure import from_legacy as convert_legacy_structure  # noqa: F401
from jitgraph.data.structure import normalized as normalize_element  # noqa: F401
from jitgraph.data.structure import spec_of as type_spec_from_value  # noqa: F401
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TensorSpec


def to_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """The tensors that stand for an element.  Raises ValueError if it is not of the structure `element_spec`."""
    _check(element_spec, element)
    return structure.to_tensors(element_spec, element)


def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Tensor]:
    """The tensors whose slices stand for the rows of an element.  Raises ValueError as ``to_tensor_list`` does, and for scalars."""
    _check(element_spec, element)
    structure.unbatched(element_spec)
    return structure.to_rows(element_spec, element)


def _check(spec: Any, element: Any) -> None:
    given = structure.flatten_up_to(spec, element)
    for leaf, value in zip(structure.flatten(spec), given):
        if not leaf.is_compatible_with(structure.spec_of(value)):
            raise ValueError(f"The value {value!r} is not compatible with {leaf!r}")


def from_tensor_list(element_spec: Any, tensor_list: list[Tensor]) -> Any:
    """The element that tensors stand for.  Raises ValueError if there are more or fewer of them, or they are of other types."""
    wanted = get_flat_tensor_specs(element_spec)
    if len(wanted) != len(tensor_list):
        raise ValueError(f"Expected {len(wanted)} tensors but got {len(tensor_list)}.")
    for spec, tensor in zip(wanted, tensor_list):
        if not spec.is_compatible_with(tensor):
            raise ValueError(f"Tensor {tensor} is incompatible with {spec}.")
    return structure.from_tensors(element_spec, tensor_list)


def from_compatible_tensor_list(element_spec: Any, tensor_list: list[Tensor]) -> Any:
    """The element that tensors stand for, of which the caller knows that they are of the right types."""
    return structure.from_tensors(element_spec, tensor_list)


def get_flat_tensor_specs(element_spec: Any) -> list[TensorSpec]:
    """What the tensors that stand for an element are like."""
    return [TensorSpec(shape, dtype) for dtype, shape in structure.flat(element_spec)]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """The shapes of the tensors that stand for an element."""
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec: Any) -> list[Any]:
    """The dtypes of the tensors that stand for an element."""
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]
