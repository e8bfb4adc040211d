"""Older names of op types: the same op, as graph files of earlier releases call it."""
from __future__ import annotations

from typing import Any

from jitgraph.declare.op import op

# of a declaration, what an older name takes over
_KEPT = ("shape", "lower", "stateful", "host", "checks", "dynamic", "samples", "context", "hands_on", "tested_in")


def older(signature: str, newer: Any, **fields: Any) -> Any:
    """Declares an older name of the op type whose OpDef is `newer`; `fields` differ."""
    return op(signature, **{**{name: getattr(newer, name) for name in _KEPT}, **fields})(newer.value)


def older_name(name: str, newer: Any) -> Any:
    """Declares `name`, whose inputs and attributes are those of the op type whose OpDef is `newer`."""
    signature, type_sets = newer.signature
    return older(signature.replace(newer.type, name, 1), newer, **type_sets)
