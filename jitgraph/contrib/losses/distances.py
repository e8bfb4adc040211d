"""``tf.contrib.losses.metric_learning``: losses that bring embeddings of one class together and part those of others."""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.contrib.losses import clusters
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.fill import ones, ones_like, zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.matrix_parts import diag
from jitgraph.ops.arrays.pad import pad
from jitgraph.ops.arrays.searching import unique, where
from jitgraph.ops.arrays.shape import expand_dims, reshape, size, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.printing import Print
from jitgraph.ops.elementwise.arithmetic import add, maximum, multiply, squared_difference, truediv
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, greater, less_equal, logical_and, logical_not
from jitgraph.ops.elementwise.composite_values import sqrt, square
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.host.python_function import py_func
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.softmax import softmax_cross_entropy_with_logits
from jitgraph.ops.reduce.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum
from jitgraph.ops.reduce.segment import unsorted_segment_min
from jitgraph.ops.sparse.sparse_functions import sparse_minimum, sparse_reduce_sum
from jitgraph.summary.summaries import scalar


def pairwise_distance(feature: Any, squared: bool = False) -> Any:
    """The distances [n, n] of the rows of `feature` [n, d], or their squares; zero on the diagonal."""
    squares = reduce_sum(square(feature), axis=[1], keepdims=True)
    sums = add(squares, reduce_sum(square(transpose(feature)), axis=[0], keepdims=True))
    found = sums - 2.0 * matmul(feature, transpose(feature))
    found = maximum(found, 0.0)
    none = less_equal(found, 0.0)
    if not squared:
        found = sqrt(found + cast(none, dtypes.float32) * 1e-16)     # where the root has a gradient
    found = multiply(found, cast(logical_not(none), dtypes.float32))
    off = ones_like(found) - diag(ones([shape_of(feature)[0]]))
    return multiply(found, off)


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """The mean of d ** 2 for pairs of `labels` 1, of max(margin - d, 0) ** 2 for those of 0 (Hadsell et al., 2006).

    Embeddings are [batch, d], not yet normalized; labels [batch].
    """
    distances = sqrt(reduce_sum(squared_difference(embeddings_anchor, embeddings_positive), 1))
    same = cast(labels, distances.dtype) * square(distances)
    return reduce_mean(same + (1.0 - cast(labels, distances.dtype)) * square(maximum(margin - distances, 0.0)),
                       name="contrastive_loss")


def masked_maximum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The greatest numbers along axis `dim` where `mask` is 1, or the least of all."""
    least = reduce_min(data, dim, keepdims=True)
    return reduce_max(multiply(data - least, mask), dim, keepdims=True) + least


def masked_minimum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The least numbers along axis `dim` where `mask` is 1, or the greatest of all."""
    greatest = reduce_max(data, dim, keepdims=True)
    return reduce_min(multiply(data - greatest, mask), dim, keepdims=True) + greatest


def _as_column(labels: Any) -> Any:
    shape = shape_of(labels)
    assert shape.shape == 1
    return reshape(labels, [shape[0], 1])


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """The mean over pairs of one class of max(margin + d(a, p) - d(a, n), 0), distances squared (Schroff et al., FaceNet, 2015).

    n is the nearest of another class that is farther than p, or if there is none the farthest.  `labels`: [batch]; `embeddings`:
    [batch, d], normalized.
    """
    labels = _as_column(labels)
    distances = pairwise_distance(embeddings, squared=True)
    same = equal(labels, transpose(labels))
    other = logical_not(same)
    count = size(labels)
    tiled = tile(distances, [count, 1])
    farther = logical_and(tile(other, [count, 1]), greater(tiled, reshape(transpose(distances), [-1, 1])))
    any_farther = greater(reduce_sum(cast(farther, dtype=dtypes.float32), 1, keepdims=True), 0.0)
    any_farther = transpose(reshape(any_farther, [count, count]))
    other = cast(other, dtype=dtypes.float32)
    outside = transpose(reshape(masked_minimum(tiled, cast(farther, dtype=dtypes.float32)), [count, count]))
    inside = tile(masked_maximum(distances, other), [1, count])
    loss = add(margin, distances - where(any_farther, outside, inside))
    positive = cast(same, dtype=dtypes.float32) - diag(ones([count]))
    pairs = reduce_sum(positive)
    return truediv(reduce_sum(maximum(multiply(loss, positive), 0.0)), pairs, name="triplet_semihard_loss")


def _npairs(embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float, print_losses: bool, likeness_of: Callable) -> Any:
    anchor = reduce_mean(reduce_sum(square(embeddings_anchor), 1))
    positive = reduce_mean(reduce_sum(square(embeddings_positive), 1))
    l2loss = multiply(0.25 * reg_lambda, anchor + positive, name="l2loss")
    similarity = matmul(embeddings_anchor, embeddings_positive, transpose_a=False, transpose_b=True)
    likeness = cast(likeness_of(), dtypes.float32)
    likeness /= reduce_sum(likeness, 1, keepdims=True)
    entropy = reduce_mean(softmax_cross_entropy_with_logits(logits=similarity, labels=likeness), name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


def npairs_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002,
                print_losses: bool = False) -> Any:
    """The cross entropy of the products of anchors with all positives, to the equality of `labels` [batch], and a part of their
    squares (Sohn, 2016).  Embeddings are [batch, d], not normalized."""
    def likeness() -> Any:
        column = _as_column(labels)
        return equal(column, transpose(column))

    return _npairs(embeddings_anchor, embeddings_positive, reg_lambda, print_losses, likeness)


