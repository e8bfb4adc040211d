"""Signals in overlapping frames: windows, framing, overlap-add, and the short-time Fourier transform."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.ops.signal.fft import irfft, rfft

# -- windows -----------------------------------------------------------------------------------------------------------

def hann_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """``0.5 - 0.5 cos(2 pi k / n)`` for k below `window_length`; n is one less if odd or not `periodic`."""
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32,
                   name: str | None = None) -> Tensor:
    """``0.54 - 0.46 cos(2 pi k / n)`` for k below `window_length`; n is one less if odd or not `periodic`."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(name: str | None, default: str, length: Any, periodic: Any, dtype: Any, a: float, b: float) -> Tensor:
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    with name_scope(name, default, [length, periodic]):
        length = convert_to_tensor(length, dtypes.int32, name="window_length")
        shape_rules.with_rank(length._shape, 0)
        known = constant_value(length)
        if known == 1:                          # it has no period
            return ones([1], dtype)
        periodic = raw.Cast(convert_to_tensor(periodic, dtypes.bool_, name="periodic"), DstT=dtypes.int32)
        even = 1 - raw.FloorMod(length, 2)
        n = length + periodic * even - 1
        if known is None:
            n = raw.Maximum(n, 1)               # a single element is 1
        n = raw.Cast(n, DstT=dtype)
        steps = raw.Cast(raw.Range(0, length, 1), DstT=dtype)
        window = a - b * raw.Cos(convert_to_tensor(2 * np.pi, dtype) * steps / n)
        if known is not None:
            return window
        single = raw.Cast(raw.Equal(length, 1), DstT=dtype)
        return window * (1 - single) + single


# -- frames ------------------------------------------------------------------------------------------------------------

def _integer(value: Any, name: str) -> tuple[Tensor, int | None]:
    """A scalar as a tensor, and its value if that is known."""
    tensor = convert_to_tensor(value, name=name)
    shape_rules.with_rank(tensor._shape, 0, name)
    known = constant_value(tensor)
    return tensor, None if known is None else int(known)


def frame(signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: Any = -1,
          name: str | None = None) -> Tensor:
    """Frames of `frame_length` samples, one every `frame_step`, in two dimensions in place of `axis`.

    Samples that do not fill a frame are dropped; with `pad_end` the signal is continued with `pad_value` so that a frame
    begins at every step.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        shape_rules.with_rank_at_least(signal._shape, 1, "signal")
        given_length, known_length = _integer(frame_length, "frame_length")
        given_step, known_step = _integer(frame_step, "frame_step")
        axis = int(constant_value(convert_to_tensor(axis, name="axis")))
        if axis < 0 and signal._shape is not None:
            axis += len(signal._shape)
        if axis < 0 and (axis < -1 or pad_end):
            raise ValueError("tf.signal.frame of a signal of unknown rank needs an axis that is counted from the front, or "
                             "the last without pad_end")
        step, length = known_step or given_step, known_length or given_length
        nodes = 98 - isinstance(pad_value, Tensor) if pad_end else 64
        if known_step is None or known_length is None:      # TensorFlow looks for their common divisor at run time
            nodes += 15
        with counted_as(nodes):
            return _frames(signal, length, step, pad_end, pad_value, axis)


def _frames(signal: Tensor, length: Any, step: Any, pad_end: bool, pad_value: Any, axis: int) -> Tensor:
    known = None if signal._shape is None else signal._shape[axis]
    samples: Any = raw.Shape(signal)[axis] if known is None else known
    if pad_end:
        frames = -(-samples // step)
        signal = _continued(signal, axis, length + step * (frames - 1) - samples, pad_value)
    else:
        frames = _at_least_0(1 + (samples - length) // step)
    starts = raw.ExpandDims(raw.Range(0, frames, 1) * step, 1)
    found = raw.GatherV2(signal, starts + raw.ExpandDims(raw.Range(0, length, 1), 0), axis)
    if found._shape is not None:
        counts = [None if isinstance(n, Tensor) else n for n in (frames, length)]
        found.set_shape([*signal._shape[:axis], *counts, *signal._shape[axis + 1:]])
    return found


def _at_least_0(count: Any) -> Any:
    return raw.Maximum(count, 0) if isinstance(count, Tensor) else max(count, 0)


def _continued(signal: Tensor, axis: int, more: Any, value: Any) -> Tensor:
    value = convert_to_tensor(value, signal.dtype.base_dtype)
    more = _at_least_0(more)
    if signal._shape is not None:
        paddings: Any = [[0, 0] for _ in signal._shape]
        paddings[axis][1] = more
        if isinstance(more, Tensor):
            paddings = raw.Pack([raw.Pack([convert_to_tensor(p, dtypes.int32) for p in pair]) for pair in paddings])
        return raw.PadV2(signal, paddings, value)
    behind = raw.OneHot(axis, raw.Rank(signal), more, 0)
    return raw.PadV2(signal, raw.Pack([raw.ZerosLike(behind), behind], axis=1), value)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The signal [..., n] of frames [..., frames, frame_length] that begin `frame_step` apart; overlaps are added."""
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        shape_rules.with_rank_at_least(signal._shape, 2, "signal")
        given, known_step = _integer(frame_step, "frame_step")
        if not given.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {given.dtype!r}")
        step: Any = given if known_step is None else known_step
        with counted_as(22 if signal._shape is not None and known_step == signal._shape[-1] else 90):
            return _overlapped(signal, step)


