"""``Barrier``: tuples whose components arrive one by one, joined by key."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.shapes import TensorShape, raw_shape
from jitgraph.graph.tensor import Tensor


def _listed(shapes: Any) -> list:
    """A list of shapes; one shape, a list of numbers, is that of the only component."""
    alone = not isinstance(shapes, (list, tuple)) or all(isinstance(size, int) for size in shapes)
    return [shapes] if alone else list(shapes)


class Barrier:
    """Collects the components of tuples by key; a tuple can be taken when it has all of them.

    `types`: the dtype of each component; `shapes`: the shape of each (needed to take tuples).  Raises TypeError for an
    empty list of types, ValueError for shapes that are not fully known, or of no elements.
    """

    def __init__(self, types: Any, shapes: Any = None, shared_name: str | None = None, name: str = "barrier"):
        self._types = [as_dtype(t) for t in (types if isinstance(types, (list, tuple)) else [types])]
        self._shapes = [TensorShape(shape) for shape in ([None] * len(self._types) if shapes is None else _listed(shapes))]
        if shapes is not None and not all(shape.is_fully_defined() for shape in self._shapes):
            raise ValueError(f"All shapes must be fully defined: {self._shapes}")
        for k, shape in enumerate(self._shapes):
            if shapes is not None and shape.num_elements() == 0:
                raise ValueError(f"Empty tensors are not supported, but received shape '{raw_shape(shape)}' at index {k}")
        stated = [] if shapes is None else [raw_shape(shape) for shape in self._shapes]
        self._barrier_ref = raw.Barrier(component_types=self._types, shapes=stated,
                                        container=get_default_graph()._container, shared_name=shared_name or "",
                                        name=name)

    @property
    def barrier_ref(self) -> Tensor:
        """The handle of the barrier."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the node that makes the barrier."""
        return self._barrier_ref.op.name

    def _named(self, name: str | None, what: str) -> str:
        return name or f"{self.name.split('/')[-1]}_Barrier{what}"

    def insert_many(self, component_index: int, keys: Any, values: Any, name: str | None = None) -> Operation:
        """An operation that gives each of the `keys` (strings) its component `component_index`, a row of `values`.

        A run raises InvalidArgumentError for a key that has that component, CancelledError for a new key of a closed
        barrier.
        """
        return raw.BarrierInsertMany(self._barrier_ref, keys, values, component_index=component_index,
                                     name=self._named(name, "InsertMany"))

    def take_many(self, num_elements: Any, allow_small_batch: bool = False, timeout: int | None = None,
                  name: str | None = None) -> Any:
        """(indices, keys, list of components) of complete tuples, waiting until there are `num_elements`.

        The indices tell in which order the keys were first inserted.  A run raises OutOfRangeError if the barrier is
        closed and has less; with `allow_small_batch` it then gives what there is.
        """
        return raw.BarrierTakeMany(self._barrier_ref, num_elements, component_types=self._types,
                                   allow_small_batch=allow_small_batch, timeout_ms=-1 if timeout is None else timeout,
                                   name=self._named(name, "TakeMany"))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which no new key is accepted; `cancel_pending_enqueues` drops incomplete tuples too."""
        return raw.BarrierClose(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                name=self._named(name, "Close"))

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many tuples are complete."""
        return raw.BarrierReadySize(self._barrier_ref, name=self._named(name, "ReadySize"))

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many keys lack a component."""
        return raw.BarrierIncompleteSize(self._barrier_ref, name=self._named(name, "IncompleteSize"))
