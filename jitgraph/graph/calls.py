"""The functions that operations call."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jitgraph.graph.function_graph import FunctionGraph
    from jitgraph.graph.operation import Operation


def bodies(op: Operation) -> list[FunctionGraph]:
    """The functions that an operation calls, those that are graphs here."""
    if op.opdef is None or not op.opdef.calls:
        return []
    return _graphs(op, op.opdef.calls)


def functions_of(op: Operation) -> list[FunctionGraph]:
    """The functions in the attributes of an operation, also those that are called after it has run."""
    return [] if op.opdef is None else _graphs(op, op.opdef.functions)


def _graphs(op: Operation, names: tuple[str, ...]) -> list[FunctionGraph]:
    found: list[FunctionGraph] = []
    for name in names:
        value = op.attrs[name]
        found.extend(value if isinstance(value, list) else [value])
    return [function for function in found if getattr(function, "building_function", False)]
