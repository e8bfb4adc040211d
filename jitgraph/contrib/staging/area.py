"""Elements kept from one run to the next."""
from __future__ import annotations

from typing import Any

from jitgraph.control.while_loops import while_loop
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.resources.queues import FIFOQueue


class StagingArea:
    """Elements of several tensors, put in one run and gotten in a later one, in order.

    `dtypes`, and where given `shapes` and `names`, have an entry for each tensor of an element.  Areas of one `shared_name` are
    one area.  With a `capacity`, ``put`` waits while there are more elements: one more has room, so that a run may put the next
    element before it gets the last.  `memory_limit` is kept but does not bound the area.  Raises ValueError for lists of
    different lengths.
    """

    def __init__(self, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, capacity: int = 0,
                 memory_limit: int = 0):
        if shared_name is not None and not isinstance(shared_name, str):
            raise ValueError("shared_name must be a string")
        for given, word in ((shapes, "shapes"), (names, "names")):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"StagingArea {word} must be the same length as dtypes")
        self.name = shared_name or get_default_graph().unique_name(type(self).__name__)
        self.dtypes = [as_dtype(one) for one in dtypes]
        self.shapes = [TensorShape(None)] * len(dtypes) if shapes is None else [TensorShape(shape) for shape in shapes]
        self.names, self.capacity, self.memory_limit = names, capacity, memory_limit
        with name_scope(f"{self.name}_root"):
            self._queue = FIFOQueue(capacity + 1 if capacity else -1, self.dtypes, names=names, shared_name=self.name)

    def put(self, values: Any, name: str | None = None) -> Any:
        """An operation that adds an element: a tensor, a list of tensors, or a dictionary where the area has names.

        Raises ValueError for values of another number, type or shape.
        """
        listed = values if isinstance(values, (list, tuple, dict)) else [values]
        if isinstance(listed, dict) != bool(self.names):
            raise ValueError("Staging areas must have names to enqueue a dictionary" if not self.names else
                             "You must enqueue a dictionary in a staging area with names")
        if self.names and set(listed) != set(self.names):
            raise ValueError(f"Keys in dictionary to put do not match names of staging area. Dictionary: ({sorted(listed)}), "
                             f"Queue: ({sorted(self.names)})")
        if len(listed) != len(self.dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(listed)}' vs '{len(self.dtypes)}'")
        tensors = [convert_to_tensor(listed[key]) for key in self.names or range(len(listed))]
        for tensor, dtype, shape in zip(tensors, self.dtypes, self.shapes):
            if tensor.dtype.base_dtype != dtype:
                raise ValueError(f"Datatypes do not match. '{tensor.dtype}' != '{dtype}'")
            tensor.shape.assert_is_compatible_with(shape)
        return self._queue.enqueue(dict(zip(self.names, tensors)) if self.names else tensors, name or f"{self.name}_put")

    def get(self, name: str | None = None) -> Any:
        """The oldest element, taken away: a list of tensors, or a dictionary where the area has names."""
        found = self._queue.dequeue(name or f"{self.name}_get")
        by_place = [found[key] for key in self.names] if self.names else found if isinstance(found, list) else [found]
        for tensor, shape in zip(by_place, self.shapes):
            tensor.set_shape(shape)
        return found if self.names else by_place

    def peek(self, index: Any, name: str | None = None) -> Any:
        """Raises NotImplementedError."""
        raise NotImplementedError("elements cannot be seen without being taken: get the element and put it back")

    def size(self, name: str | None = None) -> Any:
        """The number of elements, an int32 scalar."""
        return self._queue.size(name or f"{self.name}_size")

    def clear(self, name: str | None = None) -> Any:
        """An operation that takes all elements away."""
        def taken(count: Any) -> Any:
            found = self._queue.dequeue()
            with control_dependencies(nest.flatten(found)):
                return count + 1

        with name_scope(name, f"{self.name}_clear"):
            return while_loop(lambda count: self._queue.size() > 0, taken, [constant(0)], parallel_iterations=1).op
