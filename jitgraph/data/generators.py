"""``Dataset.from_generator``: elements that a Python generator yields."""
from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.data.dataset import Dataset
from jitgraph.data.mapped_function import MappedFunction
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_n_to_tensor
from jitgraph.ops.host.python_function import py_func


class _Generators:
    """The iterators that calls of a generator function have made, by number."""

    def __init__(self, function: Callable, types: Any, shapes: list):
        self.function, self.types, self.shapes = function, types, shapes
        self.flat = [dtypes.as_dtype(leaf) for leaf in structure.flatten(types)]
        self.numbers, self.lock = itertools.count(), threading.Lock()
        self.running: dict[int, Any] = {}

    def begin(self, *args: Any) -> np.ndarray:
        with self.lock:
            number = next(self.numbers)
            self.running[number] = args
        return np.array(number, np.int64)

    def following(self, number: Any) -> list[np.ndarray]:
        """The components of the next element.  Raises StopIteration after the last."""
        number = int(number)
        if isinstance(self.running[number], tuple):
            self.running[number] = iter(self.function(*self.running[number]))
        element = next(self.running[number])
        try:
            leaves = structure.flatten_up_to(self.types, element)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected structure "
                            f"was {self.types}, but the yielded element was {element}.") from None
        return [self._component(leaf, dtype, shape, element) for leaf, dtype, shape in zip(leaves, self.flat, self.shapes)]

    def _component(self, leaf: Any, dtype: Any, shape: Any, element: Any) -> np.ndarray:
        try:
            array = _strings(leaf) if dtype is dtypes.string else _numbers(leaf, dtype.as_numpy_dtype)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that could not be converted to the expected type. The expected type "
                            f"was {dtype.name}, but the yielded element was {leaf}.") from None
        if not shape.is_compatible_with(array.shape):
            raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was "
                             "expected.")
        return array

    def end(self, number: Any) -> np.ndarray:
        self.running.pop(int(number), None)
        return np.array(0, np.int64)


def _numbers(leaf: Any, kind: Any) -> np.ndarray:
    try:
        return np.asarray(leaf, kind)
    except OverflowError:               # NumPy 1, as TensorFlow 1.15 has it, lets Python's integers wrap around
        return np.asarray(leaf).astype(kind)


def _strings(leaf: Any) -> np.ndarray:
    array = np.array(leaf, object)
    if not all(isinstance(item, (bytes, str)) for item in array.ravel()):
        raise TypeError
    return array


def from_generator(generator: Callable, output_types: Any, output_shapes: Any, args: Any) -> Dataset:
    """See ``Dataset.from_generator``."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    spec = structure.from_legacy(output_types, output_shapes)
    leaves = structure.flatten(spec)
    args = () if args is None else tuple(convert_n_to_tensor(list(args), name="args"))
    state = _Generators(generator, output_types, [leaf.shape for leaf in leaves])

    def generated(dummy: Any) -> Dataset:
        number = structure.tensor_structure(dtypes.int64, [])
        begin = MappedFunction(lambda: py_func(state.begin, list(args), dtypes.int64), "init()", ())
        following = MappedFunction(lambda n: py_func(state.following, [n], state.flat), "next()", number)
        end = MappedFunction(lambda n: py_func(state.end, [n], dtypes.int64), "finalize()", number)
        tensor = raw.GeneratorDataset(begin.captured, following.captured, end.captured, init_func=begin.graph,
                                      next_func=following.graph, finalize_func=end.graph, **structure.flat_attributes(spec))
        return Dataset(tensor, spec)

    return Dataset.from_tensors(0).flat_map(generated)
