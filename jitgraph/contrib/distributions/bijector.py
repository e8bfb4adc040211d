"""``Bijector``: a function with an inverse and the determinant of its Jacobian, by which distributions are transformed."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.layout import broadcast_static_shape
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank
from jitgraph.ops.checks.check_values import assert_greater_equal
from jitgraph.ops.reduce.reductions import reduce_sum


class _Mapping:
    """What is known of one value: x, y = forward(x), the logarithms of inverse determinants by the rank of events."""

    def __init__(self, x: Any = None, y: Any = None):
        self.x, self.y = x, y
        self.inverse_log_dets: dict[Any, Any] = {}


def _key(tensor: Any, kwargs: dict[str, Any]) -> tuple:
    return (id(tensor), *sorted((name, id(value)) for name, value in kwargs.items()))


class Bijector:
    """A differentiable function with an inverse, applied to events of at least ``forward_min_event_ndims`` dimensions.

    A class of its own answers ``_forward``, ``_inverse`` and one of ``_forward_log_det_jacobian``, ``_inverse_log_det_jacobian``.
    What was computed once is remembered: the inverse of what ``forward`` gave is the tensor that it was given.
    """

    def __init__(self, graph_parents: list | None = None, is_constant_jacobian: bool = False, validate_args: bool = False,
                 dtype: Any = None, forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None,
                 name: str | None = None):
        """Raises ValueError, TypeError if no rank of events is given, or one that is no integer from 0 on."""
        self._graph_parents = graph_parents or []
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        forward = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        inverse = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        for what, rank in (("forward", forward), ("inverse", inverse)):
            if not isinstance(rank, int):
                raise TypeError(f"Expected {what}_min_event_ndims to be of type int, got {type(rank).__name__}")
            if rank < 0:
                raise ValueError(f"{what}_min_event_ndims must be a non-negative integer.")
        self._forward_min_event_ndims, self._inverse_min_event_ndims = forward, inverse
        self._is_constant_jacobian = is_constant_jacobian
        self._constant_ildj_map: dict[Any, Any] = {}
        self._validate_args = validate_args
        self._dtype = dtype
        self._from_x: dict[tuple, tuple[Any, _Mapping]] = {}
        self._from_y: dict[tuple, tuple[Any, _Mapping]] = {}
        self._name = name or re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2",
                                                                        type(self).__name__.lstrip("_"))).lower()
        for index, parent in enumerate(self._graph_parents):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {index} is not a Tensor; {parent}.")

    @property
    def graph_parents(self) -> list:
        """The tensors of which it is made."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> Any:
        """The least number of dimensions of what ``forward`` takes as one event."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> Any:
        """The least number of dimensions of what ``inverse`` takes as one event."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the determinant is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        return True

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked when the graph runs."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The DType of what it takes, None for any."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name scope of its nodes."""
        return self._name

    # -- shapes of events ----------------------------------------------------------------------------------------------

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """The shape of the result for an event of `input_shape`, int32."""
        with self._name_scope(name, [input_shape]):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape"))

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def forward_event_shape(self, input_shape: Any) -> Any:
        """The static shape of the result for an event of `input_shape`."""
        return self._forward_event_shape(TensorShape(input_shape))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """The shape of the event that gives a result of `output_shape`, int32."""
        with self._name_scope(name, [output_shape]):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape"))

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return TensorShape(output_shape)

    def inverse_event_shape(self, output_shape: Any) -> Any:
        """The static shape of the event that gives a result of `output_shape`."""
        return self._inverse_event_shape(output_shape)

    # -- values --------------------------------------------------------------------------------------------------------

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _call_forward(self, x: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [x]):
            x = self._taken(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            mapping = self._known(self._from_x, x, kwargs) or _Mapping(x=x)
            if mapping.y is None:
                mapping.y = self._forward(x, **kwargs)
                self._remember(mapping, kwargs)
            return mapping.y

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The value of the function at `x`.  Raises TypeError for another dtype, NotImplementedError if there is no such thing."""
        return self._call_forward(x, name)

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _call_inverse(self, y: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._taken(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            mapping = self._known(self._from_y, y, kwargs) or _Mapping(y=y)
            if mapping.x is None:
                mapping.x = self._inverse(y, **kwargs)
                self._remember(mapping, kwargs)
            return mapping.x

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The value whose ``forward`` is `y`; a tuple of all of them if there are several."""
        return self._call_inverse(y, name)

    # -- determinants --------------------------------------------------------------------------------------------------

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _call_inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            if event_ndims in self._constant_ildj_map:
                return self._constant_ildj_map[event_ndims]
            y = self._taken(y, "y")
            with control_dependencies(self._rank_checks(self.inverse_min_event_ndims, event_ndims)):
                if not self._is_injective:
                    return self._of_all_inverses(y, event_ndims, kwargs)
                mapping = self._known(self._from_y, y, kwargs) or _Mapping(y=y)
                if event_ndims in mapping.inverse_log_dets:
                    return mapping.inverse_log_dets[event_ndims]
                try:
                    found = self._reduced(y, self._inverse_log_det_jacobian(y, **kwargs), self.inverse_min_event_ndims, event_ndims)
                except NotImplementedError as error:
                    try:
                        if mapping.x is None:
                            mapping.x = self._inverse(y, **kwargs)
                        found = -self._forward_log_det_jacobian(mapping.x, **kwargs)
                        found = self._reduced(mapping.x, found, self.forward_min_event_ndims, event_ndims)
                    except NotImplementedError:
                        raise error from None
                return self._remember_log_det(mapping, kwargs, event_ndims, found)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian") -> Any:
        """The logarithm of the determinant of the inverse at `y`, summed over the last `event_ndims` dimensions."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _of_all_inverses(self, y: Any, event_ndims: Any, kwargs: dict[str, Any]) -> tuple:
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
            return tuple(self._reduced(y, one, self.inverse_min_event_ndims, event_ndims) for one in found)
        except NotImplementedError as error:
            try:
                x = self._inverse(y, **kwargs)
                found = self._forward_log_det_jacobian(x, **kwargs)
                return tuple(self._reduced(x, -one, self.forward_min_event_ndims, event_ndims) for one in found)
            except NotImplementedError:
                raise error from None

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _call_forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._name_scope(name, [x]), control_dependencies(self._rank_checks(self.forward_min_event_ndims, event_ndims)):
            if event_ndims in self._constant_ildj_map:
                return -1.0 * self._constant_ildj_map[event_ndims]
            x = self._taken(x, "x")
            mapping = self._known(self._from_x, x, kwargs) or _Mapping(x=x)
            if event_ndims in mapping.inverse_log_dets:
                return -mapping.inverse_log_dets[event_ndims]
            try:
                found = -self._forward_log_det_jacobian(x, **kwargs)
                found = self._reduced(x, found, self.forward_min_event_ndims, event_ndims)
            except NotImplementedError as error:
                try:
                    if mapping.y is None:
                        mapping.y = self._forward(x, **kwargs)
                    found = self._inverse_log_det_jacobian(mapping.y, **kwargs)
                    found = self._reduced(mapping.y, found, self.inverse_min_event_ndims, event_ndims)
                except NotImplementedError:
                    raise error from None
            return -self._remember_log_det(mapping, kwargs, event_ndims, found)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian") -> Any:
        """The logarithm of the determinant at `x`, summed over the last `event_ndims` dimensions."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    # -- what it remembers and checks ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: list | None = None) -> Iterator[Any]:
        with name_scope(self.name), name_scope(name, values=(values or []) + self.graph_parents) as scope:
            yield scope

    def _taken(self, value: Any, name: str) -> Tensor:
        tensor = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != tensor.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {tensor.dtype}.")
        return tensor

    def _known(self, mappings: dict, tensor: Any, kwargs: dict[str, Any]) -> _Mapping | None:
        found = mappings.get(_key(tensor, kwargs))
        return found[1] if found and found[0][0] is tensor else None

    def _remember(self, mapping: _Mapping, kwargs: dict[str, Any]) -> None:
        kept = list(kwargs.values())                    # held, so that no other object gets their identity
        if mapping.x is not None:
            self._from_x[_key(mapping.x, kwargs)] = (mapping.x, kept), mapping
        if mapping.y is not None:
            self._from_y[_key(mapping.y, kwargs)] = (mapping.y, kept), mapping

    def _remember_log_det(self, mapping: _Mapping, kwargs: dict[str, Any], event_ndims: Any, found: Any) -> Any:
        mapping.inverse_log_dets[event_ndims] = found
        self._remember(mapping, kwargs)
        if self.is_constant_jacobian:
            self._constant_ildj_map[event_ndims] = found
        return found

    def _reduced(self, y: Any, log_det: Any, least: Any, event_ndims: Any) -> Any:
        """The determinants of events of the least rank, summed over the other dimensions of the events of `y`."""
        rank = rank_of(y)
        shape = shape_of(y)[rank - event_ndims:rank - least]
        one = ones(shape, log_det.dtype)
        reduced = reduce_sum(one * log_det, axis=self._reduced_dimensions(least, event_ndims))
        known = self._maybe_get_static_event_ndims(event_ndims)
        if known is not None and y.shape.ndims is not None and log_det.shape.ndims is not None:
            full = broadcast_static_shape(log_det.shape, y.shape[y.shape.ndims - known:y.shape.ndims - least])
            reduced.set_shape(full[:full.ndims - (known - least)])
        return reduced

    def _reduced_dimensions(self, least: Any, event_ndims: Any) -> Any:
        known = self._maybe_get_static_event_ndims(event_ndims)
        if known is not None:
            return [-index for index in range(1, known - least + 1)]
        return range_of(-(event_ndims - least), 0)

    def _rank_checks(self, least: Any, event_ndims: Any) -> list:
        event_ndims = convert_to_tensor(event_ndims, name="event_ndims")
        known = static_value(event_ndims)
        checks = []
        if not event_ndims.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {event_ndims.dtype}")
        if known is not None:
            if event_ndims.shape.ndims != 0:
                raise ValueError(f"Expected scalar event_ndims, got shape {event_ndims.shape}")
            if least > known:
                raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
        elif self.validate_args:
            checks.append(assert_greater_equal(event_ndims, least))
        if event_ndims.shape.is_fully_defined():
            if event_ndims.shape.ndims != 0:
                raise ValueError(f"Expected scalar shape, got ndims {event_ndims.shape.ndims}")
        elif self.validate_args:
            checks.append(assert_rank(event_ndims, 0, message="Expected scalar."))
        return checks

    def _maybe_get_static_event_ndims(self, event_ndims: Any) -> Any:
        """The rank of events as an int if it is known, else None.  Raises ValueError if it is no integer scalar."""
        known = static_value(event_ndims) if is_tensor(event_ndims) else event_ndims
        if isinstance(known, (np.generic, np.ndarray)):
            if known.dtype not in (np.int32, np.int64):
                raise ValueError(f"Expected integer dtype, got dtype {known.dtype}")
            if np.ndim(known):
                raise ValueError(f"Expected a scalar integer, got {known}")
            return int(known)
        return known
