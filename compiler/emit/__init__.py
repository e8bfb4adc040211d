"""emit: kernel IR -> source text, for each target: `cpu` (which `translate` turns into LLVM instructions), `cuda` (Numba-CUDA).

Kernels that are no loop nests are written by hand: `products` (matrix products; `contract` hands small ones to BLAS),
`convolve`, `windows`, `sequential`, `philox`.  Where LLVM does not find the instructions in a text, the text names
intrinsics that are written one by one: `tile` (registers full of sums), `blocks`, `turn`, `product_code`, with the
vocabulary of `words` and `outline`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernel import Kernel
from . import cpu

if TYPE_CHECKING:
    from ..program import Program


def emit(program: Program) -> None:
    """Writes the source of every kernel that is still only a loop nest, for the target that it runs on."""
    for step in program.layout.steps:
        if isinstance(step, tuple):
            kernel = step[0]
            if isinstance(kernel, Kernel) and not kernel.source:
                cpu.emit(kernel, program.options)
        elif getattr(step, "target", None) is not None and not step.kernel.source:
            step.target.emit(step.kernel, program.options)
