"""The collection of losses, and the sum that a training step minimises."""
from __future__ import annotations

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.sums import add_n


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds `loss` to a collection, unless that is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list:
    """The losses of a collection; with `scope`, those whose name matches that regular expression."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list:
    """The losses of variables and layers: the collection REGULARIZATION_LOSSES."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of ``get_regularization_losses``, a float32 scalar; 0.0 if there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of ``get_losses`` and, if so asked, ``get_regularization_losses``.  Raises ValueError if there are none."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)
