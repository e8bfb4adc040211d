"""Convolutions with a third of the multiplications: Winograd's minimal filtering, two-dimensional.

Along an axis, 7 - taps neighbouring results of a filter come from six products, however many taps it has:

    y = result(7 - taps) @ ((weights(taps) @ w) * (pixels() @ x))       x: the six pixels that these results see

Used along both axes, 36 products stand for 144 (3 x 3 taps), 144 (4 x 4) or 100 (5 x 5), and for all pairs of channels
those are 36 matrix products.  The gradient for the filter is the same sum with `taps` and `7 - taps` exchanged.

The matrices evaluate and interpolate polynomials (Toom and Cook) at 0, +-3/4, +-3/2 and infinity, which float32 holds
exactly.  These points round about twice as coarsely as adding up term by term does (RMS; the customary 0, +-1, +-2
four times).  Infinities and NaN spread over six pixels instead of the filter's; kernels find that and add up term by term.

Sources: S. Winograd, Arithmetic Complexity of Computations (1980); A. Lavin, S. Gray, Fast Algorithms for Convolutional
Neural Networks (2016); B. Barabasz et al., Error Analysis and Improving the Accuracy of Winograd Convolution (2020).
"""
from __future__ import annotations

from typing import Any

from . import sizes
from .tuning import Tuning

SIZE = 6                # products along an axis, and pixels that a tile sees
LEAST_TAPS, MOST_TAPS = 3, 5
FAR = 4                 # times as much that writing a transformed filter takes where it does not stay in the cache
CHANNELS, MOST_CHANNELS = 16, 512       # channels of both sides are a multiple of the one, up to the other


def suits(tuning: Tuning, batch: Any, size: Any, shape: Any, strides: Any, dilations: Any) -> bool:
    """Whether a convolution by a filter of `shape` with `batch` results of `size` rows and columns, or a gradient of one,
    is cheaper so, for the sizes at hand."""
    *taps, channels, out = shape
    plain = {*strides, *dilations} == {1} and all(LEAST_TAPS <= t <= MOST_TAPS for t in taps)
    if not plain or channels % CHANNELS or out % CHANNELS or max(channels, out) > MOST_CHANNELS:
        return False
    batch, *size = (sizes.hint_of(d) for d in (batch, *size))
    # a tile's transformations cost like so many products per output and input channel, as measured
    each = 1 + 5 / channels + 6 / out
    weights = SIZE * SIZE * channels * out
    once = tuning.winograd_once * (1 if weights <= tuning.winograd_cached else FAR)
    cost = batch * products(covered(size, taps), taps) * each + once
    plainly = sizes.count([batch, *size, *taps])
    return cost < tuning.winograd_worth * plainly


def products(covered: Any, taps: Any) -> Any:
    """Products for an image, per input and output channel; `covered`: its results, which whole tiles cover."""
    return sizes.product(d // (SIZE + 1 - t) * SIZE for d, t in zip(covered, taps))


def covered(size: Any, taps: Any) -> list[Any]:
    """Rows and columns of results that whole tiles cover."""
    return [(d + SIZE - t) // (SIZE + 1 - t) * (SIZE + 1 - t) for d, t in zip(size, taps)]
