"""Convolutions whose taps lie apart, as convolutions of the images' phases, whose taps do not.

With a gap of g, every g-th row sees only every g-th row: rows 0, g, 2 g, ..., rows 1, g + 1, ... are images of their own.  They are
brought together, all phases of rows and columns, which costs a copy of the images and one of the results; a small filter over them
needs a third of the multiplications (see `winograd`).  The gradients are those of the convolutions of phases.

Source: F. Yu, V. Koltun, Multi-Scale Context Aggregation by Dilated Convolutions (2016), calls the filters dilated; that phases are
images is TensorFlow's SpaceToBatchND.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import sizes, winograd
from .ir import Value

if TYPE_CHECKING:
    from .builder import Builder

    Steps = Sequence[int]
    Around = Sequence[tuple[sizes.Dim, sizes.Dim]]

CHANNELS = 32           # of both sides, from which on the copies are worth it
NO_GAPS = (1, 1)
NOTHING = ((0, 0), (0, 0))


def forward(b: Builder, x: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
            around: Around) -> Value | None:
    """A convolution with gaps -> one of phases"""
    each = _each(size, dilations)
    if not _suits(b, x, each, w.shape, strides, dilations):
        return None
    seen = [n + t - 1 for n, t in zip(each, w.shape)]
    y = b.convolve(_apart(b, x, [lo for lo, _ in around], seen, dilations), w, each, NO_GAPS, NO_GAPS, NOTHING)
    return _together(b, y, x.shape[0], (0, 0), size, dilations)


def input_gradient(b: Builder, dy: Value, w: Value, size: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                   before: Sequence[sizes.Dim], around: Around) -> Value | None:
    """Its gradient for the images -> those for the phases"""
    each = _each([lo + n for lo, n in zip(before, size)], dilations)
    if not _suits(b, dy, each, w.shape, strides, dilations):
        return None
    given = _each(dy.shape[1:3], dilations)
    margins = [(t - 1, n - m if sizes.hint_of(n) > sizes.hint_of(m) else 0) for t, n, m in zip(w.shape, each, given)]
    dx = b.convolve_input(_apart(b, dy, (0, 0), given, dilations), w, each, NO_GAPS, NO_GAPS, (0, 0), margins)
    return _together(b, dx, dy.shape[0], before, size, dilations)


def filter_gradient(b: Builder, x: Value, dy: Value, shape: Sequence[sizes.Dim], strides: Steps, dilations: Steps,
                    around: Around) -> Value | None:
    """Its gradient for the filter -> the sum of those of all phases"""
    each = _each(dy.shape[1:3], dilations)
    if not _suits(b, dy, each, shape, strides, dilations):
        return None
    x = _apart(b, x, [lo for lo, _ in around], [n + t - 1 for n, t in zip(each, shape)], dilations)
    return b.convolve_filter(x, _apart(b, dy, (0, 0), each, dilations), shape, NO_GAPS, NO_GAPS, NOTHING)


def _suits(b: Builder, x: Value, each: Sequence[sizes.Dim], shape: Sequence[sizes.Dim], strides: Steps, dilations: Steps) -> bool:
    """Whether the convolutions of phases, of `each` rows and columns, are worth the copies."""
    if {*strides} != {1} or {*dilations} == {1} or sizes.hint_of(min(shape[2], shape[3], key=sizes.hint_of)) < CHANNELS:
        return False
    return winograd.suits(b.tuning, x.shape[0] * dilations[0] * dilations[1], each, shape, NO_GAPS, NO_GAPS)


def _each(size: Sequence[sizes.Dim], gaps: Steps) -> list[sizes.Dim]:
    """Rows and columns of a phase."""
    return [(n + g - 1) // g for n, g in zip(size, gaps)]


def _apart(b: Builder, x: Value, before: Sequence[sizes.Dim], each: Sequence[sizes.Dim], gaps: Steps) -> Value:
    """Images [n, h, w, c], with `before` rows and columns of zeros before them and as many after them as it takes, as phases of
    `each` rows and columns: [n * phases, *each, c]."""
    n, *size, channels = x.shape
    x = b.pad_images(x, [(lo, e * g - lo - d) for lo, e, g, d in zip(before, each, gaps, size)])
    x = b.reshape(x, (n, each[0], gaps[0], each[1], gaps[1], channels))
    return b.reshape(b.transpose(x, (0, 2, 4, 1, 3, 5)), (n * gaps[0] * gaps[1], *each, channels))


def _together(b: Builder, y: Value, batch: sizes.Dim, begin: Sequence[sizes.Dim], size: Sequence[sizes.Dim], gaps: Steps) -> Value:
    """Images of `size`, which begin at `begin`, from their phases."""
    _, *each, channels = y.shape
    y = b.transpose(b.reshape(y, (batch, *gaps, *each, channels)), (0, 3, 1, 4, 2, 5))
    whole = b.reshape(y, (batch, *(e * g for e, g in zip(each, gaps)), channels))
    return b.slice(whole, (0, *begin, 0), (batch, *size, channels))
