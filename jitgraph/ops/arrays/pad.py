"""Padding: constant, mirrored."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes
from jitgraph.graph.dtypes import TypeSet
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import plain_sizes, rank, reshape, shape

_PADDINGS = TypeSet(dtypes.int32, dtypes.int64, default=dtypes.int32)


def _amounts(paddings: Any) -> list[tuple]:
    """(before, after) for each dimension, as ints, symbolic sizes or None.  Raises ValueError if negative."""
    flat = plain_sizes(paddings)
    if any(p is not None and p < 0 for p in flat):
        raise ValueError(f"Paddings must be non-negative, got {flat}")
    return list(zip(flat[0::2], flat[1::2]))


def _padded(c: Any) -> Any:
    value, paddings = c.shapes[0], c.constant(1)
    rows = c.shapes[1][0] if c.shapes[1] else None
    if c.shapes[1] is not None and (len(c.shapes[1]) != 2 or c.shapes[1][1] not in (None, 2)):
        raise ValueError(f"paddings must be a matrix with 2 columns, got shape {list(c.shapes[1])}")
    if value is not None and rows is not None and rows != len(value):
        raise ValueError(f"Shape must be rank {rows} but is rank {len(value)}: paddings needs one row per dimension")
    if value is None:
        return None if rows is None else (None,) * rows
    if paddings is None:
        return (None,) * len(value)
    return tuple([None if None in (lo, hi) or d is None else lo + d + hi
                  for d, (lo, hi) in zip(value, _amounts(paddings))])


def _lower_pad(b: Any, x: Any, paddings: Any, value: Any = 0) -> Any:
    if paddings.constant is None:
        return NotImplemented
    amounts = _amounts(paddings.constant)
    return b.pad(x, [lo for lo, _ in amounts], [hi for _, hi in amounts], value)


def _pad_value(x: Any, paddings: Any, value: Any) -> Any:
    try:
        amounts = _amounts(paddings)
    except ValueError as error:
        raise invalid(str(error)) from None
    if not amounts:
        return x
    return np.pad(x, amounts, constant_values=value)


def _cut_out(op: Any, grad: Any) -> Any:
    """The part of the gradient that lies where the input was."""
    value, paddings = op.inputs[0], op.inputs[1]
    before = raw.Slice(paddings, [0, 0], stack([rank(value), 1]))
    return raw.Slice(grad, reshape(before, [-1]), shape(value, out_type=paddings.dtype.base_dtype))


def _pad_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [[x, ints([1, 0], [0, 2])], [x, np.zeros((2, 2), np.int32)], [x[:0], ints([1, 1], [0, 0])]]


@op("Pad(input: T, paddings: Tpaddings) -> output: T", Tpaddings=_PADDINGS, shape=_padded, lower=_lower_pad,
    samples=_pad_samples, symbolic=lambda input, paddings: _pad_value(input, paddings, 0))
def _pad(input, paddings):
    """The input with zeros around it: paddings[i] = (before, after) for dimension i."""
    return _pad_value(input, paddings, b"" if input.dtype == object else 0)


@_pad.gradient
def _(op, grad):
    return [_cut_out(op, grad), None]


@op("PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T", Tpaddings=_PADDINGS, shape=_padded,
    lower=_lower_pad,
    samples=lambda rng, dtype: [[*sample, draw(rng, (), dtype)] for sample in _pad_samples(rng, dtype)])
def _pad_v2(input, paddings, constant_values):
    """The input with the scalar `constant_values` around it: paddings[i] = (before, after) for dimension i."""
    return _pad_value(input, paddings, constant_values)


@_pad_v2.gradient
def _(op, grad):
    return [_cut_out(op, grad), None, None]


_MIRROR = 'mode: string {"REFLECT", "SYMMETRIC"}'


def _mirror_parts(b: Any, x: Any, lo: Any, hi: Any, axis: int, skip: int) -> list:
    size = x.shape[axis]

    def part(begin: Any, count: Any) -> Any:
        """`count` elements from `begin` on, backwards."""
        return b.slice(x, [begin if i == axis else 0 for i in range(len(x.shape))],
                       [count if i == axis else d for i, d in enumerate(x.shape)],
                       [-1 if i == axis else 1 for i in range(len(x.shape))])

    parts = [part(lo - 1 + skip, lo)] if lo != 0 else []
    parts.append(x)
    if hi != 0:
        parts.append(part(size - 1 - skip, hi))
    return parts


def _lower_mirror_pad(b: Any, x: Any, paddings: Any, mode: str) -> Any:
    if paddings.constant is None:
        return NotImplemented
    skip = 1 if mode == "REFLECT" else 0
    for axis, (lo, hi) in enumerate(_amounts(paddings.constant)):
        _check_mirror(x.shape[axis], lo, hi, skip, axis)
        parts = _mirror_parts(b, x, lo, hi, axis, skip)
        x = b.concat(parts, axis) if len(parts) > 1 else x
    return x


def _check_mirror(size: Any, lo: Any, hi: Any, skip: int, axis: int) -> None:
    if lo > size - skip or hi > size - skip:
        raise ValueError(f"paddings must be no greater than the dimension size{' minus 1' if skip else ''}: {lo}, {hi} "
                         f"greater than {size - skip} (dimension {axis})")


def _mirror_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [([x, ints([1, 0], [1, 2])], {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")]


@op(f"MirrorPad(input: T, paddings: Tpaddings; {_MIRROR}) -> output: T", Tpaddings=_PADDINGS, shape=_padded,
    lower=_lower_mirror_pad, samples=_mirror_samples)
def _mirror_pad(input, paddings, mode):
    """The input continued by its mirror image; REFLECT does not repeat the outermost element, SYMMETRIC does."""
    amounts = _amounts(paddings)
    for axis, (lo, hi) in enumerate(amounts):
        try:
            _check_mirror(input.shape[axis], lo, hi, mode == "REFLECT", axis)
        except ValueError as error:
            raise invalid(str(error)) from None
    return np.pad(input, amounts, mode=mode.lower()) if amounts else input


@_mirror_pad.gradient
def _(op, grad):
    return [raw.MirrorPadGrad(grad, op.inputs[1], mode=op.attrs["mode"]), None]


def _unpadded(c: Any) -> Any:
    value, paddings = c.shapes[0], c.constant(1)
    if value is None or paddings is None:
        return None if value is None else (None,) * len(value)
    return tuple([None if None in (lo, hi) or d is None else d - lo - hi
                  for d, (lo, hi) in zip(value, _amounts(paddings))])


def _lower_mirror_gradient(b: Any, grad: Any, paddings: Any, mode: str) -> Any:
    if paddings.constant is None or not all(isinstance(d, int) for d in grad.shape):
        return NotImplemented
    skip = 1 if mode == "REFLECT" else 0
    for axis, (lo, hi) in enumerate(_amounts(paddings.constant)):
        size = grad.shape[axis] - lo - hi
        if max(lo, hi) > size - skip:
            return NotImplemented
        parts = [_along_axis(b, grad, axis, lo, size, 1)]
        for begin, count, place in ((lo - 1, lo, skip), (lo + size + hi - 1, hi, size - skip - hi)):
            if count:
                image = _along_axis(b, grad, axis, begin, count, -1)
                around = [[n if i == axis else 0 for i in range(grad.rank)] for n in (place, size - place - count)]
                parts.append(b.pad(image, *around))
        grad = b.total(parts) if len(parts) > 1 else parts[0]
    return grad


def _along_axis(b: Any, x: Any, axis: int, begin: int, count: int, step: int) -> Any:
    """`count` elements along an axis from `begin` on, backwards if the step is -1."""
    pick = lambda there, others: [there if i == axis else other for i, other in enumerate(others)]
    return b.slice(x, pick(begin, (0,) * x.rank), pick(count, x.shape), pick(step, (1,) * x.rank))


def _mirror_gradient_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (3, 6), dtype)
    return [([x, ints([1, 0], [1, 2])], {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")]


@op(f"MirrorPadGrad(input: T, paddings: Tpaddings; {_MIRROR}) -> output: T", Tpaddings=_PADDINGS, shape=_unpadded,
    lower=_lower_mirror_gradient, samples=_mirror_gradient_samples)
def mirror_pad_grad(input, paddings, mode):
    """The gradient of MirrorPad: what lies in the mirror images is added to what they are images of."""
    result, skip = input, 1 if mode == "REFLECT" else 0
    for axis, (lo, hi) in enumerate(_amounts(paddings)):
        moved = np.moveaxis(result, axis, 0)
        size = moved.shape[0] - lo - hi
        core = moved[lo:lo + size].copy()
        if lo:
            core[skip:skip + lo] += moved[:lo][::-1]
        if hi:
            core[size - skip - hi:size - skip] += moved[lo + size:][::-1]
        result = np.moveaxis(core, 0, axis)
    return result


@mirror_pad_grad.gradient
def _(op, grad):
    return [_mirror_pad(grad, op.inputs[1], mode=op.attrs["mode"]), None]


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Any:
    """`tensor` with elements added around it: `paddings` is an integer matrix, row i = (before, after) for dimension i.

    `mode`: "CONSTANT" (zeros or `constant_values`), "REFLECT" or "SYMMETRIC" (mirror images without and with the
    outermost element).  Raises ValueError for other modes.
    """
    kind = mode.upper()
    if kind == "CONSTANT":
        if not hasattr(constant_values, "dtype") and constant_values == 0:
            return _pad(tensor, paddings, name=name)
        return _pad_v2(tensor, paddings, constant_values, name=name)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Unknown padding mode: {mode}")
    return _mirror_pad(tensor, paddings, mode=kind, name=name)
