"""Centres of clusters as nodes: which are nearest to points, and points that begin as centres."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.ops.random.philox import Bits
from jitgraph.ops.random.simple_philox import SimplePhilox

_SEED_BITS = 2 ** 64 - 1


def _columns(c: Any) -> tuple:
    shape = c.shapes[0]
    return None, shape[1] if shape is not None and len(shape) == 2 else None


def _matrix(values: np.ndarray, name: str) -> np.ndarray:
    if values.ndim != 2:
        raise invalid(f"Input {name} should be a matrix.")
    return values


def _half_norms(points: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * np.einsum("ij,ij->i", points, points)


def _point_samples(rng: np.random.Generator, dtype: Any) -> list:
    return [[draw(rng, (7, 3), np.float32), draw(rng, (4, 3), np.float32), np.array(k, np.int64)] for k in (1, 3, 6)]


@op("NearestNeighbors(points: float32, centers: float32, k: int64) -> nearest_center_indices: int64, "
    "nearest_center_distances: float32", shape=lambda c: [(None, None)] * 2, host=True, dynamic=True,
    samples=_point_samples)
def nearest_neighbors(points, centers, k):
    """The `k` centres [m, d] nearest to each point [n, d], nearest first, and their squared distances; fewer if m < k."""
    _matrix(points, "points"), _matrix(centers, "centers")
    if points.shape[1] != centers.shape[1]:
        raise invalid(f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}.")
    if k.ndim or k < 0:
        raise invalid("k should be a scalar of at least 0.")
    count = min(int(k), len(centers))
    if not count:
        return np.zeros((len(points), 0), np.int64), np.zeros((len(points), 0), np.float32)
    halves = points @ centers.T
    np.subtract(_half_norms(centers), halves, out=halves)
    if count == 1:
        found = halves.argmin(1)[:, None]
    else:
        found = np.argsort(halves, axis=1, kind="stable")[:, :count]
    nearest = np.take_along_axis(halves, found, axis=1)
    return found.astype(np.int64), np.float32(2) * (nearest + _half_norms(points)[:, None])


def _from_points(rng: np.random.Generator, dtype: Any) -> list:
    numbers = ((1, 0, 0), (4, 3, 2))
    return [[draw(rng, (9, 2), np.float32), *(np.array(n, np.int64) for n in given)] for given in numbers]


@op("KmeansPlusPlusInitialization(points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64) -> "
    "samples: float32", shape=_columns, host=True, dynamic=True, samples=_from_points)
def kmeans_plus_plus_initialization(points, num_to_sample, seed, num_retries_per_sample):
    """`num_to_sample` of the points [n, d], each chosen with a probability as its squared distance to those before.

    Of 1 + `num_retries_per_sample` (negative: about 3 + log(num_to_sample)) that are drawn the one is taken that leaves the
    smallest sum of distances (Arthur and Vassilvitskii, k-means++, 2007).
    """
    _matrix(points, "points")
    if num_to_sample <= 0:
        raise invalid("Expected num_to_sample > 0.")
    if num_to_sample > len(points):
        raise invalid(f"Expected num_to_sample <= points.rows(). {num_to_sample} vs {len(points)}.")
    if num_retries_per_sample < 0:
        num_retries_per_sample = 2 + int(np.log(num_to_sample))
    random, halves = SimplePhilox(Bits(int(seed) & _SEED_BITS, 0, 0)), _half_norms(points)
    nearest = np.full(len(points), np.inf, np.float32)
    chosen: list[int] = []
    for _ in range(int(num_to_sample)):
        sums = np.cumsum(nearest, dtype=np.float32)
        best, best_sum, best_nearest = 0, np.float32(np.inf), nearest
        for _ in range(1 + int(num_retries_per_sample)):
            index = _drawn(random, sums, chosen)
            distances = np.minimum(nearest, halves - points @ points[index] + halves[index])
            total = distances.sum(dtype=np.float32)
            if total < best_sum:
                best, best_sum, best_nearest = index, total, distances
        nearest = best_nearest
        chosen.append(best)
    return points[chosen]


def _drawn(random: SimplePhilox, sums: np.ndarray, chosen: list[int]) -> int:
    """The index of a point that was not chosen, where a random part of the sum of distances is reached."""
    if not chosen:
        return random.below_64(len(sums))
    while True:
        index = int(np.searchsorted(sums, random.unit() * sums[-1], side="right"))
        if index not in chosen:
            return min(index, len(sums) - 1)


def _of_distances(rng: np.random.Generator, dtype: Any) -> list:
    return [[draw(rng, (n,), np.float32, 0, 4), np.array(seed, np.int64)] for n, seed in ((1, 0), (20, 3))]


@op("KMC2ChainInitialization(distances: float32, seed: int64) -> index: int64", shape=lambda c: (), host=True,
    samples=_of_distances)
def kmc2_chain_initialization(distances, seed):
    """The last state of a Markov chain over points, which goes on to the next one with the ratio of their distances.

    A centre is drawn so with a probability near to its distance (Bachem et al., Approximate k-means++ in sublinear time, 2016).
    """
    if distances.ndim != 1:
        raise invalid("Input distances should be a vector.")
    if not len(distances):
        raise invalid("Expected distances to have at least one element.")
    random, found = SimplePhilox(Bits(int(seed) & _SEED_BITS, 0, 0)), 0
    for index, distance in enumerate(distances):
        if index == 0 or distance > random.unit() * distances[found]:
            found = index
    return np.array(found, np.int64)
