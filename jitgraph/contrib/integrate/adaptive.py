"""Integration by steps as large as the error allows: the method of Dormand and Prince, of order five (1980)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.integrate.checks import check_input_types, increasing
from jitgraph.control.conditionals import cond
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import div, maximum, minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import imag, real
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import is_finite
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.reduce.reductions import reduce_all, reduce_mean
from jitgraph.tensor_arrays.tensor_array import TensorArray

_ALPHA = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0]
_BETA = [[1 / 5], [3 / 40, 9 / 40], [44 / 45, -56 / 15, 32 / 9], [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
         [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
         [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]]
_ERROR = [1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192, -12231 / 42400 - -2187 / 6784,
          649 / 6300 - 11 / 84, 1 / 60]
# of the solution in the middle of a step (Shampine, 1986)
_MIDDLE = [6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
           187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2]


class _State(NamedTuple):
    """The solution and its derivative at the end of a step, its times, the size of the next, and the polynomial inside."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any
    polynomial: Any


class _History(NamedTuple):
    """The ends of all steps that were tried, and the ratios of their errors to those that are allowed."""

    integrate_points: Any
    error_ratio: Any


def _scaled_dot(scale: Any, xs: list, ys: list, name: str | None = None) -> Any:
    with name_scope(name, "scaled_dot_product", [scale, xs, ys]) as scope:
        return add_n([scale * x * y for x, y in zip(xs, ys) if x != 0], name=scope)


def _dot(xs: Any, ys: Any) -> Any:
    with name_scope(None, "dot_product", [xs, ys]) as scope:
        return add_n([x * y for x, y in zip(xs, ys)], name=scope)


def _step(func: Callable, y0: Any, f0: Any, t0: Any, dt: Any) -> tuple:
    """(the solution after a step, its derivative, its error, the derivatives on the way)"""
    with name_scope(None, "runge_kutta_step", [y0, f0, t0, dt]) as scope:
        size = cast(dt, y0.dtype)
        k = [f0]
        for alpha, beta in zip(_ALPHA, _BETA):
            t = t0 + alpha * dt
            y = y0 + _scaled_dot(size, beta, k)
            k.append(func(y, t))
        y1 = identity(y, name=f"{scope}/y1")
        f1 = identity(k[-1], name=f"{scope}/f1")
        return y1, f1, _scaled_dot(size, _ERROR, k, name=f"{scope}/y1_error"), k


def _fitted(y0: Any, y1: Any, k: list, dt: Any) -> list:
    """The coefficients of the polynomial of order four through both ends, with their derivatives, and the middle."""
    with name_scope("interp_fit_rk"):
        dt = cast(dt, y0.dtype)
        values = [k[0], k[-1], y0, y1, y0 + _scaled_dot(dt, _MIDDLE, k)]
        a = _dot([-2 * dt, 2 * dt, -8, -8, 16], values)
        b = _dot([5 * dt, -3 * dt, 18, 14, -32], values)
        c = _dot([-4 * dt, dt, -11, -5, 16], values)
        return [a, b, c, dt * k[0], y0]


def _evaluated(state: _State, t: Any) -> Any:
    with name_scope("interp_evaluate"):
        inside = Assert((state.t0 <= t) & (t <= state.t1),
                        ["invalid interpolation, fails `t0 <= t <= t1`:", state.t0, t, state.t1])
        dtype = state.polynomial[0].dtype
        with control_dependencies([inside]):
            x = cast((t - state.t0) / (state.t1 - state.t0), dtype)
        powers = [constant(1, dtype), x]
        for _ in range(2, len(state.polynomial)):
            powers.append(powers[-1] * x)
        return _dot(state.polynomial, reversed(powers))


def _next_size(last: Any, error_ratio: Any, safety: Any, ifactor: Any, dfactor: Any) -> Any:
    with name_scope(None, "optimal_step_size", [last, error_ratio]) as scope:
        error_ratio = cast(error_ratio, last.dtype)
        exponent = cast(1 / 5, last.dtype)
        factor = maximum(1 / ifactor, minimum(error_ratio ** exponent / safety, 1 / dfactor))
        return div(last, factor, name=scope)


def _squared_size(x: Any) -> Any:
    return square(real(x)) + square(imag(x)) if x.dtype.is_complex else square(x)


