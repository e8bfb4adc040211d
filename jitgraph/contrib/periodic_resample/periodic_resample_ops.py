"""A tensor in another shape: where axes grow, the elements of another one are shared out among them (Shi et al., 2016)."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NUMBERS, op
from jitgraph.declare.samples import draw


def _desired(shape: Any, values: tuple) -> tuple[list[int], int]:
    """(the sizes, the axis whose size is given by the others)."""
    sizes = [-1 if one is None else int(one) for one in shape]
    if len(sizes) != len(values):
        raise invalid(f"periodic_resample expects the rank of the input tensor, {len(values)}, to be the same as the length of the "
                      f"desired shape, {len(sizes)}.")
    free = [axis for axis, one in enumerate(sizes) if one < 0]
    if len(free) > 1:
        raise invalid("periodic_resample expects only one index to be marked as adjustable.")
    for axis, one in enumerate(sizes):
        if 0 <= one < values[axis]:
            raise invalid(f"periodic_resample expects the size of non-adjustable dimensions be at least as large as size of input "
                          f"tensor. Dimension {axis} input tensor has size {values[axis]}, desired shape has size {one}.")
    if not free:
        raise invalid("periodic_resample expects one size of the desired shape to be None.")
    sizes[free[0]] = math.prod(values) // math.prod(one for one in sizes if one >= 0)
    if not sizes[free[0]]:
        raise invalid(f"periodic_resample found that the adjustable dimension, {free[0]}, isn't greater than zero, 0.")
    return sizes, free[0]


def _sources(shape: Any, values: tuple) -> tuple[np.ndarray, ...]:
    """For each element of the result, the indices of the element that it is."""
    sizes, adjusted = _desired(shape, values)
    places = list(np.indices(sizes))
    step, along = 1, places[adjusted]
    for axis, (size, before) in enumerate(zip(sizes, values)):
        if axis != adjusted:
            factor = -(-size // before)
            along = along + sizes[adjusted] * step * (places[axis] % factor)
            places[axis] = places[axis] // factor
            step *= factor
    if along.size and along.max() >= values[adjusted]:
        raise invalid(f"periodic_resample would read element {along.max()} of axis {adjusted}, which has {values[adjusted]}: sizes "
                      "of the desired shape should be multiples of those of the input.")
    places[adjusted] = along
    return tuple(places)


def _shape(c: Any) -> Any:
    known = c.shapes[0]
    if known is None or None in known:
        return None if known is None else tuple(None for _ in known)
    return tuple(_desired(c.attrs["shape"], known)[0])


def _samples(rng: np.random.Generator, dtype: Any) -> list:
    return [([draw(rng, (3, 4), dtype)], {"shape": [6, None]}), ([draw(rng, (2, 3, 4), dtype)], {"shape": [4, 3, None]}),
            ([draw(rng, (2, 2, 4), dtype)], {"shape": [3, None, 4]})]


@op("PeriodicResample(values: T; shape: shape) -> output: T", T=NUMBERS, shape=_shape, host=True, samples=_samples)
def periodic_resample(values, shape):
    """`values` in a `shape` of which one size is None; the others are at least those of `values`.

    Raises InvalidArgumentError for another rank, another number of Nones, and a smaller size.
    """
    return values[_sources(shape, values.shape)]


def _grad_samples(rng: np.random.Generator, dtype: Any) -> list:
    return [([draw(rng, (6, 2), dtype)], {"original_shape": [3, 4], "desired_shape": [6, None]})]


@op("PeriodicResampleOpGrad(grad: T; original_shape: shape, desired_shape: shape) -> grad_values: T", T=NUMBERS,
    shape=lambda c: tuple(c.attrs["original_shape"]), host=True, samples=_grad_samples)
def periodic_resample_op_grad(grad, original_shape, desired_shape):
    """The gradient of ``periodic_resample``: what the copies of an element get, added up."""
    values = tuple(int(one) for one in original_shape)
    found = np.zeros(values, grad.dtype)
    np.add.at(found, _sources(desired_shape, values), grad)
    return found


@periodic_resample.gradient
def _(op, grad):
    return periodic_resample_op_grad(grad, original_shape=op.inputs[0].shape, desired_shape=op.get_attr("shape"))
