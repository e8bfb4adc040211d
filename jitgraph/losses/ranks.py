"""Labels, predictions and weights brought to ranks that fit, by removing a last axis of size 1."""
from __future__ import annotations

from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import squeeze
from jitgraph.ops.elementwise.compare import equal


def may_end_in_1(tensor: Tensor) -> bool:
    """Whether the last size of a tensor may be 1."""
    return tensor.shape.ndims is None or tensor.shape[-1].is_compatible_with(1)


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0,
                                 name: str | None = None) -> tuple[Tensor, Tensor]:
    """(labels, predictions), one of them without its last axis if predictions have not `expected_rank_diff` axes more.

    Where ranks are unknown, the run decides.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if ranks[0] is not None and ranks[1] is not None:
            more = ranks[0] - ranks[1] - expected_rank_diff
            if more == 1:
                predictions = squeeze(predictions, [-1])
            elif more == -1:
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = rank_of(predictions) - rank_of(labels)
        if may_end_in_1(predictions):
            predictions = squeezed_if(equal(expected_rank_diff + 1, difference), predictions)
        if may_end_in_1(labels):
            labels = squeezed_if(equal(expected_rank_diff - 1, difference), labels)
        return labels, predictions


def squeezed_if(condition: Tensor, tensor: Tensor) -> Tensor:
    """`tensor`, in a run in which `condition` holds without its last axis."""
    return cond(condition, lambda: squeeze(tensor, [-1]), lambda: tensor)
