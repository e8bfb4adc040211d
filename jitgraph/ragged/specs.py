"""``tf.RaggedTensorSpec``: what ragged tensors are like."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import TypeSpec
from jitgraph.ragged.ragged_tensor import RaggedTensor


class RaggedTensorSpec(TypeSpec):
    """The shape of a ragged tensor, None where rows differ, the dtype of its values, and how many dimensions are ragged.

    `ragged_rank`: all but the outermost by default.  Raises ValueError if that is not known or not less than the rank,
    TypeError if it is no int.
    """

    _FIELDS = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")
    value_type = property(lambda self: RaggedTensor if self._ragged_rank > 0 else Tensor)

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: Any = None,
                 row_splits_dtype: Any = dtypes.int64):
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a ragged tensor, or those of another spec, are of this."""
        ragged = hasattr(spec_or_value, "nested_row_splits")
        return super().is_compatible_with(RaggedTensorSpec.from_value(spec_or_value) if ragged else spec_or_value)

    def _from_parts(self, parts: Iterator[Tensor]) -> Any:
        value: Any = next(parts)
        for splits in reversed([next(parts) for _ in range(self._ragged_rank)]):        # those of the outermost rows come first
            value = RaggedTensor(value, splits, internal=True)
        return value

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """What a ragged tensor is like."""
        return cls(value.shape, value.flat_values.dtype, value.ragged_rank, value.row_splits.dtype)


def ragged_tensor_structure(dtype: Any, shape: Any, ragged_rank: int) -> RaggedTensorSpec:
    """``tf.data.experimental.RaggedTensorStructure``, an older name of RaggedTensorSpec."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)
