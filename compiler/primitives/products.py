"""Matrix products."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import sizes
from ..emit import contract, cuda_library, cuda_products, products
from ..ir import Node
from ..kernel import HALVES, Kernel
from ..sizes import Dim
from ..views import matrix_view
from .kind import Kind

if TYPE_CHECKING:
    from ..options import Options
    from ..targets import Target


def wide(a: np.ndarray) -> np.ndarray:
    """Factors as they are multiplied: floats of 16 bits as float32."""
    return a.astype(np.float32) if a.dtype.itemsize == 2 else a


def rounded_once(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """What a primitive means, of floats of 16 bits computed in float32 and rounded at the end."""
    @functools.wraps(meaning)
    def rounded(self: Any, node: Node, *arrays: np.ndarray) -> Any:
        if node.out.dtype.name in HALVES:
            return meaning(self, node, *map(wide, arrays)).astype(arrays[-1].dtype)
        return meaning(self, node, *arrays)

    return rounded


class Matmul(Kind):
    """A product of matrices, or of batches of them."""

    name = "matmul"
    attributes = {"ta": "whether the first factor is transposed", "tb": "and the second"}
    is_stored = True
    reads_halves = ("cuda",)
    kernels = {"cpu": contract.emit, "cuda": cuda_products.emit}
    epilogues = {"cuda": cuda_products.emit}

    def kernel(self, node: Node, target: str, options: Options) -> Kernel | None:
        if target == "cpu" and options.uses("product_tiles") and products.suits(node):
            return products.emit(node)
        found = super().kernel(node, target, options)
        if found is not None and target == "cuda" and options.uses("library_products"):
            found.library = cuda_library.product(node, found, None, options)
        return found

    def joined(self, node: Node, after: Kernel, target: Target, options: Options) -> Kernel | None:
        """What the library cannot do after a product is a kernel of its own, where the product has terms enough."""
        found = super().joined(node, after, target, options)
        if found is not None and options.uses("library_products"):
            found.library = cuda_library.product(node, found, after, options)
            if found.library is None and sizes.hint_of(self.terms(node)) >= target.tuning.library_terms:
                return None
        return found

    def accepts(self, node: Node, index: int) -> bool:
        return matrix_view(node.inputs[index]) is not None

    def operations(self, node: Node) -> Dim:
        return 2 * sizes.product(node.out.shape) * self.terms(node)

    def terms(self, node: Node) -> Dim:
        return node.inputs[0].shape[-2 if node.attrs["ta"] else -1]

    def violation(self, node: Node) -> str | None:
        x, y = node.inputs
        inner = x.shape[-2 if node.attrs["ta"] else -1], y.shape[-1 if node.attrs["tb"] else -2]
        fits = sizes.hint_of(inner[0]) == sizes.hint_of(inner[1])
        return None if fits else "the rows of one factor are not as long as the columns of the other"

    def meaning(self, node: Node, x: np.ndarray, y: np.ndarray) -> Any:
        x, y = wide(x), wide(y)
        x = np.swapaxes(x, -1, -2) if node.attrs["ta"] else x
        return np.matmul(x, np.swapaxes(y, -1, -2) if node.attrs["tb"] else y)


MATMUL = Matmul()
