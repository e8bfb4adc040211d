"""The classes ``tf.linalg.LinearOperator*``: matrices of a structure, in batches, whose products and solutions use it.

What an operator becomes (its inverse, its product with another) is registered by the modules of the classes, so all are loaded.
"""
from __future__ import annotations

from jitgraph.linear_operators import (  # noqa: F401
    block_diagonal,
    circulant,
    composition,
    derived,
    diagonal_products,
    dispatched,
    householder,
    identity,
    kronecker,
    low_rank,
    matrices,
    toeplitz,
    zeros,
)
