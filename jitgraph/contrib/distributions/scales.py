"""The scales of distributions of vectors as linear operators, and the shapes that follow from them."""
from __future__ import annotations

from typing import Any

from jitgraph.distributions.argument_checks import checked_if
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.matrices import LinearOperatorDiag, LinearOperatorLowerTriangular
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.layout import broadcast_dynamic_shape, broadcast_static_shape
from jitgraph.ops.arrays.matrix_parts import matrix_band_part, matrix_diag_part, matrix_set_diag
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_values import assert_none_equal, assert_positive


def _as_tensor(value: Any, name: str) -> Any:
    return None if value is None else convert_to_tensor(value, name=name)


def _checked(diagonal: Any, of: Any, validate_args: bool, assert_positive_diagonal: bool) -> Any:
    if assert_positive_diagonal:
        return checked_if(validate_args, lambda: [assert_positive(diagonal, message="diagonal part must be positive")], of)
    return checked_if(validate_args, lambda: [
        assert_none_equal(diagonal, zeros([], of.dtype), message="diagonal part must be non-zero")], of)


def make_diag_scale(loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, shape_hint: Any = None,
                    validate_args: bool = False, assert_positive: bool = False, name: str | None = None) -> LinearOperator:
    """The diagonal operator of the diagonal plus the multiplier; the identity without any.

    Raises ValueError if nothing says its size.
    """
    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _as_tensor(loc, "loc")
        scale_diag = _as_tensor(scale_diag, "scale_diag")
        multiplier = _as_tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if scale_diag is not None:
            if multiplier is not None:
                scale_diag += multiplier[..., newaxis]
            return LinearOperatorDiag(_checked(scale_diag, scale_diag, validate_args, assert_positive), is_non_singular=True,
                                      is_self_adjoint=True, is_positive_definite=assert_positive)
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        if shape_hint is None:
            shape_hint = loc.shape[-1]
        if multiplier is None:
            return LinearOperatorIdentity(num_rows=shape_hint, dtype=loc.dtype.base_dtype, is_self_adjoint=True,
                                          is_positive_definite=True, assert_proper_shapes=validate_args)
        return LinearOperatorScaledIdentity(num_rows=shape_hint,
                                            multiplier=_checked(multiplier, multiplier, validate_args, assert_positive),
                                            is_non_singular=True, is_self_adjoint=True, is_positive_definite=assert_positive,
                                            assert_proper_shapes=validate_args)


def make_tril_scale(loc: Any = None, scale_tril: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
                    shape_hint: Any = None, validate_args: bool = False, assert_positive: bool = False,
                    name: str | None = None) -> LinearOperator:
    """The lower triangular operator of the sum of all; a diagonal one if there is no `scale_tril`."""
    with name_scope(name, "make_tril_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _as_tensor(loc, "loc")
        scale_tril = _as_tensor(scale_tril, "scale_tril")
        scale_diag = _as_tensor(scale_diag, "scale_diag")
        multiplier = _as_tensor(scale_identity_multiplier, "scale_identity_multiplier")
    if scale_tril is None:
        return make_diag_scale(loc=loc, scale_diag=scale_diag, scale_identity_multiplier=multiplier, shape_hint=shape_hint,
                               validate_args=validate_args, assert_positive=assert_positive, name=name)
    scale_tril = matrix_band_part(scale_tril, -1, 0)
    diagonal = matrix_diag_part(scale_tril)
    if scale_diag is not None:
        diagonal += scale_diag
    if multiplier is not None:
        diagonal += multiplier[..., newaxis]
    scale_tril = matrix_set_diag(scale_tril, diagonal)
    if validate_args:
        scale_tril = _checked(matrix_diag_part(scale_tril), scale_tril, True, assert_positive)
    return LinearOperatorLowerTriangular(tril=scale_tril, is_non_singular=True, is_self_adjoint=False,
                                         is_positive_definite=assert_positive)


def is_diagonal_scale(scale: Any) -> bool:
    """Whether an operator is diagonal.  Raises TypeError for what is none."""
    if not isinstance(scale, LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag))


def shapes_from_loc_and_scale(loc: Any, scale: LinearOperator, name: str = "shapes_from_loc_and_scale") -> tuple[Any, Any]:
    """(shape of the batch, shape of an event).  Raises ValueError if the sizes of events differ."""
    with name_scope(name, values=[loc, *scale.graph_parents]):
        event_size = scale.range_dimension_tensor()
        known = static_value(event_size)
        event_shape = event_size[newaxis] if known is None else known.reshape([1])
        if loc is not None:
            of_loc = dimension_value(loc.get_shape()[-1])
            if of_loc is not None and known is not None and of_loc not in (1, known):
                raise ValueError(f"Event size of 'scale' ({known}) could not be broadcast up to that of 'loc' ({of_loc}).")
        batch_shape = scale.batch_shape_tensor()
        if loc is None:
            known = static_value(batch_shape)
            return batch_shape if known is None else known, event_shape
        batch = loc.get_shape().with_rank_at_least(1)[:-1]
        if loc.get_shape().ndims is None or not batch.is_fully_defined():
            batch = shape_of(loc)[:-1]
        else:
            batch = convert_to_tensor(batch, name="loc_batch_shape")
        return broadcast_known(batch_shape, batch), event_shape


def broadcast_known(one: Tensor, other: Tensor, name: str = "prefer_static_broadcast_shape") -> Any:
    """The shape to which two are broadcast: a TensorShape if both are known, else a tensor."""
    with name_scope(name, values=[one, other]):
        known = static_value(one), static_value(other)
        if known[0] is not None and known[1] is not None:
            return broadcast_static_shape(TensorShape(known[0]), TensorShape(known[1]))
        return broadcast_dynamic_shape(one, other)
