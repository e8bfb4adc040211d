"""What a Supervisor takes from the collections of its graph, or makes and puts there."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.resources.tables import tables_initializer
from jitgraph.train.saver import Saver
from jitgraph.variables.variable_collections import global_variables, local_variables_initializer


def first_of(key: str) -> Any:
    """The first member of a collection, None if it is empty."""
    found = get_default_graph().get_collection(key)
    if len(found) > 1:
        logs.info("Found %d %s operations. Returning the first one.", len(found), key)
    return found[0] if found else None


def first_or_made(key: str, make: Callable[[], Any]) -> Any:
    """The first member of a collection; if it is empty, what `make` makes, which is put there unless it is None."""
    found = first_of(key)
    if found is None:
        found = make()
        if found is not None:
            get_default_graph().add_to_collection(key, found)
    return found


def local_init_op() -> Any:
    """Initialises local variables and tables."""
    return group(local_variables_initializer(), tables_initializer())


def saver_of_all() -> Saver | None:
    """A saver of all variables, None if there are none."""
    return Saver() if global_variables() else None


def global_step_by_name() -> Any:
    """The tensor ``global_step:0``, None if there is none or it holds no integers."""
    try:
        found = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if found.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return found
    logs.warning("Found 'global_step' is not an int type: %s", found.dtype)
    return None
