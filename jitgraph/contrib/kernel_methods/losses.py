"""``sparse_multiclass_hinge_loss``: how far the right class is from being ahead of all others by a margin."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.losses import Reduction, compute_weighted_loss
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_less
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max


def sparse_multiclass_hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: str | None = GraphKeys.LOSSES,
                                 reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Any:
    """max(0, largest wrong logit - right logit + 1), weighted and reduced (Crammer and Singer, 2001).

    `labels`: the right classes, int32 or int64 [batch] or [batch, 1]; `logits`: float32 or float64 [batch, classes]; `weights`: a
    number, [batch] or [batch, 1].  Raises ValueError for other shapes and dtypes; a run raises InvalidArgumentError for labels that
    are no classes.
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        if logits.get_shape().ndims != 2:
            raise ValueError(f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {logits.get_shape().ndims}")
        sizes = shape_of(logits)
        batch, classes = sizes[0], sizes[1]
        logits = cast(logits, dtypes.float32)
        labels = _flat_labels(labels, classes)
        weights = convert_to_tensor(weights)
        rank = weights.get_shape().ndims
        if rank not in (0, 1, 2):
            raise ValueError(f"non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}")
        if rank:
            weights = reshape(weights, shape=[-1])
            weights.get_shape().assert_is_compatible_with(labels.get_shape())
        rows = reshape(range_of(batch), shape=[batch, 1])
        places = concat([rows, reshape(cast(labels, rows.dtype), shape=[batch, 1])], axis=1)
        right = reshape(gather_nd(params=logits, indices=places), shape=[batch, 1])
        wrong = one_hot(indices=labels, depth=classes, on_value=0.0, off_value=1.0)
        loss = reduce_max(relu(logits - right + wrong), axis=1)
        return compute_weighted_loss(loss, weights, scope, loss_collection, reduction=reduction)


def _flat_labels(labels: Any, classes: Any) -> Any:
    """The classes as a vector, after a check that there are as many."""
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
    rank = labels.get_shape().ndims
    if rank not in (1, 2):
        raise ValueError(f"labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}")
    with control_dependencies([assert_less(labels, cast(classes, labels.dtype))]):
        return reshape(labels, shape=[-1])
