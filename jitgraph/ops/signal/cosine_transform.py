"""Cosine transforms, the mel scale, and mel-frequency cepstral coefficients."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.complex_numbers import complex, real
from jitgraph.ops.signal.fft import irfft, rfft

_MEL_BREAK_HERTZ, _MEL_HIGH_Q = 700.0, 1127.0       # O'Shaughnessy's formula, as in HTK


def _check(x: Any, kind: int, n: Any, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if x._shape is not None and x._shape[-1] is not None and x._shape[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _size(x: Tensor) -> Any:
    known = None if x._shape is None else x._shape[-1]
    return raw.Shape(x)[-1] if known is None else known


def _resized(x: Tensor, n: int) -> Tensor:
    """The last dimension cut or filled with zeros to `n`."""
    size = _size(x)
    if isinstance(size, Tensor) or n <= size:
        x = x[..., :n]
        if not isinstance(size, Tensor):
            return x
    more = n - _size(x)
    paddings: Any = [[0, 0]] * (len(x.shape) - 1)
    behind = raw.Pack([0, convert_to_tensor(more, dtypes.int32)])
    return raw.Pad(x, raw.Pack([*(convert_to_tensor(p, dtypes.int32) for p in paddings), behind]))


def dct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
        name: str | None = None) -> Tensor:
    """The cosine transform of type 1, 2 or 3 over the last dimension, cut or filled with zeros to `n`.

    As ``scipy.fftpack.dct``.  ``norm="ortho"`` makes types 2 and 3 orthogonal.  Raises ValueError for other arguments.
    """
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input, dtypes.float32)
        _check(x, type, n, axis, norm)
        if n is not None:
            with counted_as(_nodes_of_size(x, n)):
                x = _resized(x, n)
        known = x._shape is not None and x._shape[-1] is not None
        with counted_as(_NODES[type, norm][0 if known else 1]):
            return _dct(x, type, norm)


# how many nodes TensorFlow makes of each type: for a known size, and for one that the run knows
_NODES = {(1, None): (11, 47), (2, None): (28, 61), (2, "ortho"): (39, 76), (3, None): (29, 76), (3, "ortho"): (37, 88)}


def _nodes_of_size(x: Tensor, n: int) -> int:
    have = None if x._shape is None else x._shape[-1]
    return 0 if have == n else 2 if have is not None and have < n else 4


def _dct(x: Tensor, type: int, norm: str | None) -> Tensor:
    if type == 1:
        return real(rfft(raw.ConcatV2([x, x[..., -2:0:-1]], -1)))
    size = _size(x)
    count = raw.Cast(size, DstT=dtypes.float32) if isinstance(size, Tensor) else convert_to_tensor(float(size))
    angles = raw.Range(0.0, count, 1.0) * (math.pi * 0.5) / count
    if type == 2:
        turned = rfft(x, fft_length=[2 * size])[..., :size]
        found = real(turned * (2.0 * raw.Exp(complex(raw.ZerosLike(angles), -angles))))
        return found * _weights(size, 0.5 * raw.Rsqrt(count), math.sqrt(2.0)) if norm == "ortho" else found
    x = x * (_weights(size, raw.Sqrt(count), math.sqrt(0.5)) if norm == "ortho" else count)
    turned = complex(x, raw.ZerosLike(x)) * (2.0 * raw.Exp(complex(raw.ZerosLike(angles), angles)))
    return irfft(turned, fft_length=[2 * size])[..., :size]


def _weights(size: Any, first: Tensor, ratio: float) -> Tensor:
    """`first` at position 0, `first` times `ratio` at the others."""
    is_first = raw.OneHot(0, size, 1.0, ratio)
    return first * is_first


def idct(input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
         name: str | None = None) -> Tensor:
    """The inverse cosine transform, up to a factor of 2 n unless ``norm="ortho"``: type 3 for 2, and the reverse."""
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    return dct(input, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)


# -- mel scale ---------------------------------------------------------------------------------------------------------

def _mel(hertz: Any) -> Any:
    return _MEL_HIGH_Q * np.log1p(hertz / _MEL_BREAK_HERTZ)


def linear_to_mel_weight_matrix(num_mel_bins: int = 20, num_spectrogram_bins: int = 129, sample_rate: Any = 8000,
                                lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0,
                                dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The matrix [num_spectrogram_bins, num_mel_bins] of triangular bands, equally spaced on the mel scale.

    Raises ValueError if there are no bands, or edges that are not in order below half of the sample rate.
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            known = constant_value(sample_rate)
            if known is None:
                raise ValueError("`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor.")
            sample_rate = known.item()
        _check_bands(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        frequencies = _mel(np.linspace(0.0, sample_rate / 2.0, num_spectrogram_bins)[1:])[:, None]
        edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
        lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
        rising = (frequencies - lower) / (center - lower)
        falling = (upper - frequencies) / (upper - center)
        # the constant frequency belongs to no band
        weights = np.pad(np.maximum(0.0, np.minimum(rising, falling)), [[1, 0], [0, 0]])
        from jitgraph.ops.arrays.constant import constant

        count_nodes(122)                    # TensorFlow computes the matrix by nodes
        return constant(weights, dtype, name=scope)


def _check_bands(count: int, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if count <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {count}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got: "
                         f"{upper} for sample_rate: {rate}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Cepstral coefficients: the orthogonal cosine transform of the logarithms of mel bands [..., bands] (as HTK's)."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms, dtypes.float32)
        count = _size(x)
        if not isinstance(count, Tensor):
            if count == 0:
                raise ValueError(f"num_mel_bins must be positive. Got: {x}")
            count_nodes(4)                  # TensorFlow computes the factor by nodes
            return dct(x, type=2) * (1.0 / math.sqrt(2.0 * count))
        return dct(x, type=2) * raw.Rsqrt(raw.Cast(count, DstT=dtypes.float32) * 2.0)
