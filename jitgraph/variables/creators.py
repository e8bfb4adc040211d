"""``tf.variable_creator_scope``: functions that make variables, or change how they are made."""
from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.graph.default_graph import get_default_graph

_present = threading.local()


def _stacks() -> Any:
    """{graph: [(priority, creator)], of lowest priority first}, of this thread."""
    if not hasattr(_present, "stacks"):
        _present.stacks = weakref.WeakKeyDictionary()
    return _present.stacks


class Created(type):
    """The class of Variable: calling it asks the creators of the scopes around, the innermost of highest priority first."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = super().__call__
        if not getattr(_present, "stacks", None) or not cls.__dict__.get("_asks_creators"):
            return make(*args, **kwargs)
        stack = _stacks().get(get_default_graph())
        if not stack:
            return make(*args, **kwargs)
        bound = _signature(cls).bind(None, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        for _, creator in stack:
            make = functools.partial(creator, make)
        return make(**given)


@functools.cache
def _signature(cls: type) -> inspect.Signature:
    return inspect.signature(cls.__init__)      # type: ignore[misc]


@contextlib.contextmanager
def creator_scope(creator: Callable, priority: int = 100, graph: Any = None) -> Iterator[None]:
    """Within it `creator` makes the variables of the graph (by default the present one); of several, that of the highest
    priority is asked first.

    Raises RuntimeError if scopes are left in another order than they were entered.
    """
    graph, stacks = get_default_graph() if graph is None else graph, _stacks()
    before = stacks.get(graph, [])
    stacks[graph] = mine = sorted([*before, (priority, creator)], key=lambda entry: entry[0])
    try:
        yield
    finally:
        if stacks.get(graph) is not mine:
            raise RuntimeError("Exiting variable_creator_scope without proper nesting.")
        stacks[graph] = before


def variable_creator_scope(variable_creator: Callable) -> contextlib.AbstractContextManager[None]:
    """Within it ``variable_creator(next_creator, **kwargs)`` makes the variables of ``tf.Variable`` and ``tf.get_variable``.

    `kwargs` are all arguments of ``tf.Variable``; ``next_creator(**kwargs)`` makes the variable, or asks the creator of the
    scope around.  What it gives is the variable.

    >>> def on_resources(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "use_resource": True})
    >>> with tf.variable_creator_scope(on_resources):
    ...     v = tf.get_variable("v", [3])
    """
    return creator_scope(variable_creator)
