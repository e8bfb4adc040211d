"""What lies in memory before a plan runs, and the buffers of variables."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import Node, alike
from ..kernel import ELEMENTS, Access
from ..views import contiguous, is_rearranged
from .kind import Fused, Kind

if TYPE_CHECKING:
    from ..schedule import KernelBuilder


class Const(Kind):
    """A constant; those without dimensions become arguments of kernels."""

    name = "const"
    attributes = {"array": "its value"}
    is_leaf = is_given = is_known = is_stored = True

    def meaning(self, node: Node) -> Any:
        return node.attrs["array"]


class Size(Kind):
    """Host-known numbers that depend on symbolic sizes; they are filled in when sizes are bound."""

    name = "size"
    attributes = {"array": "of objects: numbers and sizes"}
    is_leaf = is_given = is_known = True


class Input(Kind):
    """A tensor from outside: a feed, or a value of an earlier segment."""

    name = "input"
    attributes = {"tensor": "which one", "name": "for a look at it"}
    is_leaf = is_given = is_stored = is_unique = True


class Read(Kind):
    """A variable's buffer, as it is after `version` writes of this run."""

    name = "read"
    attributes = {"variable": "whose", "version": "how many writes have been"}
    is_leaf = is_state = is_ordered = True


class Write(Fused):
    """Stores its input into a variable's buffer; its value is the variable right after it."""

    name = "write"
    attributes = {"variable": "whose", "version": "how many writes have been, with this one"}
    is_state = is_unique = True

    def has_effect(self, node: Node) -> bool:
        return True

    def accepts(self, node: Node, index: int) -> bool:
        return not is_rearranged(node.inputs[index], node.attrs["variable"])

    def violation(self, node: Node) -> str | None:
        return None if alike(node.inputs[0].shape, node.out.shape) else "it has another shape than its input"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return x

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        (name,) = kernel.arguments(node)
        kernel.names[node.out] = name
        strides = kernel.strides(kernel.group.dims[node], contiguous(node.out.shape))
        kernel.add("store", node, args=(name,), access=Access(kernel.param(node.out, "out"), strides),
                   dtype=ELEMENTS[node.out.dtype.name])


CONST, SIZE, INPUT, READ, WRITE = Const(), Size(), Input(), Read(), Write()
