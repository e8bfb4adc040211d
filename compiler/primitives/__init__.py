"""The primitives: what each kind is, in one place.

A declaration is a class in the file of its family.  Passes ask it (`node.kind.is_view`, `node.kind.may_fail(node)`); those that
are about one kind name it (`node.kind is MATMUL`).  A new one needs nothing elsewhere but a method of `builder.Builder`, if
several ops make it.
"""
from . import (
    assembly,
    convolutions,
    elementwise,
    factors,
    host,
    library_convolutions,
    memory,
    products,
    random,
    rearrangements,
    reductions,
    rows,
    sequences,
    windows,
)
from .kind import KINDS, Fused, Kind, View

__all__ = ["KINDS", "Fused", "Kind", "View", "assembly", "convolutions", "elementwise", "factors", "host", "library_convolutions",
           "memory", "products", "random", "rearrangements", "reductions", "rows", "sequences", "windows"]
