"""How views index: through which dimensions a value sees its source, and with which strides."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import sizes
from .ir import Value

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation


def unit_reshape(source: sizes.Shape, shape: sizes.Shape) -> list[int] | None:
    """For a reshape that only adds or drops dimensions of size 1: the dimension of `shape` that each dimension of
    `source` becomes (-1 for those of size 1).  None for any other reshape."""
    kept = [i for i, d in enumerate(shape) if not sizes.is_one(d)]
    mine = [i for i, d in enumerate(source) if not sizes.is_one(d)]
    if len(kept) != len(mine) or not all(sizes.same(source[a], shape[b]) for a, b in zip(mine, kept)):
        return None
    dims = [-1] * len(source)
    for a, b in zip(mine, kept):
        dims[a] = b
    return dims


def trace(value: Value) -> tuple[Value, list[int]]:
    """Through the views that only rename dimensions: (source, dims), where dims[k] is the dimension of `value` along
    which dimension k of the source runs, -1 where it has size 1."""
    dims = list(value.axes)
    while value.node.kind.is_view:
        inner = value.node.kind.renamed(value, dims)
        if inner is None:
            break
        value, dims = value.node.inputs[0], inner
    return value, dims


def contiguous(shape: Sequence[sizes.Dim]) -> list[sizes.Dim]:
    """Row-major strides, in elements."""
    strides: list[sizes.Dim] = [1] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    return strides


def resolve(value: Value) -> Any:
    """The buffer behind a value and how it is indexed: (base value, strides per dimension, offset), in elements.

    A reshape of something that is not contiguous has no such answer: `None`.  `simplify` puts a copy there, so that passes after
    it need not look.
    """
    node = value.node
    if node.kind.is_index:
        return value, [int(k == node.attrs["axis"]) for k in range(value.rank)], 0
    if not node.kind.is_view:
        return value, contiguous(value.shape), 0
    found = resolve(node.inputs[0])
    if found is None:
        return None
    base, strides, offset = found
    indexed = node.kind.indexed(value, strides, offset)
    return None if indexed is None else (base, *indexed)


def is_contiguous(shape: Sequence[sizes.Dim], strides: Sequence[sizes.Dim]) -> bool:
    return all(sizes.is_one(d) or sizes.same(s, c) for d, s, c in zip(shape, strides, contiguous(shape)))


def is_plain(value: Value) -> bool:
    """Whether a value's elements lie one after the other from the start of a buffer."""
    base, strides, offset = resolve(value)
    return not base.node.kind.is_index and is_contiguous(value.shape, strides) and sizes.same(offset, 0)


def is_rearranged(value: Value, variable: Operation) -> bool:
    """Whether a value is another view of that variable than the whole of it (reversed, transposed ...)."""
    base, strides, offset = resolve(value)
    return base.node.kind.is_state and base.node.attrs["variable"] is variable and not (
        is_contiguous(value.shape, strides) and sizes.same(offset, 0))


def matrix_view(value: Value) -> tuple[Value, sizes.Dim, sizes.Dim, sizes.Dim, bool] | None:
    """(base, offset, batch stride, row stride, transposed) of a matrix (or batch of them), as a routine for matrix products takes
    it, or None."""
    base, strides, offset = resolve(value)
    if base.node.kind.is_index:
        return None
    rows, columns = strides[-2:]
    m, n = value.shape[-2:]
    batch = sizes.product(value.shape[:-2])
    stride = 0
    if not sizes.same(batch, 1):
        dims = [(d, s) for d, s in zip(value.shape[:-2], strides[:-2]) if not sizes.same(d, 1)]
        for (_, s), (d2, s2) in zip(dims, dims[1:]):
            if not sizes.same(s, s2 * d2):
                return None
        stride = dims[-1][1]
    if sizes.same(columns, 1) or sizes.same(n, 1):
        if sizes.hint_of(rows) >= sizes.hint_of(n) or sizes.same(m, 1):
            return base, offset, stride, rows if not sizes.same(m, 1) else n, False
    if sizes.same(rows, 1) and sizes.hint_of(columns) >= sizes.hint_of(m):
        return base, offset, stride, columns, True
    return None
