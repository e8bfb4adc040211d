"""Histograms of summaries: the buckets, and the HistogramProto of values."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode, contiguous
from jitgraph.declare.invalid import invalid

_LARGEST = float(np.finfo(np.float64).max)
_BLOCK = 1 << 15        # values that are made float64 at a time, and stay in the cache
_DROPPED = 49           # bits of a float64 behind the first three of its fraction: what is left tells apart eighths of a power of 2

# x0 values, x1 their bits, x2 the positive limits, x3 how many of these lie below each eighth of a power of 2, y0 counts, y1 the
# values' sum and that of their squares; not 0: a value is not finite
_IN_BUCKETS = HostCode("values_in_buckets", ("f64", "i64", "f64", "i64", "i64", "f64"), f"""\
def values_in_buckets(x0, x1, x2, x3, y0, y1, sizes, begin, end):
    positive, cells, first = sizes[0], sizes[1], sizes[2]
    total, squares = y1[0], y1[1]
    for i in range(begin, end):
        v = x0[i]
        size = fabs(v)
        if (size <= x2[positive - 1]) == 0:
            return 1
        at = x3[smaller(larger(((x1[i] >> {_DROPPED}) & {(1 << 63 - _DROPPED) - 1}) - first, 0), cells - 1)]
        up = v >= 0.0
        for step in range(2):       # an eighth is not as wide as two buckets
            beyond = i64(x2[at] < size) | i64(up & (x2[at] == size))
            at = smaller(at + beyond, positive - 1)
        y0[select(up, positive + 1 + at, positive - at)] += 1
        total += v
        squares += v * v
    y1[0] = total
    y1[1] = squares
    return 0
""")


@functools.cache
def bucket_limits() -> np.ndarray:
    """The upper limits of all buckets in order: float64, from -DBL_MAX to DBL_MAX, growing by a tenth away from zero."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1            # by repeated products, whose rounding belongs to the limits
    above = np.array([*positive, _LARGEST])
    return np.concatenate([-above[::-1], [0.0], above])


@functools.cache
def _cells() -> tuple[np.ndarray, np.ndarray, int]:
    """The positive limits; for each eighth of a power of 2, from the one before the first limit on, how many of them lie below; the
    number of the first eighth."""
    limits = bucket_limits()[len(bucket_limits()) // 2 + 1:]
    numbers = limits.view(np.int64) >> _DROPPED
    first = int(numbers[0]) - 1
    begins = (np.arange(first, int(numbers[-2]) + 2, dtype=np.int64) << _DROPPED).view(np.float64)
    below = np.searchsorted(limits, begins, "left")
    below[0] = 0            # and of all that is smaller
    return limits, below.astype(np.int64), first


def _in_order(values: np.ndarray) -> float:
    """The sum from the first value to the last: NumPy's own sum adds in pairs, which rounds otherwise."""
    return float(np.cumsum(values)[-1]) if values.size else 0.0


def histogram_of(values: np.ndarray, tag: str) -> Any:
    """The HistogramProto of `values`.  Raises InvalidArgumentError for one that is not finite."""
    counted = _counted(values) if values.size else None
    if counted is not None:
        counts, total, squares = counted
        return _proto(counts, min=float(values.min()), max=float(values.max()), num=values.size, sum=total, sum_squares=squares)
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


def _counted(values: np.ndarray) -> tuple[np.ndarray, float, float] | None:
    """(how many of `values` fall into each bucket, their sum, that of their squares) by compiled code.  None where there is none,
    or where a value is not finite."""
    flat = contiguous(values).reshape(-1)
    limits, below, first = _cells()
    counts, sums = np.zeros(len(bucket_limits()), np.int64), np.zeros(2)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start:start + _BLOCK].astype(np.float64)
        failed = _IN_BUCKETS(block, block.view(np.int64), limits, below, counts, sums, sizes=(len(limits), len(below), first),
                             end=block.size)
        if failed != 0:
            return None
    return counts, float(sums[0]), float(sums[1])


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
