"""Labeled tensors from examples, placeholders and queues, and to and from another shape."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.labeled_tensor.axes import Axes, as_axis
from jitgraph.contrib.labeled_tensor.places import reshape
from jitgraph.contrib.labeled_tensor.tensors import LabeledTensor, convert_to_labeled_tensor
from jitgraph.facade.names import resolve
from jitgraph.graph.scopes import name_scope


class FixedLenFeature:
    """A feature of examples whose `axes` all have a size; `default_value` where an example lacks it."""

    def __init__(self, axes: Any, dtype: Any, default_value: Any = None):
        self._axes, self._dtype, self._default_value = [as_axis(axis) for axis in axes], dtype, default_value

    @property
    def axes(self) -> list:
        """The axes."""
        return self._axes

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._dtype

    @property
    def default_value(self) -> Any:
        """The value where an example lacks it."""
        return self._default_value


def _plain(features: dict[str, FixedLenFeature]) -> dict:
    for one in features.values():
        if any(axis.size is None for axis in one.axes):
            raise ValueError("axes with unknown size are not supported")
    plain = resolve("FixedLenFeature")
    return {key: plain([axis.size for axis in one.axes], one.dtype, one.default_value) for key, one in features.items()}


def parse_example(serialized: Any, features: dict, name: str | None = None, example_names: Any = None) -> dict[str, LabeledTensor]:
    """{name of a feature: its values} of serialized examples along an axis.  Raises ValueError for axes without a size."""
    one = convert_to_labeled_tensor(serialized)
    parsed = resolve("parse_example")(one.tensor, _plain(features), name, example_names)
    return {key: LabeledTensor(value, [*one.axes.values(), *features[key].axes]) for key, value in parsed.items()}


def parse_single_example(serialized: Any, features: dict, name: str | None = None,
                         example_names: Any = None) -> dict[str, LabeledTensor]:
    """{name of a feature: its value} of a serialized example.  Raises ValueError for axes without a size."""
    one = convert_to_labeled_tensor(serialized)
    parsed = resolve("parse_single_example")(one.tensor, _plain(features), name, example_names)
    return {key: LabeledTensor(value, features[key].axes) for key, value in parsed.items()}


def placeholder(dtype: Any, axes: Any, name: str | None = None) -> LabeledTensor:
    """A placeholder; the size of an axis that is a name alone is open."""
    with name_scope(name, "lt_placeholder", []) as scope:
        made = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        return LabeledTensor(resolve("placeholder")(dtype, [axis.size for axis in made.values()], name=scope), made)


def _batches(default_name: str, make: Callable, batch_size: Any, enqueue_many: bool, labeled_tensors: Any, smaller: bool,
             name: str | None) -> list[LabeledTensor]:
    with name_scope(name, default_name, labeled_tensors) as scope:
        tensors = [convert_to_labeled_tensor(one) for one in labeled_tensors]
        made = make([one.tensor for one in tensors], scope)
        found = []
        for one, tensor in zip(tensors, made if isinstance(made, list) else [made]):
            axes = one.axes
            if enqueue_many:
                if next(iter(axes), None) != "batch":
                    raise ValueError("When enqueue_many is True, input tensors must have an axis called \"batch\" as their first "
                                     f"dimension, but axes were {axes}")
                axes = axes.remove("batch")
            found.append(LabeledTensor(tensor, [("batch", None if smaller else batch_size), *axes.values()]))
        return found


def batch(labeled_tensors: Any, batch_size: int, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
          allow_smaller_final_batch: bool = False, name: str | None = None) -> list[LabeledTensor]:
    """``tf.train.batch``: batches along a first axis "batch".  Raises ValueError for `enqueue_many` without such an axis."""
    def make(tensors: list, scope: str) -> Any:
        return resolve("train.batch")(tensors, batch_size=batch_size, num_threads=num_threads, capacity=capacity,
                                      enqueue_many=enqueue_many, allow_smaller_final_batch=allow_smaller_final_batch, name=scope)

    return _batches("lt_batch", make, batch_size, enqueue_many, labeled_tensors, allow_smaller_final_batch, name)


def shuffle_batch(labeled_tensors: Any, batch_size: int, num_threads: int = 1, capacity: int = 32, enqueue_many: bool = False,
                  min_after_dequeue: int = 0, seed: int | None = None, allow_smaller_final_batch: bool = False,
                  name: str | None = None) -> list[LabeledTensor]:
    """``tf.train.shuffle_batch``: as ``batch``, in random order."""
    def make(tensors: list, scope: str) -> Any:
        return resolve("train.shuffle_batch")(
            tensors, batch_size=batch_size, num_threads=num_threads, capacity=capacity, enqueue_many=enqueue_many,
            min_after_dequeue=min_after_dequeue, seed=seed, allow_smaller_final_batch=allow_smaller_final_batch, name=scope)

    return _batches("lt_shuffle_batch", make, batch_size, enqueue_many, labeled_tensors, allow_smaller_final_batch, name)


class ReshapeCoder:
    """``reshape`` and back: `existing_axis_names` become `new_axes`, and again the axes that they were."""

    def __init__(self, existing_axis_names: Any, new_axes: Any, name: str | None = None):
        self._name, self._existing_axis_names, self._new_axes = name, existing_axis_names, new_axes
        self._existing_axes: list | None = None

    def encode(self, labeled_tensor: Any) -> LabeledTensor:
        """The tensor with the new axes.  Raises ValueError if the axes are not those of the last call."""
        with name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            one = convert_to_labeled_tensor(labeled_tensor)
            made = reshape(one, self._existing_axis_names, self._new_axes, name=scope)
            axes = [one.axes[key] for key in self._existing_axis_names]
            if self._existing_axes is not None and self._existing_axes != axes:
                raise ValueError(f"input axes {axes!r} do not match axes from previous method call {self._existing_axes!r}")
            self._existing_axes = axes
            return made

    def decode(self, labeled_tensor: Any) -> LabeledTensor:
        """The tensor with the axes from before.  Raises ValueError before the first ``encode``."""
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            names = [axis if isinstance(axis, str) else as_axis(axis).name for axis in self._new_axes]
            return reshape(convert_to_labeled_tensor(labeled_tensor), names, self._existing_axes, name=scope)
