"""Names that libraries mention when they are imported, to derive classes of them, and need only when these are used.

``later("keras")`` stands for the names of Keras: ``later("keras").layers.Layer`` can be a base class, and an object of one that
derives from it cannot be made.  As a place of inner modules this one has any name.
"""
from __future__ import annotations

import abc
import functools
from typing import Any

from jitgraph.facade import not_here


class _Later(abc.ABCMeta):
    """A name that is not here: it has names in it, can be a base class, and refuses to be called."""

    def __getattr__(cls, name: str) -> Any:
        public = vars(cls).get("_public")
        if name.startswith("__") or public is None:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return later(f"{public}.{name}")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(next(base.__doc__ for base in cls.__mro__ if "_public" in vars(base)))


# what libraries call when they are imported, to make their classes known to Keras
_CALLED: dict[str, Any] = {"keras.utils.get_custom_objects": dict}
_IN_PART = ("keras.initializers.", "keras.regularizers.")
_NOT_IN_PART = ("deserialize", "get", "serialize")      # what these groups have beside


@functools.cache
def later(name: str) -> Any:
    """What stands for a public name of TensorFlow that is not here, and for those in it; the few parts of Keras that are."""
    if name in _CALLED:
        return _CALLED[name]
    if name.startswith(_IN_PART):
        from jitgraph.inner.keras_parts import PARTS

        if name in PARTS:
            return PARTS[name]
        group, _, part = name.rpartition(".")
        if part not in _NOT_IN_PART:                    # programs look a name up in one group after the other
            raise AttributeError(f"module 'tensorflow.{group}' has no attribute {part!r}")
    return _Later(name.rpartition(".")[2], (), {"_public": name, "__doc__": not_here.sentence(name)})


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return _of_module(name)


def _of_module(name: str) -> Any:
    return stand_in(name, f"{name} of TensorFlow's inner modules is not part of jitgraph.")


@functools.cache
def stand_in(name: str, refusal: str) -> Any:
    """A class `name` that stands for one that is not here: calling it raises a NotImplementedError that says `refusal`."""
    return _Later(name, (), {"_public": None, "__doc__": refusal})
