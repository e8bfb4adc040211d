"""What NumPy computes."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import Node
from ..views import resolve
from .kind import Kind


class Host(Kind):
    """A step on the host: a graph operation that its NumPy meaning executes, or a function of arrays."""

    name = "host"
    attributes = {"call": "op: the operation; array: `function` of the inputs; stream: of a random stream and the inputs",
                  "function": "that is called", "computation": "what equal ones have in common; None: nothing is equal to it",
                  "open": "for each output, whether its shape comes with the run",
                  "wanted": "outputs that are computed whether something uses them or not"}
    is_stored = True

    def has_effect(self, node: Node) -> bool:
        opdef = node.op.opdef if node.op is not None and node.attrs.get("call") in ("op", "stream") else None
        return not node.outputs or opdef is not None and opdef.has_effect

    def must_run(self, node: Node) -> bool:
        return self.has_effect(node) or node.attrs["call"] == "op"

    def accepts(self, node: Node, index: int) -> bool:
        return not resolve(node.inputs[index])[0].node.kind.is_index

    def meaning(self, node: Node, *arrays: np.ndarray) -> Any:
        return node.attrs["function"](*arrays) if node.attrs["call"] == "array" else super().meaning(node)


HOST = Host()
