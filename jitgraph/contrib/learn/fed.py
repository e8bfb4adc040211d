"""Arrays as the input of estimators: batches, fed into placeholders at each step."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.app.logs import warn
from jitgraph.contrib.learn.table_inputs import frame_data, frame_labels, frame_matrix
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
    feeder = setup_train_data_feeder(x, y, None, batch_size, shuffle, epochs)
    return feeder.input_builder, feeder.get_feed_dict_fn()


def setup_train_data_feeder(x: Any, y: Any, n_classes: Any, batch_size: int | None = None, shuffle: bool = True,
                            epochs: int | None = None) -> DataFeeder:
    """A ``StreamingDataFeeder`` of iterators, or a ``DataFeeder`` of arrays, data frames, or dictionaries of arrays.

    Raises ValueError if one of `x` and `y` is an iterator and the other is not.
    """
    x, y = frame_data(x), None if y is None else frame_labels(y)
    if not hasattr(x, "__next__"):
        return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)
    if y is not None and not hasattr(y, "__next__"):
        raise ValueError("Both x and y should be iterators for streaming learning to work.")
    return StreamingDataFeeder(x, y, n_classes, batch_size)


def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """The parts of `batch_size` rows of an array or data frame, as a list; of an iterator of rows, as an iterator of matrices.

    Without `batch_size`, all rows in one part.  Raises ValueError for sizes below 1.
    """
    x = frame_data(x)
    if hasattr(x, "__next__"):
        return _parts_of(x, batch_size)
    x = np.reshape(x, (-1, 1)) if len(x.shape) == 1 else x
    if batch_size is None:
        return [x]
    _check_batch_size(batch_size)
    return [x[k * batch_size:(k + 1) * batch_size] for k in range(math.ceil(len(x) / batch_size))]


def _parts_of(rows: Iterator, batch_size: int | None) -> Iterator:
    if batch_size is not None:
        _check_batch_size(batch_size)
    while part := list(itertools.islice(rows, batch_size)):
        if isinstance(part[0], dict):
            yield {key: np.atleast_2d([row[key] for row in part]) for key in part[0]}
        else:
            yield np.atleast_2d(part)


def setup_processor_data_feeder(x: Any) -> Any:
    """The values of a data frame; other data as they are."""
    return frame_matrix(x)


def check_array(array: Any, dtype: Any) -> Any:
    """`array`, an array or a list, as an array of `dtype`; other data as they are."""
    return np.asarray(array, dtype) if isinstance(array, (np.ndarray, list)) else array


def _check_batch_size(batch_size: int) -> None:
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")


def _each(given: Any, function: Callable) -> Any:
    return {key: function(value) for key, value in given.items()} if isinstance(given, dict) else function(given)


def _each_class(given: Any, n_classes: Any, function: Callable) -> Any:
    """`function` of values and their number of classes, for an array or each of a dictionary."""
    if isinstance(given, dict):
        return {key: function(value, (n_classes or {}).get(key)) for key, value in given.items()}
    return function(given, n_classes)


def _first(given: Any) -> Any:
    return next(iter(given.values())) if isinstance(given, dict) else given


def _checked_dtype(dtype: Any) -> Any:
    if dtypes.as_dtype(dtype) == dtypes.float64:
        warn("float64 is not supported by many models, consider casting to float32.")
    return dtype


def _label_sizes(shape: tuple, n_classes: int | None) -> list:
    """The sizes of an example's label: none for one number; with several classes, one more."""
    sizes = list(shape[1:] if shape and shape[0] == 1 else shape)
    return [*sizes, n_classes] if n_classes is not None and n_classes > 1 else sizes


def _labels(values: np.ndarray, dtype: Any, n_classes: int | None) -> np.ndarray:
    """Labels of a batch as they are fed: with several classes, 1 at the place of the class."""
    sizes = [len(values), *_label_sizes(values.shape[1:], n_classes)]
    if n_classes is None or n_classes <= 1:
        return values.reshape(sizes).astype(dtype)
    ones = np.zeros(sizes, dtype)
    np.put_along_axis(ones, values.astype(np.int64).reshape([*sizes[:-1], 1]), 1, axis=-1)
    return ones


