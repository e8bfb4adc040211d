"""Transformations that put elements of equal keys together: ``group_by_window``, ``bucket_by_sequence_length`` and kin."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.data import building, structure
from jitgraph.data.dataset import Dataset, DatasetSpec
from jitgraph.data.mapped_function import MappedFunction
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.compare import less, less_equal, logical_and
from jitgraph.ops.reduce.reductions import reduce_min

_KEY = structure.tensor_structure(dtypes.int64, [])


def _number(function: Callable, spec: Any, transformation: str, what: str) -> MappedFunction:
    """A function that gives an int64 scalar.  Raises ValueError if it gives anything else."""
    made = MappedFunction(lambda *element: convert_to_tensor(function(*element), dtypes.int64), transformation, spec)
    if not structure.are_compatible(made.spec, _KEY):
        raise ValueError(f"`{what}` must return a single tf.int64 scalar tensor.")
    return made


def group_by_window(key_func: Callable, reduce_func: Callable, window_size: Any = None,
                    window_size_func: Callable | None = None) -> Callable[[Dataset], Dataset]:
    """Elements of equal keys, `window_size` at a time, made into datasets by ``reduce_func(key, window)``.

    ``key_func(element)`` gives an int64 scalar; ``window_size_func(key)`` may say how many elements.  At the end come the
    windows that are not full.  Raises ValueError unless one of `window_size` and `window_size_func` is given.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_func: Any = window_size_func or (lambda key: convert_to_tensor(window_size, dtypes.int64))
    name = "tf.data.experimental.group_by_window()"

    def apply(dataset: Dataset) -> Dataset:
        key = _number(key_func, dataset.element_spec, name, "key_func")
        reduced = MappedFunction(reduce_func, name, (_KEY, DatasetSpec(dataset.element_spec)))
        if not getattr(reduced.spec, "is_dataset", False):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        size = _number(size_func, _KEY, name, "window_size_func")
        made = reduced.spec.element_spec
        tensor = raw.GroupByWindowDataset(
            dataset._variant_tensor, key.captured, reduced.captured, size.captured, key_func=key.graph, reduce_func=reduced.graph,
            window_size_func=size.graph, **structure.flat_attributes(made))
        return dataset._made(tensor, made, key, reduced, size)

    return apply


class Reducer:
    """Three functions: ``init_func(key)`` gives a state, ``reduce_func(state, element)`` the next one, and
    ``finalize_func(state)`` what becomes of the last."""

    def __init__(self, init_func: Callable, reduce_func: Callable, finalize_func: Callable):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func: Callable, reducer: Reducer) -> Callable[[Dataset], Dataset]:
    """What a Reducer makes of all elements of equal keys, in the order of the keys.

    ``key_func(element)`` gives an int64 scalar.  Raises ValueError if it gives anything else, TypeError if states are of
    different types.
    """
    name = "tf.data.experimental.group_by_reducer()"

    def apply(dataset: Dataset) -> Dataset:
        key = MappedFunction(key_func, name, dataset.element_spec)
        if structure.is_nested(key.spec) or not structure.are_compatible(key.spec, _KEY):
            raise ValueError(f"`key_func` must return a single tf.int64 tensor. Got {key.spec}.")
        init = MappedFunction(reducer.init_func, name, _KEY)
        spec = init.spec
        while True:
            reduce = MappedFunction(reducer.reduce_func, name, (spec, dataset.element_spec))
            building.check_state(spec, reduce.spec)
            common = structure.common(spec, reduce.spec)
            if structure.flat(common) == structure.flat(spec):
                break
            spec = common
        finalize = MappedFunction(reducer.finalize_func, name, spec)
        tensor = raw.ExperimentalGroupByReducerDataset(
            dataset._variant_tensor, key.captured, init.captured, reduce.captured, finalize.captured, key_func=key.graph,
            init_func=init.graph, reduce_func=reduce.graph, finalize_func=finalize.graph,
            **structure.flat_attributes(finalize.spec))
        return dataset._made(tensor, finalize.spec, key, init, reduce, finalize)

    return apply


def bucket_by_sequence_length(element_length_func: Callable, bucket_boundaries: Any, bucket_batch_sizes: Any,
                              padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: bool = False,
                              no_padding: bool = False, drop_remainder: bool = False) -> Callable[[Dataset], Dataset]:
    """Padded batches of elements of similar length.

    ``element_length_func(element)``: an int32 scalar; `bucket_boundaries`: the lengths at which buckets begin;
    `bucket_batch_sizes`: one more than these.  With `pad_to_bucket_boundary` elements are padded to one less than the next
    boundary.  Raises ValueError if there are not as many batch sizes.
    """
    with name_scope("bucket_by_seq_length", None, []):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        sizes = constant(list(bucket_batch_sizes), dtype=dtypes.int64)
        limits = np.iinfo(np.int32)

        def bucket(*element: Any) -> Any:
            length = element_length_func(*element)
            least, above = [limits.min, *bucket_boundaries], [*bucket_boundaries, limits.max]
            return reduce_min(where(logical_and(less_equal(least, length), less(length, above))))

        def batched(number: Any, window: Dataset) -> Dataset:
            size = sizes[number]
            if no_padding:
                return window.batch(size, drop_remainder=drop_remainder)
            shapes = structure.map_structure(lambda leaf: leaf.shape, window.element_spec) if padded_shapes is None \
                else padded_shapes
            if pad_to_bucket_boundary:
                check = assert_less(number, constant(len(bucket_batch_sizes) - 1, dtype=dtypes.int64), message=(
                    "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."))
                with control_dependencies([check]):
                    largest = constant(list(bucket_boundaries), dtype=dtypes.int64)[number] - 1
                leaves = structure.flatten_up_to(window.element_spec, shapes)
                shapes = structure.pack(window.element_spec, [
                    [largest if d.value is None else d.value for d in TensorShape(shape).dims or []] for shape in leaves])
            return window.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        return lambda dataset: dataset.apply(group_by_window(bucket, batched, window_size_func=lambda number: sizes[number]))
