"""Triangular matrices, on devices: elsewhere LAPACK has them."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import sizes
from ..emit import cuda_factors
from ..ir import Node, alike
from ..sizes import Dim
from .kind import Kind


class Cholesky(Kind):
    """The lower triangular factors of symmetric positive definite matrices, of which the lower triangle is read."""

    name = "cholesky"
    kernels = {"cuda": cuda_factors.emit_cholesky}

    def may_fail(self, node: Node) -> bool:
        return True

    def operations(self, node: Node) -> Dim:
        return sizes.product(node.out.shape) * node.out.shape[-1] // 3

    def violation(self, node: Node) -> str | None:
        return None if alike(node.inputs[0].shape, node.out.shape) else "it has another shape than its input"

    def meaning(self, node: Node, x: np.ndarray) -> Any:
        return np.linalg.cholesky(x)


class TriangularSolve(Kind):
    """The solutions of systems of triangular matrices, of which the other triangle is not read."""

    name = "triangular_solve"
    attributes = {"lower": "whether the lower triangle is read", "adjoint": "whether the matrix is transposed"}
    kernels = {"cuda": cuda_factors.emit_solve}

    def may_fail(self, node: Node) -> bool:
        return True

    def operations(self, node: Node) -> Dim:
        return sizes.product(node.out.shape) * node.out.shape[-2]

    def violation(self, node: Node) -> str | None:
        return None if alike(node.inputs[1].shape, node.out.shape) else "it has another shape than its right side"

    def meaning(self, node: Node, a: np.ndarray, b: np.ndarray) -> Any:
        a = np.tril(a) if node.attrs["lower"] else np.triu(a)
        return np.linalg.solve(np.swapaxes(a, -1, -2) if node.attrs["adjoint"] else a, b)


CHOLESKY, TRIANGULAR_SOLVE = Cholesky(), TriangularSolve()
