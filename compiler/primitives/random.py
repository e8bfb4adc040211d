"""Random numbers, by Philox (Salmon et al., 2011)."""
from __future__ import annotations

from ..emit import philox
from .kind import Kind


class Uniform(Kind):
    """Numbers in [0, 1).  Input: seeds and position."""

    name = "uniform"
    is_unique = True
    kernels = {"cpu": philox.emit_uniform}


class Normal(Kind):
    """Numbers of the standard normal distribution.  Inputs: seeds and position, constants."""

    name = "normal"
    is_unique = True
    kernels = {"cpu": philox.emit_normal}


UNIFORM, NORMAL = Uniform(), Normal()
