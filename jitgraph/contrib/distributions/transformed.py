"""``TransformedDistribution``: the distribution of ``bijector.forward(x)``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.distributions.elementwise_bijectors import Identity
from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.distribution import Distribution
from jitgraph.distributions.sample_shapes import as_vector, pick_vector, set_sample_static_shape
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value_as_shape, static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, ones_like, zeros
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import broadcast_static_shape, tile, transpose
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank
from jitgraph.ops.checks.check_values import assert_equal, assert_positive
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_and, logical_not
from jitgraph.ops.elementwise.elementary import exp
from jitgraph.ops.reduce.reductions import reduce_all, reduce_logsumexp, reduce_prod, reduce_sum


def _value_of(x: Any) -> Any:
    return static_value(convert_to_tensor(x))


def _all(*conditions: Any) -> Any:
    known = [_value_of(condition) for condition in conditions]
    if any(value is not None and not bool(value) for value in known):
        return constant(False)
    if all(value is not None and bool(value) for value in known):
        return constant(True)
    return logical_and(*conditions) if len(conditions) == 2 else reduce_all(conditions)


def _equal(x: Any, y: Any) -> Any:
    known = _value_of(x), _value_of(y)
    return equal(x, y) if known[0] is None or known[1] is None else constant(np.array_equal(*known))


def _not(x: Any) -> Any:
    known = _value_of(x)
    return logical_not(x) if known is None else constant(np.logical_not(known))


def _joined(*vectors: Any) -> Any:
    known = [_value_of(vector) for vector in vectors]
    if any(value is None for value in known):
        return concat(vectors, 0)
    return constant([value for vector in known for value in vector])


def _length(shape: Any) -> Any:
    if shape.get_shape().ndims not in (None, 1):
        raise ValueError("input is not a valid shape: not 1D")
    if not shape.dtype.is_integer:
        raise TypeError("input is not a valid shape: wrong dtype")
    if shape.get_shape().is_fully_defined():
        return constant(shape.get_shape().as_list()[0])
    return shape_of(shape)[0]


class TransformedDistribution(Distribution):
    """The distribution of ``y = bijector.forward(x)``, x having `distribution`; the identity if there is no `bijector`.

    A scalar `distribution` may be repeated: `batch_shape` says how many independent ones there are, `event_shape` how many numbers
    one event has.
    """

    def __init__(self, distribution: Distribution, bijector: Any = None, batch_shape: Any = None, event_shape: Any = None,
                 validate_args: bool = False, name: str | None = None):
        """Raises ValueError if shapes are given and the distribution is not scalar."""
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            self._zero = constant(0, dtype=dtypes.int32, name="zero")
            self._empty = constant([], dtype=dtypes.int32, name="empty")
            if bijector is None:
                bijector = Identity(validate_args=validate_args)
            self._override_batch_shape, self._is_batch_override, self._is_maybe_batch_override = self._override(
                batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape")
            self._override_event_shape, self._is_event_override, self._is_maybe_event_override = self._override(
                event_shape, distribution.is_scalar_event(), validate_args, "event_shape")
            # the event is drawn before the batch where the batch is that of the distribution
            self._needs_rotation = _all(self._is_event_override, _not(self._is_batch_override),
                                        _not(distribution.is_scalar_batch()))
            event_ndims = _length(self._override_event_shape)
            known = _value_of(self._needs_rotation)
            if known is None:
                self._rotate_ndims = where_v2(self._needs_rotation, event_ndims, 0)
            else:
                self._rotate_ndims = event_ndims if known else 0
            self._reduce_event_indices = range_of(self._rotate_ndims - event_ndims, self._rotate_ndims)
        self._distribution = distribution
        self._bijector = bijector
        super().__init__(dtype=distribution.dtype, reparameterization_type=distribution.reparameterization_type,
                         validate_args=validate_args, allow_nan_stats=distribution.allow_nan_stats, parameters=parameters,
                         graph_parents=distribution._graph_parents + bijector.graph_parents, name=name)

    def _override(self, shape: Any, base_is_scalar: Any, validate_args: bool, name: str) -> tuple[Any, Any, bool]:
        shape = self._checked_override(shape, base_is_scalar, validate_args, name)
        is_override = _not(_equal(_length(shape), self._zero))
        known = static_value(shape)
        return shape, is_override, known is None or known.size != 0

    def _checked_override(self, shape: Any, base_is_scalar: Any, validate_args: bool, name: str) -> Any:
        shape = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
        is_scalar = _equal(_length(shape), 0)
        if static_value(is_scalar):
            return self._empty
        checks = []
        if shape.get_shape().ndims is not None:
            if shape.get_shape().ndims != 1:
                raise ValueError("shape override must be a vector")
        elif validate_args:
            checks.append(assert_rank(shape, 1, message="shape override must be a vector"))
        known = static_value(shape)
        if known is not None:
            if any(size <= 0 for size in known):
                raise ValueError("shape override must have positive elements")
        elif validate_args:
            checks.append(assert_positive(shape, message="shape override must have positive elements"))
        both = _all(_not(base_is_scalar), _not(is_scalar))
        known = static_value(both)
        if known is not None:
            if known:
                raise ValueError("base distribution not scalar")
        elif validate_args:
            checks.append(assert_equal(both, False, message="base distribution not scalar"))
        return with_dependencies(checks, shape) if checks else shape

    @property
    def distribution(self) -> Distribution:
        """The distribution of what is transformed."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """What transforms it."""
        return self._bijector

    def _event_shape_tensor(self) -> Any:
        return self.bijector.forward_event_shape_tensor(
            pick_vector(self._is_event_override, self._override_event_shape, self.distribution.event_shape_tensor()))

    def _event_shape(self) -> Any:
        given = constant_value_as_shape(self._override_event_shape)
        return self.bijector.forward_event_shape(given if self._is_maybe_event_override else self.distribution.event_shape)

    def _batch_shape_tensor(self) -> Any:
        return pick_vector(self._is_batch_override, self._override_batch_shape, self.distribution.batch_shape_tensor())

    def _batch_shape(self) -> Any:
        given = constant_value_as_shape(self._override_batch_shape)
        return given if self._is_maybe_batch_override else self.distribution.batch_shape

    def _sample_n(self, n: Any, seed: Any = None, **distribution_kwargs: Any) -> Any:
        shape = _joined(pick_vector(self._needs_rotation, self._empty, [n]), self._override_batch_shape,
                        self._override_event_shape, pick_vector(self._needs_rotation, [n], self._empty))
        return self._rotated(self.distribution.sample(sample_shape=shape, seed=seed, **distribution_kwargs))

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, bijector_kwargs: dict | None = None,
                       distribution_kwargs: dict | None = None, **kwargs: Any) -> Tensor:
        with self._name_scope(name, values=[sample_shape]):
            sample_shape, n = as_vector(convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape"))
            x = self._sample_n(n, seed, **(distribution_kwargs or {}))
            batch_event_shape = shape_of(x)[1:]
            x = reshape(x, concat([sample_shape, batch_event_shape], 0))
            # not set on x: the bijector remembers x by its identity, and may change its shape
            y = self.bijector.forward(x, **(bijector_kwargs or {}))
            return set_sample_static_shape(y, sample_shape, self.batch_shape, self.event_shape)

    def _of_inverses(self, y: Any, finish: Callable, several: Callable, bijector_kwargs: dict | None) -> Any:
        kwargs = bijector_kwargs or {}
        x = self.bijector.inverse(y, **kwargs)
        event_ndims = self._event_ndims()
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims, **kwargs)
        if self.bijector._is_injective:
            return finish(y, x, log_det, event_ndims)
        return several([finish(y, one, its, event_ndims) for one, its in zip(x, log_det)])

    def _log_prob(self, y: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        def finish(y: Any, x: Any, log_det: Any, event_ndims: Any) -> Any:
            found = self.distribution.log_prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            if self._is_maybe_event_override:
                found = reduce_sum(found, self._reduce_event_indices)
            found += cast(log_det, found.dtype)
            return self._with_shape(found, y, event_ndims)

        return self._of_inverses(y, finish, lambda found: reduce_logsumexp(stack(found), axis=0), bijector_kwargs)

    def _prob(self, y: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        def finish(y: Any, x: Any, log_det: Any, event_ndims: Any) -> Any:
            found = self.distribution.prob(self._rotated(x, back=True), **(distribution_kwargs or {}))
            if self._is_maybe_event_override:
                found = reduce_prod(found, self._reduce_event_indices)
            found *= exp(cast(log_det, found.dtype))
            return self._with_shape(found, y, event_ndims)

        return self._of_inverses(y, finish, sum, bijector_kwargs)

    def _with_shape(self, found: Tensor, y: Tensor, event_ndims: Any) -> Tensor:
        if self._is_maybe_event_override and isinstance(event_ndims, int):
            found.set_shape(broadcast_static_shape(y.get_shape().with_rank_at_least(1)[:-event_ndims], self.batch_shape))
        return found

    def _check_scalar_and_injective(self, what: str) -> None:
        if self._is_maybe_event_override:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_inverse(self, what: str, y: Any, bijector_kwargs: dict | None, distribution_kwargs: dict | None) -> Any:
        self._check_scalar_and_injective(what)
        x = self.bijector.inverse(y, **(bijector_kwargs or {}))
        return getattr(self.distribution, what)(x, **(distribution_kwargs or {}))

    def _log_cdf(self, y: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        return self._of_inverse("log_cdf", y, bijector_kwargs, distribution_kwargs)

    def _cdf(self, y: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        return self._of_inverse("cdf", y, bijector_kwargs, distribution_kwargs)

    def _log_survival_function(self, y: Any, bijector_kwargs: dict | None = None,
                               distribution_kwargs: dict | None = None) -> Any:
        return self._of_inverse("log_survival_function", y, bijector_kwargs, distribution_kwargs)

    def _survival_function(self, y: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        return self._of_inverse("survival_function", y, bijector_kwargs, distribution_kwargs)

    def _quantile(self, value: Any, bijector_kwargs: dict | None = None, distribution_kwargs: dict | None = None) -> Any:
        self._check_scalar_and_injective("quantile")
        x = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(x, **(bijector_kwargs or {}))

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self.distribution.entropy()
        if self._is_maybe_event_override:
            entropy *= cast(reduce_prod(self._override_event_shape), dtype=entropy.dtype.base_dtype)
        if self._is_maybe_batch_override:
            entropy = reshape(entropy, concat([_ones_as(self._override_batch_shape), self.distribution.batch_shape_tensor()], 0))
            multiples = concat([self._override_batch_shape, _ones_as(self.distribution.batch_shape_tensor())], 0)
            entropy = tile(entropy, multiples)
        anywhere = zeros(shape=concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), dtype=self.dtype)
        rank = self.event_shape.ndims if self.event_shape.ndims is not None else size(self.event_shape_tensor())
        log_det = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=rank)
        entropy -= cast(log_det, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy

    def _rotated(self, x: Any, back: bool = False) -> Any:
        """`x` with the dimensions of the event last, if they were drawn first; `back` undoes it."""
        known = static_value(self._needs_rotation)
        if known is not None and not known:
            return x
        rank = rank_of(x)
        places = rank - self._rotate_ndims if back else self._rotate_ndims
        return transpose(x, _joined(range_of(places, rank), range_of(0, places)))

    def _event_ndims(self) -> Any:
        if self.event_shape.ndims is not None:
            return self.event_shape.ndims
        rank = size(self.event_shape_tensor())
        known = static_value(rank)
        return rank if known is None else known


def _ones_as(x: Tensor) -> Tensor:
    if x.get_shape().is_fully_defined():
        return ones(x.get_shape().as_list(), dtype=x.dtype)
    return ones_like(x)


class ConditionalDistribution(Distribution):
    """A distribution whose methods hand further named arguments on."""

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.sample``."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.log_prob``."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.prob``."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.log_cdf``."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.cdf``."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.log_survival_function``."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value: Any, name: str = "survival_function", **condition_kwargs: Any) -> Tensor:
        """As ``Distribution.survival_function``."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A TransformedDistribution whose methods take `bijector_kwargs` and `distribution_kwargs`, dicts of further arguments."""
