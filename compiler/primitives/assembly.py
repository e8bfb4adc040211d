"""Tensors put together from regions: concat, pad."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import Node
from ..kernel import ELEMENTS, Access
from ..sizes import Dim, Shape, dot
from ..views import contiguous
from .kind import Fused, Kind

if TYPE_CHECKING:
    from ..schedule import KernelBuilder


class Assemble(Kind):
    """A tensor put together by the Place nodes that it runs after."""

    name = "assemble"
    is_unique = is_ordered = True

    def operations(self, node: Node) -> Dim:
        return 0

    def violation(self, node: Node) -> str | None:
        strangers = [before for before in node.after if before.kind is not PLACE or before.attrs["target"] is not node.out]
        return f"{strangers[0]} is no part of it" if strangers else None

    def meaning(self, node: Node, *placed: np.ndarray) -> Any:
        found = np.empty(node.out.shape, node.out.dtype.as_numpy_dtype)
        for place, array in zip(node.after, placed):
            found[tuple(slice(at, at + size) for at, size in zip(place.attrs["offset"], array.shape))] = array
        return found


class Place(Fused):
    """Stores its input into a region of an Assemble node."""

    name = "place"
    attributes = {"target": "the value that is put together", "offset": "where the region begins"}
    is_unique = is_ordered = True

    def domain(self, node: Node) -> Shape:
        return node.inputs[0].shape

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        (name,) = kernel.arguments(node)
        target = node.attrs["target"]
        strides = contiguous(target.shape)
        access = Access(kernel.param(target, "out"), kernel.strides(kernel.group.dims[node], strides),
                        dot(node.attrs["offset"], strides))
        kernel.add("store", node, args=(name,), access=access, dtype=ELEMENTS[target.dtype.name])

    def violation(self, node: Node) -> str | None:
        ranks = {len(node.attrs["offset"]), node.inputs[0].rank, node.attrs["target"].rank}
        return None if len(ranks) == 1 else "its region is not one of its target"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return x


ASSEMBLE, PLACE = Assemble(), Place()
