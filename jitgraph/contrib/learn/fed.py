"""Arrays as the input of estimators: batches, fed into placeholders at each step."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder


def verify_input_args(x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: Any) -> None:
    """Raises ValueError unless there are arrays, or a function of input and nothing else."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    if feed_fn is not None:
        raise ValueError("Can not provide both feed_fn and x or y.")


def input_of(x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: Any, shuffle: bool = False,
             epochs: int | None = 1) -> tuple[Callable, Callable | None]:
    """(a function that gives features and labels, one that gives what to feed at each step, or None)"""
    verify_input_args(x, y, input_fn, feed_fn, batch_size)
    if input_fn is not None:
        return input_fn, feed_fn
    feeder: Any = StreamFeeder(x, y, batch_size) if hasattr(x, "__next__") else ArrayFeeder(x, y, batch_size, shuffle, epochs)
    return feeder.input_builder, feeder.feed


def _array(given: Any) -> np.ndarray:
    """An array; of a data frame, its values."""
    return np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)


def _each(given: Any, function: Callable) -> Any:
    return {key: function(value) for key, value in given.items()} if isinstance(given, dict) else function(given)


def _first(given: Any) -> np.ndarray:
    return next(iter(given.values())) if isinstance(given, dict) else given


def _without_one(shape: tuple) -> list:
    """The sizes of a label, of one number: none."""
    return list(shape[1:] if shape and shape[0] == 1 else shape)


class _Feeder:
    """The placeholders of features and labels."""

    _features: Any = None
    _labels: Any = None

    def _build(self, features: Any, labels: Any) -> tuple[Any, Any]:
        """Placeholders for {name: (dtype, sizes of an example)} or one of these."""
        def made(what: Any, name: str) -> Any:
            if isinstance(what, dict):
                return {key: placeholder(dtypes.as_dtype(dtype), [None, *sizes], name=f"{name}_{key}")
                        for key, (dtype, sizes) in what.items()}
            return placeholder(dtypes.as_dtype(what[0]), [None, *what[1]], name=name)

        self._features = made(features, "input")
        self._labels = None if labels is None else made(labels, "output")
        return self._features, self._labels

    def _fed(self, features: Any, labels: Any) -> dict:
        pairs = []
        for places, values in ((self._features, features), (self._labels, labels)):
            if isinstance(places, dict):
                pairs += [(place.name, values[key]) for key, place in places.items()]
            elif places is not None:
                pairs.append((places.name, values))
        return dict(pairs)


class ArrayFeeder(_Feeder):
    """Batches of arrays, or of dicts of them, for so many `epochs`; shuffled the same way in every program."""

    def __init__(self, x: Any, y: Any, batch_size: int | None = None, shuffle: bool = True, epochs: int | None = None):
        self._x, self._y = _each(x, _array), None if y is None else _each(y, _array)
        self._count = len(_first(self._x))
        if batch_size is not None and batch_size <= 0:
            raise ValueError(f"Invalid batch_size {batch_size}.")
        self._batch_size, self._shuffle, self._epochs = batch_size or self._count, shuffle, epochs
        self._random = np.random.RandomState(42)
        self._epoch = self._offset = 0
        self._order = self._new_order()

    def _new_order(self) -> np.ndarray:
        return self._random.permutation(self._count) if self._shuffle else np.arange(self._count)

    def input_builder(self) -> tuple[Any, Any]:
        """The placeholders of features and labels."""
        labels = None if self._y is None else _each(self._y, lambda values: (values.dtype, _without_one(values.shape[1:])))
        return self._build(_each(self._x, lambda values: (values.dtype, values.shape[1:] or (1,))), labels)

    def feed(self) -> dict:
        """{name of a placeholder: the next batch}; raises StopIteration after the last epoch."""
        if self._epochs is not None and self._epoch + 1 > self._epochs:
            raise StopIteration
        chosen = self._order[self._offset:self._offset + self._batch_size]
        self._offset += self._batch_size
        if self._offset >= self._count:
            self._order, self._offset = self._new_order(), 0
            self._epoch += 1
        features = _each(self._x, lambda values: values[chosen].reshape(-1, 1) if values.ndim == 1 else values[chosen])
        if self._y is None:
            return self._fed(features, None)
        return self._fed(features, _each(self._y, lambda values: values[chosen].reshape(
            [len(chosen), *_without_one(values.shape[1:])])))


class StreamFeeder(_Feeder):
    """Batches of what iterators yield, one example at a time."""

    def __init__(self, x: Any, y: Any, batch_size: int | None):
        if y is not None and not hasattr(y, "__next__"):
            raise ValueError("Both x and y should be iterators for streaming learning to work.")
        self._batch_size = batch_size or 1
        first = next(x)
        self._x, self._x_first = itertools.chain([first], x), _each(first, np.asarray)
        self._y, self._y_first = None, None
        if y is not None:
            first = next(y)
            self._y, self._y_first = itertools.chain([first], y), _each(first, np.asarray)

    def input_builder(self) -> tuple[Any, Any]:
        """The placeholders of features and labels."""
        labels = None if self._y_first is None else _each(self._y_first, lambda value: (value.dtype, _without_one(value.shape)))
        return self._build(_each(self._x_first, lambda value: (value.dtype, value.shape or (1,))), labels)

    def feed(self) -> dict:
        """{name of a placeholder: the next batch}; raises StopIteration at the end."""
        def batch(examples: list, first: Any) -> Any:
            if isinstance(first, dict):
                return {key: np.stack([np.asarray(example[key]) for example in examples]) for key in first}
            return np.stack([np.asarray(example) for example in examples])

        examples = list(itertools.islice(self._x, self._batch_size))
        if not examples:
            raise StopIteration
        features = _each(batch(examples, self._x_first), lambda values: values.reshape(-1, 1) if values.ndim == 1 else values)
        if self._y is None:
            return self._fed(features, None)
        labels = _each(batch(list(itertools.islice(self._y, len(examples))), self._y_first), lambda values: values.reshape(
            [len(values), *_without_one(values.shape[1:])]))
        return self._fed(features, labels)
