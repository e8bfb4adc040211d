"""Lines "label index:value index:value ..." as labels and a sparse tensor of features."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.dtypes import TypeSet

_NUMBERS = TypeSet(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _shapes(c: Any) -> list:
    shape = c.shapes[0]
    rank = None if shape is None else len(shape) + 1
    return [shape, (None, rank), (None,), (rank,)]


def _number(text: bytes, dtype: np.dtype, what: str, line: bytes) -> Any:
    try:
        return dtype.type(int(text) if dtype.kind == "i" else float(text))
    except (ValueError, OverflowError):
        raise invalid(f"{what} format incorrect: {line.decode(errors='replace')}") from None


@op("DecodeLibsvm(input: string; dtype: type = float32, label_dtype: type = int64, num_features: int >= 1) -> label: label_dtype, "
    "feature_indices: int64, feature_values: dtype, feature_shape: int64", dtype=_NUMBERS.with_default(dtypes.float32),
    label_dtype=_NUMBERS.with_default(dtypes.int64), shape=_shapes, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(b"1 1:3.4 2:0.5 4:0.231", b"-1 0:2.5")], {"num_features": 6})])
def _decode(input, dtype, label_dtype, num_features):
    """The labels, and the indices, values and shape of the features."""
    labels = np.zeros(input.shape, label_dtype.as_numpy_dtype)
    places: list[tuple] = []
    values: list[Any] = []
    for place in np.ndindex(input.shape):
        line = bytes(input[place])
        words = line.split()
        labels[place] = _number(words[0] if words else b"", labels.dtype, "Label", line)
        for word in words[1:]:
            index, _, value = word.partition(b":")
            number = int(_number(index, np.dtype(np.int64), "Feature", line))
            if number < 0:
                raise invalid(f"Feature index should be >= 0, got {number}")
            places.append((*place, number))
            values.append(_number(value, np.dtype(dtype.as_numpy_dtype), "Feature", line))
    found = np.array(places, np.int64).reshape(-1, input.ndim + 1)
    return labels, found, np.array(values, dtype.as_numpy_dtype), np.array([*input.shape, num_features], np.int64)


def decode_libsvm(content: Any, num_features: int, dtype: Any = None, label_dtype: Any = None) -> tuple[SparseTensor, Any]:
    """(features [..., num_features], labels [...]) of strings in LIBSVM's format.

    `dtype` is that of the features, float32 if None; `label_dtype` int64 if None.  A run raises InvalidArgumentError for text of
    another format.
    """
    labels, *features = raw.DecodeLibsvm(content, num_features=num_features, dtype=dtype or dtypes.float32,
                                         label_dtype=label_dtype or dtypes.int64)
    return SparseTensor(*features), labels
