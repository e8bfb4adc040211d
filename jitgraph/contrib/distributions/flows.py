"""Normalizing flows: ``MaskedAutoregressiveFlow`` (Papamakarios and others, 2017) and ``RealNVP`` (Dinh and others, 2017)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.control.while_loops import while_loop
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.elementary import exp
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope


def _moved(x: Tensor, shift: Any, log_scale: Any) -> Tensor:
    """``x exp(log_scale) + shift``, of which either may be None."""
    if log_scale is not None:
        x *= exp(log_scale)
    if shift is not None:
        x += shift
    return x


def _moved_back(y: Tensor, shift: Any, log_scale: Any) -> Tensor:
    if shift is not None:
        y -= shift
    if log_scale is not None:
        y *= exp(-log_scale)
    return y


class MaskedAutoregressiveFlow(Bijector):
    """y[i] = x[i] exp(log_scale(y[:i])) + shift(y[:i]), of vectors.

    `shift_and_log_scale_fn` gives both for all of y at once, either may be None; of what it gives at i it must not use y[i:].
    ``inverse`` calls it once, ``forward`` as often as events have elements: in a loop, or with `unroll_loop` in as many copies.
    """

    def __init__(self, shift_and_log_scale_fn: Callable, is_constant_jacobian: bool = False, validate_args: bool = False,
                 unroll_loop: bool = False, name: str | None = None):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         name=name or "masked_autoregressive_flow")

    def _forward(self, x: Any) -> Any:
        known = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if self._unroll_loop:
            if known is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. "
                                 f"`x.shape: {x.shape!r}`")
            y = zeros_like(x, name="y0")
            for _ in range(known):
                y = _moved(x, *self._shift_and_log_scale_fn(y))
            return y
        size = shape_of(x)[-1]
        y = zeros_like(x, name="y0")
        self._shift_and_log_scale_fn(y)         # makes the variables, outside of the loop

        def body(index: Any, y: Any) -> tuple:
            with variable_scope(get_variable_scope()) as scope:
                if scope.caching_device is None:
                    scope.set_caching_device(lambda op: op.device)
                shift, log_scale = self._shift_and_log_scale_fn(y)
            y = _moved(x, shift, log_scale)
            return index + 1, y

        return while_loop(cond=lambda index, _: index < size, body=body, loop_vars=(0, y), maximum_iterations=known)[1]

    def _inverse(self, y: Any) -> Any:
        return _moved_back(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return constant(0.0, dtype=y.dtype, name="ildj")
        return -reduce_sum(log_scale, axis=-1)


class RealNVP(Bijector):
    """The first `num_masked` elements of vectors stay, the others become ``x exp(log_scale) + shift``, functions of the first.

    ``shift_and_log_scale_fn(first, how many others there are)`` gives both; either may be None.
    """

    def __init__(self, num_masked: int, shift_and_log_scale_fn: Callable, is_constant_jacobian: bool = False,
                 validate_args: bool = False, name: str | None = None):
        """Raises ValueError if `num_masked` is not above 0; ``forward`` does if it is not below the size of events."""
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: Any = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         name=name or "real_nvp")

    def _take_depth(self, x: Any) -> None:
        if self._input_depth is None:
            self._input_depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
            if self._input_depth is None:
                raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
            if self._num_masked >= self._input_depth:
                raise ValueError("Number of masked units must be smaller than the event size.")

    def _through(self, move: Callable, value: Any) -> Any:
        self._take_depth(value)
        first, others = value[:, :self._num_masked], value[:, self._num_masked:]
        shift, log_scale = self._shift_and_log_scale_fn(first, self._input_depth - self._num_masked)
        return concat([first, move(others, shift, log_scale)], axis=-1)

    def _forward(self, x: Any) -> Any:
        return self._through(_moved, x)

    def _inverse(self, y: Any) -> Any:
        return self._through(_moved_back, y)

    def _log_scale(self, value: Any) -> Any:
        self._take_depth(value)
        first = value[:, :self._num_masked]
        return self._shift_and_log_scale_fn(first, self._input_depth - self._num_masked)[1]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._log_scale(y)
        if log_scale is None:
            return constant(0.0, dtype=y.dtype, name="ildj")
        return -reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._log_scale(x)
        if log_scale is None:
            return constant(0.0, dtype=x.dtype, name="fldj")
        return reduce_sum(log_scale, axis=-1)
