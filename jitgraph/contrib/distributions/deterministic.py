"""Distributions of which all samples are the same."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros, zeros_like
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import assert_equal, assert_non_negative
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_all


class _Fixed(Distribution):
    """A distribution at `loc`; values up to ``atol + rtol * abs(loc)`` away count as the same."""

    def __init__(self, loc: Any, atol: Any, rtol: Any, is_vector: bool, validate_args: bool, allow_nan_stats: bool, name: str):
        parameters = {"loc": loc, "atol": atol, "rtol": rtol, "validate_args": validate_args,
                      "allow_nan_stats": allow_nan_stats, "name": name}
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.get_shape().ndims is None:
                    loc = with_dependencies([assert_rank_at_least(loc, 1, message=message)], loc)
                elif loc.get_shape().ndims < 1:
                    raise ValueError(message)
            self._loc = loc
            super().__init__(dtype=loc.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[loc], name=name)
            self._atol, self._rtol = self._tolerance(atol), self._tolerance(rtol)
            self._slack = self.atol if rtol is None else self.atol + self.rtol * absolute(self.loc)

    def _tolerance(self, given: Any) -> Tensor:
        if given is None:
            return convert_to_tensor(0, dtype=self.loc.dtype)
        given = convert_to_tensor(given, dtype=self.loc.dtype)
        return checked_if(self.validate_args, lambda: [
            assert_non_negative(given, message="Argument 'tol' must be non-negative")], given)

    @property
    def loc(self) -> Tensor:
        """The value of all samples."""
        return self._loc

    @property
    def atol(self) -> Tensor:
        """The absolute tolerance."""
        return self._atol

    @property
    def rtol(self) -> Tensor:
        """The relative tolerance."""
        return self._rtol

    def _entropy(self) -> Any:
        return zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return identity(self.loc)

    def _variance(self) -> Any:
        return zeros_like(self.loc)

    def _mode(self) -> Any:
        return self.mean()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        known = static_value(convert_to_tensor(n))
        rank = self.loc.get_shape().ndims
        if known is not None and rank is not None:
            multiples: Any = [known, *[1] * rank]
        else:
            multiples = concat(([n], ones_like(shape_of(self.loc))), axis=0)
        return tile(self.loc[newaxis, ...], multiples=multiples)


class Deterministic(_Fixed):
    """A number that is always `loc`."""

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "Deterministic"):
        super().__init__(loc, atol, rtol, False, validate_args, allow_nan_stats, name)

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.get_shape()

    def _event_shape_tensor(self) -> Any:
        return constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _prob(self, x: Any) -> Any:
        return cast(absolute(x - self.loc) <= self._slack, dtype=self.dtype)

    def _cdf(self, x: Any) -> Any:
        return cast(x >= self.loc - self._slack, dtype=self.dtype)


class VectorDeterministic(_Fixed):
    """A vector that is always `loc` [..., K]."""

    def __init__(self, loc: Any, atol: Any = None, rtol: Any = None, validate_args: bool = False, allow_nan_stats: bool = True,
                 name: str = "VectorDeterministic"):
        """Raises ValueError for a scalar, if that is checked."""
        super().__init__(loc, atol, rtol, True, validate_args, allow_nan_stats, name)

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.get_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return shape_of(self.loc)[-1]

    def _event_shape(self) -> Any:
        return self.loc.get_shape()[-1:]

    def _prob(self, x: Any) -> Any:
        if self.validate_args:
            is_vector = assert_rank_at_least(x, 1)
            fits = assert_equal(self.event_shape_tensor(), gather(shape_of(x), rank_of(x) - 1),
                                message="Argument 'x' not defined in the same space R^k as this distribution")
            with control_dependencies([is_vector]), control_dependencies([fits]):
                x = identity(x)
        return cast(reduce_all(absolute(x - self.loc) <= self._slack, axis=-1), dtype=self.dtype)
