"""``tensorflow.python.data.experimental.ops.distribute`` and ``matching_files``: what workers and replicas get of a dataset."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.data.building import number
from jitgraph.data.dataset import Dataset
from jitgraph.data.leaves import form
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.type_specs import TensorSpec


def _AutoShardDataset(input_dataset: Dataset, num_workers: Any, index: Any) -> Dataset:
    """The share of the worker `index`: some of the files that `input_dataset` reads, or else some of its elements.

    A run raises InvalidArgumentError for a worker that is not there.
    """
    return input_dataset._unary("AutoShardDataset", number(num_workers, "num_workers"), number(index, "index"))


_AutoShardDatasetV1 = _AutoShardDataset


def _RebatchDataset(input_dataset: Dataset, num_replicas: int, use_fallback: bool = True) -> Dataset:
    """Batches cut into `num_replicas` parts, one after the other.  Raises ValueError for elements that are no batches."""
    spec = structure.map_structure(lambda leaf: form(leaf).of_shape(leaf, _of_part(leaf.shape, num_replicas)),
                                   input_dataset.element_spec)
    tensor = raw.RebatchDataset(input_dataset._variant_tensor, num_replicas=num_replicas, use_fallback=use_fallback,
                                **structure.flat_attributes(spec))
    return input_dataset._made(tensor, spec)


def _of_part(shape: TensorShape, num_replicas: int) -> TensorShape:
    if shape.ndims == 0:
        raise ValueError("Input shape should have at least one dimension. Perhaps your input dataset is not batched?")
    if shape.ndims is None:
        return shape
    size = shape[0].value
    return TensorShape([size // num_replicas if size is not None and num_replicas and size % num_replicas == 0 else None,
                        *shape[1:]])


def MatchingFilesDataset(patterns: Any) -> Dataset:
    """The names of the files that match one of the patterns, in the order of each."""
    given = convert_to_tensor(patterns, dtypes.string, name="patterns")
    return Dataset(raw.MatchingFilesDataset(given), TensorSpec([], dtypes.string))