def _overlapped(signal: Tensor, step: Any) -> Tensor:
    sizes = raw.Shape(signal)
    outer = sizes[:-2]
    frames: Any = sizes[-2]
    length: Any = sizes[-1]
    if signal._shape is not None:
        frames = frames if signal._shape[-2] is None else signal._shape[-2]
        length = length if signal._shape[-1] is None else signal._shape[-1]
    total = length + step * (frames - 1)
    # every frame as pieces of one step each; piece j of frame i belongs at step i + j of the result
    pieces = -(-length // step)
    padded = _continued_frames(signal, pieces, pieces * step - length)
    apart = raw.Reshape(padded, _sizes(outer, [frames + pieces, pieces, step]))
    rank = raw.Size(outer)
    turned = raw.Transpose(apart, raw.ConcatV2([raw.Range(0, rank, 1), rank + np.array([1, 0, 2], np.int32)], 0))
    rows = raw.Reshape(turned, _sizes(outer, [(frames + pieces) * pieces, step]))
    # without its last rows, each further piece begins one row later than the one before
    skewed = raw.Reshape(rows[..., :(frames + pieces - 1) * pieces, :],
                         _sizes(outer, [pieces, frames + pieces - 1, step]))
    added = raw.Reshape(reduce_sum(skewed, -3), _sizes(outer, [(frames + pieces - 1) * step]))
    found = added[..., :total]
    if signal._shape is not None:
        found.set_shape([*signal._shape[:-2], None if isinstance(total, Tensor) else total])
    return found


def _sizes(outer: Tensor, inner: list) -> Tensor:
    return raw.ConcatV2([outer, raw.Pack([convert_to_tensor(n, dtypes.int32) for n in inner])], 0)


def _continued_frames(signal: Tensor, frames: Any, samples: Any) -> Tensor:
    behind = raw.Pack([convert_to_tensor(n, dtypes.int32) for n in (frames, samples)])
    behind = raw.ConcatV2([raw.Fill(raw.Pack([raw.Rank(signal) - 2]), 0), behind], 0)
    return raw.Pad(signal, raw.Pack([raw.ZerosLike(behind), behind], axis=1))


# -- short-time Fourier transform --------------------------------------------------------------------------------------

def _enclosing_power_of_two(length: Tensor) -> Tensor:
    known = constant_value(length)
    if known is not None:
        return convert_to_tensor(int(2 ** math.ceil(math.log2(int(known)))), length.dtype)
    exponent = raw.Ceil(raw.Log(raw.Cast(length, DstT=dtypes.float32)) / math.log(2.0))
    return raw.Cast(raw.Pow(2.0, exponent), DstT=length.dtype.base_dtype)


def stft(signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
         window_fn: Callable | None = hann_window, pad_end: bool = False, name: str | None = None) -> Tensor:
    """The short-time Fourier transform [..., frames, fft_length // 2 + 1] of real signals [..., samples].

    `fft_length` is by default the power of two that encloses `frame_length`; `window_fn(length, dtype=)` gives the window
    that frames are multiplied with, None for none.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        shape_rules.with_rank_at_least(signals._shape, 1, "signals")
        length, _ = _integer(frame_length, "frame_length")
        step, _ = _integer(frame_step, "frame_step")
        size = _enclosing_power_of_two(length) if fft_length is None else convert_to_tensor(fft_length, name="fft_length")
        frames = frame(signals, length, step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype.base_dtype)
        return rfft(frames, [size])


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Callable = hann_window,
                           name: str | None = None) -> Callable:
    """A window function for ``inverse_stft`` that undoes the windows of a forward transform with `forward_window_fn`."""
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        step, _ = _integer(frame_step, "frame_step")

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, _ = _integer(frame_length, "frame_length")
            forward = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            squares = raw.Pad(raw.Square(forward), raw.Pack([raw.Pack([0, overlaps * step - length])]))
            sums = reduce_sum(raw.Reshape(squares, raw.Pack([overlaps, step])), 0, keepdims=True)
            repeated = raw.Reshape(raw.Tile(sums, raw.Pack([overlaps, 1])), raw.Pack([overlaps * step]))
            return forward / repeated[:length]

    return inverse_window


def inverse_stft(stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
                 window_fn: Callable | None = hann_window, name: str | None = None) -> Tensor:
    """Signals [..., samples] from short-time Fourier transforms [..., frames, fft_length // 2 + 1]."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        shape_rules.with_rank_at_least(stfts._shape, 2, "stfts")
        length, known_length = _integer(frame_length, "frame_length")
        step, _ = _integer(frame_step, "frame_step")
        size = _enclosing_power_of_two(length) if fft_length is None else convert_to_tensor(fft_length, name="fft_length")
        frames = irfft(stfts, [size])
        have = None if frames._shape is None else frames._shape[-1]
        if have is None or known_length is None:
            frames = frames[..., :length]
            frames = _continued_frames(frames, 0, raw.Maximum(length - raw.Shape(frames)[-1], 0))
        elif have > known_length:
            frames = frames[..., :known_length]
        elif have < known_length:
            frames = raw.Pad(frames, [[0, 0]] * (len(frames._shape) - 1) + [[0, known_length - have]])
        if known_length is not None and frames._shape is not None:
            frames.set_shape([*[None] * (len(frames._shape) - 1), known_length])
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=stfts.dtype.base_dtype.real_dtype)
        return overlap_and_add(frames, step)
