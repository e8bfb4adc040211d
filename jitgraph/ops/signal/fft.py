"""Fourier transforms over the last one, two or three dimensions.  SciPy's FFT does the work."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import TypeSet, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes, counted_as
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.elementwise.complex_numbers import real

_COMPLEX = TypeSet(dtypes.complex64, dtypes.complex128, default=dtypes.complex64)
_REAL = TypeSet(dtypes.float32, dtypes.float64, default=dtypes.float32)
_DIMENSIONS = {1: "", 2: "2D", 3: "3D"}


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


# -- complex transforms ------------------------------------------------------------------------------------------------

def _complex_samples(rank: int) -> Callable:
    def samples(rng: Any, dtype: Any) -> list:
        return [[draw(rng, shape[-max(rank, size):], dtype)] for shape, size in (((2, 3, 4), 3), ((4, 2, 5), rank))]

    return samples


def _complex_gradient(other: str, rank: int, inverse: bool) -> Callable:
    """The adjoint of a transform is the opposite one, without its factor of 1/n or with it."""

    def gradient(op: Any, grad: Any) -> Tensor:
        size = raw.Prod(raw.Shape(grad)[-rank:], [0])
        kind = grad.dtype.base_dtype
        factor = raw.Cast(size, DstT=kind)
        if inverse:
            factor = raw.Cast(raw.Reciprocal(raw.Cast(size, DstT=kind.real_dtype)), DstT=kind)
        return getattr(raw, other)(grad) * factor

    return gradient


def _declare_complex(rank: int, inverse: bool) -> Any:
    kind, other = ("IFFT", "FFT") if inverse else ("FFT", "IFFT")
    suffix = _DIMENSIONS[rank]

    def transform(input):
        import scipy.fft

        if not input.size:
            return input
        return getattr(scipy.fft, "ifftn" if inverse else "fftn")(input, axes=_axes(rank))

    transform.__name__ = (kind + suffix).lower()
    transform.__doc__ = f"The {'inverse ' if inverse else ''}Fourier transform over the last {rank} dimension(s)."
    return op(f"{kind}{suffix}(input: Tcomplex) -> output: Tcomplex", Tcomplex=_COMPLEX, host=True,
              shape=lambda c: shape_rules.with_rank_at_least(c.shapes[0], rank), samples=_complex_samples(rank),
              grad=_complex_gradient(other + suffix, rank, inverse))(transform)


fft, fft2d, fft3d = (_declare_complex(rank, inverse=False) for rank in (1, 2, 3))
ifft, ifft2d, ifft3d = (_declare_complex(rank, inverse=True) for rank in (1, 2, 3))


# -- real transforms ---------------------------------------------------------------------------------------------------

def _real_shape(rank: int, inverse: bool) -> Callable:
    def rule(c: Any) -> Any:
        shape = shape_rules.with_rank_at_least(c.shapes[0], rank)
        length = c.constant(1)
        if shape is None:
            return None
        if not shape_rules.known(length):
            return (*shape[:-rank], *(None,) * rank)
        sizes = plain_sizes(length)
        if len(sizes) != rank:
            raise ValueError(f"fft_length must have {rank} elements, got {len(sizes)}")
        return (*shape[:-rank], *sizes[:-1], sizes[-1] if inverse else sizes[-1] // 2 + 1)

    return rule


def _check_length(input: np.ndarray, needed: list[int]) -> None:
    rank = len(needed)
    for axis, (size, least) in enumerate(zip(input.shape[-rank:], needed)):
        if size < least:
            raise invalid(f"Input dimension {axis} must have length of at least {least} but got: {size}")


def _real_samples(rank: int, inverse: bool) -> Callable:
    def samples(rng: Any, dtype: Any) -> list:
        sizes = [3, 5, 4][:rank]
        found = []
        for last in (4, 5):
            length = [*sizes[:-1], last]
            shape = (2, *length[:-1], last // 2 + 1 if inverse else last)
            kinds = {"Treal": dtypes.float64, "Tcomplex": dtypes.complex128} if np.dtype(dtype).itemsize == (
                16 if inverse else 8) else {}
            given = {"Treal" if inverse else "Tcomplex": kinds["Treal" if inverse else "Tcomplex"]} if kinds else {}
            found.append(([draw(rng, shape, dtype), np.array(length, np.int32)], given))
        return found

    return samples


def _counted(gradient: Callable, rank: int, nodes: tuple[int, int]) -> Callable:
    """A gradient that counts as so many `nodes`, the latter where sizes of `grad` are unknown, as TensorFlow's of one and two
    dimensions do; it has none of three."""
    def counted(op: Any, grad: Any) -> list:
        if rank > 2:
            return gradient(op, grad)
        known = grad._shape is not None and None not in grad._shape[-rank:]
        with counted_as(nodes[0] if known else nodes[1]):
            return gradient(op, grad)

    return counted


def _rfft_gradient(rank: int) -> Callable:
    def gradient(op: Any, grad: Any) -> list:
        """The real part of the unscaled inverse transform of the gradient, its missing half taken as zeros."""
        x, length = op.inputs
        full = _resized(grad, length, rank)
        found = real(getattr(raw, "IFFT" + _DIMENSIONS[rank])(full))
        found = found * raw.Cast(raw.Prod(length, [0]), DstT=found.dtype.base_dtype)
        return [_resized(found, raw.Shape(x)[-rank:], rank), None]

    return _counted(gradient, rank, (49, 86) if rank == 1 else (107, 144))


def _irfft_gradient(rank: int) -> Callable:
    def gradient(op: Any, grad: Any) -> list:
        """The scaled transform of the gradient; all but the first and the middle frequency count twice."""
        x, length = op.inputs
        kind = x.dtype.base_dtype
        n = length[-1]
        k = raw.Range(0, n // 2 + 1, 1)
        twice = raw.Cast(raw.LogicalAnd(k > 0, 2 * k < n), DstT=kind)
        scale = raw.Reciprocal(raw.Cast(raw.Prod(length, [0]), DstT=kind.real_dtype))
        found = getattr(raw, "RFFT" + _DIMENSIONS[rank])(grad, length, Tcomplex=kind)
        found = found * ((twice + 1.0) * raw.Cast(scale, DstT=kind))
        return [_resized(found, raw.Shape(x)[-rank:], rank), None]

    return _counted(gradient, rank, (44, 67))


def _resized(x: Tensor, sizes: Tensor, rank: int) -> Tensor:
    """The last dimensions filled with zeros up to `sizes`."""
    known, wanted = x._shape, constant_value(sizes)
    if known is not None and wanted is not None and list(known[-rank:]) == wanted.tolist():
        return x
    missing = raw.Maximum(raw.Sub(sizes, raw.Shape(x)[-rank:]), 0)
    zeros = raw.Fill(raw.Pack([raw.Rank(x) - rank]), 0)
    behind = raw.ConcatV2([zeros, missing], 0)
    return raw.Pad(x, raw.Pack([raw.ZerosLike(behind), behind], axis=1))


def _declare_rfft(rank: int) -> Any:
    def transform(input, fft_length, Tcomplex):
        import scipy.fft

        sizes = [int(n) for n in fft_length]
        kind = Tcomplex.as_numpy_dtype
        if not input.size:
            return np.zeros((*input.shape[:-rank], *sizes[:-1], sizes[-1] // 2 + 1), kind)
        _check_length(input, sizes)
        return np.asarray(scipy.fft.rfftn(input, s=sizes, axes=_axes(rank)), kind)

    transform.__name__ = f"_rfft{rank}"
    transform.__doc__ = f"The Fourier transform of real numbers over the last {rank} dimension(s): half of the spectrum."
    return op(f"RFFT{_DIMENSIONS[rank]}(input: Treal, fft_length: int32; Treal: type = float32, Tcomplex: type = "
              "complex64) -> output: Tcomplex", Treal=_REAL, Tcomplex=_COMPLEX, host=True, checks=True,
              shape=_real_shape(rank, inverse=False), grad=_rfft_gradient(rank),
              samples=_real_samples(rank, inverse=False))(transform)


def _declare_irfft(rank: int) -> Any:
    def transform(input, fft_length, Treal):
        import scipy.fft

        sizes = [int(n) for n in fft_length]
        kind = Treal.as_numpy_dtype
        if not input.size:
            return np.zeros((*input.shape[:-rank], *sizes), kind)
        _check_length(input, [*sizes[:-1], sizes[-1] // 2 + 1])
        return np.asarray(scipy.fft.irfftn(input, s=sizes, axes=_axes(rank)), kind)

    transform.__name__ = f"_irfft{rank}"
    transform.__doc__ = f"Real numbers from the half of their spectrum over the last {rank} dimension(s)."
    return op(f"IRFFT{_DIMENSIONS[rank]}(input: Tcomplex, fft_length: int32; Treal: type = float32, Tcomplex: type = "
              "complex64) -> output: Treal", Treal=_REAL, Tcomplex=_COMPLEX, host=True, checks=True,
              shape=_real_shape(rank, inverse=True), grad=_irfft_gradient(rank),
              samples=_real_samples(rank, inverse=True))(transform)


_RFFT = {rank: _declare_rfft(rank) for rank in (1, 2, 3)}
_IRFFT = {rank: _declare_irfft(rank) for rank in (1, 2, 3)}


def _length(x: Tensor, rank: int, inverse: bool) -> Tensor:
    """The length that a transform has if none is given."""
    known = x._shape
    if known is not None and None not in known[-rank:]:
        sizes: Any = list(known[-rank:])
        if inverse:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return convert_to_tensor(sizes, dtypes.int32)
    sizes = raw.Shape(x)[-rank:]
    if not inverse:
        return sizes
    with counted_as(8):
        return raw.ConcatV2([sizes[:-1], raw.Maximum(2 * (sizes[-1:] - 1), 0)], 0)


def _filled(x: Tensor, length: Tensor, rank: int, inverse: bool) -> Tensor:
    """x with zeros behind, where it is shorter than the transform needs."""
    if x._shape is not None and 0 in x._shape:
        return x
    known, wanted = x._shape, constant_value(length)
    if known is not None and wanted is not None and None not in known[-rank:]:
        sizes = [*wanted[:-1], wanted[-1] // 2 + 1] if inverse else list(wanted)
        behind = [max(int(size) - have, 0) for size, have in zip(sizes, known[-rank:])]
        if not any(behind):
            return x
        return raw.Pad(x, [[0, 0]] * (len(known) - rank) + [[0, more] for more in behind])
    count_nodes(4)
    needed = raw.ConcatV2([length[:-1], length[-1:] // 2 + 1], 0) if inverse else length
    return _resized(x, needed, rank)


def _transform(x: Any, fft_length: Any, rank: int, inverse: bool, name: str | None) -> Tensor:
    default = ("irfft" if inverse else "rfft") + _DIMENSIONS[rank].lower()
    with name_scope(name, default, [x, fft_length]) as scope:
        x = convert_to_tensor(x, preferred_dtype=dtypes.complex64 if inverse else dtypes.float32)
        if not inverse and not x.dtype.is_floating:
            raise ValueError(f"Tensor conversion requested dtype float32 for Tensor with dtype {x.dtype.name}: {x}")
        shape_rules.with_rank_at_least(x._shape, rank)
        length = _length(x, rank, inverse) if fft_length is None else convert_to_tensor(fft_length, dtypes.int32)
        x = _filled(x, length, rank, inverse)
        kind = x.dtype.base_dtype
        if inverse:
            return _IRFFT[rank](x, length, Treal=kind.real_dtype, name=scope)
        wide = dtypes.complex128 if kind == dtypes.float64 else dtypes.complex64
        return _RFFT[rank](x, length, Tcomplex=wide, name=scope)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers over the last dimension: its first fft_length // 2 + 1 frequencies.

    The input is cut, or filled with zeros, to `fft_length` (a vector of one integer; by default its own size).
    """
    return _transform(input_tensor, fft_length, 1, False, name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """As ``rfft``, over the last two dimensions; `fft_length` has two elements."""
    return _transform(input_tensor, fft_length, 2, False, name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """As ``rfft``, over the last three dimensions; `fft_length` has three elements."""
    return _transform(input_tensor, fft_length, 3, False, name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft``: `fft_length` real numbers (by default 2 * (n - 1)) from n frequencies."""
    return _transform(input_tensor, fft_length, 1, True, name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft2d``."""
    return _transform(input_tensor, fft_length, 2, True, name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft3d``."""
    return _transform(input_tensor, fft_length, 3, True, name)


# -- shifts ------------------------------------------------------------------------------------------------------------

def _rolled(x: Any, axes: Any, forward: bool, name: str | None, default: str) -> Tensor:
    with name_scope(name, default, [x]):
        x = convert_to_tensor(x)
        rank = len(x.shape)
        chosen = range(rank) if axes is None else [axes] if isinstance(axes, (int, np.integer)) else axes
        for axis in chosen:
            axis = int(axis) % rank
            size = x._shape[axis]
            size = raw.Shape(x)[axis] if size is None else size
            cut = size - size // 2 if forward else size // 2
            whole = [slice(None)] * axis
            x = raw.ConcatV2([x[(*whole, slice(cut, None))], x[(*whole, slice(None, cut))]], axis)
        return x


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The zero frequency moved to the middle of the given axes (all by default)."""
    return _rolled(x, axes, True, name, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``fftshift``."""
    return _rolled(x, axes, False, name, "ifftshift")
