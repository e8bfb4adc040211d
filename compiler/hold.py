"""hold: reads that come with a variable go before the write that may give the variable another buffer.

``v/read`` is a name for the buffer that the variable has when the run begins.  A write of as many elements goes into that
buffer, and whoever uses the read later sees it there, in the shape of before; a write of more or fewer elements makes another
buffer, and whoever uses the read later still sees the old one.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from .open_variables import reshaped_by
from .order import is_transparent, is_variable, variable_of

if TYPE_CHECKING:
    from .program import Program


def hold(program: Program) -> None:
    """Reads that come with a variable go before the write that may give the variable another buffer."""
    replaced = {variable for op in program.ops for variable in reshaped_by(op)}
    if not replaced:
        return
    reads = [op for op in program.ops if is_transparent(op) and variable_of(op.outputs[0]) in replaced and not op.control_inputs]
    first = [op for op in program.ops if is_variable(op)] + reads
    moved = set(first)
    program.ops = first + [op for op in program.ops if op not in moved]
    program.outliving = [op.outputs[0] for op in reads if op.outputs[0] not in program.feeds]
