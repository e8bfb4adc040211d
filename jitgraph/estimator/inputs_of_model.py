"""What an input function gives: features and labels, as tensors or as a dataset."""
from __future__ import annotations

from typing import Any

from jitgraph.data.dataset import Dataset
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.tensor import Tensor
from jitgraph.train.hooks.run_hooks import SessionRunHook


class DatasetInitializerHook(SessionRunHook):
    """Begins the iterator of an input when the session is made."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def begin(self) -> None:
        """Makes the operation."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._initializer)


def parsed_input(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """(features, labels or None, hooks) of what an input function gave.  Raises ValueError for a tuple of another length."""
    hooks: list[SessionRunHook] = []
    if isinstance(result, Dataset):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, (list, tuple)):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks


def ends(features: Any) -> bool:
    """Whether it can be seen that an input ends: it is read from a dataset or a queue."""
    tensors = [part for part in nest.flatten(features) if isinstance(part, Tensor)]
    return any(tensor.op.type == "IteratorGetNext" for tensor in tensors) or bool(
        get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS))
