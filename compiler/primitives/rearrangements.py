"""Views: no computation, only another way to index."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import sizes
from ..ir import Node, Value, alike
from ..sizes import Dim
from ..views import contiguous, is_contiguous, resolve, unit_reshape
from .kind import View


class Reshape(View):
    """The same elements in another shape."""

    name = "reshape"

    def accepts(self, node: Node, index: int) -> bool:
        value = node.inputs[0]
        if unit_reshape(value.shape, node.out.shape) is not None:
            return True
        found = resolve(value)
        return found is not None and is_contiguous(value.shape, found[1]) and not found[0].node.kind.is_index

    def renamed(self, value: Value, dims: list[int]) -> list[int] | None:
        found = unit_reshape(value.node.inputs[0].shape, value.shape)
        return None if found is None else [-1 if r < 0 else dims[r] for r in found]

    def indexed(self, value: Value, strides: list[Dim], offset: Dim) -> tuple[list[Dim], Dim] | None:
        source = value.node.inputs[0]
        found = unit_reshape(source.shape, value.shape)
        if found is not None:
            out: list[Dim] = [0] * value.rank
            for k, r in enumerate(found):
                if r >= 0:
                    out[r] = strides[k]
            return out, offset
        return (contiguous(value.shape), offset) if is_contiguous(source.shape, strides) else None

    def violation(self, node: Node) -> str | None:
        same = sizes.count(node.inputs[0].shape) == sizes.count(node.out.shape)
        return None if same else "it has another number of elements than its input"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return x.reshape(node.out.shape)


class Transpose(View):
    """The dimensions in another order: dimension k is dimension perm[k] of the input."""

    name = "transpose"
    attributes = {"perm": "the order"}

    def renamed(self, value: Value, dims: list[int]) -> list[int] | None:
        inner = [-1] * len(dims)
        for k, p in enumerate(value.node.attrs["perm"]):
            inner[p] = dims[k]
        return inner

    def indexed(self, value: Value, strides: list[Dim], offset: Dim) -> tuple[list[Dim], Dim] | None:
        return [strides[p] for p in value.node.attrs["perm"]], offset

    def violation(self, node: Node) -> str | None:
        perm, shape = node.attrs["perm"], node.inputs[0].shape
        fits = sorted(perm) == list(range(len(shape))) and alike([shape[p] for p in perm], node.out.shape)
        return None if fits else "its dimensions are not those of its input"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return x.transpose(node.attrs["perm"])


class Broadcast(View):
    """Repeated along dimensions of size 1, and along new ones before the first."""

    name = "broadcast"

    def renamed(self, value: Value, dims: list[int]) -> list[int] | None:
        source = value.node.inputs[0]
        shift = value.rank - source.rank
        return [-1 if k < 0 else dims[k + shift] for k in source.axes]

    def indexed(self, value: Value, strides: list[Dim], offset: Dim) -> tuple[list[Dim], Dim] | None:
        source = value.node.inputs[0]
        shift = value.rank - source.rank
        return [0 if k < shift or (sizes.is_one(source.shape[k - shift]) and not sizes.is_one(d)) else strides[k - shift]
                for k, d in enumerate(value.shape)], offset

    def violation(self, node: Node) -> str | None:
        source = node.inputs[0].shape
        kept = node.out.shape[len(node.out.shape) - len(source):]
        fits = len(kept) == len(source) and all(sizes.is_one(a) or alike([a], [b]) for a, b in zip(source, kept))
        return None if fits else "its input cannot be repeated to its shape"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return np.broadcast_to(x, node.out.shape)


class Slice(View):
    """x[begin : begin + size * stride : stride] on every axis; strides may be negative."""

    name = "slice"
    attributes = {"begin": "of every axis", "strides": "of every axis"}

    def indexed(self, value: Value, strides: list[Dim], offset: Dim) -> tuple[list[Dim], Dim] | None:
        for b, s in zip(value.node.attrs["begin"], strides):
            offset = offset + b * s
        return [s * t for s, t in zip(strides, value.node.attrs["strides"])], offset

    def violation(self, node: Node) -> str | None:
        ranks = {len(node.attrs["begin"]), len(node.attrs["strides"]), node.inputs[0].rank, node.out.rank}
        return None if len(ranks) == 1 else "it does not say of every axis what is taken"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        places = [b + t * np.arange(size) for b, t, size in zip(node.attrs["begin"], node.attrs["strides"], node.out.shape)]
        return x[np.ix_(*places)]


RESHAPE, TRANSPOSE, BROADCAST, SLICE = Reshape(), Transpose(), Broadcast(), Slice()
