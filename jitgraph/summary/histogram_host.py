"""Histograms of summaries: the buckets, and the HistogramProto of values."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid

_LARGEST = float(np.finfo(np.float64).max)


@functools.cache
def bucket_limits() -> np.ndarray:
    """The upper limits of all buckets in order: float64, from -DBL_MAX to DBL_MAX, growing by a tenth away from zero."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1            # by repeated products, whose rounding belongs to the limits
    above = np.array([*positive, _LARGEST])
    return np.concatenate([-above[::-1], [0.0], above])


def _in_order(values: np.ndarray) -> float:
    """The sum from the first value to the last: NumPy's own sum adds in pairs, which rounds otherwise."""
    return float(np.cumsum(values)[-1]) if values.size else 0.0


def histogram_of(values: np.ndarray, tag: str) -> Any:
    """The HistogramProto of `values`.  Raises InvalidArgumentError for one that is not finite."""
    flat = np.ravel(values).astype(np.float64)
    finite = np.isfinite(flat)
    if not finite.all():
        first = flat[np.argmin(finite)]
        raise invalid(f"{'Nan' if np.isnan(first) else 'Infinity'} in summary histogram for: {tag}")
    limits = bucket_limits()
    counts = np.bincount(np.searchsorted(limits[:-1], flat, "right"), minlength=len(limits))
    with np.errstate(over="ignore"):
        return _proto(counts, min=flat.min(initial=_LARGEST), max=flat.max(initial=-_LARGEST), num=flat.size, sum=_in_order(flat),
                      sum_squares=_in_order(flat * flat))


def _proto(counts: np.ndarray, **fields: float) -> Any:
    from jitgraph.protobuf.messages import HistogramProto

    # empty buckets that follow each other are written as one, with the last of their limits
    written = (counts > 0) | np.append(counts[1:] > 0, True)
    return HistogramProto(bucket_limit=bucket_limits()[written], bucket=counts[written], **fields)


class RunningHistogram:
    """The histogram of numbers that come one by one."""

    def __init__(self) -> None:
        self.counts = np.zeros(len(bucket_limits()), np.int64)
        self.number, self.least, self.most, self.sum, self.squares = 0, _LARGEST, -_LARGEST, 0.0, 0.0

    def add(self, value: float) -> None:
        """Takes in a finite number."""
        self.counts[np.searchsorted(bucket_limits()[:-1], value, "right")] += 1
        self.number, self.least, self.most = self.number + 1, min(self.least, value), max(self.most, value)
        self.sum, self.squares = self.sum + value, self.squares + value * value

    def proto(self) -> Any:
        """The HistogramProto."""
        return _proto(self.counts, min=self.least, max=self.most, num=self.number, sum=self.sum, sum_squares=self.squares)
