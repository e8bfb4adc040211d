"""``op_def_registry`` and ``op_def_library``: the OpDefs of all ops, and nodes made by the name of their op."""
from __future__ import annotations

import functools
from typing import Any

from jitgraph import raw_ops
from jitgraph.graph.protos.op_def import op_def_proto
from jitgraph.graph.registry import load_all


@functools.cache
def get_registered_ops() -> dict[str, Any]:
    """{type: OpDef} of all ops that are declared."""
    return {name: op_def_proto(declared) for name, declared in load_all().items()}


def register_op_list(op_list: Any) -> None:
    """Notes OpDefs.  Raises ValueError for one of an op that is declared otherwise."""
    for definition in op_list.op:
        known = get_registered_ops().setdefault(definition.name, definition)
        if known is not definition and _in_short(known) != _in_short(definition):
            raise ValueError(f"Registered op_def for {definition.name} ({known}) not equal to op_def to register ({definition})")


def _in_short(definition: Any) -> tuple:
    return ([arg.name for arg in definition.input_arg], [arg.name for arg in definition.output_arg],
            sorted(attr.name for attr in definition.attr))


class OpDefLibrary:
    """Makes nodes of ops that were added to it, by their names."""

    def __init__(self) -> None:
        self._ops: dict[str, Any] = {}

    def add_op(self, op_def: Any) -> None:
        """Adds an OpDef.  Raises TypeError for anything else."""
        if not hasattr(op_def, "input_arg"):
            raise TypeError(f"{op_def} is {type(op_def)}, not an op_def_pb2.OpDef")
        if not op_def.name:
            raise ValueError(f"{op_def} missing name.")
        if op_def.name in self._ops and _in_short(self._ops[op_def.name]) != _in_short(op_def):
            raise RuntimeError(f"Op name {op_def.name} registered twice.")
        self._ops[op_def.name] = op_def

    def add_op_list(self, op_list: Any) -> None:
        """Adds the OpDefs of an OpList."""
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """What a new node gives, or the node if it gives nothing.  Raises RuntimeError for an op that was not added, TypeError for
        arguments that it does not have."""
        if op_type_name not in self._ops:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        for attr in self._ops[op_type_name].attr:
            if attr.name not in keywords and not _follows(attr.name, self._ops[op_type_name]):
                raise TypeError(f"No argument for attr {attr.name}")
        return getattr(raw_ops, op_type_name)(name=name, **keywords)


def _follows(attr: str, definition: Any) -> bool:
    """Whether an attribute is told by the inputs."""
    return any(attr in (arg.type_attr, arg.number_attr, arg.type_list_attr) for arg in definition.input_arg)
