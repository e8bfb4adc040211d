"""Rows of a sparse gradient that are added up for each distinct index, where how many there are need not be known.

An optimizer looks for the distinct indices (`Unique`), adds up the rows of each and changes these rows of variables.  How many
there are only the run tells: that ends a segment, and is the host's to find.  On a device each row finds the first one with its
index instead, rows are added up there, and all others are left out: nothing depends on how many are left.
"""
from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from jitgraph.declare import prim
from jitgraph.graph import dtypes
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import sizes
from .ir import Value
from .masked import is_each, is_single
from .targets import HOST, Target

if TYPE_CHECKING:
    from .builder import Builder

MOST = 1 << 14          # indices, each of which is compared with all others
LAST = np.iinfo(np.int32).max
UPDATES = ("Scatter", "ResourceScatter", "SparseApply", "ResourceSparseApply")      # how the types of those begin that change rows


def added_up(ops: Sequence[Operation], asked: Container[Tensor | Operation], given: Container[Tensor],
             target: Target) -> set[Operation]:
    """The Uniques of ordered operations whose results are used for nothing else.  `asked`: fetches and targets; `given`: tensors
    that are fed or known, or not what the graph says of them."""
    if not target.has_memory:
        return set()
    return {op for op in ops if op.type == "Unique" and op.inputs[0].dtype.is_integer and len(op.inputs[0]._shape or ()) == 1
            and target.place_of(op) != HOST and _Uses(op).allow(ops, asked, given)}


def are_few(shape: sizes.Shape) -> bool:
    """Whether indices of such a shape are compared with one another, and not left to the host."""
    return sizes.hint_of(shape[0]) <= MOST


def first_of_equals(b: Builder, x: Value, dtype: dtypes.DType) -> list[Value]:
    """(indices, negative where an earlier one is equal; the place of the first equal one of each)."""
    n = x.shape[0]
    equal = prim.eq(b.broadcast(b.reshape(x, (n, 1)), (n, n)), b.broadcast(b.reshape(x, (1, n)), (n, n)))
    first = b.reduce("min", prim.select(equal, b.iota((n, n), 1, dtypes.int32), b.const(LAST, dtypes.int32)), (1,))
    distinct = prim.select(prim.eq(first, b.iota((n,), 0, dtypes.int32)), x, b.const(-1, x.dtype))
    places = b.cast(first, dtype)
    b.firsts[distinct] = x
    b.firsts[places] = places
    return [distinct, places]


class _Uses:
    """What becomes of the results of a Unique: tensors by what they are, "distinct" indices, "places", the "shape" of the former,
    their "count", and "rows", one for each."""

    def __init__(self, op: Operation) -> None:
        self.kinds: dict[Tensor, str] = dict(zip(op.outputs, ("distinct", "places")))
        self.ends = 0

    def allow(self, ops: Iterable[Operation], asked: Container[Tensor | Operation], given: Container[Tensor]) -> bool:
        """Whether that is all that becomes of them."""
        for op in ops:
            kinds = [self.kinds.get(t) for t in op.inputs]
            if any(kinds):
                found = self._made_by(op, kinds)
                if found is None:
                    return False
                self.kinds.update(dict.fromkeys(op.outputs, found) if found else {})
        return self.ends > 0 and not any(t in asked or t in given for t in self.kinds)

    def _made_by(self, op: Operation, kinds: list[str | None]) -> str | None:
        """What the results of an operation are, "" for none that counts; None where it could tell how many there are."""
        first = kinds[0]
        if op.opdef is None:
            return None
        if op.opdef.forwards and len(op.inputs) == 1:
            return first
        if op.type == "Shape" and first == "distinct":
            return "shape"
        if op.type == "StridedSlice" and first == "shape" and not any(kinds[1:]) and op.outputs[0]._shape == ():
            return "count"
        if op.type == "UnsortedSegmentSum":
            return "rows" if kinds == [None, "places", "count"] else None
        if op.type.startswith(UPDATES) and not op.type.startswith(("ScatterNd", "ResourceScatterNd")):
            return self._updated(op, kinds)
        rows = next((t for t, kind in zip(op.inputs, kinds) if kind == "rows"), None)
        if rows is None or not is_each(op) or len(op.outputs) != 1:
            return None
        return "rows" if all(kind == "rows" or kind is None and _is_less(t, rows) for t, kind in zip(op.inputs, kinds)) else None

    def _updated(self, op: Operation, kinds: list[str | None]) -> str | None:
        """Of an operation that changes rows of variables: the place of its indices follows from its signature."""
        assert op.opdef is not None
        names = [arg.name for arg in op.opdef.inputs]
        at = names.index("indices") if "indices" in names else -1
        others = [(t, kind) for k, (t, kind) in enumerate(zip(op.inputs, kinds)) if k != at]
        if at < 0 or kinds[at] != "distinct":
            return None
        # what has a row for each index must be made of the sums
        if not all(is_single(t) if kind is None else kind == "rows" and t.dtype.is_floating for t, kind in others):
            return None
        self.ends += 1
        return ""


def _is_less(tensor: Tensor, rows: Tensor) -> bool:
    """Whether a tensor has not a row for each of these, but one for all, or a number."""
    shape, wide = tensor._shape, rows._shape
    return shape is not None and (not shape or wide is not None and len(shape) < len(wide))
