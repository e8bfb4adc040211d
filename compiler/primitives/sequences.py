"""What goes along a row in order: running sums, the largest elements."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..emit import cuda_sequences, cuda_sorting, sequential
from ..ir import Node, alike
from .kind import Kind
from .products import rounded_once


class Scan(Kind):
    """Running sums or products along one axis."""

    name = "scan"
    attributes = {"op": "add or mul", "axis": "along which", "exclusive": "whether each is without its own element",
                  "reverse": "whether from the last element on"}
    reads_halves, reads_complex = ("cuda",), True
    kernels = {"cpu": sequential.emit_scan, "cuda": cuda_sequences.emit_scan}

    def violation(self, node: Node) -> str | None:
        return None if alike(node.inputs[0].shape, node.out.shape) else "it has another shape than its input"

    @rounded_once
    def meaning(self, node: Node, x: np.ndarray) -> Any:
        axis, add = node.attrs["axis"], node.attrs["op"] == "add"
        found = np.moveaxis(x[...], axis, 0)[::-1 if node.attrs["reverse"] else 1]
        found = (np.cumsum if add else np.cumprod)(found, 0, dtype=x.dtype)
        if node.attrs["exclusive"]:
            found = np.concatenate([np.full_like(found[:1], 0 if add else 1), found[:-1]])
        return np.moveaxis(found[::-1 if node.attrs["reverse"] else 1], 0, axis)


class TopK(Kind):
    """The k largest of each row, falling, and their places; NaN is less than all numbers."""

    name = "top_k"
    attributes = {"k": "how many"}
    kernels = {"cpu": sequential.emit_top_k, "cuda": cuda_sorting.emit_top_k}

    def violation(self, node: Node) -> str | None:
        values, places = node.outputs
        return None if alike(values.shape, places.shape) else "its places are not those of its values"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        key = np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x
        first = np.flip(np.argsort(np.flip(key, -1), axis=-1, kind="stable"), -1)       # of equal ones the first
        places = (x.shape[-1] - 1 - first)[..., :node.attrs["k"]]
        return np.take_along_axis(x, places, -1), places.astype(np.int32)


SCAN, TOP_K = Scan(), TopK()
