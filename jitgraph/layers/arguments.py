"""The arguments of layers over windows, checked and brought into one form, and the sizes that windows give."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from jitgraph.control import conditionals
from jitgraph.variables.variable import Variable


def normalize_tuple(value: Any, n: int, name: str) -> tuple:
    """A tuple of `n` integers from one, or from as many.  Raises ValueError, which calls it `name`, for others."""
    if isinstance(value, numbers.Integral):
        return (int(value),) * n
    wanted = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        values = tuple(value)
    except TypeError:
        raise ValueError(wanted) from None
    if len(values) != n:
        raise ValueError(wanted)
    for one in values:
        try:
            int(one)
        except (ValueError, TypeError):
            raise ValueError(f"{wanted} including element {one} of type {type(one)}") from None
    return values


def normalize_data_format(value: Any) -> str:
    """"channels_last" (also for None) or "channels_first".  Raises ValueError for others."""
    data_format = "channels_last" if value is None else value.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError('The `data_format` argument must be one of "channels_first", "channels_last". Received: '
                         f"{value}")
    return str(data_format)


def normalize_padding(value: Any) -> Any:
    """"valid", "same" or "causal", or a list of paddings as it is.  Raises ValueError for others."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError('The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for '
                         f"`Conv1D). Received: {padding}")
    return padding


def convert_data_format(data_format: str, ndim: int) -> str:
    """What ops call the layout of tensors of rank `ndim`: "NHWC", "NCW" ...  Raises ValueError for others."""
    spatial = {3: "W", 4: "HW", 5: "DHW"}.get(ndim)
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError("Invalid data_format:", data_format)
    if spatial is None:
        raise ValueError("Input rank not supported:", ndim)
    return f"N{spatial}C" if data_format == "channels_last" else f"NC{spatial}"


def spatial_axes(data_format: str, rank: int) -> list[int]:
    """The axes of a batch over which windows move."""
    first = 1 if data_format == "channels_last" else 2
    return list(range(first, first + rank))


def conv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1) -> int | None:
    """The number of windows along an axis of `input_length`; None if that is unknown."""
    if input_length is None:
        return None
    reach = (filter_size - 1) * dilation
    lost = {"same": 0, "causal": 0, "valid": -reach, "full": reach}[padding]
    return (input_length + lost + stride - 1) // stride


def deconv_output_length(input_length: Any, filter_size: int, padding: str, stride: int,
                         output_padding: int | None = None) -> Any:
    """The size along an axis whose windows number `input_length` (a number, a tensor or None).

    Windows leave it open by less than `stride`: `output_padding` says by how much it is more than the least, None takes the most
    for "valid" and "same".
    """
    if input_length is None:
        return None
    if output_padding is not None:
        cut = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
        return (input_length - 1) * stride + filter_size - 2 * cut + output_padding
    length = input_length * stride
    if padding == "full":
        return length - (stride + filter_size - 2)
    return length + max(filter_size - stride, 0) if padding == "valid" else length


def smart_cond(pred: Any, true_fn: Callable | None = None, false_fn: Callable | None = None, name: str | None = None) -> Any:
    """As ``tf.cond``, but where `pred` is known now, just the call of one of the functions."""
    if isinstance(pred, Variable):
        return conditionals.cond(pred, true_fn, false_fn, name=name)
    return conditionals.smart_cond(pred, true_fn, false_fn, name)


def constant_value(pred: Any) -> bool | None:
    """The value of a bool if it is known now, None if only a run gives it, as that of a variable."""
    return None if isinstance(pred, Variable) else conditionals.smart_constant_value(pred)
