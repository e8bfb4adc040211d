"""Classes as vectors of 0 and 1, and what is near to that and has gradients (Jang and others, 2016; Maddison and others, 2016)."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.distributions.elementwise_bijectors import Exp, Sigmoid
from jitgraph.contrib.distributions.real_numbers import Logistic
from jitgraph.contrib.distributions.transformed import TransformedDistribution
from jitgraph.distributions.argument_checks import checked_if, get_logits_and_probs, positive_if
from jitgraph.distributions.classes import OverClasses, known_size
from jitgraph.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.logits_probs import ByLogitsOrProbs
from jitgraph.distributions.sample_shapes import shapes_of_parameters
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import one_hot, ones, ones_like, zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import matrix_set_diag
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_near, assert_non_positive
from jitgraph.ops.elementwise.arithmetic import div
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.elementwise.special import lgamma
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import log_softmax, softmax, softmax_cross_entropy_with_logits
from jitgraph.ops.random.draws import multinomial, random_uniform
from jitgraph.ops.reduce.reductions import argmax, reduce_logsumexp, reduce_sum


class _OfVectors(OverClasses):
    """A distribution of vectors whose elements belong to K classes."""

    def _take_sizes(self) -> None:
        static = self._logits.get_shape().with_rank_at_least(1)
        self._batch_rank = known_size(None if static.ndims is None else static.ndims - 1,
                                      lambda: rank_of(self._logits) - 1, "batch_rank")
        with name_scope(name="event_size"):
            self._event_size = shape_of(self._logits)[-1]

    def _batch_shape_tensor(self) -> Any:
        return shape_of(self.logits)[:-1]

    def _event_shape_tensor(self) -> Any:
        return shape_of(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.get_shape().with_rank_at_least(1)[-1:]

    def _flat(self, x: Any) -> tuple[Tensor, Tensor, Tensor]:
        """(logits [N, K], `x` [N, K], the shape of the batch), after `x` and the logits are broadcast."""
        x = checked_if(self.validate_args, lambda: [
            assert_non_positive(x), assert_near(zeros([], dtype=self.dtype), reduce_logsumexp(x, axis=[-1]))], x)
        logits = self.logits
        shapes = x.get_shape(), logits.get_shape()
        if not shapes[0].is_fully_defined() or not shapes[1].is_fully_defined() or shapes[0] != shapes[1]:
            logits = ones_like(x, dtype=logits.dtype) * logits
            x = ones_like(logits, dtype=x.dtype) * x
        batch = shape_of(reduce_sum(logits, axis=self._summed_axis))
        logits = reshape(logits, [-1, self.event_size])
        return logits, reshape(x, [-1, self.event_size]), batch

    _summed_axis: Any = -1


class OneHotCategorical(_OfVectors):
    """One of K classes as a vector of 0 with a 1 at its place."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "OneHotCategorical"):
        """Samples are of `dtype`.  Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(name=name, logits=logits, probs=probs, validate_args=validate_args,
                                                             multidimensional=True)
            self._take_sizes()
        super().__init__(dtype=dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._logits, self._probs],
                         name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = concat([[n], shape_of(self.logits)], 0)
        logits = self.logits if self.logits.get_shape().ndims == 2 else reshape(self.logits, [-1, self.event_size])
        samples = transpose(multinomial(logits, n, seed=seed))
        return reshape(one_hot(samples, self.event_size, dtype=self.dtype), shape)

    def _log_prob(self, x: Any) -> Any:
        logits, labels, batch = self._flat(x)
        return reshape(-softmax_cross_entropy_with_logits(labels=labels, logits=logits), batch)

    def _entropy(self) -> Any:
        return -reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        mode = one_hot(argmax(self.logits, axis=self._batch_rank), self.event_size, dtype=self.dtype)
        mode.set_shape(self.logits.get_shape())
        return mode

    def _covariance(self) -> Any:
        p = self.probs
        return matrix_set_diag(-matmul(p[..., None], p[..., None, :]), self._variance())

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)


class ExpRelaxedOneHotCategorical(_OfVectors):
    """The logarithm of RelaxedOneHotCategorical, which is more exact."""

    _summed_axis = [-1]

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "ExpRelaxedOneHotCategorical"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = get_logits_and_probs(name=name, logits=logits, probs=probs, validate_args=validate_args,
                                                             multidimensional=True)
            if dtype is None:
                dtype = self._logits.dtype
                if not validate_args:
                    temperature = cast(temperature, dtype)
            with positive_if(validate_args, temperature):
                self._temperature = identity(temperature, name="temperature")
                self._temperature_2d = reshape(temperature, [-1, 1], name="temperature_2d")
            self._take_sizes()
        super().__init__(dtype=dtype, reparameterization_type=FULLY_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters,
                         graph_parents=[self._logits, self._probs, self._temperature], name=name)

    @property
    def temperature(self) -> Tensor:
        """How far from one class samples are; 0 is one class."""
        return self._temperature

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = concat([[n], shape_of(self.logits)], 0)
        logits = reshape(self.logits * ones(shape, dtype=self.dtype), [-1, self.event_size])
        uniform = random_uniform(shape=shape_of(logits), minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.0,
                                 dtype=self.dtype, seed=seed)
        gumbel = -log(-log(uniform))
        return reshape(log_softmax(div(gumbel + logits, self._temperature_2d)), shape)

    def _log_prob(self, x: Any) -> Any:
        logits, x, batch = self._flat(x)
        k = cast(self.event_size, x.dtype)
        normalization = lgamma(k) + (k - 1.0) * log(self.temperature)
        unnormalized = reduce_sum(log_softmax(logits - x * self._temperature_2d), [-1], keepdims=False)
        return reshape(normalization + unnormalized, batch)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of K numbers that sum to 1: ``softmax((logits + gumbel) / temperature)``."""

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, dtype: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "RelaxedOneHotCategorical"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        logarithm = ExpRelaxedOneHotCategorical(temperature, logits=logits, probs=probs, dtype=dtype, validate_args=validate_args,
                                                allow_nan_stats=allow_nan_stats)
        super().__init__(logarithm, Exp(), name=name)


class RelaxedBernoulli(ByLogitsOrProbs, TransformedDistribution):
    """Numbers between 0 and 1: ``sigmoid((logits + logistic) / temperature)``."""

    def __init__(self, temperature: Any, logits: Any = None, probs: Any = None, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "RelaxedBernoulli"):
        """Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with positive_if(validate_args, temperature):
                self._temperature = identity(temperature, name="temperature")
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args)
            logistic = Logistic(self._logits / self._temperature, 1.0 / self._temperature, validate_args=validate_args,
                                allow_nan_stats=allow_nan_stats, name=f"{name}/Logistic")
            super().__init__(distribution=logistic, bijector=Sigmoid(validate_args=validate_args), validate_args=validate_args,
                             name=name)
        self._parameters = parameters

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict:
        return shapes_of_parameters(("logits",), sample_shape)

    @property
    def temperature(self) -> Tensor:
        """How far from 0 and 1 samples are."""
        return self._temperature


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _between_categoricals(a: OneHotCategorical, b: OneHotCategorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), axis=-1)
