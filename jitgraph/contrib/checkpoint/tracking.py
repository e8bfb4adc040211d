"""``tensorflow.python.training.tracking``: what programs import of how objects are saved, by their names there."""
from __future__ import annotations

import contextlib
import functools
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.contrib.checkpoint import containers
from jitgraph.control.order_ops import no_op
from jitgraph.graph.dtypes import string
from jitgraph.graph.scopes import device
from jitgraph.ops.arrays.constant import constant
from jitgraph.train.object_graph import OBJECT_GRAPH, VALUE, is_trackable, leave_out
from jitgraph.train.trackables import AutoTrackable, NoDependency  # noqa: F401
from jitgraph.variables.creators import creator_scope
from jitgraph.variables.saveables import SaveableObject, SaveSpec

Trackable = containers.CheckpointableBase
List = containers.List
Mapping = containers.Mapping
TrackableDataStructure = containers._OfLayers
OBJECT_GRAPH_PROTO_KEY = OBJECT_GRAPH
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"
VARIABLE_VALUE_KEY = VALUE
TrackableReference = namedtuple("TrackableReference", ["name", "ref"])


def no_automatic_dependency_tracking(method: Callable) -> Callable:
    """Decorator of a method: attributes that it sets are not saved with the object."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A block in which attributes that are set are not saved with the object."""
    held: dict[str, Any] = getattr(obj, "_held", {})
    before, there = set(held), set(vars(obj))
    yield
    for name in set(held) - before:
        del held[name]
    leave_out(obj, set(vars(obj)) - there)


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved, and not restored."""

    def __init__(self, tensor: Any, name: str, dtype: Any = None, device: str | None = None):
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype=dtype, device=device)], name)

    def restore(self, restored_tensors: list, restored_shapes: Any) -> Any:
        """Nothing is taken over."""
        return no_op()


class PythonStringStateSaveable(SaveableObject):
    """A string of Python's that `state_callback` gives, and `restore_callback` takes.

    In a graph a constant stands for it, ``feed_dict_additions()`` gives what to feed to it when it is saved.
    """

    def __init__(self, name: str, state_callback: Callable, restore_callback: Callable | None = None):
        self._state_callback, self._restore_callback = state_callback, restore_callback
        with device("/cpu:0"):
            self._text = constant("", dtype=string)
        super().__init__(self._text, [SaveSpec(self._text, "", name, dtype=string)], name)

    def feed_dict_additions(self) -> dict:
        """{the constant: the string}"""
        return {self._text: self._state_callback()}

    def python_restore(self, restored_strings: Any) -> None:
        """Gives the function what was read."""
        if self._restore_callback:
            self._restore_callback(restored_strings[0])

    def restore(self, restored_tensors: list, restored_shapes: Any) -> Any:
        """Nothing: the graph has no place for it."""
        return no_op()


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """`value`, noted under a name as what is saved with an object, if it can be."""
    if isinstance(value, NoDependency):
        return value.value
    if is_trackable(value) and hasattr(trackable, "_track_trackable"):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


def is_layer(obj: Any) -> bool:
    """Whether an object is a layer, or like one: it has variables and what Keras's networks ask for."""
    return hasattr(obj, "_layers") or hasattr(obj, "compute_output_signature")


def has_weights(obj: Any) -> bool:
    """Whether an object has variables that are trained, and others."""
    return hasattr(type(obj), "trainable_weights") and hasattr(type(obj), "non_trainable_weights")


@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """A block: variables that ``tf.get_variable`` makes in the variable scope of an object are its dependencies, under what their
    names are there."""
    inside = template.variable_scope.name + "/"

    def create(next_creator: Callable, **kwargs: Any) -> Any:
        variable, name = next_creator(**kwargs), kwargs.get("name") or ""
        if name.startswith(inside):
            template._track_trackable(variable, name=name.removeprefix(inside))
        return variable

    with creator_scope(create):
        yield
