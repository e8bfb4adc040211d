"""Ragged tensors and tensor arrays in datasets: one variant holds each."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data.leaves import TensorForm
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import DType
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ragged.ragged_tensor import RaggedTensor, as_ragged
from jitgraph.ragged.specs import RaggedTensorSpec
from jitgraph.tensor_arrays.list_arrays import ListArray, list_of_rows
from jitgraph.tensor_arrays.specs import TensorArraySpec


class RaggedForm(TensorForm):
    """Of ragged tensors; the rows of one with one ragged dimension are of the rank 0, which only batches have as values."""

    @staticmethod
    def flat(spec: Any) -> tuple[DType, Any]:
        return dtypes.variant, None

    @staticmethod
    def to_tensor(spec: Any, value: Any) -> Tensor:
        ragged = as_ragged(value)
        return raw.RaggedTensorToVariant(ragged.nested_row_splits, ragged.flat_values, batched_input=False)

    @classmethod
    def to_rows(cls, spec: Any, value: Any) -> Tensor:
        ragged = as_ragged(value)
        return raw.RaggedTensorToVariant(ragged.nested_row_splits, ragged.flat_values, batched_input=True)

    @staticmethod
    def from_tensor(spec: Any, tensor: Tensor) -> Any:
        rank = spec._ragged_rank
        if rank <= 0:
            raise ValueError(f"ragged_rank must be non-negative; got {rank}.")
        found = raw.RaggedTensorFromVariant(tensor, input_ragged_rank=-1, output_ragged_rank=rank, Tvalues=spec._dtype,
                                            Tsplits=spec._row_splits_dtype)
        splits, values = found.output_nested_splits, found.output_dense_values
        sizes = spec._shape
        if sizes.ndims is not None:
            if sizes[0].value is not None:
                splits[0].set_shape([sizes[0].value + 1])
            values.set_shape(TensorShape([None]).concatenate(sizes[1 + rank:]))
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)

    @classmethod
    def batched(cls, spec: Any, size: int | None) -> Any:
        return RaggedTensorSpec(TensorShape([size]).concatenate(spec._shape), spec._dtype, spec._ragged_rank + 1,
                                spec._row_splits_dtype)

    @classmethod
    def unbatched(cls, spec: Any) -> Any:
        return RaggedTensorSpec(spec._shape[1:], spec._dtype, spec._ragged_rank - 1, spec._row_splits_dtype)

    @staticmethod
    def output_type(spec: Any) -> Any:
        return spec._dtype

    @staticmethod
    def output_shape(spec: Any) -> Any:
        return spec._shape

    @staticmethod
    def output_class(spec: Any) -> Any:
        return spec


class TensorArrayForm(TensorForm):
    """Of tensor arrays: a list of their elements."""

    @staticmethod
    def flat(spec: Any) -> tuple[DType, Any]:
        return dtypes.variant, ()

    @staticmethod
    def to_tensor(spec: Any, value: Any) -> Tensor:
        return value.flow if isinstance(value, ListArray) else list_of_rows(value.stack())

    @staticmethod
    def from_tensor(spec: Any, tensor: Tensor) -> Any:
        return ListArray(spec._dtype, flow=tensor, dynamic_size=spec._dynamic_size, infer_shape=spec._infer_shape,
                         element_shape=spec._element_shape)

    @classmethod
    def batched(cls, spec: Any, size: int | None) -> Any:
        raise NotImplementedError("Elements that are TensorArrays cannot be batched: stack them first, dataset.map(lambda array: "
                                  "array.stack()).")

    @staticmethod
    def output_type(spec: Any) -> Any:
        return spec._dtype

    @staticmethod
    def output_shape(spec: Any) -> Any:
        return TensorShape([spec._dynamic_size, spec._infer_shape]).concatenate(spec._element_shape)


FORMS = {RaggedTensorSpec: RaggedForm, TensorArraySpec: TensorArrayForm}
