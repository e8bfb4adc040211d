"""What became of operations: whether kernels exist for their primitives, and which of these stay."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jitgraph.graph import dtypes

from . import sizes
from .builder import Builder
from .emit import scalars
from .ir import Node, Value
from .kernel import ELEMENTS, HALVES
from .primitives.elementwise import MAP
from .primitives.products import MATMUL
from .primitives.rows import SCATTER
from .primitives.windows import POOL
from .views import resolve

if TYPE_CHECKING:
    from jitgraph.graph.dtypes import DType


def narrowed(b: Builder, value: Value, dtype: DType) -> Value:
    """A value as floats of 16 bits.  The extremes that begin with the lowest or largest finite number of float32 are such a number
    of the dtype where there is nothing else."""
    base = resolve(value)
    if value.dtype != dtype and base is not None:
        op = _extreme(base[0].node)
        if op in ("max", "min"):
            value = b.map(op, [value, float(dtype.min if op == "max" else dtype.max)])
    return b.cast(value, dtype)


def _extreme(node: Node) -> str:
    """max or min for extremes that begin so."""
    if node.kind in (POOL, SCATTER):
        return node.attrs["op"] if node.attrs.get("finite", True) else ""
    begins = node.kind is MAP and any(v.constant is not None and v.constant.shape == () and v.constant == dtypes.float32.min
                                      for v in node.inputs)
    return node.attrs["prim"] if begins else ""


def expressible(nodes: list[Node], target: str) -> bool:
    """Whether the target has kernels for all of these primitives; else the op runs on the host."""
    for node in nodes:
        if not node.kind.is_view and any(v.dtype.name not in ELEMENTS for v in node.outputs):
            return False
        if node.kind.kernels and any(v.dtype.name in HALVES for v in (*node.inputs, *node.outputs)):
            few = all(sizes.count(v.shape) < 1 << 31 for v in (*node.inputs, *node.outputs))       # more are the host's
            if target not in node.kind.reads_halves or not few:
                return False
        if any(v.dtype.is_complex for v in (*node.inputs, *node.outputs)) and not _takes_complex(node):
            return False
        if node.kind is MAP:
            code = ELEMENTS[node.inputs[-1].dtype.name]
            if not scalars.supported(node.attrs["prim"], code):
                return False
        if node.kind is MATMUL and node.out.dtype not in (dtypes.float32, dtypes.float64):
            return False
    return True


def _takes_complex(node: Node) -> bool:
    """Whether kernels can compute a primitive with complex numbers."""
    return (not node.kind.kernels or node.kind.reads_complex) and node.attrs.get("op", "add") in ("add", "mul")


def live_nodes(nodes: list[Node], results: list[Value], computed: list[Value]) -> list[Node]:
    """Drops primitives that nothing needs.  Wanted for themselves are results, effects, and of what the values of operations are
    made of (`computed`) what may fail: only the shape of such a value may be used, and the run fails all the same."""
    made_of = _ancestors(v.node for v in computed)
    keep = _ancestors([*(v.node for v in results), *(
        n for n in nodes if n.kind.has_effect(n) or n in made_of and n.kind.must_run(n))])
    for n in nodes:
        n.after = [a for a in n.after if a in keep]
    return [n for n in nodes if n in keep]


def _ancestors(nodes: Iterable[Node]) -> set[Node]:
    """The nodes, and all that they are made of."""
    found, stack = set(), list(nodes)
    while stack:
        n = stack.pop()
        if n not in found:
            found.add(n)
            stack.extend(v.node for v in n.inputs)
            if n.kind.is_ordered:
                stack.extend(n.after)
    return found
