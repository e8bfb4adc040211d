"""Axes with names, sizes and labels."""
from __future__ import annotations

import collections.abc
from collections.abc import Iterator
from typing import Any

from jitgraph.graph.shapes import Dimension


class Axis:
    """One axis: `value` is its size (an int, a Dimension or None), or the labels of its places, all different.

    Raises ValueError for labels that occur twice.
    """

    def __init__(self, name: str, value: Any):
        labels = None
        if isinstance(value, Dimension):
            dimension = value
        elif isinstance(value, int) or value is None:
            dimension = Dimension(value)
        else:
            labels = tuple(value)
            dimension = Dimension(len(labels))
        if dimension.value == 0:
            labels = ()
        self._name, self._dimension, self._labels = name, dimension, labels
        self._index = None if labels is None else {label: k for k, label in enumerate(labels)}
        if self._index is not None and labels is not None and len(self._index) != len(labels):
            raise ValueError(f"Tick labels must be unique, but got {labels}")

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def dimension(self) -> Dimension:
        """The size as a Dimension."""
        return self._dimension

    @property
    def size(self) -> int | None:
        """The size, None if it is not known."""
        found: int | None = self._dimension.value
        return found

    @property
    def labels(self) -> tuple | None:
        """The labels, or None."""
        return self._labels

    @property
    def value(self) -> Any:
        """The labels, or the Dimension if there are none."""
        return self.dimension if self.labels is None else self.labels

    def index(self, value: Any) -> int:
        """The place of a label.  Raises ValueError without labels, KeyError for one that is not there."""
        if self._index is None:
            raise ValueError("Axis does not have tick labels")
        return self._index[value]

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and (self.name, self.size, self.labels) == (other.name, other.size, other.labels)

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.labels))

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size


def as_axis(axis_data: Any) -> Axis:
    """An Axis, or one of a pair (name, value)."""
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


class Axes(collections.abc.Mapping):
    """Axes by their names, in order.  Raises ValueError for two of a name."""

    def __init__(self, axes: Any):
        self._axes: dict[str, Axis] = {}
        for one in map(as_axis, axes):
            if one.name in self._axes:
                raise ValueError(f"Duplicate axis name: {one.name}")
            self._axes[one.name] = one

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, collections.abc.Hashable) and name in self._axes

    def __len__(self) -> int:
        return len(self._axes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{shown(self, len(type(self).__name__) + 2)}])"

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def remove(self, axis_name: str) -> Axes:
        """All but one.  Raises KeyError if it is not there."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


def shown(axes: Axes, indent: int) -> str:
    """The pairs of axes, a line each."""
    return (",\n" + " " * indent).join(f"('{one.name}', {one.value!r})" for one in axes.values())


def concat_axes(axes: Any) -> Axis:
    """The axis of several in a row.  Raises ValueError for none, other objects, and axes of different names."""
    if not axes:
        raise ValueError("axes must not be empty")
    for one in axes:
        if not isinstance(one, Axis):
            raise ValueError(f"Expected an Axis, but got {one!r} of type {type(one)!r}")
    names = {one.name for one in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    if all(one.labels is not None for one in axes):
        return Axis(names.pop(), tuple(label for one in axes for label in one.labels))
    return Axis(names.pop(), None if any(one.size is None for one in axes) else sum(len(one) for one in axes))
