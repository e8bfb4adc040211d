"""``tf.data.experimental``: further transformations, most of them for ``Dataset.apply``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.data import building, structure
from jitgraph.data.building import number
from jitgraph.data.dataset import Dataset
from jitgraph.data.mapped_function import MappedFunction
from jitgraph.data.options import Options
from jitgraph.data.running import scan
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor

Transformation = Callable[[Dataset], Dataset]
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


def enumerate_dataset(start: int = 0) -> Transformation:
    """Pairs (number, element): ``Dataset.enumerate``."""
    return lambda dataset: dataset.enumerate(start)


def unbatch() -> Transformation:
    """The slices of each element: ``Dataset.unbatch``."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """The elements that were not there before.  Raises TypeError unless they are of one component of int32, int64 or string."""

    def apply(dataset: Dataset) -> Dataset:
        if structure.is_nested(dataset.element_spec) or dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError("`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or "
                            f"`tf.string` component, not {dataset.output_types}.")
        return dataset._unary("UniqueDataset")

    return apply


def ignore_errors() -> Transformation:
    """The elements without those in whose place an error is raised."""
    return lambda dataset: dataset._unary("IgnoreErrorsDataset")


def map_and_batch(map_func: Callable, batch_size: Any, num_parallel_batches: Any = None, drop_remainder: Any = False,
                  num_parallel_calls: Any = None) -> Transformation:
    """``map`` and then ``batch``.  Raises ValueError for both `num_parallel_batches` and `num_parallel_calls`."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    calls = batch_size * num_parallel_batches if num_parallel_batches is not None else batch_size
    calls = calls if num_parallel_calls is None else num_parallel_calls

    def apply(dataset: Dataset) -> Dataset:
        function = MappedFunction(map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec)
        size, parallel = number(batch_size, "batch_size"), number(calls, "num_parallel_calls")
        drop = convert_to_tensor(drop_remainder, dtypes.bool_, "drop_remainder")
        rows = building.rows_of(size, drop)
        spec = structure.batched(function.spec, rows)
        tensor = raw.MapAndBatchDataset(dataset._variant_tensor, function.captured, size, parallel, drop, f=function.graph,
                                        preserve_cardinality=True, **structure.flat_attributes(spec))
        return dataset._made(tensor, spec, function)

    return apply


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """``shuffle`` and then ``repeat``, in one: the next epoch comes into the buffer before the present one is used up."""

    def apply(dataset: Dataset) -> Dataset:
        size, times = number(buffer_size, "buffer_size"), number(-1 if count is None else count, "count")
        return dataset._unary("ShuffleAndRepeatDataset", size, *building.seeds(seed), times)

    return apply


def parallel_interleave(map_func: Callable, cycle_length: Any, block_length: Any = 1, sloppy: Any = False,
                        buffer_output_elements: Any = None, prefetch_input_elements: Any = None) -> Transformation:
    """``Dataset.interleave`` with datasets that are fetched ahead.  The order is always the same, also where `sloppy`."""
    return lambda dataset: building.parallel_interleave(dataset, map_func, cycle_length, block_length, sloppy,
                                                        buffer_output_elements, prefetch_input_elements)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Elements of one component of different shapes, `batch_size` at a time, as sparse tensors [batch, *row_shape].

    None in `row_shape` stands for the largest size.  Raises TypeError for elements of several components, ValueError for
    negative sizes; a run raises DataLossError for an element that is larger.
    """
    if not isinstance(row_shape, Tensor):
        TensorShape(row_shape)

    def apply(dataset: Dataset) -> Dataset:
        if structure.is_nested(dataset.element_spec):
            raise TypeError("DenseToSparseDataset requires an input whose elements have a single component, whereas the input "
                            f"has {dataset.output_types}.")
        row = building.shape_vector(row_shape)
        spec = structure.sparse_tensor_structure(dataset.element_spec.dtype, [None, *row.sizes])
        tensor = raw.DenseToSparseBatchDataset(dataset._variant_tensor, batch_size, row.tensor, **structure.flat_attributes(spec))
        return dataset._made(tensor, spec)

    return apply


class RandomDataset(Dataset):
    """int64 random numbers of 32 bits, without end; `seed`: see ``tf.set_random_seed``."""

    _shown = "RandomDatasetV1"

    def __init__(self, seed: Any = None):
        spec = structure.tensor_structure(dtypes.int64, [])
        super().__init__(raw.RandomDataset(*building.seeds(seed), **structure.flat_attributes(spec)), spec)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """start, start + step, ... without end."""
    with name_scope("counter", None, []):
        first = convert_to_tensor(start, as_dtype(dtype), "start")
        ahead = convert_to_tensor(step, as_dtype(dtype), "step")
        return scan(first, lambda state, _: (state + ahead, state))(Dataset.from_tensors(0).repeat(None))


def choose_from_datasets(datasets: list, choice_dataset: Dataset) -> Dataset:
    """Elements of `datasets`; the int64 scalars of `choice_dataset` say of which one the next is.

    Raises TypeError for choices or datasets of other types.
    """
    if not structure.are_compatible(choice_dataset.element_spec, structure.tensor_structure(dtypes.int64, [])):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def sample_from_datasets(datasets: list, weights: Any = None, seed: Any = None) -> Dataset:
    """Elements of `datasets`, each drawn at random, in proportion to `weights` (equal ones without them).

    `weights`: floats, or a dataset of such.  Raises TypeError for weights that are no floats, ValueError for another number.
    """
    from jitgraph.ops.arrays.shape import expand_dims, squeeze
    from jitgraph.ops.elementwise.elementary import log

    count = len(datasets)

    def chosen(logits: Any, seeds: Any) -> Tensor:
        return squeeze(raw.StatelessMultinomial(logits, 1, seeds), axis=[0, 1])

    if isinstance(weights, Dataset):
        both = Dataset.zip((weights.map(lambda *p: log(p, name="logits")), RandomDataset(seed).batch(2)))
        return _directed(both.map(chosen), datasets)
    if weights is None:
        logits: Any = [[1.0] * count]
    else:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
        if not weights.shape.is_compatible_with([count]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = expand_dims(log(weights, name="logits"), 0)
    if count == 1:
        return datasets[0]
    return _directed(RandomDataset(seed).batch(2).map(lambda seeds: chosen(logits, seeds)), datasets)


def _directed(selector: Dataset, datasets: list) -> Dataset:
    first = datasets[0]
    for other in datasets[1:]:
        if other.output_types != first.output_types or other.output_classes != first.output_classes:
            raise TypeError("All datasets must have the same type and class.")
    spec = first.element_spec
    for other in datasets[1:]:
        spec = structure.common(spec, other.element_spec)
    tensor = raw.DirectedInterleaveDataset(selector._variant_tensor, [one._variant_tensor for one in datasets],
                                           **structure.flat_attributes(spec))
    return Dataset(tensor, spec, (selector, *datasets))


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset, as nested tensors.

    Raises TypeError for what is no dataset; a run raises InvalidArgumentError unless there is exactly one element.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return structure.from_tensors(dataset.element_spec, raw.DatasetToSingleElement(dataset._variant_tensor, **dataset._flat()))


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has, an int64 scalar: INFINITE_CARDINALITY (-1), UNKNOWN_CARDINALITY (-2) or the number."""
    return raw.DatasetCardinality(dataset._variant_tensor)


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset that a variant tensor holds, of elements of this structure."""
    return Dataset(variant, structure)


def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor that holds a dataset."""
    return dataset._variant_tensor


