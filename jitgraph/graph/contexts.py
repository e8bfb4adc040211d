"""The context managers that a graph gives: what holds for the nodes that are made inside."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.graph.operation import Operation

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph


class NameScope:
    """``with graph.name_scope("layer") as scope:``; `scope` is "layer/", or "" at the root."""

    __slots__ = ("_graph", "_name", "_before")

    def __init__(self, graph: Graph, name: str | None):
        self._graph = graph
        self._name = name

    def __enter__(self) -> str:
        names = self._graph._names
        self._before = names.scope
        scope = names.enter(self._name)
        return scope + "/" if scope else ""

    def __exit__(self, *exc: Any) -> None:
        self._graph._names.scope = self._before


class DeviceScope:
    """``with graph.device("/gpu:0"):``."""

    __slots__ = ("_graph", "_device")

    def __init__(self, graph: Graph, device: Any):
        self._graph = graph
        self._device = device

    def __enter__(self) -> None:
        self._graph._devices.push(self._device)

    def __exit__(self, *exc: Any) -> None:
        self._graph._devices.pop()


class Colocation:
    """``with graph.colocate_with(op):``; inside, device blocks outside do not apply."""

    def __init__(self, graph: Graph, op: Any, ignore_existing: bool = False):
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        self._graph = graph
        self._op = None if op is None else _operation_of(op)
        self._ignore_existing = ignore_existing

    def __enter__(self) -> None:
        graph = self._graph
        self._groups = graph._colocation
        self._devices = graph._devices.replace([])
        graph._colocation = [] if self._ignore_existing else list(graph._colocation)
        if self._op is not None:
            graph._colocation.append(self._op)

    def __exit__(self, *exc: Any) -> None:
        self._graph._colocation = self._groups
        self._graph._devices.replace(self._devices)

    @staticmethod
    def bind(op: Operation, others: list[Operation]) -> None:
        """Writes the groups of `others` into the new node `op`, and takes over their device."""
        groups = set()
        for other in reversed(others):      # the outermost has the last word
            groups.update(other.colocation_groups())
            if other.device:
                op._device = other.device
        op.annotations = {**(op.annotations or {}), "_class": sorted(groups)}


def _operation_of(value: Any) -> Operation:
    if isinstance(value, Operation):
        return value
    if not hasattr(value, "op"):
        raise TypeError(f"An operation, or what has one, is needed to place nodes beside it; got {value!r}")
    return value.op


class Container:
    """``with graph.container("experiment0"):``; yields the name."""

    def __init__(self, graph: Graph, name: str):
        self._graph = graph
        self._name = name

    def __enter__(self) -> str:
        self._before, self._graph._container = self._graph._container, self._name
        return self._name

    def __exit__(self, *exc: Any) -> None:
        self._graph._container = self._before


class GradientOverride:
    """``with graph.gradient_override_map({"Square": "CustomSquare"}):``."""

    def __init__(self, graph: Graph, op_type_map: dict[str, str]):
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for op_type, mapped in op_type_map.items():
            if not (isinstance(op_type, str) and isinstance(mapped, str)):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        self._graph = graph
        self._map = op_type_map

    def __enter__(self) -> None:
        self._before = self._graph._gradient_override_map
        self._graph._gradient_override_map = {**self._before, **self._map}

    def __exit__(self, *exc: Any) -> None:
        self._graph._gradient_override_map = self._before


class Attributes:
    """``with graph._attr_scope({"_XlaCompile": ...}):``; None as a value takes the attribute away again."""

    def __init__(self, graph: Graph, attr_map: dict[str, Any]):
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to Callables or AttrValue protos")
        self._graph = graph
        self._map = attr_map

    def __enter__(self) -> None:
        self._before = self._graph._attribute_scope
        merged = dict(self._before)
        for name, value in self._map.items():
            if value is None:
                merged.pop(name, None)
            elif hasattr(value, "WhichOneof"):
                from jitgraph.graph.protos.attr_value import from_proto

                merged[name] = from_proto(value)
            else:
                merged[name] = value
        self._graph._attribute_scope = merged

    def __exit__(self, *exc: Any) -> None:
        self._graph._attribute_scope = self._before
