"""``tf.data.Dataset``."""
from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, ClassVar

from jitgraph import raw_ops as raw
from jitgraph.data import building, iterators, structure
from jitgraph.data.building import number
from jitgraph.data.leaves import VariantSpec
from jitgraph.data.mapped_function import MappedFunction, captures_variables
from jitgraph.data.options import Options
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor


class DatasetSpec(VariantSpec):
    """A component that is a dataset of elements of the structure `element_spec`."""

    _FIELDS = ("element_spec", "shape")
    is_dataset = True

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a Dataset."""
        return DatasetSpec(value.element_spec)


class Dataset:
    """A sequence of elements, each a nested structure (tuples, dicts, named tuples) of tensors or sparse tensors.

    Datasets are made from tensors, numbers, files or generators, and of each other; an iterator gives their elements to a
    graph.  Functions that transform elements become graphs and are compiled.
    """

    _kinds: ClassVar[dict[str, Any]] = {}       # of what ops make, told by the module of these classes
    _shown = "DatasetV1Adapter"     # by which name it is printed; a class without one by its own

    def __init__(self, variant_tensor: Tensor, element_spec: Any, inputs: tuple = (), functions: tuple = ()):
        self._variant_tensor, self._element_spec = variant_tensor, element_spec
        self._inputs, self._functions = inputs, functions
        self._options: Options | None = None

    def _made(self, tensor: Tensor, spec: Any = None, *functions: MappedFunction) -> Dataset:
        """A dataset made of this one."""
        return Dataset(tensor, self._element_spec if spec is None else spec, (self,), functions)

    def _flat(self) -> dict[str, list]:
        return structure.flat_attributes(self._element_spec)

    def _unary(self, kind: str, *inputs: Any, **attrs: Any) -> Dataset:
        """A dataset of elements of the same structure."""
        return self._made(getattr(raw, kind)(self._variant_tensor, *inputs, **attrs, **self._flat()))

    def __repr__(self) -> str:
        shapes = structure.map_structure(str, self.output_shapes)
        types = structure.map_structure(repr, self.output_types)
        kind = type(self)
        return f"<{vars(kind).get('_shown', kind.__name__)} shapes: {shapes}, types: {types}>".replace("'", "")

    def __iter__(self) -> Any:
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled. Write "
                           "element = dataset.make_one_shot_iterator().get_next() and run it in a tf.Session.")

    # -- what it is of

    @property
    def _dataset(self) -> Dataset:
        """The same as one of its kind, as programs look at it: a ``BatchDataset`` for what ``batch`` made."""
        kind = self._kinds.get(self._variant_tensor.op.type, self._kinds.get("unary" if self._inputs else "source"))
        return self if kind is None else kind._of(self)

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._element_spec

    @property
    def _variant_spec(self) -> DatasetSpec:
        return DatasetSpec(self._element_spec)

    @property
    def output_types(self) -> Any:
        """The dtype of each component, nested as the elements."""
        return iterators.legacy(self._element_spec)[0]

    @property
    def output_shapes(self) -> Any:
        """The TensorShape of each component, nested as the elements."""
        return iterators.legacy(self._element_spec)[1]

    @property
    def output_classes(self) -> Any:
        """The class of each component, Tensor or SparseTensor, nested as the elements."""
        return iterators.legacy(self._element_spec)[2]

    # -- sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A single element: a nested structure of what converts to tensors."""
        element = structure.normalized(tensors)
        spec = structure.spec_of(element)
        shapes = structure.flat_attributes(spec)["output_shapes"]
        return Dataset(raw.TensorDataset(structure.to_tensors(spec, element), output_shapes=shapes), spec)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of tensors along their first dimension, which has one size in all components.

        Raises ValueError for scalars and for sizes that differ; a run raises InvalidArgumentError.
        """
        element = structure.normalized(tensors)
        batched = structure.spec_of(element)
        spec = structure.unbatched(batched)
        rows = structure.to_rows(batched, element)
        first = rows[0].shape.with_rank_at_least(1)[0]
        for other in rows[1:]:
            first.assert_is_compatible_with(other.shape.with_rank_at_least(1)[0])
        shapes = structure.flat_attributes(spec)["output_shapes"]
        return Dataset(raw.TensorSliceDataset(rows, output_shapes=shapes), spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The rows of a SparseTensor, each as indices, values and shape.  Raises TypeError for anything else."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}.")
        rank = (sparse_tensor.indices.shape[1] - 1).merge_with(sparse_tensor.dense_shape.shape[0] - 1)
        spec = (structure.tensor_structure(dtypes.int64, [None, rank]), structure.tensor_structure(sparse_tensor.dtype, [None]),
                structure.tensor_structure(dtypes.int64, [rank]))
        parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        return Dataset(raw.SparseTensorSliceDataset(*parts), spec)

    @staticmethod
    def from_generator(generator: Callable, output_types: Any, output_shapes: Any = None, args: Any = None) -> Dataset:
        """What the iterators that ``generator(*args)`` returns yield: elements nested as `output_types`.

        `output_shapes`: nested alike, unknown if not given; `args`: tensors, given to the generator as arrays.  Raises
        TypeError if `generator` cannot be called.  A run raises InvalidArgumentError for an element of other types or
        shapes, and what the generator raises as ``tf.py_func`` does.
        """
        from jitgraph.data.generators import from_generator

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """int64 numbers: ``range(stop)``, ``range(start, stop)`` or ``range(start, stop, step)``.

        Raises ValueError for another number of arguments; a run raises InvalidArgumentError for a step of 0.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        spec = structure.tensor_structure(dtypes.int64, [])
        ends = [number(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step"))]
        return Dataset(raw.RangeDataset(*ends, **structure.flat_attributes(spec)), spec)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements of several datasets side by side, nested as `datasets`, as long as all have some.

        Raises TypeError for what is no nested structure of datasets.
        """
        leaves = structure.flatten(datasets)
        for one in leaves:
            if not isinstance(one, Dataset):
                hint = " The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                kind = "nested structures do not support Python lists; use a tuple instead." if isinstance(one, list) else repr(one)
                raise TypeError(f"{hint.strip()} {kind}")
        spec = structure.pack(datasets, [one.element_spec for one in leaves])
        tensor = raw.ZipDataset([one._variant_tensor for one in leaves], **structure.flat_attributes(spec))
        return Dataset(tensor, spec, tuple(leaves))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """The names of the files that match a pattern (or several), in random order unless `shuffle` is False.

        A run raises InvalidArgumentError if there is none.
        """
        from jitgraph.data.readers import list_files

        return list_files(file_pattern, shuffle, seed)

    # -- order and number

    def concatenate(self, dataset: Dataset) -> Dataset:
        """These elements and then those of `dataset`.  Raises TypeError if types or classes differ."""
        added = get_structure(dataset)
        for what in ("output_types", "output_classes"):
            own, other = getattr(self, what), getattr(dataset, what)
            if own != other:
                raise TypeError(f"Two datasets to concatenate have different {what[7:]} {own} and {other}")
        spec = structure.common(self._element_spec, added)
        tensor = raw.ConcatenateDataset(self._variant_tensor, dataset._variant_tensor, **structure.flat_attributes(spec))
        return Dataset(tensor, spec, (self, dataset))

    def repeat(self, count: Any = None) -> Dataset:
        """The elements `count` times: for ever without it, or with -1."""
        return self._unary("RepeatDataset", number(-1 if count is None else count, "count"))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements, all for -1."""
        return self._unary("TakeDataset", number(count, "count"))

    def skip(self, count: Any) -> Dataset:
        """The elements after the first `count`; none for -1."""
        return self._unary("SkipDataset", number(count, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, from number `index` on.

        A run raises InvalidArgumentError unless 0 <= index < num_shards.
        """
        return self._unary("ShardDataset", number(num_shards, "num_shards"), number(index, "index"))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None) -> Dataset:
        """The elements in random order: each is chosen among the next `buffer_size`.

        `seed`: see ``tf.set_random_seed``; equal seeds give TensorFlow's order.  Each repetition has an order of its own,
        unless `reshuffle_each_iteration` is False.
        """
        size, (first, second) = number(buffer_size, "buffer_size"), building.seeds(seed)
        return self._unary("ShuffleDataset", size, first, second, reshuffle_each_iteration=reshuffle_each_iteration is not False)

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, computed in the first iteration to the end, then kept: in memory, or in files named `filename`."""
        return self._unary("CacheDataset", convert_to_tensor(filename, dtypes.string, "filename"))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, up to `buffer_size` of them fetched ahead by a thread; -1 leaves the number to us."""
        return self._unary("PrefetchDataset", number(-1 if buffer_size is None else buffer_size, "buffer_size"))

    def enumerate(self, start: int = 0) -> Dataset:
        """Pairs (number, element), counted from `start`."""
        import numpy as np

        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    # -- batches

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements at a time, stacked along a new first dimension; `drop_remainder` leaves out what is left.

        A run raises InvalidArgumentError for elements of different shapes.
        """
        size, drop = number(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool_, "drop_remainder")
        rows = building.rows_of(size, drop)
        spec = structure.batched(self._element_spec, rows)
        return self._made(raw.BatchDatasetV2(self._variant_tensor, size, drop, **structure.flat_attributes(spec)), spec)

    def padded_batch(self, batch_size: Any, padded_shapes: Any, padding_values: Any = None,
                     drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements at a time, padded to `padded_shapes` and stacked.

        `padded_shapes`: nested as the elements; None or -1 stands for the largest size of the batch.  `padding_values`:
        scalars of the components' dtypes, 0 and "" if not given.  A run raises DataLossError for an element that is larger.
        """
        return building.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def unbatch(self) -> Dataset:
        """The slices of each element along its first dimension.  Raises ValueError for scalars and for known sizes that differ."""
        spec = self._element_spec
        if len({shape[0] for _, shape in structure.flat(spec) if shape} - {None}) > 1:
            raise ValueError(f"Cannot unbatch an input whose components have different batch sizes: {self.output_shapes}.")
        rows = self.map(lambda *element: tuple(structure.to_rows(spec, element if type(spec) is tuple else element[0])))
        slices = structure.unbatched(spec)
        tensor = raw.UnbatchDataset(rows._variant_tensor, **structure.flat_attributes(slices))
        return Dataset(tensor, slices, (rows,))

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Datasets of `size` elements each, every `stride`-th one; a window begins `shift` (`size`) elements after another.

        Components become datasets of their own: flat_map them with ``lambda w: w.batch(size)``.
        """
        shift = size if shift is None else shift
        size, shift, stride = number(size, "size"), number(shift, "shift"), number(stride, "stride")
        spec = structure.map_structure(DatasetSpec, self._element_spec)
        drop = convert_to_tensor(drop_remainder, dtypes.bool_, "drop_remainder")
        windows = raw.WindowDataset(self._variant_tensor, size, shift, stride, drop, **structure.flat_attributes(spec))
        return self._made(windows, spec)

    # -- functions

    def _function(self, function: Callable, name: str) -> MappedFunction:
        return MappedFunction(function, f"Dataset.{name}()", self._element_spec)

    def map(self, map_func: Callable, num_parallel_calls: Any = None) -> Dataset:
        """What `map_func` gives for each element; the components of a tuple are its arguments.

        `num_parallel_calls`: for how many elements at a time; the order stays.  A run raises what the function's operations
        raise.  Raises TypeError if the function gives what cannot become tensors.
        """
        function = self._function(map_func, "map")
        flat = structure.flat_attributes(function.spec)
        if num_parallel_calls is None:
            tensor = raw.MapDataset(self._variant_tensor, function.captured, f=function.graph, **flat)
        else:
            calls = convert_to_tensor(num_parallel_calls, dtypes.int32, "num_parallel_calls")
            tensor = raw.ParallelMapDataset(self._variant_tensor, function.captured, calls, f=function.graph, **flat)
        return self._made(tensor, function.spec, function)

    def map_with_legacy_function(self, map_func: Callable, num_parallel_calls: Any = None) -> Dataset:
        """``map``."""
        return self.map(map_func, num_parallel_calls)

    def filter(self, predicate: Callable) -> Dataset:
        """The elements for which `predicate` gives True.  Raises ValueError if it gives no bool scalar."""
        function = self._function(predicate, "filter")
        if not structure.are_compatible(function.spec, structure.tensor_structure(dtypes.bool_, [])):
            raise ValueError("`predicate` return type must be convertible to a scalar boolean tensor. Was "
                             f"{function.spec}.")
        tensor = raw.FilterDataset(self._variant_tensor, function.captured, predicate=function.graph, **self._flat())
        return self._made(tensor, None, function)

    def filter_with_legacy_function(self, predicate: Callable) -> Dataset:
        """``filter``."""
        return self.filter(predicate)

    def flat_map(self, map_func: Callable) -> Dataset:
        """The elements of the datasets that `map_func` gives.  Raises TypeError if it gives anything else."""
        function, spec = building.dataset_function(self, map_func, "Dataset.flat_map()")
        tensor = raw.FlatMapDataset(self._variant_tensor, function.captured, f=function.graph, **structure.flat_attributes(spec))
        return self._made(tensor, spec, function)

    def interleave(self, map_func: Callable, cycle_length: Any = -1, block_length: Any = 1,
                   num_parallel_calls: Any = None) -> Dataset:
        """The elements of the datasets that `map_func` gives: `cycle_length` of them in turn, `block_length` elements each.

        Raises TypeError if the function gives no dataset.
        """
        function, spec = building.dataset_function(self, map_func, "Dataset.interleave()")
        given = [self._variant_tensor, function.captured, number(cycle_length, "cycle_length"),
                 number(block_length, "block_length")]
        flat = structure.flat_attributes(spec)
        if num_parallel_calls is None:
            return self._made(raw.InterleaveDataset(*given, f=function.graph, **flat), spec, function)
        calls = number(num_parallel_calls, "num_parallel_calls")
        return self._made(raw.ParallelInterleaveDatasetV2(*given, calls, f=function.graph, **flat), spec, function)

    def reduce(self, initial_state: Any, reduce_func: Callable) -> Any:
        """The last of the states that ``reduce_func(state, element)`` gives, from `initial_state` on: nested tensors.

        Raises TypeError if the function gives a state of other types.
        """
        with name_scope("initial_state", None, []):
            state = structure.normalized(initial_state)
        function, spec = building.state_function(self, state, reduce_func, "reduce()")
        found = raw.ReduceDataset(self._variant_tensor, structure.to_tensors(spec, state), function.captured, f=function.graph,
                                  **structure.flat_attributes(spec))
        return structure.from_tensors(spec, found)

    def _autograph_for_loop(self, *loop: Any) -> tuple:
        """A loop over the dataset, see ``jitgraph.data.python_loops``."""
        from jitgraph.data.python_loops import for_loop

        return for_loop(self, *loop)

    def apply(self, transformation_func: Callable) -> Dataset:
        """``transformation_func(self)``.  Raises TypeError if that is no dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {made}.")
        if made is not self:
            made._inputs = made._inputs or (self,)
        return made

    # -- iteration

    def options(self) -> Options:
        """The options of this dataset and those it is made of."""
        found = Options()
        for source in self._inputs:
            found = found.merge(source.options())
        return found if self._options is None else found.merge(self._options)

    def with_options(self, options: Options) -> Dataset:
        """The same with options.  Raises ValueError if they contradict those that are set."""
        made = self._made(self._variant_tensor)
        made._options = options
        made.options()
        return made

    def _apply_options(self, tensor: Tensor | None = None) -> Dataset:
        """What an iterator goes over: the dataset (or `tensor`, which stands for it) as TensorFlow's optimiser leaves it."""
        tensor, options, flat = self._variant_tensor if tensor is None else tensor, self.options(), self._flat()
        names = options.static_optimizations()
        if names and not self._reads_variables():
            tensor = raw.OptimizeDataset(tensor, convert_to_tensor(names, dtypes.string, "optimizations"), **flat)
        if options.experimental_optimization.autotune is not False:
            tensor = raw.ModelDataset(tensor, **flat)
        stats = options.experimental_stats
        if stats.aggregator is not None:
            tags = [convert_to_tensor(text or "", dtypes.string) for text in (stats.prefix, stats.counter_prefix)]
            tensor = raw.SetStatsAggregatorDataset(tensor, stats.aggregator._resource, *tags, **flat)
        return Dataset(tensor, self._element_spec, (self,))

    def _reads_variables(self) -> bool:
        return builtins.any(captures_variables(f.graph) for f in self._functions) or builtins.any(
            source._reads_variables() for source in self._inputs)

    def make_one_shot_iterator(self) -> iterators.Iterator:
        """An iterator that goes over the elements once and needs no initialisation.

        Raises ValueError if the dataset depends on a placeholder, a variable or something else that has a state.
        """
        return iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterators.Iterator:
        """An iterator whose ``initializer`` begins a new iteration; the dataset may depend on placeholders."""
        return iterators.make_initializable_iterator(self, shared_name)


DatasetSpec.value_class = Dataset


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtype of each component of the elements of a dataset or iterator."""
    return iterators.legacy(dataset_or_iterator.element_spec)[0]


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The TensorShape of each component of the elements of a dataset or iterator."""
    return iterators.legacy(dataset_or_iterator.element_spec)[1]


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The class of each component of the elements of a dataset or iterator."""
    return iterators.legacy(dataset_or_iterator.element_spec)[2]


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of the elements of a dataset or iterator.  Raises TypeError for anything else."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError("`dataset_or_iterator` must be a Dataset or Iterator object, but got "
                        f"{type(dataset_or_iterator)}.") from None
