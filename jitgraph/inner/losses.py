"""Names of ``tensorflow.python.ops.losses.util`` that ``tf.losses`` does not have."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.losses.ranks import remove_squeezable_dimensions
from jitgraph.losses.weights import broadcast_weights
from jitgraph.ops.arrays.shape import expand_dims, rank, shape, squeeze
from jitgraph.ops.checks.check_values import assert_greater_equal
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal


def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> tuple:
    """Predictions, labels and weights of ranks that go together; the weights are left out if there are none.

    The last dimension, of size 1, of predictions or labels is left out where it is one too many; weights get or lose one.
    """
    pred_rank = y_pred.shape.ndims
    if y_true is not None:
        true_rank = y_true.shape.ndims
        if true_rank is not None and pred_rank is not None:
            if pred_rank - true_rank != 1 or y_pred.shape[-1] == 1:
                y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
        else:
            labels, predictions = y_true, y_pred

            def squeezed() -> Any:
                return remove_squeezable_dimensions(labels, predictions)

            y_true, y_pred = cond(equal(1, rank(predictions) - rank(labels)), lambda: cond(
                equal(1, shape(predictions)[-1]), squeezed, lambda: (labels, predictions)), squeezed)
    if sample_weight is None:
        return y_pred, y_true
    return y_pred, y_true, _weights_of_rank(convert_to_tensor(sample_weight), y_pred, pred_rank)


def _weights_of_rank(weights: Any, y_pred: Any, pred_rank: int | None) -> Any:
    known = weights.shape.ndims
    if known == 0:
        return weights
    if pred_rank is not None and known is not None:
        if known - pred_rank == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if pred_rank - known == 1 else weights
    count = rank(weights)
    more = count - rank(y_pred)
    return cond(equal(count, 0), lambda: weights, lambda: cond(
        equal(more, 1), lambda: squeeze(weights, [-1]), lambda: cond(
            equal(more, -1), lambda: expand_dims(weights, [-1]), lambda: weights)))


def scale_losses_by_sample_weight(losses: Any, sample_weight: Any) -> Any:
    """Losses times weights, float32; the weights are stretched to the shape of the losses."""
    losses, sample_weight = cast(losses, dtypes.float32), cast(sample_weight, dtypes.float32)
    losses, _, sample_weight = squeeze_or_expand_dimensions(losses, None, sample_weight)
    return multiply(losses, broadcast_weights(sample_weight, losses))


@contextlib.contextmanager
def check_per_example_loss_rank(per_example_loss: Any) -> Iterator[None]:
    """A block whose nodes wait for a check that a loss has a dimension at least.

    Raises ValueError if it is known to be a scalar.
    """
    known = per_example_loss.shape.ndims
    message = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1"
    if known == 0:
        raise ValueError(f"{message}, received: {per_example_loss}")
    checks = [assert_greater_equal(rank(per_example_loss), cast(1, dtypes.int32), message=f"{message}.")] if known is None else []
    with control_dependencies(checks):
        yield
