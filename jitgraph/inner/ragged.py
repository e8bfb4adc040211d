"""Names of ``tensorflow.python.ops.ragged.*`` that are not public: conversions, rows repeated."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.rearrange import repeat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ragged.mapping import RaggedTensorType
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged, is_ragged, with_equal_splits_dtypes

__all__ = ["RaggedTensorType", "auto_cast_partition_dtype", "convert_to_tensor_or_ragged_tensor", "from_tensor", "is_ragged",
           "lengths_to_splits", "match_row_splits_dtypes", "repeat", "to_tensor"]

convert_to_tensor_or_ragged_tensor = as_ragged
match_row_splits_dtypes = with_equal_splits_dtypes


def auto_cast_partition_dtype() -> bool:
    """Whether splits of two dtypes are cast to one: they are not."""
    return False


def lengths_to_splits(lengths: Any) -> Tensor:
    """Where rows begin and end, from their lengths."""
    sizes = convert_to_tensor(lengths)
    return concat([convert_to_tensor([0], sizes.dtype), cumsum(sizes)], 0)


def from_tensor(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """``RaggedTensor.from_tensor``; what is ragged stays as it is."""
    return tensor if is_ragged(tensor) else RaggedTensor.from_tensor(tensor, *args, **kwargs)


def to_tensor(rt_input: Any, default_value: Any = None, name: str | None = None) -> Any:
    """``RaggedTensor.to_tensor``; what is dense stays as it is."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input
