"""Whether new variables are resource variables unless they are told otherwise: by their scope, or for the whole program."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from jitgraph.graph.default_graph import get_default_graph

STORE = "variable_store"         # where a graph keeps what `variable_scopes` knows

_resource_variables = False


def enable_resource_variables() -> None:
    """Makes ``tf.get_variable`` and ``tf.Variable`` make resource variables unless they are told otherwise."""
    global _resource_variables
    _resource_variables = True


def disable_resource_variables() -> None:
    """Makes new variables reference variables again."""
    global _resource_variables
    _resource_variables = False


@contextlib.contextmanager
def resource_variables(wanted: bool) -> Iterator[None]:
    """Inside, new variables are resource variables if `wanted`."""
    global _resource_variables
    before = _resource_variables
    _resource_variables = before or wanted
    try:
        yield
    finally:
        _resource_variables = before


def resource_variables_enabled() -> bool:
    """Whether new variables are resource variables."""
    return _resource_variables


def is_resource() -> bool:
    """Whether a variable that is made now is one."""
    store = get_default_graph()._scoped_state.get(STORE)
    wanted = None if store is None else store.scope.use_resource
    return _resource_variables if wanted is None else bool(wanted)
