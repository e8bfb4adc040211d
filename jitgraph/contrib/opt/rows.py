"""Rows of a variable changed, for variables by reference and resource variables alike; each gives the variable afterwards."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.scopes import control_dependencies
from jitgraph.train.slots import is_resource


def changed_rows(kind: str, var: Any, indices: Any, values: Any, use_locking: bool = False) -> Any:
    """The variable after its rows `indices` were set to `values`, or had them added or taken away: Update, Add, Sub."""
    if not is_resource(var):
        return getattr(raw, f"Scatter{kind}")(var._ref(), indices, values, use_locking=use_locking)
    with control_dependencies([getattr(raw, f"ResourceScatter{kind}")(var.handle, indices, values)]):
        return var.value()
