"""How views index: through which dimensions a value sees its source, and with which strides."""
from __future__ import annotations

from . import sizes
from .ir import VIEWS, Value


def is_one(d) -> bool:
    """Whether a dimension of a shape is 1: those that are no numbers never are (see `sizes`)."""
    return not isinstance(d, sizes.Size) and d == 1


def unit_reshape(source: tuple, shape: tuple):
    """For a reshape that only adds or drops dimensions of size 1: the dimension of `shape` that each dimension of
    `source` becomes (-1 for those of size 1).  None for any other reshape."""
    kept = [i for i, d in enumerate(shape) if not is_one(d)]
    mine = [i for i, d in enumerate(source) if not is_one(d)]
    if len(kept) != len(mine) or not all(sizes.same(source[a], shape[b]) for a, b in zip(mine, kept)):
        return None
    dims = [-1] * len(source)
    for a, b in zip(mine, kept):
        dims[a] = b
    return dims


def trace(value: Value):
    """Through the views that only rename dimensions: (source, dims), where dims[k] is the dimension of `value` along
    which dimension k of the source runs, -1 where it has size 1."""
    dims = [-1 if is_one(d) else k for k, d in enumerate(value.shape)]
    while value.node.kind in VIEWS:
        node = value.node
        source = node.inputs[0]
        if node.kind == "transpose":
            inner = [-1] * source.rank
            for i, p in enumerate(node.attrs["perm"]):
                inner[p] = dims[i]
        elif node.kind == "broadcast":
            shift = value.rank - source.rank
            inner = [-1 if is_one(d) else dims[k + shift] for k, d in enumerate(source.shape)]
        elif node.kind == "reshape":
            renamed = unit_reshape(source.shape, value.shape)
            if renamed is None:
                break
            inner = [-1 if r < 0 else dims[r] for r in renamed]
        else:
            break
        value, dims = source, inner
    return value, dims


def contiguous(shape) -> list:
    """Row-major strides, in elements."""
    strides: list = [1] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * shape[k + 1]
    return strides


def resolve(value: Value):
    """The buffer behind a value and how it is indexed: (base value, strides per dimension, offset), in elements.

    A reshape of something that is not contiguous has no such answer: `None` (the lowering puts a copy there).
    """
    node = value.node
    if node.kind == "iota":     # its "buffer" is the index itself
        return value, [int(k == node.attrs["axis"]) for k in range(value.rank)], 0
    if node.kind not in VIEWS:
        return value, contiguous(value.shape), 0
    found = resolve(node.inputs[0])
    if found is None:
        return None
    base, strides, offset = found
    source = node.inputs[0]
    if node.kind == "transpose":
        return base, [strides[p] for p in node.attrs["perm"]], offset
    if node.kind == "broadcast":
        shift = value.rank - source.rank
        return base, [0 if k < shift or (is_one(source.shape[k - shift]) and not is_one(d)) else strides[k - shift]
                      for k, d in enumerate(value.shape)], offset
    if node.kind == "slice":
        for b, s in zip(node.attrs["begin"], strides):
            offset = offset + b * s
        return base, [s * t for s, t in zip(strides, node.attrs["strides"])], offset
    renamed = unit_reshape(source.shape, value.shape)
    if renamed is not None:
        out: list = [0] * value.rank
        for k, r in enumerate(renamed):
            if r >= 0:
                out[r] = strides[k]
        return base, out, offset
    if is_contiguous(source.shape, strides):
        return base, contiguous(value.shape), offset
    return None


def is_contiguous(shape, strides) -> bool:
    return all(is_one(d) or sizes.same(s, c) for d, s, c in zip(shape, strides, contiguous(shape)))
