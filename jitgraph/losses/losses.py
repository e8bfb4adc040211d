"""Losses of predictions: one value each, weighed and reduced to what a training step minimises."""
from __future__ import annotations

from typing import Any

from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.losses.collection import add_loss
from jitgraph.losses.ranks import may_end_in_1, remove_squeezable_dimensions, squeezed_if
from jitgraph.losses.weights import assert_broadcastable, broadcast_weights
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size, squeeze
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import (
    add,
    div_no_nan,
    maximum,
    minimum,
    multiply,
    squared_difference,
    subtract,
)
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.nn.functions import sigmoid_cross_entropy_with_logits
from jitgraph.ops.nn.softmax import (
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from jitgraph.ops.reduce.reductions import reduce_sum


class Reduction:
    """What becomes of the weighted losses of a batch.

    NONE leaves them; SUM adds them; MEAN divides the sum by that of the weights, SUM_OVER_BATCH_SIZE by the number of losses,
    SUM_BY_NONZERO_WEIGHTS by the number of weights that are not 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises ValueError for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def _count(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def _count_weighed(losses: Tensor, weights: Tensor, per_example: bool = False) -> Tensor:
    """How many losses have a weight other than 0, in all or for each example."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = cast(weights, dtypes.float32)
        present = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_example:
            return reduce_sum(present, axis=range_of(1, rank_of(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def _over(total: Tensor, count: Tensor) -> Tensor:
    return div_no_nan(reduce_sum(total), count, name="value")


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None,
                          loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """`losses` times `weights`, reduced; the result has the dtype of `losses` and joins `loss_collection`.

    `weights`: a number, or of the rank of `losses` with each size equal or 1.  Raises ValueError for an unknown `reduction` and
    for weights that do not fit (a run raises InvalidArgumentError where shapes are unknown before).
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)):
        with control_dependencies((assert_broadcastable(weights, losses),)):
            losses = convert_to_tensor(losses)
            dtype = losses.dtype
            losses, weights = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
            loss = multiply(losses, weights)
            if reduction != Reduction.NONE:
                loss = reduce_sum(loss)
            if reduction == Reduction.MEAN:
                loss = _over(loss, reduce_sum(ones_like(losses) * weights))
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                loss = _over(loss, _count_weighed(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _over(loss, _count(losses))
            loss = cast(loss, dtype)
            add_loss(loss, loss_collection)
            return loss


def _given(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _as_floats(predictions: Any, labels: Any) -> tuple[Tensor, Tensor]:
    predictions, labels = cast(predictions, dtypes.float32), cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: str | None = GraphKeys.LOSSES,
                        reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """abs(predictions - labels), as ``compute_weighted_loss`` reduces it.  Raises ValueError if the shapes differ."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = _as_floats(predictions, labels)
        losses = absolute(subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(labels: Any, predictions: Any, axis: int | None = None, weights: Any = 1.0, scope: str | None = None,
                    loss_collection: str | None = GraphKeys.LOSSES,
                    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS, dim: int | None = None) -> Tensor:
    """1 - the product of labels and predictions along `axis`, which have length 1 there, as ``compute_weighted_loss`` reduces it.

    `dim` is the older name of `axis`.  Raises ValueError without an axis, and if the shapes differ.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _as_floats(predictions, labels)
        losses = 1 - reduce_sum(multiply(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
               loss_collection: str | None = GraphKeys.LOSSES,
               reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """max(0, 1 - logits) where the label is 1, max(0, 1 + logits) where it is 0, as ``compute_weighted_loss`` reduces it."""
    _given(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = _as_floats(logits, labels)
        ones = ones_like(labels)
        signs = subtract(2 * labels, ones)
        losses = relu(subtract(ones, multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
               loss_collection: str | None = GraphKeys.LOSSES,
               reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """Half the squared error, beyond an error of `delta` going on in a straight line, as ``compute_weighted_loss`` reduces it."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _as_floats(predictions, labels)
        error = absolute(subtract(predictions, labels))
        quadratic = minimum(error, delta)
        linear = subtract(error, quadratic)         # its gradient where the error is delta is 0: the square has one there
        half = convert_to_tensor(0.5, quadratic.dtype)
        losses = add(multiply(half, multiply(quadratic, quadratic)), multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
             loss_collection: str | None = GraphKeys.LOSSES,
             reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions), `epsilon` added inside the logarithms, reduced."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _as_floats(predictions, labels)
        of_true = -multiply(labels, log(predictions + epsilon))
        losses = of_true - multiply(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                                loss_collection: str | None = GraphKeys.LOSSES) -> Tensor:
    """The mean, over the pairs of elements of each example, of the squared error of their difference."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights, labels = cast(weights, dtypes.float32), cast(labels, dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            errors = subtract(predictions, labels)
            inside = range_of(1, rank_of(errors))
            squares = reduce_sum(square(errors), axis=inside, keepdims=True)
            count = _count_weighed(errors, weights, per_example=True)
            of_squares = 2.0 * div_no_nan(squares, maximum(count - 1, 0), name="value")
            total = reduce_sum(errors, axis=inside, keepdims=True)
            of_total = 2.0 * div_no_nan(square(total), maximum(multiply(count, count - 1), 0), name="value")
            loss = reduce_sum(multiply(of_squares - of_total, weights))
            loss = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")
            add_loss(loss, loss_collection)
            return loss


def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: str | None = GraphKeys.LOSSES,
                       reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """(predictions - labels) ** 2, as ``compute_weighted_loss`` reduces it.  Raises ValueError if the shapes differ."""
    _given(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = _as_floats(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """``tf.nn.sigmoid_cross_entropy_with_logits``, as ``compute_weighted_loss`` reduces it.

    `label_smoothing` moves labels that part of the way to 1/2.  Raises ValueError if the shapes differ.
    """
    _given(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
                          reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """``tf.nn.softmax_cross_entropy_with_logits_v2``, as ``compute_weighted_loss`` reduces it; labels get no gradient.

    `label_smoothing` moves labels that part of the way to 1 / the number of classes.  Raises ValueError if the shapes differ.
    """
    _given(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = cast(shape_of(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: str | None = GraphKeys.LOSSES,
                                 reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS) -> Tensor:
    """``tf.nn.sparse_softmax_cross_entropy_with_logits``, as ``compute_weighted_loss`` reduces it.

    `labels` are numbers of classes, [...]; `logits` [..., classes].  A last axis of size 1 that labels or weights have too many
    is removed.
    """
    _given(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = _weights_for(labels, weights)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _weights_for(labels: Tensor, weights: Any) -> Any:
    """`weights` without a last axis that `labels` do not have."""
    if weights is None:
        return None
    weights = convert_to_tensor(weights)
    ranks = weights.shape.ndims, labels.shape.ndims
    if ranks[0] is not None and ranks[1] is not None:
        return squeeze(weights, [-1]) if ranks[0] == ranks[1] + 1 else weights
    difference = rank_of(weights) - rank_of(labels)
    if ranks[0] != 0 and may_end_in_1(weights):
        weights = squeezed_if(equal(1, difference), weights)
    return weights
