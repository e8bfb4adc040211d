"""Quantiles of weighted numbers that come in batches, within an error: summaries, merged and compressed.

The method is that of Zhang and Wang, A Fast Algorithm for Approximate Quantiles in High Speed Data Streams, 2007.  A summary is
an array of rows (value, weight, smallest rank, largest rank) by rising value.
"""
from __future__ import annotations

import math
import threading

import numpy as np

_NOTHING = np.zeros((0, 4), np.float32)
_EXACT = np.finfo(np.float64).eps


def summary_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The exact summary of numbers."""
    if not values.size:
        return _NOTHING
    order = np.argsort(values, kind="stable")
    values, weights = values[order].astype(np.float32), weights[order].astype(np.float32)
    distinct, first = np.unique(values, return_index=True)
    joined = np.add.reduceat(weights, first).astype(np.float32)
    above = np.cumsum(joined, dtype=np.float32)
    return np.stack([distinct, joined, np.concatenate([[np.float32(0)], above[:-1]]), above], axis=1).astype(np.float32)


def merged(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The summary of what two summaries are of."""
    if not len(b):
        return a
    if not len(a):
        return b
    parts = []
    for own, other in ((a, b), (b, a)):
        place = np.searchsorted(other[:, 0], own[:, 0], side="left")
        before = np.where(place > 0, (other[:, 2] + other[:, 1])[np.maximum(place - 1, 0)], np.float32(0))
        inside = place < len(other)
        after = np.where(inside, (other[:, 3] - other[:, 1])[np.minimum(place, len(other) - 1)], other[-1, 3])
        equal = inside & (other[np.minimum(place, len(other) - 1), 0] == own[:, 0])
        parts.append((own, place, before, after, equal))
    (a, place, before, after, equal), (b, _, b_before, b_after, b_equal) = parts
    first = np.stack([a[:, 0], a[:, 1], a[:, 2] + before, a[:, 3] + after], axis=1)
    first[equal, 1:] = a[equal, 1:] + b[place[equal], 1:]
    second = np.stack([b[:, 0], b[:, 1], b[:, 2] + b_before, b[:, 3] + b_after], axis=1)[~b_equal]
    both = np.concatenate([first, second]).astype(np.float32)
    return both[np.argsort(both[:, 0], kind="stable")]


def compressed(summary: np.ndarray, size: int, smallest_error: float = 0.0) -> np.ndarray:
    """A summary of about `size` rows, spread over the old ones, with an error of at least `smallest_error` more."""
    size = max(size, 2)
    count = len(summary)
    if count <= size:
        return summary
    allowed = float(summary[-1, 3]) * max(1.0 / size, smallest_error)
    lower = (summary[:, 2] + summary[:, 1]).tolist()        # the smallest rank of the next
    upper = (summary[:, 3] - summary[:, 1]).tolist()        # the largest rank of the one before
    kept = [0]
    budget, place, last = 0, 0, 1
    while place + 1 != count:
        ahead = place + 1
        while ahead != count and budget < count and upper[ahead] - lower[place] <= allowed:
            budget += size
            ahead += 1
        place = place + 1 if place == ahead - 1 else ahead - 1
        kept.append(place)
        last = place
        budget -= count
    if last + 1 != count:
        kept.append(count - 1)
    return summary[kept]


def _error(summary: np.ndarray) -> float:
    """The error of a summary, relative to the total weight."""
    if len(summary) < 2:
        return 0.0
    weight, low, high = summary[1:, 1], summary[1:, 2], summary[1:, 3]
    gaps = np.maximum(high - low - weight, high - weight - (summary[:-1, 2] + summary[:-1, 1]))
    return float(max(np.float32(0), gaps.max())) / float(summary[-1, 3])


def _specs(epsilon: float, most: int) -> int:
    """How many rows a level of a stream of `most` numbers keeps."""
    if epsilon <= _EXACT:
        return max(most, 2)
    level, size = 1, 2
    while (1 << level) * size < most:
        size = math.ceil(level / epsilon) + 1
        level += 1
    return max(size, 2)


class Stream:
    """A summary that grows, by levels: two summaries of one level become one of the next when they are too large."""

    def __init__(self, epsilon: float, max_elements: int):
        self._epsilon, self._size = epsilon, _specs(epsilon, max_elements)
        self._levels: list[np.ndarray] = []

    def add(self, summary: np.ndarray) -> None:
        """Takes a summary in."""
        if not len(summary):
            return
        level = 0
        while True:
            if len(self._levels) <= level:
                self._levels.append(_NOTHING)
            here = self._levels[level]
            summary = merged(summary, here)
            if not len(here) or len(summary) <= self._size + 1:
                self._levels[level] = summary
                return
            summary = compressed(summary, self._size, self._epsilon)
            self._levels[level] = _NOTHING
            level += 1

    def add_values(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Takes numbers in, in blocks of twice the size of a level."""
        for start in range(0, len(values), 2 * self._size):
            self.add(summary_of(values[start:start + 2 * self._size], weights[start:start + 2 * self._size]))

    def finish(self) -> np.ndarray:
        """The summary of all."""
        whole = _NOTHING
        for level in self._levels:
            whole = merged(whole, level)
        self._levels = []
        return whole


def boundaries_of(summary: np.ndarray, count: int, evenly: bool) -> np.ndarray:
    """About `count` distinct boundaries between buckets of equal weight; `evenly`: quantiles proper."""
    if not len(summary):
        return np.zeros(0, np.float32)
    if evenly:
        return np.unique(_quantiles(summary, count))
    return np.unique(compressed(summary, count, _error(summary) + 1.0 / count)[:, 0])


def _quantiles(summary: np.ndarray, count: int) -> np.ndarray:
    """The values at the ranks 0, 1 / count ... 1 of the total weight."""
    count = max(count, 2)
    found, place = [], 0
    for rank in range(count + 1):
        doubled = 2 * (rank * float(summary[-1, 3]) / count)
        ahead = place + 1
        while ahead < len(summary) and doubled >= float(summary[ahead, 2]) + float(summary[ahead, 3]):
            ahead += 1
        place = ahead - 1
        nearer = ahead >= len(summary) or doubled <= float(summary[place, 2] + summary[place, 1]) + float(
            summary[ahead, 3] - summary[ahead, 1])
        found.append(summary[place if nearer else ahead, 0])
    return np.array(found, np.float32)


class QuantileStreams:
    """The streams of several features behind a handle, and the boundaries that were made of them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_initialized = False
        self.boundaries: list[np.ndarray] = []
        self._streams: list[Stream] = []

    def check_same(self, other: QuantileStreams) -> None:
        """Streams of one shared name are one."""

    def begin(self, epsilon: float, count: int, max_elements: int) -> None:
        """Makes `count` empty streams, once."""
        if self.is_initialized:
            return
        self._specs = epsilon, max_elements
        self.boundaries = [np.zeros(0, np.float32)] * count
        self._reset(count)
        self.is_initialized = True

    def _reset(self, count: int) -> None:
        self._streams = [Stream(*self._specs) for _ in range(count)]

    def add(self, summaries: list[np.ndarray]) -> None:
        """Takes a summary of each feature in."""
        for stream, summary in zip(self._streams, summaries):
            stream.add(summary)

    def take_summaries(self) -> list[np.ndarray]:
        """The summary of each stream, which begins anew."""
        found = [stream.finish() for stream in self._streams]
        self._reset(len(self._streams))
        return found

    def flush(self, count: int, evenly: bool) -> None:
        """Makes about `count` boundaries of each stream, and begins anew."""
        self.boundaries = [boundaries_of(summary, count, evenly) for summary in self.take_summaries()]
