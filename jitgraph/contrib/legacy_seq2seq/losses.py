"""Cross entropies of lists of steps, and a model for each of several lengths."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope


def sequence_loss_by_example(logits: list, targets: list, weights: list, average_across_timesteps: bool = True,
                             softmax_loss_function: Callable | None = None, name: str | None = None) -> Any:
    """The cross entropy of each example [batch], summed over the steps, or averaged by their weights.

    `logits`: a list of [batch, classes]; `targets` int and `weights` float: lists of [batch].
    `softmax_loss_function(labels=..., logits=...)` takes the place of the cross entropy.  Raises ValueError if the lists are not
    equally long.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
                         f"{len(targets)}.")
    with name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(labels=reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = add_n(losses)
        if average_across_timesteps:
            size = add_n(weights)
            size += 1e-12                   # in case all weights are 0
            total /= size
    return total


def sequence_loss(logits: list, targets: list, weights: list, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, softmax_loss_function: Callable | None = None,
                  name: str | None = None) -> Any:
    """The sum of ``sequence_loss_by_example``, divided by the number of examples if `average_across_batch`: a scalar."""
    with name_scope(name, "sequence_loss", logits + targets + weights):
        cost = reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps=average_across_timesteps,
                                                   softmax_loss_function=softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / cast(shape_of(targets[0])[0], cost.dtype)


def model_with_buckets(encoder_inputs: list, decoder_inputs: list, targets: list, weights: list, buckets: list, seq2seq: Callable,
                       softmax_loss_function: Callable | None = None, per_example_loss: bool = False,
                       name: str | None = None) -> tuple:
    """(outputs, losses) of ``seq2seq(encoder_inputs, decoder_inputs)`` for each bucket (source length, target length).

    The models share their variables.  `per_example_loss`: whether losses are [batch] or scalars.  Raises ValueError for lists
    that are shorter than the last bucket.
    """
    for what, given, length in (("encoder_inputs", encoder_inputs, buckets[-1][0]), ("targets", targets, buckets[-1][1]),
                                ("weights", weights, buckets[-1][1])):
        if len(given) < length:
            raise ValueError(f"Length of {what} ({len(given)}) must be at least that of last bucket ({length}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    losses, outputs = [], []
    with name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for k, (source, target) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if k > 0 else None):
                found, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(found)
                losses.append(loss_of(found, targets[:target], weights[:target], softmax_loss_function=softmax_loss_function))
    return outputs, losses
