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
             four, or eight of 16 bits, which it loads and stores by 16 bytes, where these always lie together (`neighbours`);
             what lies across is turned in shared memory (`cuda_tiles`)
    rows     a block per row: threads stride over the reduce loops, folds and shared memory combine what they have; where
             the length of rows is known, see `cuda_rows`
    partial  a block per chunk of the whole reduction
    cols     a block per 32 columns or more, of parts of the rows: see `cuda_columns`

A launch may do the work of several kernels of one text, as many blocks one after the other as each of them has (`batch`).  It
finds out from a table whose block it is; there stand the addresses of that kernel's buffers, and its sizes:

    def batch_map_mul_add(table, error):
        entry = table[block_index()]
        block, blocks = block_index() - table[entry], table[entry + 1]
        x0, y0 = pointer_f32(table, entry + 2), pointer_f32(table, entry + 3)
        sizes = onwards(table, entry + 4)
        ...

All loops are `while` loops: for a `range` with a step, Numba would divide to count the iterations.
"""
from __future__ import annotations

from dataclasses import dataclass

from jitgraph.declare.prim import ELEMENTARY

from .. import sizes
from ..kernel import WIDTH, Kernel, memory_code
from ..sizes import Dim
from . import cuda_columns, cuda_rows, cuda_tiles
from .cuda_intrinsics import WARP
from .cuda_nests import MAX_THREADS, CUDAEmitter, neighbours
from .kernel_text import kernel_name
from .loops import Text

MAP_THREADS = 256
MOST_RESIDENT = 16      # blocks that a multiprocessor has at once on every device
MAX_BLOCKS = 4096       # more than run at once on any device; a block with more to do strides on
PER_THREAD = 4          # elements that a thread should have before a block gets more warps


KINDS = ("map", "rows", "partial", "cols")
BATCH_PARAMS = ("table", "error")
ENTRY = 2               # words of a table's entry before the addresses: its first block, and how many it has


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
        outer = outer // neighbours(kernel)
        return Launch((outer + MAP_THREADS - 1) // MAP_THREADS, MAP_THREADS * PER_THREAD)
    if kernel.kind == "partial":
        return Launch(kernel.parts, (reduced + kernel.parts - 1) // kernel.parts)
    return Launch(outer, reduced)


def launch_bounds(kernel: Kernel) -> tuple[int, int]:
    """(the most threads that a block of a kernel has, how many blocks a multiprocessor must have room for): threads that mostly
    wait for memory get fewer registers, so that more of them wait."""
    threads = kernel.threads or (MAP_THREADS if kernel.kind == "map" else MAX_THREADS)
    needs_many = any(s.prim in ELEMENTARY for s in kernel.body) or any(p.use == "in" and WIDTH[p.dtype] > 4 for p in kernel.params)
    waits = kernel.kind == "cols" and not needs_many
    resident = MAX_THREADS * 3 // 2 if waits else MAX_THREADS
    return threads, max(1, min(resident // threads, MOST_RESIDENT))


def geometry(blocks: int, width: int, most: int = MAX_THREADS) -> tuple[int, int]:
    """(blocks, threads per block) to launch, at least one of each; `most`: as `launch_bounds` has it."""
    threads = WARP
    while threads < most and threads * PER_THREAD < width:
        threads *= 2
    return max(1, min(blocks, MAX_BLOCKS)), threads


def emit(kernel: Kernel) -> Kernel:
    """Fills in the kernel's name, source and size arguments."""
    writer = _writer(kernel)
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


def _writer(kernel: Kernel) -> CUDAEmitter:
    kernel.threads = 0
    return next(filter(None, (room.emitter(kernel) for room in (cuda_rows, cuda_tiles, cuda_columns))), None) or CUDAEmitter(kernel)


def is_nest(kernel: Kernel) -> bool:
    """Whether a kernel's text was made from a loop nest."""
    return bool(kernel.loops)


def emit_batch(kernels: list[Kernel]) -> Kernel:
    """One kernel for the work of several loop nests of one text: its buffers, nodes and sizes are those of all of them."""
    first = kernels[0]
    writer = _writer(first)
    writer.block, writer.blocks = "block", "blocks"
    writer.write()
    found = Kernel(first.kind, first.loops, [p for k in kernels for p in k.params], first.body, [],
                   [b for k in kernels for b in k.buffers], [n for k in kernels for n in k.nodes], first.parts, list(kernels),
                   f"batch_{first.name}", threads=first.threads)
    text = Text(0)
    with text.block(f"def {found.name}({', '.join(BATCH_PARAMS)}):"):
        text.line("entry = table[block_index()]")
        text.line("block = block_index() - table[entry]")
        text.line("blocks = table[entry + 1]")
        for k, param in enumerate(first.params):
            text.line(f"{param.name} = pointer_{memory_code(param.dtype)}(table, entry + {ENTRY + k})")
        text.line(f"sizes = onwards(table, entry + {ENTRY + len(first.params)})")
        if writer.may_fail:         # the text looks at what, of these kernels, is known to be all right: there is nothing to report
            text.line("err = 0")
        for part in (writer.arguments, writer.head, writer.text):
            text.add(part)
    found.source, found.origins = "\n".join(text.lines) + "\n", text.origins
    found.sizes = [size for k in kernels for size in k.sizes]
    return found


