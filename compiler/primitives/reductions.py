"""Reductions, whole and in parts."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import Node, alike
from ..sizes import Dim, Shape
from .kind import Fused

if TYPE_CHECKING:
    from ..schedule import KernelBuilder

UFUNCS: dict[str, Any] = {"add": np.add, "mul": np.multiply, "max": np.fmax, "min": np.fmin,
                          "and": np.logical_and, "or": np.logical_or}
SEARCHES = {"argmax": np.argmax, "argmin": np.argmin}


class Reduction(Fused):
    """What a whole reduction and one in parts have in common."""

    attributes = {"op": "how two numbers become one", "axes": "that are reduced"}

    def domain(self, node: Node) -> Shape:
        return node.inputs[0].shape

    def dims_of_result(self, node: Node, dims: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(d for i, d in enumerate(dims) if i not in node.attrs["axes"])

    def kept_shape(self, node: Node) -> list[Dim]:
        """The shape of one result."""
        return [d for i, d in enumerate(node.inputs[0].shape) if i not in node.attrs["axes"]]

    def reduced(self, node: Node, dims: tuple[int, ...]) -> frozenset[int]:
        """The domain dimensions that are reduced."""
        return frozenset(dims[a] for a in node.attrs["axes"] if dims[a] >= 0)

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        kernel.define(node, "reduce", prim=node.attrs["op"], args=kernel.arguments(node))
        kernel.body[-1].level = "row"


class Reduce(Reduction):
    """One result for every element that is kept.  NaN counts for extremes only where there is nothing else."""

    name = "reduce"

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        super().state(kernel, node)
        if node.attrs["op"] in SEARCHES:        # the index along the reduced axis, as one more argument
            dims = kernel.group.dims[node]
            index = kernel.load_index(node, {dims[a]: 1 for a in node.attrs["axes"] if dims[a] >= 0})
            reduction = kernel.body.pop(-2)
            reduction.args = reduction.args + (index,)
            kernel.body.append(reduction)

    def violation(self, node: Node) -> str | None:
        return None if alike(self.kept_shape(node), node.out.shape) else "it has not the shape that is kept"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        op, axes = node.attrs["op"], tuple(node.attrs["axes"])
        if op in SEARCHES:
            return SEARCHES[op](x, axes[0])
        return combined(op, x, axes).astype(node.out.dtype.as_numpy_dtype)


class Partial(Reduction):
    """Partial results, which a Reduce combines: the first dimension of the result counts them."""

    name = "partial"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        """Where one part ends and the next begins is the kernel's choice: only what all of them come to is certain."""
        axes = tuple(node.attrs["axes"])
        rows = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *node.out.shape[1:])
        parts = np.array_split(rows, node.out.shape[0])
        return np.stack([combined(node.attrs["op"], part, (0,)) for part in parts]).astype(node.out.dtype.as_numpy_dtype)

    def violation(self, node: Node) -> str | None:
        if not isinstance(node.out.shape[0], int) or node.out.shape[0] < 2:
            return f"there are {node.out.shape[0]} parts"
        return None if alike(self.kept_shape(node), node.out.shape[1:]) else "its parts have not the shape that is kept"


def combined(op: str, x: np.ndarray, axes: tuple[int, ...], least: Any = -np.inf) -> np.ndarray:
    """The reduction of x along axes; sums and products of floats in float64; NaN is no extreme, of no floats `least` or the
    opposite of it."""
    if x.dtype.kind == "V":             # bfloat16, which NumPy takes for no float
        x = x.astype(np.float32)
    if op in ("add", "mul"):
        wide: Any = {"f": np.float64, "c": np.complex128}.get(x.dtype.kind)
        return UFUNCS[op].reduce(x, axes, dtype=wide)
    if op in ("and", "or"):
        return UFUNCS[op].reduce(x, axes)
    if x.dtype.kind != "f":
        least = np.iinfo(x.dtype).min if op == "max" else np.iinfo(x.dtype).max
    elif op == "min":
        least = -least
    return UFUNCS[op].reduce(x, axes, initial=least)


REDUCE, PARTIAL = Reduce(), Partial()
