"""Distributions over numbered classes: ``Categorical``, and ``Multinomial``, which counts several draws."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.control.order_ops import with_dependencies
from jitgraph.distributions.argument_checks import (
    classes_that_fit,
    get_logits_and_probs,
    integers_that_fit,
    log_combinations,
    nonnegative_integers,
)
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.logits_probs import ByLogitsOrProbs
from jitgraph.functions.higher_order import map_fn
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import one_hot, ones, ones_like, zeros_like
from jitgraph.ops.arrays.grids import sequence_mask
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import matrix_set_diag
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import log_softmax, softmax, sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.random.draws import multinomial
from jitgraph.ops.reduce.reductions import argmax, reduce_sum


def known_size(size: Any, otherwise: Callable[[], Tensor], name: str) -> Tensor:
    """A size as a constant named `name` if it is known, else what `otherwise` makes in a scope of that name."""
    if size is not None:
        return convert_to_tensor(size, dtype=dtypes.int32, name=name)
    with name_scope(name=name):
        return otherwise()


def broadcast_classes(event: Tensor, params: Tensor, base_dtype: Any) -> tuple[Tensor, Tensor]:
    """(numbers of classes, parameters of classes) of one batch shape.  Raises TypeError if the numbers are no numbers."""
    if event.dtype.is_floating:
        event = cast(event, dtype=dtypes.int32)
    elif not event.dtype.is_integer:
        raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({base_dtype})")
    known = params.shape.ndims is not None and params.shape[:-1].is_fully_defined() and event.shape.is_fully_defined()
    if not known or params.shape[:-1] != event.shape:
        params *= ones_like(event[..., newaxis], dtype=params.dtype)
        event *= ones(shape_of(params)[:-1], dtype=event.dtype)
        if params.shape.ndims is not None:
            event.set_shape(params.shape[:-1])
    return event, params


class OverClasses(ByLogitsOrProbs, Distribution):
    """A distribution over K classes, with logits and probabilities [..., K]."""

    _event_size: Tensor

    @property
    def event_size(self) -> Tensor:
        """The number of classes, a scalar."""
        return self._event_size

    def _batch_shape(self) -> Any:
        return self.logits.get_shape()[:-1]


class Categorical(OverClasses):
    """The number of one of K classes, of which ``probs[..., K]``, or softmax(`logits`), are the probabilities."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Categorical"):
        """Samples are of `dtype`.  Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args,
                                                             multidimensional=True, name=name)
            if validate_args:
                self._logits = classes_that_fit(self._logits)
            static = self._logits.get_shape().with_rank_at_least(1)
            self._batch_rank = known_size(None if static.ndims is None else static.ndims - 1,
                                          lambda: rank_of(self._logits) - 1, "batch_rank")
            logits_shape = shape_of(self._logits, name="logits_shape")
            self._event_size = known_size(dimension_value(static[-1]), lambda: logits_shape[self._batch_rank], "event_size")
            batch = static[:-1]
            if batch.is_fully_defined():
                self._batch_shape_val = constant(batch.as_list(), dtype=dtypes.int32, name="batch_shape")
            else:
                with name_scope(name="batch_shape"):
                    self._batch_shape_val = logits_shape[:-1]
        super().__init__(dtype=dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._logits, self._probs],
                         name=name)

    def _batch_shape_tensor(self) -> Any:
        return identity(self._batch_shape_val)

    def _event_shape_tensor(self) -> Any:
        return constant([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        logits = self.logits if self.logits.get_shape().ndims == 2 else reshape(self.logits, [-1, self.event_size])
        draws = multinomial(logits, n, seed=seed, output_dtype=dtypes.int64 if self.dtype.size > 4 else dtypes.int32)
        draws = reshape(transpose(draws), concat([[n], self.batch_shape_tensor()], 0))
        return cast(draws, self.dtype)

    def _as_classes(self, k: Any) -> Tensor:
        k = convert_to_tensor(k, name="k")
        return integers_that_fit(k, target_dtype=dtypes.int32) if self.validate_args else k

    def _cdf(self, k: Any) -> Any:
        k, probs = broadcast_classes(self._as_classes(k), self.probs, base_dtype=self.dtype.base_dtype)
        flat_probs, flat_k = reshape(probs, (-1, self._event_size)), reshape(k, [-1])
        below = where(sequence_mask(flat_k, self._event_size), flat_probs, zeros_like(flat_probs))
        return reshape(reduce_sum(below, axis=-1), shape_of(k))

    def _log_prob(self, k: Any) -> Any:
        k, logits = broadcast_classes(self._as_classes(k), self.logits, base_dtype=self.dtype.base_dtype)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self) -> Any:
        return -reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        mode = cast(argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


class OfCounts(Distribution):
    """A distribution of how often each of K classes was drawn, ``[..., K]``, in `total_count` draws."""

    _total_count: Tensor

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

    def _checked_counts(self, counts: Any, message: str) -> Any:
        if not self.validate_args:
            return counts
        counts = nonnegative_integers(counts)
        return with_dependencies([assert_equal(self.total_count, reduce_sum(counts, -1), message=message)], counts)


class Multinomial(ByLogitsOrProbs, OfCounts):
    """How often each of K classes is drawn in `total_count` draws with the probabilities `probs`, or softmax(`logits`)."""

    def __init__(self, total_count: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Multinomial"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = nonnegative_integers(self._total_count)
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, multidimensional=True,
                                                             validate_args=validate_args, name=name)
            self._mean_val = self._total_count[..., newaxis] * self._probs
        super().__init__(dtype=self._probs.dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters,
                         graph_parents=[self._total_count, self._logits, self._probs], name=name)

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self._mean_val)[:-1]

    def _batch_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Any:
        return shape_of(self._mean_val)[-1:]

    def _event_shape(self) -> Any:
        return self._mean_val.get_shape().with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        draws = ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        logits = ones_like(draws[..., newaxis], dtype=self.logits.dtype) * self.logits
        flat_logits = reshape(logits, [-1, k])
        flat_draws = n * reshape(draws, [-1])

        def sample_one(arguments: Any) -> Tensor:
            drawn = multinomial(arguments[0][newaxis, ...], arguments[1], seed)
            return reduce_sum(one_hot(reshape(drawn, shape=[n, -1]), depth=k), axis=-2)

        counts = transpose(map_fn(sample_one, [flat_logits, flat_draws], dtype=self.dtype), perm=[1, 0, 2])
        return reshape(counts, concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts: Any) -> Any:
        checked = self._checked_counts(counts, "counts must sum to `self.total_count`")
        unnormalized = reduce_sum(checked * log_softmax(self.logits), -1)
        checked = self._checked_counts(counts, "counts must sum to `self.total_count`")
        return unnormalized - -log_combinations(self.total_count, checked)

    def _mean(self) -> Any:
        return identity(self._mean_val)

    def _covariance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., newaxis]
        return matrix_set_diag(-matmul(self._mean_val[..., newaxis], p[..., newaxis, :]), self._variance())

    def _variance(self) -> Any:
        p = self.probs * ones_like(self.total_count)[..., newaxis]
        return self._mean_val - self._mean_val * p


@RegisterKL(Categorical, Categorical)
def _between_categoricals(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference = log_softmax(a.logits) - log_softmax(b.logits)
        return reduce_sum(softmax(a.logits) * difference, axis=-1)
