"""``Bernoulli``: 0 or 1."""
from __future__ import annotations

from typing import Any

from jitgraph.distributions.argument_checks import get_logits_and_probs, integers_that_fit
from jitgraph.distributions.distribution import NOT_REPARAMETERIZED
from jitgraph.distributions.divergence import RegisterKL
from jitgraph.distributions.logits_probs import ByLogitsOrProbs
from jitgraph.distributions.scalar_events import OfScalars
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.random.draws import random_uniform


class Bernoulli(ByLogitsOrProbs, OfScalars):
    """1 with the probability `probs`, or sigmoid(`logits`), else 0."""

    _PARAMETERS = ("logits",)

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = dtypes.int32, validate_args: bool = False,
                 allow_nan_stats: bool = True, name: str = "Bernoulli"):
        """Samples are of `dtype`.  Raises ValueError if both or none of `logits` and `probs` are given."""
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args, name=name)
        super().__init__(dtype=dtype, reparameterization_type=NOT_REPARAMETERIZED, validate_args=validate_args,
                         allow_nan_stats=allow_nan_stats, parameters=parameters, graph_parents=[self._logits, self._probs],
                         name=name)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = random_uniform(self._shape_of_samples(n), seed=seed, dtype=self.probs.dtype)
        return cast(less(uniform, self.probs), self.dtype)

    def _log_prob(self, event: Any) -> Any:
        if self.validate_args:
            event = integers_that_fit(event, target_dtype=dtypes.bool_)
        logits, event = self.logits, cast(event, self.logits.dtype)
        shapes = event.get_shape(), logits.get_shape()
        if not (shapes[0].is_fully_defined() and shapes[1].is_fully_defined() and shapes[0] == shapes[1]):
            logits, event = ones_like(event) * logits, ones_like(logits) * event
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Any:
        return -self.logits * (sigmoid(self.logits) - 1) + softplus(-self.logits)

    def _mean(self) -> Any:
        return identity(self.probs)

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _between_bernoullis(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        of_0 = softplus(-b.logits) - softplus(-a.logits)
        of_1 = softplus(b.logits) - softplus(a.logits)
        return sigmoid(a.logits) * of_0 + sigmoid(-a.logits) * of_1
