"""Losses over many classes that look at a few of them: noise-contrastive estimation, sampled softmax."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import ones, ones_like, zeros, zeros_like
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.shape import expand_dims, reshape, shape
from jitgraph.ops.arrays.slicing import slice
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.candidates import compute_accidental_hits, log_uniform_candidate_sampler
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.nn.softmax import softmax_cross_entropy_with_logits_v2


def _sum_rows(x: Any) -> Any:
    """The sum of each row of a matrix, by a product with ones, which is fast."""
    columns = shape(x)[1]
    return reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])


def _true_logits(inputs: Any, weights: Any, num_true: int) -> Any:
    """inputs [batch, dim] times the weights [batch * num_true, dim] of their true classes: [batch, num_true]."""
    dim = shape(weights)[1:2]
    by_row = concat([[-1, num_true], dim], 0)
    products = raw.Mul(expand_dims(inputs, 1), reshape(weights, by_row))
    return reshape(_sum_rows(reshape(products, concat([[-1], dim], 0))), [-1, num_true])


def _without_accidental_hits(logits: Any, labels: Any, sampled: Any, num_true: int, num_sampled: int) -> Any:
    """Sampled classes that are true classes of a row get a logit that rules them out."""
    rows, places, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    where = concat([reshape(rows, [-1, 1]), reshape(cast(places, dtypes.int32), [-1, 1])], 1, "sparse_indices")
    size = concat([shape(labels)[:1], expand_dims(num_sampled, 0)], 0)
    weights = cast(weights, logits.dtype.base_dtype)
    with counted_as(2):             # TensorFlow has SparseToDense and its default value
        penalties = raw.TensorScatterUpdate(zeros(size, logits.dtype), where, weights)
    return logits + penalties


def sampled_logits(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                   num_true: int, sampled_values: Any, subtract_log_q: bool, remove_accidental_hits: bool,
                   partition_strategy: str, name: str | None, seed: int | None = None) -> tuple:
    """(logits, labels) [batch, num_true + num_sampled] of the true classes and some others."""
    if hasattr(weights, "_get_variable_list"):
        weights = list(weights)
    weights = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        labels, inputs = convert_to_tensor(labels), convert_to_tensor(inputs)
        labels = cast(labels, dtypes.int64)
        flat = reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_count, sampled_count = (stop_gradient(s) for s in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        ids = concat([flat, sampled], 0)
        rows = cast(embedding_lookup(weights, ids, partition_strategy), inputs.dtype.base_dtype)
        true_rows = slice(rows, [0, 0], stack([shape(flat)[0], -1]))
        sampled_rows = slice(rows, stack([shape(flat)[0], 0]), [-1, -1])
        others = matmul(inputs, sampled_rows, transpose_b=True)
        offsets = cast(embedding_lookup(biases, ids, partition_strategy), inputs.dtype.base_dtype)
        true_offsets = slice(offsets, [0], shape(flat))
        sampled_offsets = slice(offsets, shape(flat), [-1])
        true = _true_logits(inputs, true_rows, num_true) + reshape(true_offsets, [-1, num_true])
        others = others + sampled_offsets
        if remove_accidental_hits:
            others = _without_accidental_hits(others, labels, sampled, num_true, num_sampled)
        if subtract_log_q:
            true, others = true - raw.Log(true_count), others - raw.Log(sampled_count)
        logits = concat([true, others], 1)
        return logits, concat([ones_like(true) / num_true, zeros_like(others)], 1)


def nce_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int, num_true: int = 1,
             sampled_values: Any = None, remove_accidental_hits: bool = False, partition_strategy: str = "mod",
             name: str = "nce_loss") -> Any:
    """Noise-contrastive estimation [batch]: true classes told from sampled ones (Gutmann and Hyvarinen, 2010).

    `weights` [classes, dim] (or its parts), `biases` [classes], `labels` int64 [batch, num_true], `inputs` [batch, dim].
    """
    logits, targets = sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                      True, remove_accidental_hits, partition_strategy, name, None)
    return _sum_rows(sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                         num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
                         partition_strategy: str = "mod", name: str = "sampled_softmax_loss",
                         seed: int | None = None) -> Any:
    """The softmax cross entropy [batch] over the true and some sampled classes (Jean et al., 2014): for training.

    `weights` [classes, dim] (or its parts), `biases` [classes], `labels` int64 [batch, num_true], `inputs` [batch, dim].
    """
    logits, targets = sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
                                      True, remove_accidental_hits, partition_strategy, name, seed)
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)
