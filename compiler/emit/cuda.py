"""emit for CUDA: the same statements as on the CPU, in loops that the threads of a grid share out.

    def map_mul_add(x0, x1, y0, sizes, error):      # buffers, then sizes and strides, then the error flags
        n0 = sizes[0]
        q = block_index() * thread_count() + thread_index()
        ...

Every argument is a pointer to device memory: one per buffer, `sizes` (int64: what `kernel.sizes` lists, by-value scalars
as their bits, exactly as for the CPU) and `error` (one int64, into which the kernel ORs the bits of checks that failed;
the host clears it before a run and looks at it after).  Any grid of one-dimensional blocks computes the right values, as
long as a block has 32, 64, ... MAX_THREADS threads; `launch` and `geometry` say which is good, from sizes alone, so that
the order of every sum, and with it every bit, is the same at each run.

    map      a thread per element, numbered along the last loop, so that neighbours touch neighbouring elements; a thread per
             four, which it loads and stores by 16 bytes, where these always lie together (`takes_fours`); what lies across
             is turned in shared memory (`cuda_tiles`)
    rows     a block per row: threads stride over the reduce loops, folds and shared memory combine what they have; where
             the length of rows is known, see `cuda_rows`
    partial  a block per chunk of the whole reduction
    cols     a block per 32 columns: lanes lie along the columns, warps stride over the reduce loops

All loops are `while` loops: for a `range` with a step, Numba would divide to count the iterations.
"""
from __future__ import annotations

from dataclasses import dataclass

from .. import sizes
from ..kernel import Kernel
from ..sizes import Dim
from . import cuda_rows, cuda_tiles
from .cuda_intrinsics import WARP
from .cuda_nests import MAX_THREADS, CUDAEmitter, takes_fours
from .loops import Text, kernel_name

MAP_THREADS = 256
MAX_BLOCKS = 4096       # more than run at once on any device; a block with more to do strides on
PER_THREAD = 4          # elements that a thread should have before a block gets more warps


KINDS = ("map", "rows", "partial", "cols")


def admits(kernel: Kernel) -> bool:
    """Whether a kernel is one for CUDA: every loop nest is, and what was written by hand for blocks of threads."""
    return kernel.threads > 0 or kernel.kind in KINDS and not kernel.source


@dataclass(frozen=True)
class Launch:
    """The work of a launch: `blocks` that have some, `width` elements that the threads of one block share out."""

    blocks: Dim
    width: Dim


def launch(kernel: Kernel) -> Launch:
    """How much work a kernel has, as numbers that may depend on sizes; `geometry` makes a grid of them."""
    if kernel.threads:
        return Launch(kernel.items, kernel.threads * PER_THREAD)
    outer, reduced = (sizes.product(loop.size for loop in kernel.loops if loop.role == role)
                      for role in ("outer", "reduce"))
    if kernel.kind == "map":
        outer = outer // 4 if takes_fours(kernel) else outer
        return Launch((outer + MAP_THREADS - 1) // MAP_THREADS, MAP_THREADS * PER_THREAD)
    if kernel.kind == "partial":
        return Launch(kernel.parts, (reduced + kernel.parts - 1) // kernel.parts)
    if kernel.kind == "cols":
        rows = (reduced + kernel.parts - 1) // kernel.parts if kernel.parts else reduced
        return Launch(outer * ((kernel.loops[-1].size + WARP - 1) // WARP), rows * WARP)
    return Launch(outer, reduced)


def most_threads(kernel: Kernel) -> int:
    """The most threads that a block of a kernel has."""
    return kernel.threads or (MAP_THREADS if kernel.kind == "map" else MAX_THREADS)


def geometry(blocks: int, width: int) -> tuple[int, int]:
    """(blocks, threads per block) to launch, at least one of each."""
    threads = WARP
    while threads < MAX_THREADS and threads * PER_THREAD < width:
        threads *= 2
    return max(1, min(blocks, MAX_BLOCKS)), threads


def emit(kernel: Kernel) -> Kernel:
    """Fills in the kernel's name, source and size arguments."""
    kernel.threads = 0
    writer = cuda_rows.emitter(kernel) or cuda_tiles.emitter(kernel) or CUDAEmitter(kernel)
    writer.write()
    kernel.name = kernel_name(kernel)
    params = ", ".join([p.name for p in kernel.params] + ["sizes", "error"])
    text = Text(0)
    with text.block(f"def {kernel.name}({params}):"):
        if writer.may_fail:
            text.line("err = 0")
        for part in (writer.arguments, writer.head, writer.text):
            text.add(part)
        if writer.may_fail:
            with text.block("if err != 0:"):
                text.line("report(error, err)")
    writer.finish(text)
    return kernel


