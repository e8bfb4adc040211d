"""Integration by steps of given sizes: the midpoint method, and that of Runge and Kutta of order four."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.integrate.checks import check_input_types, increasing
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import ceil
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.tensor_arrays.tensor_array import TensorArray


def _midpoint(func: Callable, t: Any, dt: Any, y: Any) -> Any:
    step = cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func: Callable, t: Any, dt: Any, y: Any) -> Any:
    k1 = func(y, t)
    half = t + dt / 2
    step = cast(dt, y.dtype)
    k2 = func(y + step * k1 / 2, half)
    k3 = func(y + step * k2 / 2, half)
    k4 = func(y + step * k3, t + dt)
    return add_n([k1, 2 * k2, 2 * k3, k4]) * (step / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def _integrated(step: Callable, func: Callable, y0: Any, times: Any, sizes: Any, counts: Any) -> Any:
    def one(y: Any, t: Any, j: Any, interval: Any) -> tuple:
        size = sizes[interval - 1]
        return y + cast(step(func, t, size, y), dtype=y.dtype), t + size, j + 1, interval

    def over_interval(solution: Any, y: Any, t: Any, interval: Any) -> tuple:
        y, t, _, _ = while_loop(lambda y, t, j, interval: j < counts[interval - 1], one, (y, t, 0, interval))
        return solution.write(interval, y), y, t, interval + 1

    number = size(times)
    first = times[0]
    solution = TensorArray(y0.dtype, number).write(0, y0)
    solution, _, _, _ = while_loop(lambda solution, y, t, i: i < number, over_interval, (solution, y0, first, 1))
    found = solution.stack()
    found.set_shape(times.get_shape().concatenate(y0.get_shape()))
    return found


def odeint_fixed(func: Callable, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None) -> Any:
    """The solution of dy / dt = func(y, t) at the times `t`, from `y0` at the first on: [times, ...].

    `t`: increasing; `dt`: the greatest size of a step between two times, the whole interval if None; `method`: "rk4" or
    "midpoint".  Raises ValueError for another method and for lengths that do not fit, TypeError for dtypes that are not floating,
    when run InvalidArgumentError for times that do not increase.
    """
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = convert_to_tensor(intervals if dt is None else dt, preferred_dtype=dtypes.float64, name="dt")
        counts = ceil(intervals / dt)
        dt = intervals / counts
        counts = cast(counts, dtype=dtypes.int32)
        check_input_types(y0, t, dt)
        if len(t.get_shape().as_list()) > 1 or len(dt.get_shape().as_list()) > 1:
            raise ValueError("t must be a 1D tensor")
        if t.get_shape()[0] != dt.get_shape()[0] + 1:
            raise ValueError("t and dt have incompatible lengths, must be N and N-1")
        with increasing(t), name_scope(method):
            if method not in _METHODS:
                raise ValueError(f"method not supported: {method}")
            return _integrated(_METHODS[method], func, y0, t, dt, counts)
