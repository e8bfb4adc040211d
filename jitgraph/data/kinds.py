"""Datasets by what makes their elements: the classes of ``tensorflow.python.data.ops.dataset_ops``.

What the methods of ``tf.data.Dataset`` give is a ``DatasetV1Adapter``, whose ``_dataset`` is of one of these classes; so is what
they make themselves.  What a class was given has the names of its op's inputs: ``_count``, ``_buffer_size``.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.data import structure
from jitgraph.data.dataset import Dataset
from jitgraph.graph.tensor import Tensor


class Kind(Dataset):
    """A dataset of one kind.  Subclasses of programs state ``element_spec``, and give their base the variant tensor."""

    def __init__(self, variant_tensor: Tensor, element_spec: Any = None, inputs: tuple = (), functions: tuple = ()):
        super().__init__(variant_tensor, self.element_spec if element_spec is None else element_spec, inputs, functions)

    def _be(self, made: Dataset) -> None:
        """Takes the elements of a dataset that a method made."""
        Kind.__init__(self, made._variant_tensor, made._element_spec, made._inputs, made._functions)
        self._options = made._options

    @property
    def _flat_structure(self) -> dict[str, list]:
        """The attributes `output_types` and `output_shapes` of ops that make such elements."""
        return structure.flat_attributes(self.element_spec)

    def __getattr__(self, name: str) -> Any:
        tensor = self.__dict__.get("_variant_tensor")
        if tensor is not None and name.startswith("_") and tensor.op.opdef is not None:
            names = [arg.name for arg in tensor.op.opdef.inputs]
            if name == "_input_dataset" and names[0] == "input_dataset":
                return self._inputs[0]
            if name[1:] in names and len(names) == len(tensor.op.inputs):
                return tensor.op.inputs[names.index(name[1:])]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def _of(cls, dataset: Dataset) -> Kind:
        """A dataset as one of this kind."""
        found = cls.__new__(cls)
        found._be(dataset)
        return found


class _OfAdapters(type):
    """All datasets are instances but those of a kind."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Dataset) and not isinstance(instance, Kind)


class DatasetV1Adapter(Dataset, metaclass=_OfAdapters):
    """A dataset with the methods of version 1, of any."""

    def __init__(self, dataset: Dataset):
        super().__init__(dataset._variant_tensor, dataset._element_spec, dataset._inputs, dataset._functions)
        self._options = dataset._options


class DatasetSource(Kind):
    """Elements that come from no dataset: the base of those that programs make by ops."""

    def __init__(self, variant_tensor: Tensor):
        super().__init__(variant_tensor)


class UnaryDataset(Kind):
    """What is made of one dataset: the base of those that programs make by ops."""

    def __init__(self, input_dataset: Dataset, variant_tensor: Tensor):
        super().__init__(variant_tensor, inputs=(input_dataset,))


class UnaryUnchangedStructureDataset(UnaryDataset):
    """What is made of one dataset, with elements of its structure."""

    def __init__(self, input_dataset: Dataset, variant_tensor: Tensor):
        Kind.__init__(self, variant_tensor, input_dataset.element_spec, (input_dataset,))

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._input_dataset.element_spec


class VariantDataset(Kind):
    """The dataset of a variant tensor, with elements of `structure`."""

    _shown = "_VariantDataset"

    def __init__(self, dataset_variant: Tensor, structure: Any):
        super().__init__(dataset_variant, structure)


class TensorDataset(DatasetSource):
    """``Dataset.from_tensors``"""

    def __init__(self, element: Any):
        self._be(Dataset.from_tensors(element))


class TensorSliceDataset(DatasetSource):
    """``Dataset.from_tensor_slices``"""

    def __init__(self, element: Any):
        self._be(Dataset.from_tensor_slices(element))


class SparseTensorSliceDataset(DatasetSource):
    """``Dataset.from_sparse_tensor_slices``"""

    def __init__(self, sparse_tensor: Any):
        self._be(Dataset.from_sparse_tensor_slices(sparse_tensor))


class RangeDataset(DatasetSource):
    """``Dataset.range``"""

    def __init__(self, *args: Any):
        self._be(Dataset.range(*args))


class ZipDataset(Kind):
    """``Dataset.zip``"""

    def __init__(self, datasets: Any):
        self._be(Dataset.zip(datasets))


class ConcatenateDataset(Kind):
    """``input_dataset.concatenate(dataset_to_concatenate)``"""

    def __init__(self, input_dataset: Dataset, dataset_to_concatenate: Dataset):
        self._be(input_dataset.concatenate(dataset_to_concatenate))

    @property
    def _dataset_to_concatenate(self) -> Dataset:
        found: Dataset = self._inputs[1]
        return found


