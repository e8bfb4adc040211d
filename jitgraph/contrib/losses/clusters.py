"""How well a clustering agrees with labels, and which centers a structured loss fears most; both in NumPy."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Score = Callable[[np.ndarray, np.ndarray], float]


def _counts(labels: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """How many examples have each pair of a label and a prediction."""
    rows, columns = (np.unique(one, return_inverse=True)[1] for one in (labels, predictions))
    table = np.zeros((int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1))
    np.add.at(table, (rows, columns), 1)
    return table


def _entropy(sizes: np.ndarray) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log(shares)).sum())


def _information(table: np.ndarray) -> float:
    """What labels and predictions tell of each other, in nats."""
    total, expected = table.sum(), np.outer(table.sum(1), table.sum(0))
    some = table > 0
    return max(float((table[some] / total * np.log(total * table[some] / expected[some])).sum()), 0.0)


def _is_trivial(table: np.ndarray) -> bool:
    """Whether both put everything into one cluster, or each example into one of its own."""
    return table.shape[0] == table.shape[1] and table.shape[0] in (0, 1, int(table.sum()))


def normalized_information(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Mutual information over the mean of both entropies: "nmi", and "vmeasure", which is the same number."""
    table = _counts(labels, predictions)
    if table.shape in ((0, 0), (1, 1)):
        return 1.0
    mean = (_entropy(table.sum(1)) + _entropy(table.sum(0))) / 2
    return _information(table) / max(mean, float(np.finfo(np.float64).eps))


def adjusted_information(labels: np.ndarray, predictions: np.ndarray) -> float:
    """Mutual information beyond that of chance, of the most there can be, at least 0: "ami"."""
    table = _counts(labels, predictions)
    if table.shape in ((0, 0), (1, 1)):
        return 1.0
    expected = _information_of_chance(table)
    mean = (_entropy(table.sum(1)) + _entropy(table.sum(0))) / 2
    most, least = mean - expected, float(np.finfo(np.float64).eps)
    return max((_information(table) - expected) / (min(most, -least) if most < 0 else max(most, least)), 0.0)


def _information_of_chance(table: np.ndarray) -> float:
    """The mean of the mutual information of clusterings of these sizes (Vinh, Epps and Bailey, 2009)."""
    total, ones, others = int(table.sum()), table.sum(1).astype(int), table.sum(0).astype(int)
    log = [math.lgamma(n + 1) for n in range(total + 1)]
    found = 0.0
    for a in ones.tolist():
        for b in others.tolist():
            for n in range(max(a + b - total, 1), min(a, b) + 1):
                ways = log[a] + log[b] + log[total - a] + log[total - b] - log[total] - log[n] - log[a - n] - log[b - n] \
                    - log[total - a - b + n]
                found += n / total * math.log(total * n / (a * b)) * math.exp(ways)
    return found


def adjusted_rand(labels: np.ndarray, predictions: np.ndarray) -> float:
    """The share of pairs of examples on which both agree, beyond that of chance, at least 0: "ari"."""
    table = _counts(labels, predictions)
    if _is_trivial(table):
        return 1.0
    together, ones, others = (float((n * (n - 1) / 2).sum()) for n in (table, table.sum(1), table.sum(0)))
    pairs = table.sum() * (table.sum() - 1) / 2
    expected, most = ones * others / pairs, (ones + others) / 2
    return 1.0 if most == expected else max((together - expected) / (most - expected), 0.0)


def is_same(labels: np.ndarray, predictions: np.ndarray) -> float:
    """1 if all predictions are the labels themselves, else 0: "const"."""
    return float(np.sum(np.not_equal(labels, predictions)) == 0)


SCORES: dict[str, Score] = {"nmi": normalized_information, "ami": adjusted_information, "ari": adjusted_rand,
                            "vmeasure": normalized_information, "const": is_same}


def assigned(distances: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The number of the nearest center of each example; a center, whatever its distances, belongs to itself."""
    nearest = np.argmin(distances[centers], axis=0)
    for number, center in enumerate(centers):
        nearest[center] = number if np.count_nonzero(centers == center) == 1 else np.flatnonzero(centers == center).sum()
    return nearest


def worst_centers(distances: np.ndarray, labels: np.ndarray, multiplier: float, score: Score) -> np.ndarray:
    """One center for each label, chosen one after the other: the example near to the others that makes the labels' score low."""
    chosen = np.zeros(0, np.int32)
    while len(chosen) < len(np.unique(labels)):
        candidates = np.setdiff1d(np.arange(len(distances), dtype=np.int32), chosen)
        nearest = np.min(distances[chosen], axis=0, initial=np.inf)
        near = -np.minimum(distances[candidates], nearest).sum(1)
        chosen = np.append(chosen, candidates[_best(near, multiplier, [
            score(labels, assigned(distances, np.append(chosen, candidate))) for candidate in candidates])])
    return chosen


def refined_centers(distances: np.ndarray, labels: np.ndarray, multiplier: float, score: Score, chosen: np.ndarray,
                    rounds: int = 5) -> np.ndarray:
    """Better centers of the same kind: each in turn is replaced by the best member of its cluster."""
    for _ in range(rounds):
        predictions = assigned(distances, chosen)
        for number in range(len(np.unique(labels))):
            members = np.flatnonzero(predictions == number).astype(np.int32)
            scores = []
            for member in members:
                tried = chosen.copy()
                tried[number] = member
                scores.append(score(labels, assigned(distances, tried)))
            near = -distances[np.ix_(members, members)].sum(0)
            chosen = chosen.copy()
            chosen[number] = members[_best(near, multiplier, scores)]
    return chosen


def _best(near: np.ndarray, multiplier: Any, scores: list[float]) -> int:
    return int(np.argmax(near + np.float32(multiplier) * (1 - np.array(scores, np.float32))))
