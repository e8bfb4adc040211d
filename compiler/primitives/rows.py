"""Rows picked by indices: read, combined, changed in place; and indices that are looked at before."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.graph import errors

from .. import sizes
from ..emit import cuda_sequences, sequential
from ..ir import Node, Value, alike
from ..kernel import Access, Param
from ..sizes import Dim
from ..views import resolve
from .kind import Fused, Kind
from .reductions import combined

if TYPE_CHECKING:
    from ..schedule import KernelBuilder


def checked(indices: np.ndarray, limit: int) -> np.ndarray:
    """Indices, all of them in [0, limit); raises InvalidArgumentError for others."""
    if ((indices < 0) | (indices >= limit)).any():
        raise errors.InvalidArgumentError(None, None, f"indices are not in [0, {limit})")
    return indices


class Gather(Fused):
    """Slices of a source along `axis`; an index out of range raises InvalidArgumentError.  Inputs: source, indices."""

    name = "gather"
    attributes = {"axis": "of the source"}

    def may_fail(self, node: Node) -> bool:
        return True

    def accepts(self, node: Node, index: int) -> bool:
        return index > 0 or not resolve(node.inputs[0])[0].node.kind.is_index

    def computed_inputs(self, node: Node) -> list[Value]:
        return node.inputs[1:]

    def dims_of_inputs(self, node: Node, dims: tuple[int, ...]) -> list[tuple[Value, tuple[int, ...]]]:
        axis = node.attrs["axis"]
        return [(value, tuple(dims[axis + k] for k in range(value.rank))) for value in self.computed_inputs(node)]

    def axis_of_inputs(self, node: Node, value: Value) -> int:
        return node.attrs["axis"]

    def state(self, kernel: KernelBuilder, node: Node) -> None:
        (index,) = kernel.arguments(node)
        axis, source = node.attrs["axis"], node.inputs[0]
        base, strides, offset = resolve(source)
        dims, width = kernel.group.dims[node], node.inputs[1].rank
        runs = list(dims[:axis]) + [None] + list(dims[axis + width:])
        access = Access(kernel.param(base, "in"), kernel.strides(runs, strides), offset)
        kernel.define(node, "gather", args=(index,), access=access, stride=strides[axis], limit=source.shape[axis])

    def violation(self, node: Node) -> str | None:
        (source, indices), axis = (v.shape for v in node.inputs), node.attrs["axis"]
        if not node.inputs[1].dtype.is_integer:
            return "its indices are no integers"
        fits = alike((*source[:axis], *indices, *source[axis + 1:]), node.out.shape)
        return None if fits else "it has not the shape of the slices that are picked"

    def meaning(self, node: Node, source: np.ndarray, indices: np.ndarray) -> Any:
        axis = node.attrs["axis"]
        return np.take(source, checked(indices, source.shape[axis]), axis)


class Scatter(Kind):
    """Rows added into zeros, multiplied into ones, or the extremes of the rows of each index (NaN is no extreme).  An index
    out of range raises InvalidArgumentError.  Inputs: indices, updates; the row of the updates for each index, if not all in order;
    what it is multiplied by."""

    name = "scatter"
    attributes = {"op": "add, mul, max or min", "drops": "whether negative indices are left out",
                  "picks": "whether rows of the updates are picked", "scales": "whether they are multiplied",
                  "certain": "whether all indices are known to be there"}
    reads_complex = True
    kernels = {"cpu": sequential.emit_scatter, "cuda": cuda_sequences.emit_scatter}

    def may_fail(self, node: Node) -> bool:
        return not node.attrs["certain"] or bool(node.attrs["picks"])

    def violation(self, node: Node) -> str | None:
        (indices, updates, *others), picks = (v.shape for v in node.inputs), node.attrs["picks"]
        if not all(alike(indices, other) for other in others) or len(others) != picks + node.attrs["scales"]:
            return "it does not have one place and factor for each index"
        fits = alike(node.out.shape[1:], updates[1:]) if picks else alike((*indices, *node.out.shape[1:]), updates)
        return None if fits else "it does not have one row for each index"

    def meaning(self, node: Node, indices: np.ndarray, updates: np.ndarray, *others: np.ndarray) -> Any:
        rows, rank = node.out.shape[0], node.out.rank - 1
        if node.attrs["picks"]:
            updates = updates[checked(others[0], len(updates))]
        if node.attrs["scales"]:
            updates = updates * others[-1].reshape(*indices.shape, *[1] * rank)
        updates, indices = updates.reshape(-1, *updates.shape[updates.ndim - rank:]), indices.ravel()
        if node.attrs["drops"]:
            updates, indices = updates[indices >= 0], indices[indices >= 0]
        checked(indices, rows)
        least = np.finfo(updates.dtype).min if updates.dtype.kind == "f" else None
        found = [combined(node.attrs["op"], updates[indices == row], (0,), least) for row in range(rows)]
        return np.array(found, updates.dtype).reshape(node.out.shape)


class Update(Kind):
    """Rows of variables changed in place.  Inputs: the variables, indices, what their rows are combined with."""

    name = "update"
    attributes = {"name": "of what is done", "step": "an `emit.row_step.RowStep`", "drops": "whether negative indices are left out"}
    is_unique = True
    reads_halves = ("cpu",)
    kernels = {"cpu": sequential.emit_update, "cuda": cuda_sequences.emit_update}

    def has_effect(self, node: Node) -> bool:
        return True

    def touched(self, node: Node, param: Param) -> Dim | None:
        """Of a variable, the rows that are picked."""
        if param.use != "inout":
            return None
        indices = node.inputs[len(node.attrs["step"].results)]
        return sizes.product(indices.shape) * sizes.product(node.inputs[0].shape[1:])


class Bounds(Kind):
    """Fails, before any state changes, if an index is outside of [0, limit).  Input: indices."""

    name = "bounds"
    attributes = {"limit": "the number of rows"}
    is_unique = True
    kernels = {"cpu": sequential.emit_bounds, "cuda": cuda_sequences.emit_bounds}

    def has_effect(self, node: Node) -> bool:
        return True

    def may_fail(self, node: Node) -> bool:
        return True

    def meaning(self, node: Node, indices: np.ndarray) -> Any:
        checked(indices, node.attrs["limit"])
        return ()


GATHER, SCATTER, UPDATE, BOUNDS = Gather(), Scatter(), Update(), Bounds()
