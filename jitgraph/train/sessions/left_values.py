"""Reference variables that hooks and monitors ask for beside a step: what the step leaves in them.

TensorFlow hands out the very buffer of a fetched reference variable, or of an Identity of one, and the step's update has
written it by the time a hook looks at it.  What is computed from a variable, and what is read from a resource, is from before.
"""
from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from jitgraph.graph.function_graph import is_variable
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.variable import Variable


class LeftValues:
    """Gives hooks what a run of `graph` has left in the reference variables that they asked for."""

    def __init__(self, graph: Any):
        self._graph = graph
        self._known: dict[Any, Tensor | None] = {}

    def seen(self, session: Any, asked: Any, values: Any, feed_dict: Any = None) -> Any:
        """`values`, which a run gave for the structure `asked`; in place of reference variables that were not fed, what
        `session` reads in them now."""
        found = {}
        for one in (asked,) if type(asked) is Tensor else _leaves(asked):       # the former: the commonest, as a loss
            variable = self._variable(one)
            if variable is not None:
                found[one] = variable
        for fed in feed_dict or () if found else ():
            found = {one: variable for one, variable in found.items() if variable is not self._variable(fed)}
        if not found:
            return values
        return _replaced(asked, values, dict(zip(found, session.run([*found.values()]))))

    def _variable(self, asked: Any) -> Tensor | None:
        """The reference variable whose value something is; None if it is anything else."""
        if not isinstance(asked, _NAMING) or self._graph is None:       # a session of the program's own may have no graph
            return None
        if asked not in self._known:
            tensor = fetched = self._graph.as_graph_element(asked)
            while isinstance(tensor, Tensor) and tensor.op.type == "Identity" and not tensor.op.control_inputs:
                tensor = tensor.op.inputs[0]
            stands = isinstance(tensor, Tensor) and is_variable(tensor.op) and tensor.dtype._is_ref_dtype
            if stands and tensor is fetched and tensor._shape == () and tensor.dtype.is_integer:
                stands = False                  # a count: every run reads it once it is over
            self._known[asked] = tensor if stands else None
        return self._known[asked]


_NAMING = (Tensor, Variable, str)       # what may stand for a tensor


def _leaves(asked: Any) -> Iterator[Any]:
    """What is asked for in a structure of fetches, whose keys may be anything."""
    if isinstance(asked, (list, tuple, dict)):
        for part in asked.values() if isinstance(asked, dict) else asked:
            yield from _leaves(part)
    else:
        yield asked


def _replaced(asked: Any, values: Any, left: dict) -> Any:
    """`values` of the structure `asked` with those of what is in `left` from there."""
    if isinstance(asked, dict):
        found = copy(values)
        found.update({key: _replaced(part, values[key], left) for key, part in asked.items()})
        return found
    if isinstance(asked, (list, tuple)):
        parts = [_replaced(*both, left) for both in zip(asked, values)]
        return type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)
    return left[asked] if isinstance(asked, _NAMING) and asked in left else values
