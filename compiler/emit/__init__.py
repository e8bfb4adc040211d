"""Kernel IR -> source text, per target: `cpu` (Numba), `cuda` (Numba-CUDA); `contract` writes matrix products."""
from __future__ import annotations

from ..kernel import Kernel
from . import cpu


def emit(program):
    """Writes the source of every kernel that is still only a loop nest."""
    for step in program.layout.steps:
        kernel = step[0] if isinstance(step, tuple) else None
        if isinstance(kernel, Kernel) and not kernel.source:
            cpu.emit(kernel, program.options)
