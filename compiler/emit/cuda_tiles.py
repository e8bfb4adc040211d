"""Maps for CUDA that turn what they read: neighbours in the result lie far apart in a buffer, and the other way round.

    v0_tile = shared_f32(1056)
    ...
    for step in range(4):                   # lanes along the buffer's neighbours; all loads are under way
        i0 = first0 + lane
        i1 = first1 + warp + step * 8
        v0_taken[step] = taken(x0, i1 * n0 + i0, (i0 < n0) & (i1 < n1))
    for step in range(4):                   # before the first is waited for
        v0_tile[(warp + step * 8) * 33 + lane] = v0_taken[step]
    barrier()
    for step in range(4):                   # lanes along the result's
        i1 = first1 + lane
        i0 = first0 + warp + step * 8
        if (i0 < n0) & (i1 < n1):
            v0 = v0_tile[lane * 33 + warp + step * 8]

A block has one square tile after the other, of 32 rows, or 64 where there are enough of those.  The rows of a tile are an element
longer than it has columns, so that the lanes of a warp find different banks of shared memory along both.
"""
from __future__ import annotations

from collections.abc import Callable

from .. import sizes
from ..kernel import WIDTH, Kernel, Statement, memory_code
from . import scalars
from .cuda_intrinsics import WARP
from .cuda_nests import CUDAEmitter

THREADS = 256
LEAST = 16              # rows and columns from which a tile has enough to do
MOST = 4                # tiles at once: of eight bytes each they take 33 KiB
LARGE = 2 * WARP        # rows and columns of a large tile ...
LARGE_BYTES = 8         # ... if an element has no more bytes in all buffers that are turned
ENOUGH = 512            # large tiles, of which each block of a busy device has one


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
        self.side = LARGE if self._large_ones_suit() else WARP
        self.pitch = self.side + 1
        kernel.items = self._items(self.side)

    def _items(self, side: int) -> sizes.Dim:
        """How many tiles with such a side there are."""
        loops = self.kernel.loops
        along = [(loops[k].size + side - 1) // side for k in (self.down, self.across)]
        return sizes.product([*(loops[k].size for k in self.others), *along])

    def _large_ones_suit(self) -> bool:
        nbytes = sum(WIDTH[memory_code(s.dtype)] for s in self.tiles)
        is_large = all(sizes.hint_of(self.kernel.loops[k].size) >= LARGE for k in (self.down, self.across))
        return is_large and nbytes <= LARGE_BYTES and sizes.hint_of(self._items(LARGE)) >= ENOUGH

    def _map(self) -> None:
        down, across, side = self.down, self.across, self.side
        limits = self.extent(down), self.extent(across)
        for line in ("thread = thread_index()", f"lane = thread & {WARP - 1}", f"warp = thread >> {WARP.bit_length() - 1}",
                     f"tiles{down} = quotient({limits[0]} + {side - 1}, {side})",
                     f"tiles{across} = quotient({limits[1]} + {side - 1}, {side})"):
            self.head.line(line)
        for s in self.tiles:
            self.head.line(f"{s.name}_tile = shared_{memory_code(s.dtype)}({side * self.pitch})")
            self.head.line(f"{s.name}_taken = local_{memory_code(s.dtype)}({side * side // THREADS})")
        items = f"tiles{down} * tiles{across}"
        if self.others:
            items = f"{self._count(self.others)} * {items}"
        inside = f"(i{down} < {limits[0]}) & (i{across} < {limits[1]})"
        with self._strided("q", self.block, items, self.blocks):
            self.text.line(f"row = quotient(q, tiles{across})")
            self.text.line(f"first{across} = (q - row * tiles{across}) * {side}")
            self.text.line(f"item = quotient(row, tiles{down})")
            self.text.line(f"first{down} = (row - item * tiles{down}) * {side}")
            self._item_indices(self.others, "item")
            self._each_step((down, across), lambda: self._load(inside))
            self.text.line("barrier()")
            self._each_step(None, self._keep_tiles)
            self.text.line("barrier()")
            self._each_step((across, down), lambda: self._give(inside))

    def _each_step(self, sides: tuple[int, int] | None, write: Callable[[], None]) -> None:
        """A loop over the elements of a tile that this thread has: lanes along the first side, warps along the second."""
        loops = [f"for step in range({self.side * WARP // THREADS}):"]
        if self.side > WARP:
            loops.append(f"for part in range({self.side // WARP}):")
        for loop in loops:
            self.text.block(loop)
        if sides is not None:
            self.text.line(f"i{sides[0]} = first{sides[0]} + {self._along()}")
            self.text.line(f"i{sides[1]} = first{sides[1]} + {self._beside()}")
        write()
        self.text.depth -= len(loops)

    def _along(self) -> str:
        """The place of a thread's element along the lanes of its warp."""
        return "lane" if self.side == WARP else f"lane + part * {WARP}"

    def _beside(self) -> str:
        return f"warp + step * {THREADS // WARP}"

    def _taken(self) -> str:
        return "step" if self.side == WARP else f"step * {self.side // WARP} + part"

    def _load(self, inside: str) -> None:
        for s in self.tiles:
            assert s.access is not None
            value = f"taken({self.param(s).name}, {self.index(s.access)}, {inside})"
            self.text.line(f"{s.name}_taken[{self._taken()}] = {value}", s.node)

    def _keep_tiles(self) -> None:
        for s in self.tiles:
            place = f"({self._beside()}) * {self.pitch} + {self._along()}"
            self.text.line(f"{s.name}_tile[{place}] = {s.name}_taken[{self._taken()}]", s.node)

    def _give(self, inside: str) -> None:
        with self.text.block(f"if {inside}:"):
            for s in self._where(lambda n: not self._hoisted(n)):
                if s in self.tiles:
                    along = "lane" if self.side == WARP else f"({self._along()})"
                    value = f"{s.name}_tile[{along} * {self.pitch} + {self._beside()}]"
                    self.text.line(f"{s.name} = {scalars.loaded(value, s.dtype)}", s.node)
                else:
                    self.statement(s)
            for s in self.kernel.body:
                if s.kind == "store":
                    self.store(s)
