"""``auto_correlation``: how much values are like those some steps before them."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.distributions.padding import pad
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.circulant import rotate_transpose
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import minimum, pow
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import complex, conj
from jitgraph.ops.elementwise.elementary import ceil, log
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.ops.signal.fft import fft, ifft


def auto_correlation(x: Any, axis: int = -1, max_lags: Any = None, center: bool = True, normalize: bool = True,
                     name: str = "auto_correlation") -> Tensor:
    """The means of the products of values along `axis` and those 0, 1, ... `max_lags` steps further, by Fourier transforms.

    `center`: the mean is taken off first.  `normalize`: divided by the first, that without a step.  Raises TypeError for
    integers.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        rank = _known(rank_of(x))
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        turned = rotate_transpose(x, shift)
        if center:
            turned -= reduce_mean(turned, axis=-1, keepdims=True)
        count = _known(shape_of(turned))[-1]
        number = cast(count, np.float64)
        # as many zeros as keep the end from meeting the beginning, up to a power of 2
        target = pow(np.float64(2.0), ceil(log(number * 2) / np.log(2.0)))
        padded = pad(turned, axis=-1, back=True, count=cast(target - number, np.int32))
        dtype = x.dtype
        if not dtype.is_complex:
            if not dtype.is_floating:
                raise TypeError(f"Argument x must have either float or complex dtype found: {dtype}")
            padded = complex(padded, dtype.real_dtype.as_numpy_dtype(0.0))
        spectrum = fft(padded)
        products = cast(ifft(spectrum * conj(spectrum)), dtype)
        lags, is_known = _lags(max_lags, count, turned.shape.is_fully_defined())
        products = products[..., :lags + 1]
        if is_known:
            products.set_shape([*turned.shape.as_list()[:-1], min(count, lags + 1)])
        length = cast(count, dtype.real_dtype)
        steps = range_of(0.0, cast(lags, dtype.real_dtype) + 1.0)
        found = products / cast(length - steps, dtype)
        if normalize:
            found /= found[..., :1]
        return rotate_transpose(found, -shift)


def _known(tensor: Tensor) -> Any:
    """The value of a tensor if it is known, else the tensor."""
    value = static_value(tensor)
    return tensor if value is None else value


def _lags(max_lags: Any, count: Any, is_known: bool) -> tuple[Any, bool]:
    """(the number of steps, whether the shape of the result is known)"""
    if max_lags is None:
        return count - 1, is_known
    max_lags = convert_to_tensor(max_lags, name="max_lags")
    known = static_value(max_lags)
    if known is None or not is_known:
        return minimum(count - 1, max_lags), False
    return min(count - 1, int(known)), True
