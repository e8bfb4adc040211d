"""Primitives that have no kernel, executed by NumPy: scatter, scan, products of other types than BLAS knows."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jitgraph.graph.errors import InvalidArgumentError


def call(node, arrays, shape) -> tuple:
    """The output of one lowered node, which has this shape."""
    return (FUNCTIONS[node.kind](node, shape, *arrays),)


def _host(node, shape, *arrays):
    return node.attrs["function"](*arrays)


def _scatter(node, shape, indices, updates):
    out = np.zeros(shape, updates.dtype)
    bad = (indices < 0) | (indices >= shape[0])
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidArgumentError(None, node.op, f"indices{list(where)} = {indices[where]} is not in [0, {shape[0]})")
    np.add.at(out, indices.reshape(-1), updates.reshape((-1, *shape[1:])))
    return out


def _scan(node, shape, x):
    axis, exclusive = node.attrs["axis"], node.attrs["exclusive"]
    function = {"add": np.cumsum, "mul": np.cumprod}[node.attrs["op"]]
    x = np.flip(x, axis) if node.attrs["reverse"] else x
    out = function(x, axis=axis, dtype=x.dtype)
    if exclusive:
        first = np.full_like(np.take(out, [0], axis), 0 if node.attrs["op"] == "add" else 1) if out.size else out
        out = np.concatenate([first, np.delete(out, -1, axis)], axis) if out.size else out
    return np.flip(out, axis) if node.attrs["reverse"] else out


FUNCTIONS: dict[str, Callable] = {"host": _host, "scatter": _scatter, "scan": _scan}
