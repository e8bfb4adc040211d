"""What the reference would take for a run, by what stands in the graph.

The first run of a plan is the reference's, so that its results are soon there while kernels are compiled behind it.  Where the
reference would keep the program waiting longer than that, the second run would wait once more: then the first waits for the
kernels itself.  Nothing is timed: the same graph gets the same tier, and by that the same bits, on every machine and with any
store.
"""
from __future__ import annotations

from collections.abc import Sequence

from jitgraph.graph.calls import bodies
from jitgraph.graph.function_graph import LOOPS
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

PATIENCE = 1.0              # seconds that a first run may take
BYTES_PER_SECOND = 5e8      # of results, which NumPy writes to fresh memory, mostly from several temporaries
FLOPS_PER_SECOND = 3e10
ITERATIONS = 16             # of a loop, as far as its graph tells
# numbers that NumPy draws in a second; kernels draw ten times as many and more
DRAWN_PER_SECOND = {"RandomUniform": 3e7, "RandomStandardNormal": 2e7, "TruncatedNormal": 1e7}


def compiles_first(ops: Sequence[Operation], batch: int) -> bool:
    """Whether the first run of these operations waits for their kernels, with `batch` for sizes that are not known."""
    moved, flops = _work(ops, batch)
    return moved / BYTES_PER_SECOND + flops / FLOPS_PER_SECOND > PATIENCE


def draws_first(ops: Sequence[Operation]) -> bool:
    """Whether an initialiser, which the reference runs, draws so many random numbers that it waits for their kernels."""
    return sum(_elements(op.outputs[0], 1) / DRAWN_PER_SECOND[op.type] for op in ops if op.type in DRAWN_PER_SECOND) > PATIENCE


def _elements(tensor: Tensor, batch: int) -> float:
    """How many elements a tensor has, none if its rank is not known, with `batch` for sizes that are not."""
    size = 0.0 if tensor._shape is None else 1.0
    for d in tensor._shape or ():
        size *= batch if d is None else d
    return size


def _work(ops: Sequence[Operation], batch: int) -> tuple[float, float]:
    """(bytes of results, arithmetic of products and convolutions) of what kernels can do."""
    moved = flops = 0.0
    for op in ops:
        opdef = op.opdef
        if opdef is not None and opdef.calls:
            times = ITERATIONS if op.type in LOOPS else 1
            for function in bodies(op):
                inside = _work(function.get_operations(), batch)
                moved, flops = moved + times * inside[0], flops + times * inside[1]
            continue
        if opdef is None or opdef.forwards or opdef.lower is None and opdef.scalar is None:
            continue            # takes the same time in both
        moved += 4 * sum(_elements(tensor, batch) for tensor in op.outputs)
        if opdef.flops is not None:
            flops += opdef.flops(op, batch)
    return moved, flops
