"""Objects that hold others by names, under which ``tf.train.Checkpoint`` saves them."""
from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from typing import Any

from jitgraph.layers.base import Layer
from jitgraph.train.object_graph import is_trackable
from jitgraph.train.trackables import NoDependency
from jitgraph.variables.variable import Variable


class _Saved(type(AnyMapping)):         # type: ignore[misc]
    """Variables, optimizers, modules and layers are objects with dependencies too, though they derive from no such class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is CheckpointableBase and is_trackable(instance) and not isinstance(instance, (list, dict))


class CheckpointableBase(metaclass=_Saved):
    """An object with dependencies: others, by the names under which checkpoints hold them."""

    @property
    def _held(self) -> dict[str, Any]:
        """The dependencies; subclasses need not call ``__init__``."""
        return self.__dict__.setdefault("_checkpoint_held", {})

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._held.items())

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a dependency; gives it.  Raises TypeError for what cannot be saved, ValueError for a name in use."""
        if not is_trackable(trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        if not overwrite and self._held.get(name, trackable) is not trackable:
            raise ValueError(f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                             "declared as a dependency. Names must be unique (or overwrite=True).")
        self._held[name] = trackable
        return trackable

    def _lookup_dependency(self, name: str) -> Any:
        """The dependency of that name, or None."""
        return self._held.get(name)


class Checkpointable(CheckpointableBase):
    """An object whose attributes are dependencies, as far as they can be saved: variables, optimizers, layers, lists and dicts."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            value = value.value
        elif is_trackable(value):
            self._track_trackable(value, name, overwrite=True)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._held.pop(name, None)
        super().__delattr__(name)


class _OfLayers(CheckpointableBase):
    """What holds layers has what they have together, and the variables that it holds itself."""

    trainable = True

    @property
    def layers(self) -> list:
        """The layers that it holds, those in containers included."""
        found: list = []
        for one in self._held.values():
            found += [one] if isinstance(one, Layer) else one.layers if isinstance(one, _OfLayers) else []
        return found

    def _all(self, attribute: str) -> list:
        return [one for layer in self.layers for one in getattr(layer, attribute)]

    def _own(self, trained: bool) -> list:
        """The variables beside those of layers, of containers that it holds too."""
        found: list = []
        for one in self._held.values():
            if isinstance(one, Variable) and bool(getattr(one, "trainable", False)) is trained:
                found.append(one)
            elif isinstance(one, _OfLayers):
                found += one._own(trained)
        return found

    @property
    def trainable_weights(self) -> list:
        """The variables that are trained, those of the layers first."""
        return self._all("trainable_weights") + self._own(True) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list:
        """The variables that are not trained."""
        others = self._all("non_trainable_weights") + self._own(False)
        return others if self.trainable else self._all("trainable_weights") + self._own(True) + others

    @property
    def weights(self) -> list:
        """The variables, those that are trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list:
        """The variables that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list:
        """The variables that are not trained."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list:
        """The variables, those that are trained first."""
        return self.weights

    @property
    def updates(self) -> list:
        """The operations that calls of the layers added."""
        return self._all("updates")

    @property
    def losses(self) -> list:
        """The losses of the layers."""
        return self._all("losses")

    def __eq__(self, other: Any) -> bool:
        return self is other

    __hash__ = object.__hash__


class _Container(_OfLayers):
    """Objects by names; those that are no NoDependency must be such that can be saved."""

    _storage: Any           # a list or a dict

    def _take(self, value: Any, name: str) -> Any:
        if isinstance(value, NoDependency):
            return value.value
        if not is_trackable(value):
            raise ValueError("Only trackable objects (such as Layers or Optimizers) may be stored in a "
                             f"{type(self).__name__} object. Got {value}, which does not inherit from Trackable.")
        return self._track_trackable(value, name)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)


class List(_Container, Sequence):
    """A list of objects that are saved; it can only grow.  Raises ValueError for what cannot be saved."""

    def __init__(self, *args: Any):
        self._storage: list[Any] = []
        self.extend(list(*args))

    def append(self, value: Any) -> None:
        """Adds an object."""
        self._storage.append(self._take(value, str(len(self._storage))))

    def extend(self, values: Iterable) -> None:
        """Adds objects."""
        for value in values:
            self.append(value)

    def copy(self) -> List:
        """A list of the same objects."""
        return type(self)(self._storage)

    def __iadd__(self, values: Iterable) -> List:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> List:
        return type(self)(self._storage + list(other))

    def __radd__(self, other: Any) -> List:
        return type(self)(list(other) + self._storage)

    def __mul__(self, n: int) -> List:
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


class Mapping(_Container, AnyMapping):
    """A dict from strings to objects that are saved; it can only grow.

    Raises TypeError for other keys, ValueError for what cannot be saved and for a key that has another object.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        taken = self._take(value, key)
        if self._storage.setdefault(key, taken) is not taken:
            raise ValueError(f"Mappings are an append-only data structure. Tried to overwrite the key '{key}' with value "
                             f"{value}, but it already contains {self._storage[key]}")

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds objects."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __copy__(self) -> Mapping:
        return type(self)(copy.copy(self._storage))

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


class UniqueNameTracker(_OfLayers):
    """Holds objects under names that it makes unique: "x", "x_1", ..."""

    def __init__(self) -> None:
        self._name_counts: dict[str, int] = {}

    def track(self, trackable: Any, base_name: str) -> Any:
        """Makes an object a dependency; gives it.  Raises ValueError for what cannot be saved."""
        if not is_trackable(trackable):
            raise ValueError(f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable.")
        count = self._name_counts.get(base_name, 0)
        while self._lookup_dependency(_numbered(base_name, count)) is not None:
            count += 1
        self._name_counts[base_name] = count + 1
        return self._track_trackable(trackable, _numbered(base_name, count))


def _numbered(name: str, number: int) -> str:
    return f"{name}_{number}" if number else name
