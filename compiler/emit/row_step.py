"""The scalar expression by which rows of variables change in place."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jitgraph.graph.dtypes import DType

from ..builder import Builder
from ..kernel import ELEMENTS
from ..primitives.elementwise import MAP
from ..primitives.memory import INPUT
from . import scalars


class RowStep:
    """A scalar expression that gives the new elements of rows of variables: `inputs` (the elements of the variables, then
    further ones), the primitives between in `nodes`, and the `results`, one for each variable.

    Raises NotImplementedError for what no kernel can compute, or may fail while it writes.
    """

    def __init__(self, expression: Callable[..., Any], variables: Sequence[DType], others: Sequence[DType]) -> None:
        builder = Builder()
        self.inputs = [builder.node(INPUT, [], [((), dtype)]).out for dtype in (*variables, *others)]
        found = expression(*self.inputs)
        found = found if isinstance(found, tuple) else (found,)
        self.results = [builder.cast(builder.lift(value, dtype), dtype) for value, dtype in zip(found, variables)]
        self.nodes = builder.nodes
        codes = [ELEMENTS.get(v.dtype.name) for node in self.nodes for v in (*node.inputs, *node.outputs)]
        if None in codes or any(node.kind.may_fail(node) for node in self.nodes) or not all(
                scalars.supported(node.attrs["prim"], ELEMENTS[node.inputs[-1].dtype.name])
                for node in self.nodes if node.kind is MAP):
            raise NotImplementedError
