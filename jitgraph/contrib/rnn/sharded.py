"""Weights made in pieces along their first axis, and put together in one node that all uses share."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection, get_collection
from jitgraph.ops.arrays.join import concat
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope


def sharded_variable(name: str, shape: list, dtype: Any, num_shards: int) -> Any:
    """The variables ``NAME_0``, ``NAME_1`` ... side by side as one tensor; with one shard the variable ``NAME_0`` itself.

    Raises ValueError for more shards than rows.
    """
    if num_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    rows, more = divmod(shape[0], num_shards)
    shards = [get_variable(f"{name}_{k}", [rows + (k < more)] + shape[1:], dtype=dtype) for k in range(num_shards)]
    if len(shards) == 1:
        return shards[0]
    full_name = f"{get_variable_scope().name}/{name}/concat:0"
    for value in get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if value.name == full_name:
            return value
    joined = concat(shards, 0, name=f"{name}/concat")
    add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined
