"""What an optimizer by dual coordinate ascent is given, checked and laid out for its loops."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid


@dataclass
class Sparse:
    """The sparse features of all columns: where those of each column and example begin and end, their places and values."""

    begins: np.ndarray
    ends: np.ndarray
    places: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    norms: np.ndarray


def sparse_features(count: int, of_example: Any, of_feature: Any, given_values: Any, known: Any, weights: Any) -> Sparse:
    """Of `count` examples: columns of (example, feature) pairs sorted by example; `known` features have the `weights`.

    Pairs after the first whose example is smaller than the one before are ignored.  Raises InvalidArgumentError for a feature that
    is not known, and for two of one example.
    """
    begins, ends = np.zeros((2, len(of_example), count), np.int64)
    places, values, norms, start, base = [], [], np.zeros(count), 0, 0
    for column, (examples, features) in enumerate(zip(of_example, of_feature)):
        examples, features = examples.reshape(-1), features.reshape(-1)
        numbers = given_values[column].reshape(-1) if column < len(given_values) else np.ones(examples.size, np.float32)
        if len(features) < len(examples) or len(numbers) < len(examples):
            raise invalid(f"A sparse column has {len(examples)} indices of examples, {len(features)} of features and "
                          f"{len(numbers)} values")
        used = _sorted_part(examples, count)
        examples, features, numbers = examples[:used], features[:used], numbers[:used]
        begins[column] = start + np.searchsorted(examples, np.arange(count))
        ends[column] = start + np.searchsorted(examples, np.arange(count), side="right")
        places.append(base + _places(features, known[column].reshape(-1)))
        _check_distinct(examples, features)
        values.append(numbers)
        norms += np.bincount(examples, numbers.astype(np.float64) ** 2, count) if used else 0
        start, base = start + used, base + weights[column].size
    return Sparse(begins, ends, _joined(places, np.int64), _joined(values, np.float32),
                  _joined([w.reshape(-1) for w in weights], np.float32), norms)


def _joined(parts: list, dtype: Any) -> np.ndarray:
    return np.concatenate(parts, dtype=dtype) if parts else np.zeros(0, dtype)


def _sorted_part(examples: np.ndarray, count: int) -> int:
    """How many of the indices at the beginning are sorted and in [0, count)."""
    wrong = (examples < 0) | (examples >= count)
    wrong[1:] |= examples[1:] < examples[:-1]
    return int(wrong.argmax()) if wrong.any() else len(examples)


def _places(features: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The place of each feature among those that are known, the last one if there are several."""
    order = np.argsort(known, kind="stable")
    at = np.searchsorted(known[order], features, side="right") - 1
    missing = at < 0
    found = order[np.maximum(at, 0)] if len(order) else np.zeros(len(features), np.int64)
    if len(order):
        missing |= known[found] != features
    if missing.any():
        raise invalid(f"Found sparse feature indices out of valid range: {features[missing.argmax()]}")
    return found


def _check_distinct(examples: np.ndarray, features: np.ndarray) -> None:
    order = np.lexsort((features, examples))
    e, f = examples[order], features[order]
    if ((e[1:] == e[:-1]) & (f[1:] == f[:-1])).any():
        raise invalid("Duplicate index in sparse vector.")


@dataclass
class Dense:
    """The dense features of all columns side by side: float32 [examples, width]."""

    features: np.ndarray
    weights: np.ndarray
    begins: np.ndarray
    norms: np.ndarray


def dense_features(count: int, columns: Any, weights: Any) -> Dense:
    """Raises InvalidArgumentError for columns that are no matrices of `count` rows, or that have other weights than they need."""
    norms = np.zeros(count)
    for column, of_column in zip(columns, weights):
        if column.ndim != 2:
            raise invalid(f"A dense column should be a matrix, got shape {list(column.shape)}")
        if column.shape[1] > of_column.size:
            raise invalid(f"More dense features than we have parameters for: {column.shape[1]}")
        if column.shape != (count, of_column.size):
            raise invalid(f"A dense column of shape {list(column.shape)} does not fit {count} examples and "
                          f"{of_column.size} weights")
        norms += _float32_sums(column * column)
    begins = np.cumsum([0, *(w.size for w in weights)], dtype=np.int64)
    features = np.concatenate(columns, 1) if len(columns) else np.zeros((count, 0), np.float32)
    return Dense(np.ascontiguousarray(features), _joined([w.reshape(-1) for w in weights], np.float32), begins, norms)


def _float32_sums(rows: np.ndarray) -> np.ndarray:
    """The sums of rows in TensorFlow's order: eight running sums, which are added in pairs, and then the rest."""
    whole = rows.shape[1] // 8 * 8
    lanes, rest = np.zeros((len(rows), 8), np.float32), np.zeros(len(rows), np.float32)
    for k in range(0, whole, 8):
        lanes += rows[:, k:k + 8]
    for k in range(whole, rows.shape[1]):
        rest += rows[:, k]
    fours = lanes[:, :4] + lanes[:, 4:]
    twos = fours[:, :2] + fours[:, 2:]
    return rest + (twos[:, 0] + twos[:, 1])
