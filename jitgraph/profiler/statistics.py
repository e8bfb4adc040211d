"""Statistics of operations: ``RegisterStatistics`` for those of programs, the formulas of ``flops`` for the others."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.profiler.flops import flops_of, has_formula

_registered: dict[tuple[str, str], Callable[[Any, Any], Any]] = {}


class OpStats:
    """A number, or None, and what it counts."""

    def __init__(self, statistic_type: str, value: Any = None):
        self.statistic_type, self.value = statistic_type, value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}.")
        if other.value is not None:
            self.value = other.value if self.value is None else self.value + other.value
        return self


class RegisterStatistics:
    """Decorator of a function of (graph, NodeDef) that gives the OpStats of an op type.

    Raises TypeError for names that are no strings or hold a comma; the decoration raises KeyError for a pair that has a function.
    """

    def __init__(self, op_type: str, statistic_type: str):
        for what, name in (("op_type", op_type), ("statistic_type", statistic_type)):
            if not isinstance(name, str):
                raise TypeError(f"{what} must be a string.")
            if "," in name:
                raise TypeError(f"{what} must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Registers the function, and leaves it as it is."""
        op_type, statistic_type = self._key
        if self._key in _registered or (statistic_type == "flops" and has_formula(op_type)):
            raise KeyError(f"Registering two statistical functions with name '{op_type},{statistic_type}'!")
        _registered[self._key] = f
        return f


def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> Any:
    """The OpStats of a NodeDef of a graph; its value is None for op types without a function.

    Raises ValueError for unknown shapes.
    """
    function = _registered.get((node.op, statistic_type))
    if function is not None:
        return function(graph, node)
    if statistic_type == "flops" and has_formula(node.op):
        return OpStats("flops", flops_of(graph.get_operation_by_name(node.name)))
    return OpStats(statistic_type)
