"""``sequence_loss``: the cross entropy of sequences, averaged over steps, examples, or both."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.arithmetic import div_no_nan
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import count_nonzero, reduce_sum


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
                  softmax_loss_function: Callable | None = None, name: str | None = None) -> Any:
    """The cross entropies of `logits` [batch, steps, classes] with `targets` [batch, steps] times `weights` [batch, steps].

    ``average_across_*`` divides the sum along that axis by the sum of the weights, ``sum_over_*`` by the number of weights
    that are not 0; axes of neither stay.  `softmax_loss_function(labels=..., logits=...)` takes the place of the cross
    entropy.  Raises ValueError for other ranks, and for an axis that is to be averaged and summed.
    """
    if len(logits.get_shape()) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.get_shape()) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.get_shape()) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    for averages, sums, what in ((average_across_timesteps, sum_over_timesteps, "timesteps"),
                                 (average_across_batch, sum_over_batch, "batch")):
        if averages and sums:
            raise ValueError(f"average_across_{what} and sum_over_{what} cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        rows = reshape(logits, [-1, shape_of(logits)[2]])
        flat = reshape(targets, [-1])
        loss_of = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = loss_of(labels=flat, logits=rows)
        losses = losses * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return div_no_nan(reduce_sum(losses), reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            total = reduce_sum(losses)
            return div_no_nan(total, cast(count_nonzero(weights), losses.dtype))
        losses = reshape(losses, shape_of(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return div_no_nan(reduce_sum(losses, axis=axis), reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            total = reduce_sum(losses, axis=axis)
            return div_no_nan(total, cast(count_nonzero(weights, axis=axis), losses.dtype))
        return losses
