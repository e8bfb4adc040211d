"""Bijectors of scalars with parameters: the distribution functions of Gumbel, Kumaraswamy and Weibull, and the sinh-arcsinh map."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.checks.check_shapes import assert_same_float_dtype
from jitgraph.ops.checks.check_values import assert_less_equal, assert_non_negative, assert_positive
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.elementwise.elementary import asinh, cosh, exp, expm1, log, log1p, sinh


class _WithParameters(Bijector):
    """A bijector of scalars that names its parameters in a scope of its own before it is complete."""

    def _begin(self, name: str, validate_args: bool) -> None:
        self._graph_parents = []
        self._name = name
        self._validate_args = validate_args

    def _positive(self, value: Any, message: str) -> Any:
        return checked_if(self._validate_args, lambda: [assert_positive(value, message=message)], value)

    def _checked_probability(self, y: Any) -> Any:
        return checked_if(self.validate_args, lambda: [
            assert_non_negative(y, message="Inverse transformation input must be greater than 0."),
            assert_less_equal(y, constant(1.0, y.dtype),
                              message="Inverse transformation input must be less than or equal to 1.")], y)


class Gumbel(_WithParameters):
    """y = exp(-exp(-(x - loc) / scale))"""

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel"):
        """Raises ValueError if the dtypes differ."""
        self._begin(name, validate_args)
        with self._name_scope("init", values=[loc, scale]):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
            self._scale = self._positive(self._scale, "Argument scale was not positive")
        super().__init__(validate_args=validate_args, forward_min_event_ndims=0, name=name)

    @property
    def loc(self) -> Tensor:
        """The mode of Gumbel's distribution."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width of Gumbel's distribution."""
        return self._scale

    def _forward(self, x: Any) -> Any:
        return exp(-exp(-((x - self.loc) / self.scale)))

    def _inverse(self, y: Any) -> Any:
        y = self._checked_probability(y)
        return self.loc - self.scale * log(-log(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._checked_probability(y)
        return log(self.scale / (-log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - exp(-z) - log(self.scale)


class Kumaraswamy(_WithParameters):
    """y = (1 - (1 - x)^(1 / concentration0))^(1 / concentration1): the inverse of Kumaraswamy's distribution function."""

    def __init__(self, concentration1: Any = None, concentration0: Any = None, validate_args: bool = False,
                 name: str = "kumaraswamy"):
        """Raises ValueError if a parameter is None."""
        self._begin(name, validate_args)
        message = "Concentration parameter must be positive."
        with self._name_scope("init", values=[concentration1, concentration0]):
            self._concentration1 = self._positive(convert_to_tensor(concentration1, name="concentration1"), message)
            self._concentration0 = self._positive(convert_to_tensor(concentration0, name="concentration0"), message)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> Tensor:
        """The exponent of y."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The exponent of ``1 - y^concentration1``."""
        return self._concentration0

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        return exp(log1p(-exp(log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        y = self._checked(y)
        return exp(log1p(-(1 - y ** self.concentration1) ** self.concentration0))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._checked(y)
        return (log(self.concentration1) + log(self.concentration0) + (self.concentration1 - 1) * log(y)
                + (self.concentration0 - 1) * log1p(-y ** self.concentration1))

    def _checked(self, x: Any) -> Any:
        return checked_if(self.validate_args, lambda: [
            assert_non_negative(x, message="sample must be non-negative"),
            assert_less_equal(x, ones([], self.concentration0.dtype), message="sample must be no larger than `1`.")], x)


class Weibull(_WithParameters):
    """y = 1 - exp(-(x / scale)^concentration), for x from 0 on"""

    def __init__(self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False, name: str = "weibull"):
        """Raises ValueError if the dtypes differ."""
        self._begin(name, validate_args)
        with self._name_scope("init", values=[scale, concentration]):
            self._scale = convert_to_tensor(scale, name="scale")
            self._concentration = convert_to_tensor(concentration, name="concentration")
            assert_same_float_dtype([self._scale, self._concentration])
            self._scale = self._positive(self._scale, "Argument scale was not positive")
            self._concentration = self._positive(self._concentration, "Argument concentration was not positive")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def scale(self) -> Tensor:
        """The x at which y is 1 - 1 / e."""
        return self._scale

    @property
    def concentration(self) -> Tensor:
        """The exponent of ``x / scale``."""
        return self._concentration

    def _forward(self, x: Any) -> Any:
        return -expm1(-((self._checked_x(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        y = self._checked_probability(y)
        return self.scale * (-log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._checked_probability(y)
        return -log1p(-y) + (1 / self.concentration - 1) * log(-log1p(-y)) + log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked_x(x)
        return (-(x / self.scale) ** self.concentration + (self.concentration - 1) * log(x) + log(self.concentration)
                + -self.concentration * log(self.scale))

    def _checked_x(self, x: Any) -> Any:
        return checked_if(self.validate_args, lambda: [assert_non_negative(
            x, message="Forward transformation input must be at least 0.")], x)


def _sqrt_1_plus_square(x: Tensor) -> Tensor:
    """sqrt(x^2 + 1), whose square does not overflow."""
    small = absolute(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return where_v2(small, sqrt(x**2.0 + 1.0), absolute(x))


class SinhArcsinh(_WithParameters):
    """y = sinh((asinh(x) + skewness) tailweight); the identity for the skewness 0 and the tailweight 1 (Jones and Pewsey, 2009)."""

    def __init__(self, skewness: Any = None, tailweight: Any = None, validate_args: bool = False, name: str = "SinhArcsinh"):
        """Raises ValueError if the dtypes differ."""
        self._begin(name, validate_args)
        with self._name_scope("init", values=[skewness, tailweight]):
            tailweight = 1.0 if tailweight is None else tailweight
            skewness = 0.0 if skewness is None else skewness
            self._skewness = convert_to_tensor(skewness, name="skewness")
            self._tailweight = convert_to_tensor(tailweight, name="tailweight", dtype=self._skewness.dtype)
            assert_same_float_dtype([self._skewness, self._tailweight])
            self._tailweight = self._positive(self._tailweight, "Argument tailweight was not positive")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> Tensor:
        """To which side it leans, 0 for none."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails become, 1 for no change."""
        return self._tailweight

    def _forward(self, x: Any) -> Any:
        return sinh((asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return sinh(asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return log(cosh(asinh(y) / self.tailweight - self.skewness) / _sqrt_1_plus_square(y)) - log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(cosh((asinh(x) + self.skewness) * self.tailweight) / _sqrt_1_plus_square(x)) + log(self.tailweight)
