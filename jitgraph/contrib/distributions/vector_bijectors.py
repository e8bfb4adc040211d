"""Bijectors of vectors."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.bijector import Bijector
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import checked_if
from jitgraph.distributions.padding import pad
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_at_index
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import invert_permutation
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size, squeeze
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.checks.check_values import assert_equal, assert_greater, assert_positive
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import reduce_logsumexp, reduce_sum


class Permute(Bijector):
    """The elements of vectors in another order: ``y[..., i] = x[..., permutation[i]]``."""

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        """Raises TypeError if these are no integers, ValueError if one is missing."""
        message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
        with name_scope(name, "permute", values=[permutation]):
            permutation = convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
            known = static_value(permutation)
            if known is not None:
                if set(known) != set(np.arange(known.size)):
                    raise ValueError(message)
            elif validate_args:
                largest, _ = top_k(-permutation, k=shape_of(permutation)[-1], sorted=True)
                permutation = with_dependencies([assert_equal(-largest, range_of(size(largest)), message=message)], permutation)
            self._permutation = permutation
            super().__init__(forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args,
                             name=name or "permute")

    @property
    def permutation(self) -> Tensor:
        """Where each element is taken from."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype.base_dtype)


def _longer_than_1(bijector: Bijector, shape: Any) -> Any:
    return checked_if(bijector.validate_args, lambda: [assert_greater(
        shape[-1], 1, message="Need last dimension greater than 1.")], shape)


class SoftmaxCentered(Bijector):
    """y = softmax([x, 0]): K numbers become K + 1 probabilities."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        self._graph_parents = []
        self._name = name
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is None or input_shape[-1] is None:
            return input_shape
        return TensorShape([input_shape[-1] + 1])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return (input_shape[-1] + 1)[..., newaxis]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None or output_shape[-1] is None:
            return output_shape
        if output_shape[-1] <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape[-1]} <= 1")
        return TensorShape([output_shape[-1] - 1])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return (_longer_than_1(self, output_shape)[-1] - 1)[..., newaxis]

    def _forward(self, x: Any) -> Any:
        return softmax(pad(x, axis=-1, back=True))

    def _inverse(self, y: Any) -> Any:
        x = log(y)
        x = x[..., :-1] + (-x[..., -1])[..., newaxis]
        if y.shape.ndims is not None:
            x.set_shape(y.shape[:-1].concatenate(dimension_at_index(y.shape, -1) - 1))
        return x

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -reduce_sum(log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        normalization = softplus(reduce_logsumexp(x, axis=-1, keepdims=True))
        return squeeze(-normalization + reduce_sum(x - normalization, axis=-1, keepdims=True), axis=-1)


class Ordered(Bijector):
    """Increasing vectors as any vectors: y[0] = x[0], y[i] = log(x[i] - x[i - 1])."""

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is None or input_shape[-1] is None:
            return input_shape
        return TensorShape([input_shape[-1]])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape[-1][..., newaxis]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None or output_shape[-1] is None:
            return output_shape
        if output_shape[-1] <= 1:
            raise ValueError(f"output_shape[-1] = {output_shape[-1]} <= 1")
        return TensorShape([output_shape[-1]])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _longer_than_1(self, output_shape)[-1][..., newaxis]

    def _forward(self, x: Any) -> Any:
        x = self._checked(x)
        first = x[..., 0, newaxis]
        return concat([first, log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., 0, newaxis]
        return cumsum(concat([first, exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._checked(x)
        return -reduce_sum(log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _checked(self, x: Any) -> Any:
        return checked_if(self.validate_args, lambda: [assert_positive(
            x[..., 1:] - x[..., :-1], message="Forward transformation input must be strictly increasing.")], x)
