"""Element by element: scalar primitives, conversions and the index itself."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jitgraph.declare import prim

from ..ir import Node, alike, broadcast_shapes, numbers
from .kind import Fused, Kind

if TYPE_CHECKING:
    from ..schedule import KernelBuilder

HEAVY = 6       # an elementary function is some thirty instructions, of which LLVM makes several vectors


class Map(Fused):
    """One scalar primitive (`jitgraph.declare.prim`), its inputs broadcast."""

    name = "map"
    attributes = {"prim": "the name of the scalar primitive"}

    def may_fail(self, node: Node) -> bool:
        if not node.out.dtype.is_integer or node.attrs["prim"] not in prim.CHECKED:
            return False
        known = node.inputs[1].constant
        if known is None or known.dtype == object:
            return True
        return bool((known < 0).any() if node.attrs["prim"] == "pow" else (known == 0).any())

    def weight(self, node: Node) -> int:
        return HEAVY if node.attrs["prim"] in prim.ELEMENTARY else 1

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        kernel.define(node, "op", prim=node.attrs["prim"], args=kernel.arguments(node))

    def violation(self, node: Node) -> str | None:
        if len(node.inputs) != prim.PRIMS[node.attrs["prim"]].arity:
            return f"{node.attrs['prim']} of {len(node.inputs)} values"
        fits = broadcast_shapes([numbers(v.shape) for v in node.inputs]) == tuple(numbers(node.out.shape))
        return None if fits else "it has not the shape that its inputs are broadcast to"

    def meaning(self, node: Node, *arrays: np.ndarray) -> np.ndarray:
        found = np.asarray(getattr(prim, node.attrs["prim"])(*arrays))
        return found.astype(node.out.dtype.as_numpy_dtype, copy=False)


class Cast(Fused):
    """Conversion to the element type of the result, as C does it; to bool by "not zero".  To the same type: a copy."""

    name = "cast"

    def violation(self, node: Node) -> str | None:
        return None if alike(node.inputs[0].shape, node.out.shape) else "it has another shape than its input"

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        kernel.define(node, "op", prim="cast", args=kernel.arguments(node))

    def meaning(self, node: Node, x: np.ndarray) -> np.ndarray:
        return np.array(prim.cast(x, node.out.dtype))


class Iota(Kind):
    """The index along one axis."""

    name = "iota"
    attributes = {"axis": "which one"}
    is_leaf = is_index = True

    def meaning(self, node: Node) -> np.ndarray:
        shape, axis = node.out.shape, node.attrs["axis"]
        index = np.arange(shape[axis], dtype=node.out.dtype.as_numpy_dtype)
        return np.broadcast_to(index.reshape(-1, *(1,) * (len(shape) - 1 - axis)), shape)


MAP, CAST, IOTA = Map(), Cast(), Iota()
