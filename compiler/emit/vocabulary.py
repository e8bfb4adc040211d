"""The instructions that a kernel's text may name."""
from __future__ import annotations

from . import product_code, tile, winograd_code
from .intrinsics import namespace, scratch_arrays


def names_in(source: str) -> dict:
    """{name: instruction} for what `source` may name."""
    found = {**namespace(), **scratch_arrays(source)}
    for part in (tile, product_code, winograd_code):
        found.update(part.named_in(source))
    return found
