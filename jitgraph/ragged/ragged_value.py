"""What a run gives for a ragged tensor: arrays."""
from __future__ import annotations

from typing import Any

import numpy as np


class RaggedTensorValue:
    """`values`, an array or another RaggedTensorValue, in rows that end where `row_splits`, an int array, says.

    Raises TypeError or ValueError for other types, or if the splits within are of another type.
    """

    def __init__(self, values: Any, row_splits: Any):
        if not (isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.dtype in (np.int64, np.int32)
                and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values, self._row_splits = values, row_splits

    @property
    def values(self) -> Any:
        """The elements of all rows, one after the other."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return self._row_splits

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self._values.dtype

    @property
    def flat_values(self) -> Any:
        """The elements of the innermost rows."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple:
        """The splits of all ragged dimensions, outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self) -> tuple:
        """The shape, None where rows differ."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def to_list(self) -> list:
        """Lists in lists."""
        values: Any = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        splits = np.asarray(self._row_splits)
        return [values[begin:end] for begin, end in zip(splits[:-1], splits[1:])]
