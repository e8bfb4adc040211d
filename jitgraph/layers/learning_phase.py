"""The learning phase: what decides for layers that are called with ``training=None`` whether they train."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import init_scope, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import placeholder_with_default


def learning_phase() -> Tensor:
    """The bool scalar ``keras_learning_phase`` of the default graph, False where no run feeds it."""
    with init_scope():
        return get_default_graph().per_graph("learning phase", _made)


def in_training(training: Any) -> Any:
    """`training`, and the learning phase for None."""
    return learning_phase() if training is None else training


def _made() -> Tensor:
    with name_scope(""):
        return placeholder_with_default(False, [], name="keras_learning_phase")