def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """Dictionaries of what ``tf.parse_example`` makes of each batch of serialized Examples.

    Raises ValueError without `features`.
    """
    from jitgraph.ops.files.parsing import parse_example

    if features is None:
        raise ValueError("Missing: features was None.")
    return lambda dataset: dataset.map(lambda serialized: parse_example(serialized, features), num_parallel_calls)


class TFRecordWriter:
    """Writes datasets of strings to a TFRecord file; `compression_type`: "", "ZLIB" or "GZIP"."""

    def __init__(self, filename: Any, compression_type: Any = None):
        self._filename = convert_to_tensor(filename, dtypes.string, "filename")
        self._compression_type = building.optional(compression_type, "compression_type", "", dtypes.string)

    def write(self, dataset: Dataset) -> Operation:
        """An operation that writes all elements of a dataset of string scalars.  Raises TypeError for other datasets."""
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if structure.is_nested(dataset.element_spec) or dataset.output_types != dtypes.string or \
                not dataset.output_shapes.is_compatible_with([]):
            raise TypeError("`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                            f"{dataset.output_shapes} and types {dataset.output_types}")
        return raw.DatasetToTFRecord(dataset._variant_tensor, self._filename, self._compression_type)


def rejection_resample(class_func: Callable, target_dist: Any, initial_dist: Any = None, seed: int | None = None) -> Transformation:
    """Pairs (class, element), some elements left out at random so that classes have the shares `target_dist`.

    ``class_func(element)``: an int32 scalar; `initial_dist`: the shares as they are, estimated if not given.
    """
    from jitgraph.data.resampling import resampled

    return lambda dataset: resampled(dataset, class_func, target_dist, initial_dist, seed, sample_from_datasets,
                                     lambda state, function: scan(state, function))


# -- tf.contrib.data ---------------------------------------------------------------------------------------------------

def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """``Dataset.batch`` without what is left."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Transformation:
    """``Dataset.padded_batch`` without what is left."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func: Callable, cycle_length: Any, block_length: Any = 1) -> Transformation:
    """``parallel_interleave``."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1) -> Transformation:
    """Batches of `window_size` elements, each beginning `window_shift` elements after the one before."""
    shift = 1 if window_shift is None and stride is None else stride if window_shift is None else window_shift

    def apply(dataset: Dataset) -> Dataset:
        def together(*parts: Any) -> Any:
            return Dataset.zip(structure.pack(dataset.element_spec, [part.batch(window_size) for part in
                                                                     structure.flatten(parts)]))

        return dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(together)

    return apply


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """The elements, with static shapes that a run checks.  Raises ValueError for shapes that cannot be."""
    from jitgraph.ops.arrays.identity import ensure_shape

    def apply(dataset: Dataset) -> Dataset:
        shapes = structure.flatten_up_to(dataset.element_spec, expected_shapes)

        def checked(*element: Any) -> Any:
            leaves = structure.flatten(element if type(dataset.element_spec) is tuple else element[0])
            return structure.pack(dataset.element_spec, [ensure_shape(leaf, shape) for leaf, shape in zip(leaves, shapes)])

        return dataset.map(checked)

    return apply


def reduce_dataset(dataset: Dataset, reducer: Any) -> Any:
    """What a ``Reducer`` makes of all elements of a dataset, as nested tensors."""
    from jitgraph.data.groups import group_by_reducer

    grouped = group_by_reducer(lambda *_: np.int64(0), reducer)(dataset)
    return get_single_element(grouped.take(1))


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same elements: a run copies what it needs to its device.  As in TensorFlow, nothing optimizes what follows."""

    def apply(dataset: Dataset) -> Dataset:
        count_nodes(3)          # a generator dataset over the wrapped one
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.experimental_optimization.autotune = False
        return dataset.with_options(options)

    return apply


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """Elements that are made ahead, up to `buffer_size` of them; a run copies them to its device."""
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(_AUTOTUNE if buffer_size is None else buffer_size)


_AUTOTUNE = -1
