"""Losses, predictions before labels: each is the mean over the elements whose weight is not 0, and joins LOSSES."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.arg_scopes import add_arg_scope
from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import add_to_collection, get_collection, name_scope
from jitgraph.ops.arrays.fill import ones, ones_like, zeros_like
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import reshape, size, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import div, div_no_nan, multiply, squared_difference, subtract
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, not_equal
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn import functions, softmax
from jitgraph.ops.reduce.reductions import reduce_prod, reduce_sum


def _instead(name: str) -> Callable:
    return deprecated("2016-12-30", f"Use tf.losses.{name} instead: labels come before predictions there.")


@_instead("add_loss")
@add_arg_scope
def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Puts a loss into a collection, or nowhere if that is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


@_instead("get_losses")
def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list:
    """The losses of a collection whose names begin with `scope`."""
    return list(get_collection(loss_collection, scope))


@_instead("get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list:
    """The losses of regularizers whose names begin with `scope`."""
    return list(get_collection(GraphKeys.REGULARIZATION_LOSSES, scope))


@_instead("get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses, with those of regularizers unless `add_regularization_losses` is False."""
    losses = list(get_collection(GraphKeys.LOSSES))
    if add_regularization_losses:
        losses += get_collection(GraphKeys.REGULARIZATION_LOSSES)
    return add_n(losses, name=name)


def _weighted_mean(losses: Any, weights: Any, scope: Any) -> Any:
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses = cast(losses, dtypes.float32)
        weights = cast(convert_to_tensor(weights), dtypes.float32)
        if losses.get_shape().ndims is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        if weights.get_shape().ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        if weights.get_shape().ndims > 1 and weights.get_shape()[-1].is_compatible_with(1):
            weights = squeeze(weights, [-1])
        total = _scaled_sum(losses, weights)
        mean = div_no_nan(reduce_sum(total), reduce_sum(_present(losses, weights)), name="value")
        mean = cast(mean, dtype)
        _added(mean)
        return mean


def _added(loss: Any) -> None:
    add_loss(loss)


def _scaled_sum(losses: Any, weights: Any) -> Any:
    """The sum of `losses` times `weights`, which stand for the first axes."""
    axes = list(range(weights.get_shape().ndims, losses.get_shape().ndims))
    return reduce_sum(multiply(reduce_sum(losses, axis=axes), weights))


def _present(losses: Any, weights: Any) -> Any:
    """How many elements of each example have a weight that is not 0."""
    rank = weights.get_shape().ndims
    if rank == 0:
        batch = reshape(slice_of(shape_of(losses), [0], [1]), [])
        each = div(cast(size(losses), dtypes.float32), cast(batch, dtypes.float32))
        each = where(equal(weights, 0), 0.0, each)
        return multiply(ones(reshape(batch, [1])), each)
    nonzero = reduce_sum(cast(not_equal(weights, 0), dtypes.float32), axis=list(range(1, rank)))
    more = cast(reduce_prod(slice_of(shape_of(losses), [rank], [-1])), dtypes.float32)
    return multiply(nonzero, more)


@_instead("compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: Any = None) -> Any:
    """The mean of `losses` times `weights` (a scalar, or as many axes as the first of the losses), a scalar.

    Raises ValueError if a rank is unknown.
    """
    return _weighted_mean(losses, weights, scope)


def _pair(predictions: Any, labels: Any) -> tuple:
    """Both as float32.  Raises ValueError for shapes that do not fit."""
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return cast(predictions, dtypes.float32), cast(labels, dtypes.float32)


@_instead("absolute_difference")
def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None) -> Any:
    """The weighted mean of |predictions - labels|, tensors of one shape."""
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as entered:
        predictions, labels = _pair(predictions, labels)
        return _weighted_mean(absolute(subtract(predictions, labels)), weights, entered)


@_instead("mean_squared_error")
def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None) -> Any:
    """The weighted mean of (predictions - labels) ** 2, tensors of one shape."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as entered:
        predictions, labels = _pair(predictions, labels)
        return _weighted_mean(squared_difference(predictions, labels), weights, entered)


@_instead("log_loss")
def log_loss(predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """The weighted mean of the cross entropy of probabilities with labels of 0 and 1; `epsilon` keeps from log(0)."""
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as entered:
        predictions, labels = _pair(predictions, labels)
        losses = -multiply(labels, log(predictions + epsilon)) - multiply(1 - labels, log(1 - predictions + epsilon))
        return _weighted_mean(losses, weights, entered)


@_instead("hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: Any = None) -> Any:
    """max(0, 1 - logits * labels) for labels of 0 and 1 taken as -1 and 1: as it is, of the shape of the logits."""
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = cast(labels, dtypes.float32)
        one = ones_like(labels)
        return relu(subtract(one, multiply(subtract(2 * labels, one), logits)))


@_instead("cosine_distance")
def cosine_distance(predictions: Any, labels: Any = None, axis: int | None = None, weights: Any = 1.0, scope: Any = None,
                    dim: int | None = None) -> Any:
    """The weighted mean of 1 - the product of unit vectors along `axis`.  Raises ValueError without one, or with two."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'")
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as entered:
        predictions, labels = _pair(predictions, labels)
        return _weighted_mean(1 - reduce_sum(multiply(predictions, labels), axis=[axis]), weights, entered)


@_instead("sigmoid_cross_entropy")
def sigmoid_cross_entropy(logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: Any = None) -> Any:
    """The weighted mean of the cross entropies of sigmoids with labels of 0 and 1, drawn to 1/2 by `label_smoothing`."""
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as entered:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = functions.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return _weighted_mean(losses, weights, entered)


@_instead("softmax_cross_entropy")
def softmax_cross_entropy(logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: Any = None) -> Any:
    """The weighted mean of the cross entropies of [batch, classes] with one-hot labels.

    `label_smoothing` draws labels to 1 / classes.  Raises ValueError for shapes that do not fit.
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as entered:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = cast(shape_of(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = softmax.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return _weighted_mean(losses, weights, entered)


@_instead("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: Any = None) -> Any:
    """The weighted mean of the cross entropies of [batch, classes] with the numbers of classes, [batch] or [batch, 1]."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as entered:
        labels = reshape(labels, shape=[shape_of(labels)[0]])
        losses = softmax.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return _weighted_mean(losses, weights, entered)


@_instead("mean_pairwise_squared_error")
def mean_pairwise_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: Any = None) -> Any:
    """The sum over examples of the mean squared difference between differences of pairs of elements."""
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = _pair(predictions, labels)
        weights = cast(convert_to_tensor(weights), dtypes.float32)
        differences = subtract(predictions, labels)
        if differences.get_shape().ndims is None:
            raise ValueError("diffs.get_shape().ndims cannot be None")
        if weights.get_shape().ndims is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        axes = list(range(1, differences.get_shape().ndims))
        squares = reduce_sum(square(differences), axis=axes)
        present = _present(differences, weights)
        first = 2.0 * div_no_nan(squares, present, name="value")
        total = reduce_sum(differences, axis=axes)
        second = 2.0 * div_no_nan(square(total), square(present), name="value")
        loss = _scaled_sum(first - second, weights)
        mean = where(reduce_sum(present) > 0, loss, zeros_like(loss), name="value")
        _added(mean)
        return mean
