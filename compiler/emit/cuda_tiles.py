"""Maps for CUDA that turn what they read: neighbours in the result lie far apart in a buffer, and the other way round.

    v0_tile = shared_f32(1056)
    ...
    for step in range(4):                   # lanes along the buffer's neighbours
        i0 = first0 + lane
        i1 = first1 + warp + step * 8
        if (i0 < n0) & (i1 < n1):
            v0_tile[(warp + step * 8) * 33 + lane] = x0[i1 * n0 + i0]
    barrier()
    for step in range(4):                   # lanes along the result's
        i1 = first1 + lane
        i0 = first0 + warp + step * 8
        if (i0 < n0) & (i1 < n1):
            v0 = v0_tile[lane * 33 + warp + step * 8]

A block has one square tile after the other.  The rows of a tile are an element longer than it has columns, so that the lanes
of a warp find different banks of shared memory along both.
"""
from __future__ import annotations

from collections.abc import Callable

from .. import sizes
from ..kernel import Kernel, Statement, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_nests import CUDAEmitter

THREADS = 256
STEPS = WARP * WARP // THREADS          # elements of a tile that a thread has
PITCH = WARP + 1
LEAST = 16              # rows and columns from which a tile has enough to do
MOST = 4                # tiles at once: of eight bytes each they take 33 KiB


def emitter(kernel: Kernel) -> TileEmitter | None:
    """What writes a map that turns some of its buffers by tiles, none of which it changes, as other threads would have changed some
    of a tile when a thread takes the rest; None for any other kernel."""
    if kernel.kind != "map" or len(kernel.loops) < 2:
        return None
    last = len(kernel.loops) - 1
    turned = {along for s in kernel.body if (along := _turned(s, last)) is not None}
    if any(_turned(s, last) is not None and kernel.params[s.access.param].use != "in" for s in kernel.body if s.access is not None):
        return None
    if len(turned) != 1 or any(sizes.hint_of(kernel.loops[k].size) < LEAST for k in (*turned, last)):
        return None
    made = TileEmitter(kernel, *turned)
    return made if 0 < len(made.tiles) <= MOST else None


def _turned(s: Statement, last: int) -> int | None:
    """The loop along which the neighbours of a load lie, where that is not the last and the last runs past others."""
    if s.kind != "load" or s.access is None or sizes.hint_of(s.access.strides[last]) in (0, 1):
        return None
    return next((k for k, stride in enumerate(s.access.strides) if sizes.same(stride, 1)), None)


class TileEmitter(CUDAEmitter):
    def __init__(self, kernel: Kernel, down: int):
        super().__init__(kernel)
        self.down, self.across = down, len(kernel.loops) - 1        # loops along the sides of a tile
        self.tiles = [s for s in kernel.body if _turned(s, self.across) == down]
        self.others = [k for k in self._loops("outer") if k not in (self.down, self.across)]
        kernel.threads = THREADS
        kernel.items = sizes.product([*(kernel.loops[k].size for k in self.others),
                                      *((kernel.loops[k].size + WARP - 1) // WARP for k in (self.down, self.across))])

    def _map(self) -> None:
        down, across = self.down, self.across
        limits = self.extent(down), self.extent(across)
        for line in ("thread = thread_index()", f"lane = thread & {WARP - 1}", f"warp = thread >> {WARP.bit_length() - 1}",
                     f"tiles{down} = quotient({limits[0]} + {WARP - 1}, {WARP})",
                     f"tiles{across} = quotient({limits[1]} + {WARP - 1}, {WARP})"):
            self.head.line(line)
        for s in self.tiles:
            self.head.line(f"{s.name}_tile = shared_{memory_code(s.dtype)}({WARP * PITCH})")
        items = f"tiles{down} * tiles{across}"
        if self.others:
            items = f"{self._count(self.others)} * {items}"
        with self._strided("q", self.block, items, self.blocks):
            self.text.line(f"row = quotient(q, tiles{across})")
            self.text.line(f"first{across} = (q - row * tiles{across}) * {WARP}")
            self.text.line(f"item = quotient(row, tiles{down})")
            self.text.line(f"first{down} = (row - item * tiles{down}) * {WARP}")
            self._item_indices(self.others, "item")
            self.text.line("barrier()")
            self._each_step((down, across), limits, self._take)
            self.text.line("barrier()")
            self._each_step((across, down), limits, self._give)

    def _each_step(self, sides: tuple[int, int], limits: tuple[str, str], write: Callable[[], None]) -> None:
        """A loop over the elements of a tile that this thread has: lanes along the first side, warps along the second."""
        with self.text.block(f"for step in range({STEPS}):"):
            self.text.line(f"i{sides[0]} = first{sides[0]} + lane")
            self.text.line(f"i{sides[1]} = first{sides[1]} + warp + step * {THREADS // WARP}")
            with self.text.block(f"if (i{self.down} < {limits[0]}) & (i{self.across} < {limits[1]}):"):
                write()

    def _take(self) -> None:
        for s in self.tiles:
            assert s.access is not None
            value = f"{self.param(s).name}[{self.index(s.access)}]"
            self.text.line(f"{s.name}_tile[(warp + step * {THREADS // WARP}) * {PITCH} + lane] = {value}", s.node)

    def _give(self) -> None:
        for s in self._where(lambda n: not self._hoisted(n)):
            if s in self.tiles:
                value = f"{s.name}_tile[lane * {PITCH} + warp + step * {THREADS // WARP}]"
                self.text.line(f"{s.name} = {scalars.loaded(value, s.dtype)}", s.node)
            else:
                self.statement(s)
        for s in self.kernel.body:
            if s.kind == "store":
                self.store(s)
