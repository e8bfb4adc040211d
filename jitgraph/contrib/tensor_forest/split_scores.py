"""What is summed of the examples of leaves, and how good splits are by it."""
from __future__ import annotations

from typing import Any

import numpy as np

_F32 = np.float32


def _longer(array: np.ndarray, rows: int, shape: tuple) -> np.ndarray:
    return np.concatenate([array, np.zeros((rows, *shape), np.float32)]) if array.size else np.zeros(
        (len(array) + rows, *shape), np.float32)


class ClassCounts:
    """How often each class came, in all and on the left of each candidate; splits are scored by Gini's impurity."""

    def __init__(self, classes: int):
        self._classes = classes
        self._total, self._left = np.zeros((0, classes), np.float32), np.zeros((0, 0, classes), np.float32)

    def grow(self, rows: int, splits: int) -> None:
        """Has more rows."""
        self._total = _longer(self._total, rows, (self._classes,))
        self._left = _longer(self._left, rows, (splits, self._classes))

    def clear(self, row: int) -> None:
        """Begins a row anew."""
        self._total[row], self._left[row] = 0, 0

    def add(self, rows: np.ndarray, left: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        """Counts examples; `left` [n, splits] says where candidates send them."""
        classes = labels.astype(np.int64).reshape(-1)
        np.add.at(self._total, (rows, classes), weights)
        example, split = np.nonzero(left)
        np.add.at(self._left, (rows[example], split, classes[example]), weights[example])

    def state(self, rows: np.ndarray) -> dict[int, Any]:
        """The counts of rows, for ``finishes``."""
        return {row: self._total[row].copy() for row in rows.tolist()}

    def is_finished(self, row: int, split_after: Any) -> bool:
        """Whether enough examples of more than one class came."""
        total = self._total[row]
        return bool(total.sum() >= split_after and np.count_nonzero(total) > 1)

    def finishes(self, counts: np.ndarray, label: Any, weight: Any, split_after: Any) -> bool:
        """Whether this holds after one more example, which `counts` take in."""
        counts[int(np.ravel(label)[0])] += weight
        return bool(counts.sum() >= split_after and np.count_nonzero(counts) > 1)

    def best(self, row: int, splits: int) -> int:
        """The candidate of the smallest impurity, -1 if none has examples on both sides."""
        left, total = self._left[row, :splits], self._total[row]
        right = total - left
        sums = left.sum(1), right.sum(1)
        score = _impurity(left, sums[0]) + _impurity(right, sums[1])
        score[(sums[0] <= 0) | (sums[1] <= 0)] = np.inf
        return int(score.argmin()) if len(score) and np.isfinite(score).any() else -1

    def sides(self, row: int, split: int) -> tuple[np.ndarray, np.ndarray]:
        """The counts on the left and on the right."""
        left = self._left[row, split].copy()
        return left, self._total[row] - left


def _impurity(counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Gini's impurity times the number of examples, with one more example of each class."""
    classes = _F32(counts.shape[1])
    squares = (counts * counts).sum(1)
    smoothed = classes + sums
    return sums * (_F32(1) - (squares + _F32(2) * sums + classes) / (smoothed * smoothed))


class SquaredErrors:
    """Sums and squares of numbers, in all and on the left of each candidate; splits are scored by the variances of both sides."""

    def __init__(self, outputs: int):
        self._outputs = outputs
        self._total, self._left = np.zeros((0, 2 * outputs + 1), np.float32), np.zeros((0, 0, 2 * outputs + 1), np.float32)

    def grow(self, rows: int, splits: int) -> None:
        """Has more rows."""
        self._total = _longer(self._total, rows, (2 * self._outputs + 1,))
        self._left = _longer(self._left, rows, (splits, 2 * self._outputs + 1))

    def clear(self, row: int) -> None:
        """Begins a row anew."""
        self._total[row], self._left[row] = 0, 0

    def add(self, rows: np.ndarray, left: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        """Sums examples, which all weigh 1; `left` [n, splits] says where candidates send them."""
        values = labels.reshape(len(rows), -1)[:, :self._outputs]
        parts = np.concatenate([np.ones((len(rows), 1), np.float32), values, values * values], axis=1)
        np.add.at(self._total, rows, parts)
        example, split = np.nonzero(left)
        np.add.at(self._left, (rows[example], split), parts[example])

    def state(self, rows: np.ndarray) -> dict[int, Any]:
        """How many examples rows have, for ``finishes``."""
        return {row: self._total[row, :1].copy() for row in rows.tolist()}

    def is_finished(self, row: int, split_after: Any) -> bool:
        """Whether enough examples came."""
        return bool(self._total[row, 0] >= split_after)

    def finishes(self, count: np.ndarray, label: Any, weight: Any, split_after: Any) -> bool:
        """Whether this holds after one more example, which `count` takes in."""
        count[0] += 1
        return bool(count[0] >= split_after)

    def best(self, row: int, splits: int) -> int:
        """The candidate of the smallest variances, -1 if none has examples on both sides."""
        left, total = self._left[row, :splits], self._total[row]
        right = total - left
        with np.errstate(invalid="ignore", divide="ignore"):
            score = self._variance(left) + self._variance(right)
        score[(left[:, 0] <= 0) | (right[:, 0] <= 0)] = np.inf
        return int(score.argmin()) if len(score) and np.isfinite(score).any() else -1

    def _variance(self, sums: np.ndarray) -> np.ndarray:
        means = sums[:, 1:self._outputs + 1] / sums[:, :1]
        return (sums[:, self._outputs + 1:] / sums[:, :1] - means * means).sum(1)

    def sides(self, row: int, split: int) -> tuple[np.ndarray, np.ndarray]:
        """The means on the left and on the right."""
        left = self._left[row, split]
        right = self._total[row] - left
        return tuple(side[1:self._outputs + 1] / side[0] for side in (left, right))         # type: ignore[return-value]
