"""``Reshape``: a bijector that gives events another shape."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value_as_shape, static_value
from jitgraph.graph.convert import public_convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import boolean_mask
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal, assert_greater_equal, assert_less_equal
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_sum


class Reshape(Bijector):
    """Events of the shape `event_shape_in` as events of `event_shape_out`, each with at most one -1 for what is left."""

    def __init__(self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False, name: str | None = None):
        """Raises TypeError if these are no integers, ValueError if they are no shapes."""
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._event_shape_out = public_convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32)
            self._event_shape_in = public_convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32)
            self._checks = [*_checks_of_shape(self._event_shape_out, validate_args),
                            *_checks_of_shape(self._event_shape_in, validate_args)]
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args,
                             name=name or "reshape")

    def _reshaped(self, x: Any, shape_in: Tensor, shape_out: Tensor) -> Tensor:
        known_rank_in = dimension_value(shape_in.shape.with_rank_at_least(1)[0])
        rank_in = shape_of(shape_in)[0]
        known_rank = x.shape.ndims
        rank: Any = rank_of(x)
        event: Any = None
        if known_rank_in is not None and known_rank is not None:
            static = x.shape.with_rank_at_least(known_rank_in)[known_rank - known_rank_in:]
            event = np.array(static.as_list(), np.int32) if static.is_fully_defined() else None
        event_tensor = shape_of(x)[rank - rank_in:] if event is None else event
        known_in = static_value(shape_in)
        if event is not None and known_in is not None:
            if not np.equal(event[known_in >= 0], known_in[known_in >= 0]).all():
                raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({event} vs {known_in}).")
        elif self.validate_args:
            given = reshape(shape_in >= 0, [-1])
            x = with_dependencies([assert_equal(boolean_mask(event_tensor, given), boolean_mask(shape_in, given),
                                                message="Input `event_shape` does not match `event_shape_in`.")], x)
        before = shape_of(x)
        before = before[:(rank_of(x) if x.shape.ndims is None else x.shape.ndims) - absolute(rank_in)]
        if known_rank_in is not None and known_rank_in == known_rank:
            return reshape(x, shape_out)        # there are neither samples nor a batch: the static shape stays known
        return reshape(x, concat([before, shape_out], axis=0))

    def _forward(self, x: Any) -> Any:
        with control_dependencies(self._checks):
            return self._reshaped(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Any) -> Any:
        with control_dependencies(self._checks):
            return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        with control_dependencies(self._checks):
            return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._inverse_log_det_jacobian(x)

    def _of_zeros(self, through: Any, shape: Any) -> Tensor:
        """What `through` makes of an event of zeros of a shape."""
        with control_dependencies(self._checks):
            return through(zeros(dtype=dtypes.float32, shape=shape))

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._of_zeros(self.forward, input_shape).shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._of_zeros(self.inverse, output_shape).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        with control_dependencies(self._checks):
            return shape_of(self._of_zeros(self.forward, input_shape))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        with control_dependencies(self._checks):
            return shape_of(self._of_zeros(self.inverse, output_shape))


def _checks_of_shape(shape: Tensor, validate_args: bool) -> list:
    """What is to be checked of a shape when the graph runs.  Raises TypeError, ValueError for what is known to be none."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks = []
    rank = rank_of(shape)
    known_rank = static_value(rank)
    if known_rank is not None and known_rank > 1:
        raise ValueError(f"`{shape}` rank ({known_rank}) should be <= 1.")
    if known_rank is None and validate_args:
        checks.append(assert_less_equal(rank, 1, message=f"`{shape}` rank should be <= 1."))
    known = constant_value_as_shape(shape)
    if known.is_fully_defined():
        sizes = np.array(known.as_list(), np.int32)
        if sum(sizes == -1) > 1:
            raise ValueError(f"`{shape}` must have at most one `-1` (given {sizes})")
        if np.any(sizes < -1):
            raise ValueError(f"`{shape}` elements must be either positive integers or `-1`(given {sizes}).")
    elif validate_args:
        checks += [assert_less_equal(reduce_sum(cast(equal(shape, -1), dtypes.int32)), 1,
                                     message=f"`{shape}` elements must have at most one `-1`."),
                   assert_greater_equal(shape, -1, message=f"`{shape}` elements must be either positive integers or `-1`.")]
    return checks
