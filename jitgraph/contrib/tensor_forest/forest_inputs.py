"""What forests are fed: features as one matrix, with a description of its columns, and labels as floats."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.cast import cast

_FLOAT, _CATEGORICAL = 0, 1


class DataSpec:
    """The columns of the matrix: [(name, 0 for numbers or 1 for ids, size)]."""

    def __init__(self, columns: list):
        self.columns = columns
        self.dense_features_size = sum(int(size) for _, _, size in columns)

    def SerializeToString(self) -> str:
        """The description that the ops take."""
        dense = "".join(f"{{name: {name} original_type: {kind} size: {size}}}" for name, kind, size in self.columns)
        return f"dense_features_size: {self.dense_features_size} dense: [{dense}] sparse: []"


def _kind(dtype: Any) -> int:
    return _FLOAT if dtype.is_floating else _CATEGORICAL


def features_of(data: Any) -> tuple[Any, DataSpec]:
    """(float32 [n, features], DataSpec) of a tensor, or of a dict of tensors in the order of their names.

    Raises NotImplementedError for sparse features and for strings.
    """
    found: list[Any] = []
    columns: list[tuple] = []
    for key in sorted(data) if isinstance(data, dict) else [None]:
        tensor = data if key is None else data[key]
        if isinstance(tensor, SparseTensor) or getattr(tensor, "dtype", None) == dtypes.string:
            raise NotImplementedError("Forests of sparse features, or of strings, are not part of jitgraph: make them numbers with "
                                      "tf.sparse_tensor_to_dense and tf.string_to_hash_bucket_fast.")
        tensor = convert_to_tensor(tensor)
        shape = tensor.get_shape()
        size = 1 if len(shape) == 1 else shape[1].value
        name = "dense_features" if key is None else key if isinstance(key, str) else getattr(key, "column_name", str(len(found)))
        columns.append((name, _kind(tensor.dtype), size))
        found.append(cast(tensor, dtypes.float32) if tensor.dtype.is_integer else tensor)
    spec = DataSpec(columns)
    return (found[0] if not isinstance(data, dict) else concat(found, 1)), spec


def labels_of(labels: Any) -> Any:
    """Labels as float32; those of a dict side by side in the order of their names."""
    if isinstance(labels, dict):
        labels = concat([labels[key] for key in sorted(labels)], 1)
    return cast(labels, dtypes.float32)