class MapDataset(UnaryDataset):
    """``input_dataset.map(map_func)``; how TensorFlow runs it changes nothing in the elements."""

    def __init__(self, input_dataset: Dataset, map_func: Callable, use_inter_op_parallelism: bool = True,
                 preserve_cardinality: bool = False, use_legacy_function: bool = False):
        self._be(input_dataset.map(map_func))


class ParallelMapDataset(UnaryDataset):
    """``input_dataset.map(map_func, num_parallel_calls)``"""

    def __init__(self, input_dataset: Dataset, map_func: Callable, num_parallel_calls: Any, use_inter_op_parallelism: bool = True,
                 preserve_cardinality: bool = False, use_legacy_function: bool = False):
        self._be(input_dataset.map(map_func, num_parallel_calls))


class FlatMapDataset(UnaryDataset):
    """``input_dataset.flat_map(map_func)``"""

    def __init__(self, input_dataset: Dataset, map_func: Callable):
        self._be(input_dataset.flat_map(map_func))


class InterleaveDataset(UnaryDataset):
    """``input_dataset.interleave(map_func, cycle_length, block_length)``"""

    def __init__(self, input_dataset: Dataset, map_func: Callable, cycle_length: Any, block_length: Any):
        self._be(input_dataset.interleave(map_func, cycle_length, block_length))


class ParallelInterleaveDataset(UnaryDataset):
    """``input_dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls)``"""

    def __init__(self, input_dataset: Dataset, map_func: Callable, cycle_length: Any, block_length: Any,
                 num_parallel_calls: Any):
        self._be(input_dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls))


class FilterDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.filter(predicate)``"""

    def __init__(self, input_dataset: Dataset, predicate: Callable, use_legacy_function: bool = False):
        self._be(input_dataset.filter(predicate))


class RepeatDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.repeat(count)``"""

    def __init__(self, input_dataset: Dataset, count: Any):
        self._be(input_dataset.repeat(count))


class TakeDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.take(count)``"""

    def __init__(self, input_dataset: Dataset, count: Any):
        self._be(input_dataset.take(count))


class SkipDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.skip(count)``"""

    def __init__(self, input_dataset: Dataset, count: Any):
        self._be(input_dataset.skip(count))


class ShardDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.shard(num_shards, index)``"""

    def __init__(self, input_dataset: Dataset, num_shards: Any, index: Any):
        self._be(input_dataset.shard(num_shards, index))


class ShuffleDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.shuffle(buffer_size, seed, reshuffle_each_iteration)``"""

    def __init__(self, input_dataset: Dataset, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None):
        self._be(input_dataset.shuffle(buffer_size, seed, reshuffle_each_iteration))


class CacheDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.cache(filename)``"""

    def __init__(self, input_dataset: Dataset, filename: Any):
        self._be(input_dataset.cache(filename))


class PrefetchDataset(UnaryUnchangedStructureDataset):
    """``input_dataset.prefetch(buffer_size)``"""

    def __init__(self, input_dataset: Dataset, buffer_size: Any, slack_period: Any = None):
        self._be(input_dataset.prefetch(buffer_size))


class BatchDataset(UnaryDataset):
    """``input_dataset.batch(batch_size, drop_remainder)``"""

    def __init__(self, input_dataset: Dataset, batch_size: Any, drop_remainder: Any):
        self._be(input_dataset.batch(batch_size, drop_remainder))


class PaddedBatchDataset(UnaryDataset):
    """``input_dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder)``"""

    def __init__(self, input_dataset: Dataset, batch_size: Any, padded_shapes: Any, padding_values: Any, drop_remainder: Any):
        self._be(input_dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder))


class WindowDataset(UnaryDataset):
    """``input_dataset.window(size, shift, stride, drop_remainder)``"""

    def __init__(self, input_dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any):
        self._be(input_dataset.window(size, shift, stride, drop_remainder))


Dataset._kinds.update({
    "source": DatasetSource, "unary": UnaryDataset, "TensorDataset": TensorDataset,
    "TensorSliceDataset": TensorSliceDataset, "SparseTensorSliceDataset": SparseTensorSliceDataset,
    "RangeDataset": RangeDataset, "ZipDataset": ZipDataset, "ConcatenateDataset": ConcatenateDataset, "MapDataset": MapDataset,
    "ParallelMapDataset": ParallelMapDataset, "FlatMapDataset": FlatMapDataset, "InterleaveDataset": InterleaveDataset,
    "ParallelInterleaveDatasetV2": ParallelInterleaveDataset, "FilterDataset": FilterDataset, "RepeatDataset": RepeatDataset,
    "TakeDataset": TakeDataset, "SkipDataset": SkipDataset, "ShardDataset": ShardDataset, "ShuffleDataset": ShuffleDataset,
    "CacheDataset": CacheDataset, "PrefetchDataset": PrefetchDataset, "BatchDatasetV2": BatchDataset,
    "PaddedBatchDatasetV2": PaddedBatchDataset, "WindowDataset": WindowDataset})