def _dopri5(func: Callable, y0: Any, t: Any, rtol: Any, atol: Any, full_output: bool = False, first_step: Any = None,
            safety: Any = 0.9, ifactor: Any = 10.0, dfactor: Any = 0.2, max_num_steps: Any = 1000, name: str | None = None) -> Any:
    with name_scope(name, "dopri5", [y0, t, rtol, atol, safety, ifactor, dfactor, max_num_steps]) as scope:
        first_step = convert_to_tensor(1.0 if first_step is None else first_step, dtype=t.dtype, name="first_step")
        safety = convert_to_tensor(safety, dtype=t.dtype, name="safety")
        ifactor = convert_to_tensor(ifactor, dtype=t.dtype, name="ifactor")
        dfactor = convert_to_tensor(dfactor, dtype=t.dtype, name="dfactor")
        max_num_steps = convert_to_tensor(max_num_steps, dtype=dtypes.int32, name="max_num_steps")

        def step(state: _State, history: _History, count: Any) -> tuple:
            y0, f0, _, t0, dt, polynomial = state
            with name_scope("assertions"):
                checks = [Assert(t0 + dt > t0, ["underflow in dt", dt]), Assert(count < max_num_steps, ["max_num_steps exceeded"]),
                          Assert(reduce_all(is_finite(absolute(y0))), ["non-finite values in state `y`", y0])]
            with control_dependencies(checks):
                y1, f1, error, k = _step(func, y0, f0, t0, dt)
            with name_scope("error_ratio"):
                allowed = atol + rtol * maximum(absolute(y0), absolute(y1))
                error_ratio = sqrt(reduce_mean(_squared_size(error) / _squared_size(allowed)))
                accepted = error_ratio <= 1
            with name_scope("update/rk_state"):
                state = _State(cond(accepted, lambda: y1, lambda: y0), cond(accepted, lambda: f1, lambda: f0), t0,
                               cond(accepted, lambda: t0 + dt, lambda: t0), _next_size(dt, error_ratio, safety, ifactor, dfactor),
                               cond(accepted, lambda: _fitted(y0, y1, k, dt), lambda: polynomial))
            with name_scope("update/history"):
                points, ratios = history
                history = _History(points.write(points.size(), t0 + dt), ratios.write(ratios.size(), error_ratio))
            return state, history, count + 1

        def interpolate(solution: Any, history: Any, state: Any, i: Any) -> tuple:
            with name_scope("interpolate"):
                state, history, _ = while_loop(lambda state, *_: t[i] > state.t1, step, (state, history, 0), name="integrate_loop")
                return solution.write(i, _evaluated(state, t[i])), history, state, i + 1

        with increasing(t):
            number = size(t)
        solution = TensorArray(y0.dtype, size=number).write(0, y0)
        history = _History(TensorArray(t.dtype, size=0, dynamic_size=True), TensorArray(rtol.dtype, size=0, dynamic_size=True))
        state = _State(y0, func(y0, t[0]), t[0], t[0], first_step, [y0] * 5)
        solution, history, _, _ = while_loop(lambda solution, history, state, i: i < number, interpolate,
                                             (solution, history, state, 1), name="interpolate_loop")
        y = solution.stack(name=scope)
        y.set_shape(t.get_shape().concatenate(y0.get_shape()))
        if not full_output:
            return y
        points = history.integrate_points.stack()
        return y, {"num_func_evals": 6 * size(points) + 1, "integrate_points": points, "error_ratio": history.error_ratio.stack()}


def odeint(func: Callable, y0: Any, t: Any, rtol: Any = 1e-6, atol: Any = 1e-12, method: str | None = None,
           options: dict[str, Any] | None = None, full_output: bool = False, name: str | None = None) -> Any:
    """The solution of dy / dt = func(y, t) at the times `t`, from `y0` at the first on: [times, ...].

    Steps are such that their error is below atol + rtol |y|.  `method`: "dopri5", with `options` `first_step`, `safety`, `ifactor`
    and `dfactor` (how much a step may grow and shrink) and `max_num_steps`.  `full_output`: also a dict of `num_func_evals`,
    `integrate_points` and `error_ratio`.  Raises ValueError for another method and for options without one, TypeError for dtypes
    that are not floating, when run InvalidArgumentError for times that do not increase, too many steps and values that are not
    finite.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        check_input_types(y0, t)
        dtype = absolute(y0).dtype
        rtol, atol = convert_to_tensor(rtol, dtype=dtype, name="rtol"), convert_to_tensor(atol, dtype=dtype, name="atol")
        return _dopri5(func, y0, t, rtol=rtol, atol=atol, full_output=full_output, name=scope, **options or {})
