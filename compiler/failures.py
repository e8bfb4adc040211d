"""Which primitives may fail in a run: they look at the values of integers."""
from __future__ import annotations

from .ir import Node

# divisions by 0, and negative powers
CHECKED = ("floor_div", "floor_mod", "trunc_div", "trunc_mod", "pow")


def may_fail(node: Node) -> bool:
    return node.kind in ("gather", "scatter", "bounds") or (node.kind == "map" and node.attrs["prim"] in CHECKED
                                     and node.out.dtype.is_integer)
