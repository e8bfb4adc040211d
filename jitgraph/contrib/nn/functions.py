"""Dropout of self-normalising networks, losses by the older order of arguments, losses of sampled classes, a scaled softplus."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.elementwise.activation import softplus
from jitgraph.ops.elementwise.arithmetic import minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.candidates import log_uniform_candidate_sampler
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.nn.sampled_loss import sampled_logits, sampled_softmax_loss
from jitgraph.ops.nn.softmax import softmax_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import reduce_logsumexp

_DROPPED = -1.7580993408473766
"""What selu tends to for large negative inputs."""


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Any:
    """Dropout that leaves the mean and variance of selu's outputs as they are (Klambauer and others, 2017).

    Raises ValueError for a `keep_prob` outside of (0, 1].
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1.0:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        drawn = random_uniform(shape_of(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
        kept = cast(greater_equal(drawn, 1 - keep_prob), x.dtype)
        x = x * kept + _DROPPED * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _DROPPED ** 2) ** (-0.5)
        shift = -scale * _DROPPED * (1 - keep_prob)
        return scale * x + shift


def deprecated_flipped_softmax_cross_entropy_with_logits(logits: Any, labels: Any, dim: int = -1, name: str | None = None) -> Any:
    """``tf.nn.softmax_cross_entropy_with_logits`` with the logits first."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: str | None = None) -> Any:
    """``tf.nn.sparse_softmax_cross_entropy_with_logits`` with the logits first."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> Any:
    """``tf.nn.sigmoid_cross_entropy_with_logits`` with the logits first."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Any:
    """alpha * softplus(x / alpha), at most `clip` if it is given; `alpha` is positive."""
    with name_scope(name, "scaled_softplus", [x, alpha] + ([] if clip is None else [clip])):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * softplus(x / alpha)
        return y if clip is None else minimum(y, convert_to_tensor(clip, dtype=x.dtype, name="clip"))


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Any:
    """The `n`-th smallest (largest if `reverse`) of the last axis, counted from 0.  A run raises InvalidArgumentError for an
    `n` that is not below its size.
    """
    return raw.NthElement(input, n, reverse=reverse, name=name)


def sampled_sparse_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                                sampled_values: Any = None, remove_accidental_hits: bool = True,
                                partition_strategy: str = "mod", name: str = "sampled_sparse_softmax_loss") -> Any:
    """``tf.nn.sampled_softmax_loss`` for one true class: losses [batch] of `labels` int64 [batch, 1]."""
    logits, _ = sampled_logits(weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=num_sampled,
                               num_classes=num_classes, num_true=1, sampled_values=sampled_values, subtract_log_q=True,
                               remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy, name=name)
    first = zeros([shape_of(logits)[0], 1], dtype=dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=squeeze(first), logits=logits)


def rank_sampled_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_resampled: int,
                              num_classes: int, num_true: int, sampled_values: Any, resampling_temperature: Any,
                              remove_accidental_hits: bool, partition_strategy: str, name: str | None = None) -> Any:
    """``tf.nn.sampled_softmax_loss`` over those `num_resampled` of the `sampled_values` that the model gives the largest logits.

    Raises ValueError for numbers that do not fit and strategies other than "div" and "mod".
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with name_scope(name, "rank_sampled_softmax_loss",
                    [weights, biases, labels, inputs, sampled_values, resampling_temperature]) as scope:
        if not sampled_values:
            sampled_values = log_uniform_candidate_sampler(true_classes=labels, num_true=num_true, num_sampled=num_sampled,
                                                           unique=True, range_max=num_classes)
        sampled, true_counts, counts = [stop_gradient(one) for one in sampled_values]
        sampled = cast(sampled, dtypes.int64)
        rows = embedding_lookup(weights, sampled, partition_strategy)
        logits = reduce_logsumexp(matmul(rows, inputs / resampling_temperature, transpose_b=True), axis=1)
        logits += reshape(embedding_lookup(biases, sampled, partition_strategy), [-1]) / resampling_temperature
        _, chosen = top_k(logits, k=num_resampled, sorted=False)
        values = (gather(sampled, chosen), true_counts, gather(counts, chosen))
        return sampled_softmax_loss(weights=weights, biases=biases, labels=labels, inputs=inputs, num_sampled=num_resampled,
                                    num_classes=num_classes, num_true=num_true, sampled_values=values,
                                    remove_accidental_hits=remove_accidental_hits, partition_strategy=partition_strategy,
                                    name=scope)
