"""Bijectors of scalars."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.checks.check_values import assert_greater, assert_less, assert_non_negative, assert_none_equal, assert_positive
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater, less, logical_or
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import exp, expm1, log, log1p, sigmoid


def softplus_inverse(x: Any, name: str | None = None) -> Tensor:
    """The y of ``softplus(y) = x``, that is log(exp(x) - 1), without overflow and with gradients that are no NaN."""
    with name_scope(name, "softplus_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small = less(x, np.exp(threshold))
        large = greater(x, -threshold)
        of_small, of_large = log(x), x
        # ones stand where the value is not used: its gradient there must be finite
        x = where_v2(logical_or(small, large), ones_like(x), x)
        y = x + log(-expm1(-x))
        return where_v2(small, of_small, where_v2(large, of_large, y))


class Identity(Bijector):
    """y = x"""

    def __init__(self, validate_args: bool = False, name: str = "identity"):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype)


class PowerTransform(Bijector):
    """y = (1 + x power)^(1 / power), which is exp(x) for the power 0."""

    def __init__(self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform"):
        """Raises ValueError if the power is below 0 or not known."""
        self._graph_parents = []
        self._name = name
        self._validate_args = validate_args
        with self._name_scope("init", values=[power]):
            power = static_value(convert_to_tensor(power, name="power"))
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = power
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> Any:
        """The power."""
        return self._power

    def _forward(self, x: Any) -> Any:
        x = self._checked_x(x)
        return exp(x) if self.power == 0.0 else exp(log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._checked_y(y)
        return log(y) if self.power == 0.0 else expm1(log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked_x(x)
        return x if self.power == 0.0 else (1.0 / self.power - 1.0) * log1p(x * self.power)

    def _checked_x(self, x: Any) -> Any:
        return checked_if(self.validate_args and self.power != 0.0, lambda: [assert_non_negative(
            1.0 + self.power * x, message=f"Forward transformation input must be at least {-1.0 / self.power}.")], x)

    def _checked_y(self, y: Any) -> Any:
        return checked_if(self.validate_args, lambda: [assert_positive(
            y, message="Inverse transformation input must be greater than 0.")], y)


class Exp(PowerTransform):
    """y = exp(x)"""

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(Bijector):
    """y = 1 / (1 + exp(-x))"""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class Softplus(Bijector):
    """y = c log(1 + exp(x / c)), c being `hinge_softness`, 1 if None."""

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"):
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness: Any = None
            if hinge_softness is not None:
                self._hinge_softness = convert_to_tensor(hinge_softness, name="hinge_softness")
            if validate_args:
                zero = convert_to_tensor(0, dtype=self.hinge_softness.dtype)
                check = assert_none_equal(zero, self.hinge_softness, message="hinge_softness must be non-zero")
                self._hinge_softness = with_dependencies([check], self.hinge_softness)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> Any:
        """How soft the bend at 0 is."""
        return self._hinge_softness

    def _scaled(self, function: Callable, value: Any) -> Any:
        if self.hinge_softness is None:
            return function(value)
        softness = cast(self.hinge_softness, value.dtype)
        return softness * function(value / softness)

    def _forward(self, x: Any) -> Any:
        return self._scaled(softplus, x)

    def _inverse(self, y: Any) -> Any:
        return self._scaled(softplus_inverse, y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        if self.hinge_softness is not None:
            y /= cast(self.hinge_softness, y.dtype)
        return -log(-expm1(-y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.hinge_softness is not None:
            x /= cast(self.hinge_softness, x.dtype)
        return -softplus(-x)


class Softsign(Bijector):
    """y = x / (1 + |x|)"""

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + absolute(x))

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return y / (1.0 - absolute(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * log1p(absolute(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * log1p(-absolute(self._checked(y)))

    def _checked(self, y: Any) -> Any:
        return checked_if(self.validate_args, lambda: [
            assert_greater(y, cast(-1.0, dtype=y.dtype.base_dtype),
                           message="Inverse transformation input must be greater than -1."),
            assert_less(y, cast(1.0, dtype=y.dtype.base_dtype),
                        message="Inverse transformation input must be less than 1.")], y)


class Square(Bijector):
    """y = x^2 of numbers from 0 on"""

    def __init__(self, validate_args: bool = False, name: str = "square"):
        self._name = name
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return square(self._checked(x))

    def _inverse(self, y: Any) -> Any:
        return sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return np.log(2.0) + log(self._checked(x))

    def _checked(self, value: Any) -> Any:
        return checked_if(self.validate_args, lambda: [
            assert_non_negative(value, message="All elements must be non-negative.")], value)


class AbsoluteValue(Bijector):
    """y = |x|, whose inverse has two values."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        self._graph_parents = []
        self._name = name
        with self._name_scope("init"):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def _is_injective(self) -> bool:
        return False

    def _forward(self, x: Any) -> Any:
        return absolute(x)

    def _inverse(self, y: Any) -> Any:
        y = self._after_check(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = self._after_check(y, constant(0.0, dtype=y.dtype))
        return zero, zero

    def _after_check(self, y: Any, value: Any) -> Any:
        return checked_if(self.validate_args, lambda: [assert_non_negative(y, message="Argument y was negative")], value)


class AffineScalar(Bijector):
    """y = x * `scale` + `shift`, 1 and 0 if None."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar"):
        self._graph_parents = []
        self._name = name
        self._validate_args = validate_args
        with self._name_scope("init", values=[scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None
            if scale is not None:
                tensor = convert_to_tensor(scale, name="scale")
                self._scale = checked_if(validate_args, lambda: [
                    assert_none_equal(tensor, zeros([], dtype=tensor.dtype))], tensor)
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    @property
    def shift(self) -> Any:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The factor."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        y = identity(x)
        if self.scale is not None:
            y *= self.scale
        if self.shift is not None:
            y += self.shift
        return y

    def _inverse(self, y: Any) -> Any:
        x = identity(y)
        if self.shift is not None:
            x -= self.shift
        if self.scale is not None:
            x /= self.scale
        return x

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype.base_dtype) if self.scale is None else log(absolute(self.scale))
