"""Levenshtein's distance between sequences in sparse tensors."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.host_code import HostCode
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.composite import SparseTensor, SparseTensorValue
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.sparse.structure_ops import example, linear, rank_of


def distances(pairs: list[tuple[list, list]]) -> np.ndarray:
    """For each pair of sequences of numbers the least number of insertions, deletions and replacements that make one of the
    other (Levenshtein, 1966): int64.  All pairs go step by step together."""
    if not pairs:
        return np.zeros(0, np.int64)
    (a, of_a), (b, of_b) = (_padded([pair[k] for pair in pairs]) for k in range(2))
    steps = np.arange(b.shape[1] + 1)
    row = np.tile(steps, (len(pairs), 1))
    found = np.where(of_a == 0, of_b, 0)
    for i in range(a.shape[1]):
        following = np.empty_like(row)
        following[:, 0] = i + 1
        replaced = row[:, :-1] + (a[:, i:i + 1] != b)
        np.minimum(row[:, 1:] + 1, replaced, out=following[:, 1:])
        # an insertion costs one more than what stands before it: the least of all that stand before, and how far they are
        row = np.minimum.accumulate(following - steps, axis=1) + steps
        ends = of_a == i + 1
        found[ends] = row[ends, of_b[ends]]
    return found


def _padded(sequences: list[list]) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of numbers below one another, filled up with 0, and their lengths."""
    lengths = np.array([len(s) for s in sequences])
    return np.array([[*s, *[0] * (lengths.max() - len(s))] for s in sequences], np.int64).reshape(len(sequences), -1), lengths


# x0, x1: the elements of the sequences of a pair, from x2[g] and x3[g] on; y1: a row of the table of distances
_LOOP = HostCode("edit_distances", ("i64", "i64", "i64", "i64", "i64", "i64"), """\
def edit_distances(x0, x1, x2, x3, y0, y1, sizes, begin, end):
    for g in range(begin, end):
        first, second = x2[g], x3[g]
        n, m = x2[g + 1] - first, x3[g + 1] - second
        for j in range(m + 1):
            y1[j] = j
        for i in range(n):
            element, corner, left = x0[first + i], y1[0], i + 1
            y1[0] = left
            for j in range(m):
                replaced = corner
                if element != x1[second + j]:
                    replaced = corner + 1
                corner = y1[j + 1]
                left = smaller(smaller(left, corner) + 1, replaced)
                y1[j + 1] = left
        y0[g] = y1[m]
    return 0
""")


def _of_sorted(guess: tuple, truth: tuple, sizes: np.ndarray) -> tuple | None:
    """(distances, lengths of the guesses, lengths of the truths) for all rows of a tensor of `sizes`, of (indices, integers) in
    order; None for others, and where it is not compiled."""
    if guess[1].dtype.kind not in "iu" or not 0 < math.prod(sizes.tolist()) < 1 << 40:
        return None
    total, elements, starts = math.prod(sizes.tolist()), [], []
    for indices, values in (guess, truth):
        rows = indices[:, :-1]
        if indices.shape[1] != len(sizes) + 1 or len(indices) and not ((rows.min(0) >= 0).all() and (rows.max(0) < sizes).all()):
            return None
        place = linear(rows, sizes)
        if (place[1:] < place[:-1]).any():
            return None
        elements.append(np.ascontiguousarray(values.astype(np.int64)))
        starts.append(np.searchsorted(place, np.arange(total + 1)))
    found, row = np.empty(total, np.int64), np.empty(len(elements[1]) + 1, np.int64)
    if _LOOP(*elements, *starts, found, row, end=total) is None:
        return None
    return found, np.diff(starts[0]), np.diff(starts[1])


def _normalized(steps: np.ndarray, guesses: np.ndarray, truths: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(truths > 0, steps / truths.astype(np.float32), np.where(guesses > 0, np.float32(np.inf), np.float32(0)))


def _sequences(indices: np.ndarray, values: np.ndarray, numbers: dict) -> dict:
    """The sequence of each row, a number for each element: equal elements have the same in `numbers`."""
    found: dict = {}
    for index, value in zip(map(tuple, indices[:, :-1].tolist()), values.tolist()):
        found.setdefault(index, []).append(numbers.setdefault(value, len(numbers)))
    return found


def _shape(c: Any) -> Any:
    shape_rules.merge_sizes(rank_of(c, 2, 0), rank_of(c, 5, 3))
    first, second = shape_rules.shape_from(c, 2), shape_rules.shape_from(c, 5)
    if first is None or second is None or None in first or None in second:
        rank = first if first is not None else second
        return None if rank is None else (None,) * (len(rank) - 1)
    return tuple(a if a > b else b for a, b in zip(first[:-1], second[:-1]))


@op("EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64; normalize: bool = True) -> output: float32", shape=_shape, host=True,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([*example(rng, dtype), *example(rng, dtype)], {"normalize": normalize})
                                for normalize in (True, False)])
def _edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape,
                   normalize):
    """For each row the distance of the hypothesis from the truth, over the length of the truth if normalized."""
    if len(hypothesis_shape) != len(truth_shape):
        raise invalid(f"truth_shape and hypothesis_shape must have the same number of elements, got {len(truth_shape)} "
                      f"and {len(hypothesis_shape)}")
    sizes = np.maximum(hypothesis_shape, truth_shape)[:-1].astype(int)
    fast = _of_sorted((hypothesis_indices, hypothesis_values), (truth_indices, truth_values), sizes)
    if fast is not None:
        steps = fast[0].astype(np.float32)
        return (_normalized(steps, *fast[1:]) if normalize else steps).reshape(sizes)
    found = np.zeros(sizes, np.float32)
    numbers: dict = {}
    guesses = _sequences(hypothesis_indices, hypothesis_values, numbers)
    truths = _sequences(truth_indices, truth_values, numbers)
    rows = list({**guesses, **truths})
    pairs = [(guesses.get(index, []), truths.get(index, [])) for index in rows]
    for index, (guess, truth), steps in zip(rows, pairs, distances(pairs).astype(np.float32)):
        if normalize:
            steps = steps / np.float32(len(truth)) if truth else np.float32(np.inf if guess else 0)
        found[index] = steps
    return found


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Tensor:
    """Levenshtein's distance between the sequences (last dimension) of two SparseTensors: float32 [...].

    `normalize` divides by the length of the truth (infinity if that is empty and the hypothesis is not).  Raises
    TypeError for dense tensors.
    """
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor.")
    return raw.EditDistance(hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices, truth.values,
                            truth.dense_shape, normalize=normalize, name=name)
