"""Bijectors made of others, or of functions."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.elementwise.cast import cast


class ConditionalBijector(Bijector):
    """A bijector whose methods hand further named arguments on."""

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """As ``Bijector.forward``."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """As ``Bijector.inverse``."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """As ``Bijector.inverse_log_det_jacobian``."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian",
                                 **condition_kwargs: Any) -> Any:
        """As ``Bijector.forward_log_det_jacobian``."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class Invert(Bijector):
    """The inverse of `bijector`."""

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None):
        """Raises NotImplementedError if the inverse has several values."""
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(graph_parents=bijector.graph_parents, forward_min_event_ndims=bijector.inverse_min_event_ndims,
                         inverse_min_event_ndims=bijector.forward_min_event_ndims,
                         is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args, dtype=bijector.dtype,
                         name=name or f"invert_{bijector.name}")

    @property
    def bijector(self) -> Bijector:
        """The bijector of which it is the inverse."""
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


def _least_rank(bijectors: Any, forward: bool) -> int:
    """The least rank of events that a chain takes, forward or backward."""
    least = reached = 0
    for one in reversed(bijectors) if forward else bijectors:
        takes, gives = one.forward_min_event_ndims, one.inverse_min_event_ndims
        if not forward:
            takes, gives = gives, takes
        if reached < takes:
            least += takes - reached
        reached = max(takes, reached) - (takes - gives)
    return least


def _common_dtype(bijectors: Any) -> Any:
    found = list({one.dtype for one in bijectors})
    if len(found) > 2:
        raise ValueError(f"incompatible dtypes: {found}")
    if len(found) == 2:
        return found[1] if found[0] is None else found[0]
    return found[0] if found else None


class Chain(Bijector):
    """The composition of `bijectors`, of which the last is applied first; the identity if there are none."""

    def __init__(self, bijectors: Any = None, validate_args: bool = False, name: str | None = None):
        """Raises NotImplementedError if an inverse has several values, ValueError for different dtypes."""
        self._bijectors = bijectors = () if bijectors is None else bijectors
        for one in bijectors:
            if not one._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({one.name})")
        dtype = _common_dtype(bijectors)
        super().__init__(graph_parents=[parent for one in bijectors for parent in one.graph_parents],
                         forward_min_event_ndims=_least_rank(bijectors, True),
                         inverse_min_event_ndims=_least_rank(bijectors, False),
                         is_constant_jacobian=all(one.is_constant_jacobian for one in bijectors), validate_args=validate_args,
                         dtype=dtype, name=name or ("_of_".join(["chain", *(one.name for one in bijectors)])
                                                    if bijectors else "identity"))

    @property
    def bijectors(self) -> Any:
        """The bijectors, of which the last is applied first."""
        return self._bijectors

    def _through(self, method: str, shape: Any, backward: bool) -> Any:
        for one in reversed(self.bijectors) if backward else self.bijectors:
            shape = getattr(one, method)(shape)
        return shape

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._through("forward_event_shape", input_shape, True)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._through("forward_event_shape_tensor", input_shape, True)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._through("inverse_event_shape", output_shape, False)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._through("inverse_event_shape_tensor", output_shape, False)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for one in reversed(self.bijectors):
            x = one.forward(x, **kwargs.get(one.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for one in self.bijectors:
            y = one.inverse(y, **kwargs.get(one.name, {}))
        return y

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._log_det("x", "forward", x, list(reversed(self.bijectors)), self.forward_min_event_ndims, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._log_det("y", "inverse", y, self.bijectors, self.inverse_min_event_ndims, kwargs)

    def _log_det(self, name: str, way: str, value: Any, bijectors: Any, least: Any, kwargs: dict[str, Any]) -> Any:
        """The sum of the determinants of the bijectors, each at what the one before it gives."""
        value = convert_to_tensor(value, name=name)
        total = cast(0.0, dtype=value.dtype.base_dtype)
        if not bijectors:
            return total
        rank = self._maybe_get_static_event_ndims(least)
        if value.shape.is_fully_defined() and isinstance(rank, int):
            shape = value.shape[value.shape.ndims - rank:]
        else:
            shape = shape_of(value)[rank_of(value) - rank:]
        for one in bijectors:
            given = kwargs.get(one.name, {})
            total += getattr(one, f"{way}_log_det_jacobian")(value, event_ndims=rank, **given)
            if value.shape.is_fully_defined() and isinstance(rank, int):
                shape = getattr(one, f"{way}_event_shape")(shape)
                rank = self._maybe_get_static_event_ndims(shape.ndims)
            else:
                shape = getattr(one, f"{way}_event_shape_tensor")(shape)
                rank = size(shape)
                known = self._maybe_get_static_event_ndims(rank)
                rank = rank if known is None else known
            value = getattr(one, way)(value, **given)
        return total


class Inline(Bijector):
    """A bijector made of functions, those of its arguments."""

    def __init__(self, forward_fn: Any = None, inverse_fn: Any = None, inverse_log_det_jacobian_fn: Any = None,
                 forward_log_det_jacobian_fn: Any = None, forward_event_shape_fn: Any = None,
                 forward_event_shape_tensor_fn: Any = None, inverse_event_shape_fn: Any = None,
                 inverse_event_shape_tensor_fn: Any = None, is_constant_jacobian: bool = False, validate_args: bool = False,
                 forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None, name: str = "inline"):
        super().__init__(forward_min_event_ndims=forward_min_event_ndims, inverse_min_event_ndims=inverse_min_event_ndims,
                         is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name)
        self._functions = {
            "forward_fn": forward_fn, "inverse_fn": inverse_fn, "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn, "forward_event_shape_fn": forward_event_shape_fn,
            "forward_event_shape_tensor_fn": forward_event_shape_tensor_fn, "inverse_event_shape_fn": inverse_event_shape_fn,
            "inverse_event_shape_tensor_fn": inverse_event_shape_tensor_fn}

    def _shape_by(self, name: str, shape: Any) -> Any:
        function = self._functions[name]
        return shape if function is None else function(shape)

    def _value_by(self, name: str, value: Any, kwargs: dict[str, Any]) -> Any:
        function = self._functions[name]
        if not callable(function):
            raise NotImplementedError(f"{name} is not a callable function.")
        return function(value, **kwargs)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape_by("forward_event_shape_fn", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape_by("forward_event_shape_tensor_fn", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape_by("inverse_event_shape_fn", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape_by("inverse_event_shape_tensor_fn", output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._value_by("forward_fn", x, kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._value_by("inverse_fn", y, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._value_by("inverse_log_det_jacobian_fn", y, kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._value_by("forward_log_det_jacobian_fn", x, kwargs)