class DataFeeder:
    """Batches of arrays, or of dictionaries of them, for so many `epochs`; shuffled the same way in every program.

    `n_classes`: with more than 1, labels are fed as ones at the places of the classes; a dictionary where `y` is one.  Attributes:
    ``x``, ``y``, ``input_shape`` and ``output_shape`` (lists of sizes, or dictionaries of them), ``input_dtype``,
    ``output_dtype``, ``batch_size``, ``shuffle``, ``epoch``, ``offset``.  Raises ValueError for a batch size below 1.
    """

    _input_placeholder: Any = None
    _output_placeholder: Any = None
    _epoch_placeholder: Any = None

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: int | None = None, shuffle: bool = True,
                 random_state: Any = None, epochs: int | None = None):
        self.x: Any = _each(x, np.asarray)
        labels: Any = None if y is None else _each(y, np.asarray)
        if n_classes is not None and isinstance(labels, np.ndarray):
            labels = labels.astype(np.int64 if n_classes > 1 else np.float32)
        self.y: Any = labels
        self._take(self.x, self.y, n_classes, batch_size or len(_first(self.x)) if batch_size != 0 else 0)
        self.output_dtype: Any = np.float32 if y is None else _each_class(
            self.y, n_classes, lambda values, classes: _checked_dtype(np.float32 if isinstance(y, dict) and classes is not None
                                                                      else values.dtype))
        self.shuffle, self.max_epochs = shuffle, epochs
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self.epoch = self.offset = 0
        self.indices = self._new_order()

    def _take(self, x: Any, y: Any, n_classes: Any, batch_size: int) -> None:
        """Notes dtypes and shapes, from arrays whose first axis is that of examples."""
        _check_batch_size(batch_size)
        self.n_classes, self.batch_size = n_classes, batch_size
        self.input_shape = _each(x, lambda values: [batch_size, *(values.shape[1:] or (1,))])
        self.input_dtype = _each(x, lambda values: _checked_dtype(values.dtype))
        self.output_shape = None if y is None else _each_class(
            y, n_classes, lambda values, classes: [batch_size, *_label_sizes(values.shape[1:], classes)])

    def _new_order(self) -> np.ndarray:
        count = len(_first(self.x))
        return self.random_state.permutation(count) if self.shuffle else np.arange(count)

    def make_epoch_variable(self) -> Tensor:
        """An int32 placeholder [1], which is fed the number of the epoch."""
        self._epoch_placeholder = placeholder(dtypes.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """The placeholders of features and labels."""
        def made(shapes: Any, types: Any, name: str) -> Any:
            if isinstance(shapes, dict):
                return {key: placeholder(dtypes.as_dtype(types[key]), [None, *shape[1:]], name=f"{name}_{key}")
                        for key, shape in shapes.items()}
            return None if shapes is None else placeholder(dtypes.as_dtype(types), [None, *shapes[1:]], name=name)

        self.set_placeholders(made(self.input_shape, self.input_dtype, "input"),
                              made(self.output_shape, self.output_dtype, "output"))
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Feeds these placeholders, or dictionaries of them, instead of own ones; None for no labels."""
        self._input_placeholder, self._output_placeholder = input_placeholder, output_placeholder

    def get_feed_params(self) -> dict[str, int]:
        """Where it stands: ``epoch``, ``offset``, ``batch_size``."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self.batch_size}

    def get_feed_dict_fn(self) -> Callable:
        """A function that gives {name of a placeholder: the next batch} and raises StopIteration after the last epoch."""
        return self._next

    def _next(self) -> dict:
        if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
            raise StopIteration
        epoch, chosen = self.epoch, self.indices[self.offset:self.offset + self.batch_size]
        self.offset += self.batch_size
        if self.offset >= len(_first(self.x)):
            self.indices, self.offset = self._new_order(), 0
            self.epoch += 1
        return self._fed(_each(self.x, lambda values: values[chosen]),
                         None if self.y is None else _each(self.y, lambda values: values[chosen]), epoch)

    def _fed(self, features: Any, labels: Any, epoch: int = 0) -> dict:
        pairs: list = [] if self._epoch_placeholder is None else [(self._epoch_placeholder.name, [epoch])]
        features = _each(features, lambda values: values.reshape(-1, 1) if values.ndim == 1 else values)
        if labels is not None and self._output_placeholder is not None:
            types = iter(self.output_dtype.values() if isinstance(labels, dict) else [self.output_dtype])
            labels = _each_class(labels, self.n_classes, lambda values, classes: _labels(values, next(types), classes))
        for places, values in ((self._input_placeholder, features), (self._output_placeholder, labels)):
            if isinstance(places, dict):
                pairs += [(place.name, values[key]) for key, place in places.items()]
            elif places is not None:
                pairs.append((places.name, values))
        return dict(pairs)


class StreamingDataFeeder(DataFeeder):
    """Batches of what iterators yield, one example at a time; one example a batch where `batch_size` is None."""

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: int | None):
        first = next(x)
        self._features, self._targets, label = itertools.chain([first], x), None, None
        if y is not None:
            label = next(y)
            self._targets = itertools.chain([label], y)
        batch = lambda example: None if example is None else _each(example, lambda value: _example(value)[None])
        self._take(batch(first), batch(label), n_classes, 1 if batch_size is None else batch_size)
        self.output_dtype = None
        if label is not None:
            several = n_classes is not None and not isinstance(label, dict) and n_classes > 0
            self.output_dtype = np.float32 if several else _each(label, lambda value: _example(value).dtype)

    def get_feed_params(self) -> dict[str, int]:
        """``batch_size``"""
        return {"batch_size": self.batch_size}

    def _next(self) -> dict:
        def batch(examples: list) -> Any:
            if isinstance(examples[0], dict):
                return {key: np.stack([_example(example[key]) for example in examples]) for key in examples[0]}
            return np.stack([_example(example) for example in examples])

        examples = list(itertools.islice(self._features, self.batch_size))
        if not examples:
            raise StopIteration
        labels = None if self._targets is None else batch(list(itertools.islice(self._targets, len(examples))))
        return self._fed(batch(examples), labels)


def _example(value: Any) -> np.ndarray:
    """A value of an iterator as an array; of a list, which holds one label, its element."""
    return np.asarray(value[0] if isinstance(value, list) else value)
