"""Affine maps of vectors."""
from __future__ import annotations

import contextlib
from typing import Any

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.contrib.distributions.event_shapes import EventShapes
from jitgraph.contrib.distributions.scales import make_tril_scale
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.shapes import dimension_value
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.low_rank import LinearOperatorLowRankUpdate
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_none_equal
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import log


class _OfVectors(Bijector):
    """A bijector ``scale x + shift`` whose scale is a linear operator, or None."""

    _shift: Any
    _scale: Any
    _shaper: EventShapes

    @property
    def shift(self) -> Any:
        """What is added, None for 0."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The linear operator, None for the identity."""
        return self._scale

    def _ranks(self, scale: LinearOperator) -> Any:
        return scale.tensor_rank_tensor() - 2 if scale.tensor_rank is None else scale.tensor_rank - 2

    def _scaled(self, x: Any) -> Any:
        y, sample_shape = self._shaper.as_matrices(x)
        with control_dependencies(self._scale_checks() if self.validate_args else []):
            y = self.scale.matmul(y)
        return self._shaper.from_matrices(y, sample_shape)

    def _unscaled(self, y: Any) -> Any:
        x, sample_shape = self._shaper.as_matrices(y)
        return self._shaper.from_matrices(self.scale.solve(x), sample_shape)

    def _scale_checks(self) -> list:
        with contextlib.suppress(NotImplementedError):
            return [self.scale.assert_non_singular()]
        return []


class AffineLinearOperator(_OfVectors):
    """y = `scale` x + `shift`, `scale` being a ``tf.linalg.LinearOperator``; without them the identity, and 0."""

    def __init__(self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_linear_operator"):
        """Raises TypeError if dtypes differ or the scale is no operator, ValueError if it is singular and that is checked."""
        self._graph_parents = []
        self._name = name
        self._validate_args = validate_args
        parents: list = []
        with self._name_scope("init", values=[shift]):
            dtype = dtypes.float32
            batch_ndims: Any = 0
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                parents.append(shift)
                dtype = shift.dtype.base_dtype
            self._shift, self._scale = shift, scale
            if scale is not None:
                if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                batch_ndims = self._ranks(scale)
                if scale.tensor_rank is None:
                    parents.append(batch_ndims)
                if scale.dtype is not None:
                    dtype = scale.dtype.base_dtype
            self._shaper = EventShapes(batch_ndims, 1, validate_args)
            super().__init__(forward_min_event_ndims=1, graph_parents=parents, is_constant_jacobian=True, dtype=dtype,
                             validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else self._scaled(x)
        if self.shift is not None:
            y += self.shift
        return y

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self._unscaled(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return constant(0.0, dtype=x.dtype.base_dtype)
        with control_dependencies(self._scale_checks() if self.validate_args else []):
            return self.scale.log_abs_determinant()


class Affine(_OfVectors):
    """y = `scale` x + `shift`: the scale is the sum of a multiple of the identity, a diagonal, a lower triangular matrix, and
    ``F D F^T`` of `scale_perturb_factor` F [..., N, K] and `scale_perturb_diag` D [..., K]; the identity if none is given.
    """

    def __init__(self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None, scale_tril: Any = None,
                 scale_perturb_factor: Any = None, scale_perturb_diag: Any = None, validate_args: bool = False,
                 name: str = "affine"):
        """Raises ValueError for D without F, TypeError if dtypes differ."""
        self._graph_parents = []
        self._name = name
        self._validate_args = validate_args
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        self._is_only_identity_multiplier = scale_tril is None and scale_diag is None and scale_perturb_factor is None
        with self._name_scope("init", values=[shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag,
                                              scale_perturb_factor]):
            dtype = dtypes.float32
            batch_ndims: Any = 0
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                dtype = shift.dtype.base_dtype
            self._shift = shift
            if self._is_only_identity_multiplier and scale_identity_multiplier is None:
                scale_identity_multiplier = convert_to_tensor(1.0, dtype=dtype)
            scale = self._make_scale(scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor)
            if scale.dtype is not None:
                dtype = scale.dtype.base_dtype
            if not self._is_only_identity_multiplier:
                if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")
                batch_ndims = self._ranks(scale)
            self._scale = scale
            self._shaper = EventShapes(batch_ndims, 1, validate_args)
            parents = [scale] if is_tensor(scale) else [*scale.graph_parents, shift] if shift is not None else []
            super().__init__(forward_min_event_ndims=1, graph_parents=parents, is_constant_jacobian=True, dtype=dtype,
                             validate_args=validate_args, name=name)

    def _make_scale(self, multiplier: Any, diag: Any, tril: Any, perturb_diag: Any, perturb_factor: Any) -> Any:
        given = {"identity_multiplier": multiplier, "diag": diag, "tril": tril, "perturb_diag": perturb_diag,
                 "perturb_factor": perturb_factor}
        made = {name: None if value is None else convert_to_tensor(value, name=name) for name, value in given.items()}
        multiplier, factor = made["identity_multiplier"], made["perturb_factor"]
        rows = None
        if factor is not None:
            known = dimension_value(factor.shape.with_rank_at_least(2)[-2])
            rows = shape_of(factor)[-2] if known is None else known
        if self._is_only_identity_multiplier:
            return checked_if(self._validate_args, lambda: [assert_none_equal(
                multiplier, zeros([], multiplier.dtype), ["identity_multiplier should be non-zero."])], multiplier)
        scale = make_tril_scale(loc=self._shift, scale_tril=made["tril"], scale_diag=made["diag"],
                                scale_identity_multiplier=multiplier, validate_args=self._validate_args, shape_hint=rows)
        if factor is None:
            return scale
        return LinearOperatorLowRankUpdate(scale, u=factor, diag_update=made["perturb_diag"],
                                           is_diag_update_positive=perturb_diag is None, is_non_singular=True,
                                           is_self_adjoint=True, is_positive_definite=True, is_square=True)

    def _forward(self, x: Any) -> Any:
        y = x * self._scale if self._is_only_identity_multiplier else self._scaled(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x / self._scale if self._is_only_identity_multiplier else self._unscaled(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._is_only_identity_multiplier:
            events = cast(shape_of(x)[-1], dtype=self._scale.dtype)
            return log(absolute(self._scale)) * events
        return self.scale.log_abs_determinant()
