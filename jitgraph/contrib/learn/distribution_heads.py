"""Heads of ``tf.contrib.learn`` whose logits are the parameters of a distribution of labels."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.learn.heads import _RegressionHead
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of


class _DistributionRegressionHead(_RegressionHead):
    """A regression by the likelihood of labels; it predicts the mean of the distribution.

    ``distributions``: those that were made, by the logits that they are made of.
    """

    def __init__(self, make_distribution_fn: Callable, logits_dimension: int, *options: Any):
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._make = make_distribution_fn
        self.distributions: dict[Any, Any] = {}
        super().__init__(logits_dimension, *options)

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution of these logits, one for each tensor."""
        with name_scope(name, "distribution", [logits]):
            if logits not in self.distributions:
                self.distributions[logits] = self._make(logits)
            return self.distributions[logits]

    def _unreduced(self, labels: Any, logits: Any) -> Any:
        distribution = self.distribution(logits)
        batch = labels.shape.with_rank_at_least(1)[:-1]
        sizes = [batch.as_list() if batch.is_fully_defined() else shape_of(labels)[:-1], distribution.event_shape_tensor()]
        known = [static_value(convert_to_tensor(part)) for part in sizes]
        whole = concat(sizes, axis=0) if any(part is None for part in known) else [int(d) for part in known for d in part]
        return -distribution.log_prob(reshape(labels, shape=whole))

    def link_fn(self, logits: Any) -> Any:          # type: ignore[override]
        """The mean of the distribution."""
        return self.distribution(logits).mean()


def estimator_head_distribution_regression(make_distribution_fn: Callable, label_dimension: int = 1,
                                           logits_dimension: int | None = None, label_name: Any = None,
                                           weight_column_name: Any = None, enable_centered_bias: bool = False,
                                           head_name: str | None = None) -> Any:
    """A head that trains the likelihood of labels [batch, label_dimension] under the distribution that a function makes of logits.

    `logits_dimension`: how many parameters the function takes for each example, `label_dimension` if None.  Raises TypeError for
    what is no function.
    """
    return _DistributionRegressionHead(make_distribution_fn, logits_dimension or label_dimension, label_name, weight_column_name,
                                       enable_centered_bias, head_name)