def npairs_loss_multilabel(sparse_labels: list, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002,
                           print_losses: bool = False) -> Any:
    """``npairs_loss`` where each row has several labels: a list of SparseTensors [1, classes].  Raises TypeError for others."""
    if not all(isinstance(one, SparseTensor) for one in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")

    def likeness() -> Any:
        count = len(sparse_labels)
        found = zeros([count, count])
        for i, j in itertools.product(range(count), repeat=2):
            common = cast(sparse_reduce_sum(sparse_minimum(sparse_labels[i], sparse_labels[j])), dtypes.float32)
            common = expand_dims(expand_dims(common, 0), 1)
            found += pad(common, [[i, count - i - 1], [j, count - j - 1]], "CONSTANT")
        return found

    with name_scope("NpairsLossMultiLabel"):
        return _npairs(embeddings_anchor, embeddings_positive, reg_lambda, print_losses, likeness)


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """The loss of Oh Song et al. (2016): for each pair of one class its distance, and how near all others are, softly.

    `labels`: [batch]; `embeddings`: [batch, d], not normalized.
    """
    labels = _as_column(labels)
    distances = pairwise_distance(embeddings)
    same = equal(labels, transpose(labels))
    mask = cast(logical_not(same), dtype=dtypes.float32)
    count = size(labels)
    near = margin - distances
    nearest = masked_maximum(near, mask)
    greatest = maximum(nearest, transpose(nearest))
    tiled, mask_tiled = tile(near, [count, 1]), tile(mask, [count, 1])
    column = reshape(transpose(greatest), [-1, 1])
    sums = reshape(reduce_sum(multiply(exp(tiled - column), mask_tiled), 1, keepdims=True), [count, count])
    loss = greatest + log(sums + transpose(sums))
    loss += distances
    positive = cast(same, dtype=dtypes.float32) - diag(ones([count]))
    pairs = reduce_sum(positive) / 2.0
    return truediv(0.25 * reduce_sum(square(maximum(multiply(loss, positive), 0.0))), pairs, name="liftedstruct_loss")


def cluster_loss(labels: Any, embeddings: Any, margin_multiplier: Any, enable_pam_finetuning: bool = True,
                 margin_type: str = "nmi", print_losses: bool = False) -> Any:
    """By how much a clustering about the worst centers is better than that of the labels (Song et al., 2017); a scalar.

    `labels` are [batch, 1], `embeddings` [batch, d], of length 1.  The centers, one for each label, are examples near to the
    others that make the agreement with the labels small, which counts `margin_multiplier` times; with `enable_pam_finetuning`
    they are bettered in turn.  The agreement is "nmi", "ami", "ari", "vmeasure" or "const", see ``clusters``.  Scores are computed
    on the host, and gradients flow through the distances alone.  Raises ValueError for other agreements.
    """
    if margin_type not in clusters.SCORES:
        raise ValueError(f"margin_type must be one of {sorted(clusters.SCORES)}, not {margin_type!r}")
    score = clusters.SCORES[margin_type]

    def searched(distances: Any, labels: Any, multiplier: Any) -> list:
        chosen = clusters.worst_centers(distances, labels, multiplier, score)
        if enable_pam_finetuning:
            chosen = clusters.refined_centers(distances, labels, multiplier, score, chosen)
        return [chosen, np.float32(score(labels, clusters.assigned(distances, chosen)))]

    distances, labels = pairwise_distance(embeddings), squeeze(labels)
    multiplier = convert_to_tensor(margin_multiplier, dtypes.float32)
    chosen, agreement = py_func(searched, [distances, labels, multiplier], [dtypes.int32, dtypes.float32], stateful=False)
    chosen.set_shape([None])
    agreement.set_shape([])
    predicted = -1.0 * reduce_sum(reduce_min(gather(distances, chosen), 0))
    stated = -1.0 * reduce_sum(_travels(distances, labels))
    loss = maximum(predicted + multiplier * (1.0 - agreement) - stated, 0.0, name="clustering_loss")
    if print_losses:
        loss = Print(loss, ["clustering_loss: ", loss, shape_of(loss)])
    for name, value in (("score_pred", predicted), (margin_type, agreement), ("score_gt", stated)):
        scalar(f"losses/{name}", value)
    return loss


def _travels(distances: Any, labels: Any) -> Any:
    """For each label, the sum of the distances of its examples to that one for which it is least."""
    same = equal(expand_dims(labels, 0), expand_dims(labels, 1))
    sums = reduce_sum(multiply(distances, cast(same, dtypes.float32)), 0)      # of each example to those of its label
    values, numbers = unique(labels)
    return unsorted_segment_min(sums, numbers, size(values))
