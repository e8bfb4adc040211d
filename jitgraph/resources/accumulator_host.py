"""Accumulators: gradients of several workers added up until enough of them are there."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import errors, shapes
from jitgraph.resources.condition import Condition
from jitgraph.resources.queue_host import Wait


class Accumulator:
    """Gradients added up until enough of them are there; those computed from an older step are dropped.

    `make_sum` gives a fresh sum, a ``DenseSum`` or ``SparseSum``.
    """

    def __init__(self, name: str, mean: bool, make_sum: Any):
        self.name, self._mean, self._make_sum = name, mean, make_sum
        self.condition = Condition()
        self.count, self.step = 0, 0
        self._sum = make_sum()

    def check_same(self, other: Accumulator) -> None:
        """Accumulators of one shared name are one."""

    def apply(self, gradient: Any, step: int) -> None:
        """Adds a gradient computed at `step`, unless that is older than the accumulator's own."""
        with self.condition:
            if step < self.step:
                return
            self._sum.add(gradient)
            self.count += 1
            self.condition.notify_all()

    def take(self, required: int, wait: Wait) -> Any:
        """The mean (or sum) of the gradients, once there are `required` of them; starts anew at the next step."""
        if required <= 0:
            raise errors.InvalidArgumentError(None, None, f"Argument num_required must be positive, but was {required}")
        with self.condition:
            wait(self.condition, lambda: self.count >= required)
            result = self._sum.finish(self.count if self._mean else None)
            self._sum, self.count = self._make_sum(), 0
            self.step += 1
            return result

    def set_step(self, step: int) -> None:
        """Moves on to `step`; never back."""
        with self.condition:
            self.step = max(self.step, step)


class DenseSum:
    """The sum of arrays of one shape."""

    def __init__(self, shape: tuple | None):
        self._shape = shape
        self._total: np.ndarray | None = None

    def add(self, array: np.ndarray) -> None:
        wanted = self._shape if self._total is None else self._total.shape
        if wanted is not None and (len(wanted) != array.ndim or any(
                w is not None and w != d for w, d in zip(wanted, array.shape))):
            raise errors.InvalidArgumentError(None, None, f"Shape mismatch: expected {shapes.brackets(wanted)}, got "
                                                          f"{shapes.brackets(array.shape)}")
        self._total = np.array(array) if self._total is None else self._total + array

    def finish(self, count: int | None) -> np.ndarray:
        assert self._total is not None
        return self._total if count is None else (self._total / count).astype(self._total.dtype)


class SparseSum:
    """The sum of slices: (indices, values, shape); means are taken per row, over the gradients that have it."""

    def __init__(self, shape: tuple | None):
        self._shape = shape
        self._rows: dict[int, tuple] = {}
        self._dtype: Any = None

    def add(self, gradient: tuple) -> None:
        indices, values, dense_shape = gradient
        _check_slices(indices, values)
        self._check(values, dense_shape)
        self._dtype = values.dtype
        counted = set()
        for index, row in zip(indices.tolist(), values):
            total, count = self._rows.get(index, (0, 0))
            self._rows[index] = (total + row, count + (index not in counted))
            counted.add(index)

    def _check(self, values: np.ndarray, dense_shape: Any) -> None:
        wanted = self._shape
        if wanted is None:
            return
        for what, rank in (("shape", None if dense_shape is None else np.size(dense_shape)), ("values", values.ndim)):
            if rank is not None and rank < len(wanted):
                raise errors.InvalidArgumentError(None, None, f"Shape mismatch: expected {what} rank at least {len(wanted)}, got "
                                                              f"{rank}")
        for axis, size in enumerate(wanted):
            found = None if dense_shape is None else dense_shape[axis]
            if size is not None and found is not None and size != found:
                raise errors.InvalidArgumentError(None, None, f"Shape mismatch: expected shape dim {axis} to be {size}, "
                                                              f"got {found}")
            if axis and size is not None and values.shape[axis] != size:
                raise errors.InvalidArgumentError(None, None, f"Shape mismatch: expected values dim {axis} to be {size}, "
                                                              f"got {values.shape[axis]}")

    def finish(self, count: int | None) -> tuple:
        indices = np.array(sorted(self._rows), np.int64)
        rows = [total if count is None else total / number for total, number in (self._rows[i] for i in sorted(self._rows))]
        values = np.array(rows, self._dtype)
        first = self._shape[0] if self._shape else None         # what the gradients say of it is not kept
        return indices, values, np.array((-1 if first is None else first, *values.shape[1:]), np.int64)


def _check_slices(indices: np.ndarray, values: np.ndarray) -> None:
    """Raises InvalidArgumentError for indices that are no vector, or slices that are not as many."""
    if indices.ndim != 1:
        raise errors.InvalidArgumentError(None, None, "Input indices should be vector but received shape: "
                                                      f"{shapes.brackets(indices.shape)}")
    if not values.ndim:
        raise errors.InvalidArgumentError(None, None, "Values cannot be 0-dimensional.")
    if len(values) != len(indices):
        raise errors.InvalidArgumentError(None, None, f"Expected {len(indices)} non-empty input values, got {len(values)}")
