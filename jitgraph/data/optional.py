"""``tf.data.experimental.Optional``: an element that may be missing."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.data.leaves import VariantSpec
from jitgraph.graph.tensor import Tensor


class OptionalSpec(VariantSpec):
    """A component that is an element of the structure `value_structure`, or nothing."""

    _FIELDS = ("element_spec",)

    def __init__(self, value_structure: Any):
        super().__init__(value_structure)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The spec of an Optional."""
        return OptionalSpec(value.value_structure)


class Optional:
    """An element, or nothing: what ``get_next_as_optional`` gives."""

    def __init__(self, variant_tensor: Tensor, value_structure: Any):
        self._variant_tensor, self._structure = variant_tensor, value_structure

    @property
    def value_structure(self) -> Any:
        """The structure of the element."""
        return self._structure

    @property
    def _variant_spec(self) -> OptionalSpec:
        return OptionalSpec(self._structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """A bool scalar: whether there is an element."""
        return raw.OptionalHasValue(self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The element.  A run raises InvalidArgumentError if there is none."""
        flat = structure.flat_attributes(self._structure)
        return structure.from_tensors(self._structure, raw.OptionalGetValue(self._variant_tensor, name=name, **flat))

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional with the element `value`."""
        value = structure.normalized(value)
        spec = structure.spec_of(value)
        return Optional(raw.OptionalFromValue(structure.to_tensors(spec, value)), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An Optional without an element of that structure."""
        return Optional(raw.OptionalNone(), value_structure)


OptionalSpec.value_class = Optional


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator as an Optional, which has no value at the end."""
    spec = iterator.element_spec
    flat = structure.flat_attributes(spec)
    return Optional(raw.IteratorGetNextAsOptional(iterator._iterator_resource, **flat), spec)
